; Blocksworld with one arm: towers of blocks are rebuilt one block at a time.
; Predicates, actions and parameter order are those of the IPC 2023 learning track.
(define (domain blocksworld)
  (:requirements :strips)

  (:predicates
    (clear ?x)       ; nothing stands on x, and x is not held
    (on-table ?x)
    (arm-empty)
    (holding ?x)
    (on ?x ?y))      ; x stands directly on y

  (:action pickup
    :parameters (?ob)
    :precondition (and (arm-empty) (on-table ?ob) (clear ?ob))
    :effect (and (holding ?ob)
                 (not (arm-empty)) (not (on-table ?ob)) (not (clear ?ob))))

  (:action putdown
    :parameters (?ob)
    :precondition (holding ?ob)
    :effect (and (on-table ?ob) (clear ?ob) (arm-empty)
                 (not (holding ?ob))))

  (:action stack
    :parameters (?ob ?underob)
    :precondition (and (holding ?ob) (clear ?underob))
    :effect (and (on ?ob ?underob) (clear ?ob) (arm-empty)
                 (not (holding ?ob)) (not (clear ?underob))))

  (:action unstack
    :parameters (?ob ?underob)
    :precondition (and (arm-empty) (on ?ob ?underob) (clear ?ob))
    :effect (and (holding ?ob) (clear ?underob)
                 (not (arm-empty)) (not (on ?ob ?underob)) (not (clear ?ob)))))
