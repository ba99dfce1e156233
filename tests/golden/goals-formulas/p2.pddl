(define (problem p2) (:domain lift) (:objects a b - passenger f g - floor) (:init (vip a))
  (:goal (and (or (served a)
                  (served b))
              (exists (?f - floor) (stopped ?f)) (or (boarded a) (boarded b)))))
