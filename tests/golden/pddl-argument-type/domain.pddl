(define (domain d)
  (:types truck package - object place city)
  (:constants depot - place)
  (:predicates (at ?x - (either truck package) ?p - place))
  (:action a
    :parameters (?t - truck ?c - city ?p - place ?any)
    :precondition (and (at ?t ?c) (at ?p ?t) (at depot depot) (at ?any ?p))
    :effect (at ?any ?any))
)
