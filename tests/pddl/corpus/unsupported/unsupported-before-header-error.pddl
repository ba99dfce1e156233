; An unsupported feature comes before errors.
(define (domain) (:durative-action a))
