; Sections have known names.
(define (domain d)
  (:predicate (p)))
