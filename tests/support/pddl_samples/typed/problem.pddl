(define (problem delivery-1)
  (:domain delivery)
  (:objects v1 - van b1 - bike p1 p2 - parcel north south - site)
  (:init
    (at v1 north) (at b1 south) (at p1 south) (at p2 north)
    (road north office) (road office north) (road south north))
  (:goal (and (at p1 office) (not (at p2 north)))))
