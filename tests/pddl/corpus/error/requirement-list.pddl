; A requirement is a word.
(define (domain d)
  (:requirements (:strips)))
