; A conditional effect adds to the cost.
(define (domain d)
  (:requirements :conditional-effects :action-costs)
  (:predicates (p))
  (:functions (total-cost) - number)
  (:action a :parameters () :effect (and (p) (when (p) (increase (total-cost) 2)))))
;;; problem
(define (problem one) (:domain d) (:init (= (total-cost) 0)) (:goal (p)) (:metric minimize (total-cost)))
