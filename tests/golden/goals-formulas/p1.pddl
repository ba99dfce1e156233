; Literals, also under quantifiers: no warning.
(define (problem p1) (:domain lift) (:objects a b - passenger f - floor) (:init (vip a))
  (:goal (and (served a) (forall (?p - passenger) (imply (vip ?p) (served ?p)))
              (forall (?f - floor) (not (stopped ?f))))))
