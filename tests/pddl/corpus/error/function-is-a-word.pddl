; A function is a list.
(define (domain d)
  (:functions total-cost))
