﻿; Two byte order marks before the text.
(define (domain d)
  (:predicates (p)))
