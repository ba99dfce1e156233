; A control character separates two words.
(define (domain d)
  (:predicates(p)))
