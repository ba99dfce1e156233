(define (problem one)
  (:domain d))
