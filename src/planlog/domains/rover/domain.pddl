; Rover: rovers collect samples and images and send the data to a lander.
; There is no path finding: a rover drives from any waypoint to any other in one step,
; and `visible` matters for talking to the lander only.
; Predicates, actions and parameter order are those of the IPC 2023 learning track.
(define (domain rover)
  (:requirements :strips :typing)

  (:types rover waypoint store camera mode lander objective)

  (:predicates
    (at ?x - rover ?y - waypoint)
    (at_lander ?x - lander ?y - waypoint)
    (visible ?w - waypoint ?p - waypoint)

    ; soil and rock
    (equipped_for_soil_analysis ?r - rover)
    (equipped_for_rock_analysis ?r - rover)
    (at_soil_sample ?w - waypoint)
    (at_rock_sample ?w - waypoint)
    (store_of ?s - store ?r - rover)
    (empty ?s - store)
    (full ?s - store)
    (have_soil_analysis ?r - rover ?w - waypoint)
    (have_rock_analysis ?r - rover ?w - waypoint)
    (communicated_soil_data ?w - waypoint)
    (communicated_rock_data ?w - waypoint)

    ; images
    (equipped_for_imaging ?r - rover)
    (on_board ?i - camera ?r - rover)
    (supports ?c - camera ?m - mode)
    (calibration_target ?i - camera ?o - objective)
    (calibrated ?c - camera ?r - rover)
    (visible_from ?o - objective ?w - waypoint)
    (have_image ?r - rover ?o - objective ?m - mode)
    (communicated_image_data ?o - objective ?m - mode))

  (:action navigate
    :parameters (?x - rover ?y - waypoint ?z - waypoint)
    :precondition (at ?x ?y)
    :effect (and (at ?x ?z) (not (at ?x ?y))))

  (:action sample_soil
    :parameters (?x - rover ?s - store ?p - waypoint)
    :precondition (and (at ?x ?p) (at_soil_sample ?p) (equipped_for_soil_analysis ?x)
                       (store_of ?s ?x) (empty ?s))
    :effect (and (have_soil_analysis ?x ?p) (full ?s)
                 (not (empty ?s)) (not (at_soil_sample ?p))))

  (:action sample_rock
    :parameters (?x - rover ?s - store ?p - waypoint)
    :precondition (and (at ?x ?p) (at_rock_sample ?p) (equipped_for_rock_analysis ?x)
                       (store_of ?s ?x) (empty ?s))
    :effect (and (have_rock_analysis ?x ?p) (full ?s)
                 (not (empty ?s)) (not (at_rock_sample ?p))))

  (:action drop
    :parameters (?x - rover ?y - store)
    :precondition (and (store_of ?y ?x) (full ?y))
    :effect (and (empty ?y) (not (full ?y))))

  (:action calibrate
    :parameters (?r - rover ?i - camera ?t - objective ?w - waypoint)
    :precondition (and (at ?r ?w) (on_board ?i ?r) (equipped_for_imaging ?r)
                       (calibration_target ?i ?t) (visible_from ?t ?w))
    :effect (calibrated ?i ?r))

  ; Each image uses up the calibration.
  (:action take_image
    :parameters (?r - rover ?p - waypoint ?o - objective ?i - camera ?m - mode)
    :precondition (and (at ?r ?p) (on_board ?i ?r) (equipped_for_imaging ?r)
                       (calibrated ?i ?r) (supports ?i ?m) (visible_from ?o ?p))
    :effect (and (have_image ?r ?o ?m) (not (calibrated ?i ?r))))

  ; The rover at x sends what it knows of p to the lander at y.
  (:action communicate_soil_data
    :parameters (?r - rover ?l - lander ?p - waypoint ?x - waypoint ?y - waypoint)
    :precondition (and (at ?r ?x) (at_lander ?l ?y) (visible ?x ?y)
                       (have_soil_analysis ?r ?p))
    :effect (communicated_soil_data ?p))

  (:action communicate_rock_data
    :parameters (?r - rover ?l - lander ?p - waypoint ?x - waypoint ?y - waypoint)
    :precondition (and (at ?r ?x) (at_lander ?l ?y) (visible ?x ?y)
                       (have_rock_analysis ?r ?p))
    :effect (communicated_rock_data ?p))

  (:action communicate_image_data
    :parameters (?r - rover ?l - lander ?o - objective ?m - mode ?x - waypoint ?y - waypoint)
    :precondition (and (at ?r ?x) (at_lander ?l ?y) (visible ?x ?y)
                       (have_image ?r ?o ?m))
    :effect (communicated_image_data ?o ?m)))
