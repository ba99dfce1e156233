(define (problem one)
  (:objects t1 - truck))
