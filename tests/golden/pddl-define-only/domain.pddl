(define)
