(define (domain d)
  ; Zürich, naïve, 東京
  (:predicates (p ?x)) ; größer
  (:action a :parameters () :effect (r))
)
