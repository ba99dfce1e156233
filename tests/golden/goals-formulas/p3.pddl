(define (problem p3) (:domain lift) (:objects a b - passenger f g - floor) (:init)
  (:goal (and (forall (?p - passenger) (imply (boarded ?p) (served ?p))) (or (served a) (open))
              (forall (?p - passenger) (vip ?p)))))
