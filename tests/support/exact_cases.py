"""Small tasks for exact methods: optima counted by hand, unsolvable and unsuitable tasks."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Cases:
    """Cases of one domain; tasks share the objects and some initial atoms."""

    objects: str
    optima: list[tuple[str, str, int]]  # initial atoms, goal, length of a shortest plan
    unsolvable: list[tuple[str, str]]  # initial atoms, goal
    inconsistent: list[tuple[str, str]]  # initial atoms, reason for the rejection
    goal: str  # of inconsistent tasks
    initial: str  # of tasks with goals of other kinds
    other_goals: list[str]
    always: str = ""  # initial atoms of all tasks


BLOCKS_ON_TABLE = "(arm-empty) (on-table a) (clear a) (on-table b) (clear b) (on-table c) (clear c)"
TWO_TOWERS = "(arm-empty) (on a b) (on-table b) (on-table c) (clear a) (clear c)"
BLOCK_HELD = "(holding a) (on b c) (on-table c) (clear b)"
CARS_AT_HOME = "(empty-ferry) (at-ferry x) (at a x) (at b y)"
ROVER_READY = "(at r a) (empty s) (at_soil_sample a) (at_rock_sample a) (at_soil_sample c)"
SATELLITES_READY = "(pointing s d) (pointing t d) (power_avail s) (power_avail t)"
ONLY_S_READY = "(pointing s d) (pointing t d) (power_avail s)"
S_AT_A = "(pointing s a) (pointing t d) (power_avail s)"

CASES = {
    "blocksworld": Cases(
        objects="a b c",
        optima=[
            # Reverse a tower, or two of its blocks.
            ("(arm-empty) (on a b) (on b c) (on-table c) (clear a)", "(on c b) (on b a)", 6),
            ("(arm-empty) (on a b) (on b c) (on-table c) (clear a)", "(on b a) (on a c)", 8),
            # The last block can stay in the arm, unless the arm has to be empty.
            (TWO_TOWERS, "(clear b)", 1),
            (TWO_TOWERS, "(clear b) (arm-empty)", 2),
            (TWO_TOWERS, "(clear b) (clear a)", 2),
            (TWO_TOWERS, "(clear b) (on c a)", 4),
            # A held block that may stay in the arm, and others.
            (BLOCK_HELD, "(on b c)", 0),
            (BLOCK_HELD, "(on a b)", 1),
            (BLOCK_HELD, "(on a c)", 5),
            (BLOCK_HELD, "(on c b) (holding a)", 6),
        ],
        unsolvable=[
            (BLOCKS_ON_TABLE, "(on a b) (on c b)"),
            (BLOCKS_ON_TABLE, "(on a b) (on a c)"),
            (BLOCKS_ON_TABLE, "(on a b) (on-table a)"),
            (BLOCKS_ON_TABLE, "(on a b) (clear b)"),
            (BLOCKS_ON_TABLE, "(on a b) (on b c) (on c a)"),
            (BLOCKS_ON_TABLE, "(on a a)"),
            (BLOCKS_ON_TABLE, "(holding a) (arm-empty)"),
            (BLOCKS_ON_TABLE, "(holding a) (holding b)"),
            (BLOCKS_ON_TABLE, "(holding a) (clear a)"),
            (BLOCKS_ON_TABLE, "(holding a) (on b a)"),
            (BLOCKS_ON_TABLE, "(holding a) (on-table a)"),
        ],
        inconsistent=[
            ("(arm-empty) (on-table a) (clear a) (on-table b) (clear b)", "c is nowhere"),
            ("(arm-empty) (on a b) (on a c) (on-table b) (on-table c) (clear a)", "two places"),
            ("(arm-empty) (on a b) (on c b) (on-table b) (clear a) (clear c)", "same place"),
            ("(holding a) (holding b) (on-table c) (clear c)", "same place"),
            ("(arm-empty) (on a b) (on b a) (on-table c) (clear c)", "circle"),
            ("(on-table a) (on-table b) (on-table c) (clear a) (clear b) (clear c)", "arm-empty"),
            ("(arm-empty) (holding a) (on-table b) (on-table c) (clear b) (clear c)", "arm-empty"),
            ("(arm-empty) (on-table a) (on-table b) (on-table c) (clear a) (clear b)", "'clear'"),
            ("(holding a) (on-table b) (on-table c) (clear a) (clear b) (clear c)", "'clear'"),
        ],
        goal="(on a b)",
        initial=BLOCKS_ON_TABLE,
        other_goals=["(not (on a b))", "(or (on a b) (on b a))"],
    ),
    "ferry": Cases(
        objects="a b - car x y z - location",
        optima=[
            (CARS_AT_HOME, "(at a x) (at b y)", 0),
            (CARS_AT_HOME, "(at a y)", 3),
            (CARS_AT_HOME, "(at a y) (at b x)", 6),
            (CARS_AT_HOME, "(at b z)", 4),
            (CARS_AT_HOME, "(at a y) (at-ferry z)", 4),
            (CARS_AT_HOME, "(on b)", 2),
            # Two components, which an empty sail connects.
            (CARS_AT_HOME.replace("(at b y)", "(at b z)"), "(at a y) (at b x)", 7),
            # A car aboard goes to its goal first, stays aboard, or is put down.
            ("(on a) (at-ferry x) (at b y)", "(at a y)", 2),
            ("(on a) (at-ferry x) (at b y)", "(at-ferry y)", 1),
            ("(on a) (at-ferry x) (at b y)", "(at-ferry y) (empty-ferry)", 2),
            ("(on a) (at-ferry x) (at b x)", "(at b y)", 4),
            ("(on a) (at-ferry x) (at b x)", "(at b y) (on a)", 6),
            ("(on a) (at-ferry x) (at b y)", "(on b)", 3),
        ],
        unsolvable=[
            (CARS_AT_HOME, "(at a x) (at a y)"),
            (CARS_AT_HOME, "(at a x) (on a)"),
            (CARS_AT_HOME, "(on a) (on b)"),
            (CARS_AT_HOME, "(on a) (empty-ferry)"),
            (CARS_AT_HOME, "(at-ferry x) (at-ferry y)"),
        ],
        inconsistent=[
            ("(empty-ferry) (at-ferry x) (at a x)", "b is nowhere"),
            ("(empty-ferry) (at-ferry x) (at a x) (at a y) (at b x)", "a is at two places"),
            ("(at-ferry x) (on a) (at a y) (at b x)", "a is at two places"),
            ("(empty-ferry) (at a x) (at b x)", "not at 0"),
            ("(empty-ferry) (at-ferry x) (at-ferry y) (at a x) (at b x)", "not at 2"),
            ("(at-ferry x) (at a x) (at b x)", "empty-ferry"),
            ("(at-ferry x) (on a) (on b)", "empty-ferry"),
            ("(empty-ferry) (at-ferry x) (on a) (at b x)", "empty-ferry"),
        ],
        goal="(at a y)",
        initial=CARS_AT_HOME,
        other_goals=["(not (at a x))", "(or (at a x) (at a y))"],
    ),
    "rover": Cases(
        objects=(
            "r q - rover a b c d - waypoint s - store i - camera low high - mode general - lander"
            " x y - objective"
        ),
        always=(
            # A fully equipped rover r: calibration at b, communication at c.
            "(at_lander general d) (visible c d) (store_of s r) (equipped_for_soil_analysis r)"
            " (equipped_for_rock_analysis r) (equipped_for_imaging r) (on_board i r)"
            " (supports i low) (supports i high) (calibration_target i x) (visible_from x b)"
            " (visible_from y a)"
        ),
        optima=[
            # Sample, drive to c, send.
            (ROVER_READY, "(communicated_soil_data a)", 3),
            (ROVER_READY, "(communicated_soil_data c)", 3),
            # For a second sample the store has to be emptied.
            (ROVER_READY, "(communicated_soil_data a) (communicated_rock_data a)", 6),
            (ROVER_READY.replace("empty", "full"), "(communicated_soil_data a)", 4),
            (f"{ROVER_READY} (have_soil_analysis r a)", "(communicated_soil_data a)", 2),
            (f"{ROVER_READY} (communicated_soil_data a)", "(communicated_soil_data a)", 0),
            # Drive to b, calibrate, take; drive to c, send.
            (ROVER_READY, "(communicated_image_data x low)", 5),
            (ROVER_READY, "(communicated_image_data x low) (communicated_image_data x high)", 8),
            # y is seen from a only, the camera can be calibrated at b only.
            (ROVER_READY, "(communicated_image_data y low)", 6),
            (ROVER_READY, "(communicated_image_data y low) (communicated_image_data y high)", 11),
            # Over d first, since c has to be the last waypoint.
            (
                f"{ROVER_READY} (at_soil_sample d)",
                "(communicated_image_data y low) (communicated_soil_data d)",
                9,
            ),
            (f"{ROVER_READY} (calibrated i r)", "(communicated_image_data y low)", 3),
            (f"{ROVER_READY} (have_image r y low)", "(communicated_image_data y low)", 2),
            # The lander is visible only from b, where the camera is calibrated.
            (
                f"{ROVER_READY} (at_lander general b) (visible b b)",
                "(communicated_image_data y low)",
                6,
            ),
        ],
        unsolvable=[
            (ROVER_READY, "(communicated_soil_data b)"),
            ("(at r a) (at_soil_sample a)", "(communicated_soil_data a)"),
            ("(empty s) (at_soil_sample a)", "(communicated_soil_data a)"),
        ],
        inconsistent=[
            (f"{ROVER_READY} (at r b)", "r is at two waypoints"),
            (f"{ROVER_READY} (full s)", "s is both empty and full"),
            (f"{ROVER_READY} (store_of s q)", "s belongs to two rovers"),
        ],
        goal="(communicated_soil_data a)",
        initial=ROVER_READY,
        other_goals=["(not (at r a))", "(at r b)"],
    ),
    "satellite": Cases(
        objects="s t - satellite i j k - instrument red blue green - mode a b c d - direction",
        always=(
            # Two instruments on satellite s, and one on t.
            "(on_board i s) (on_board j s) (on_board k t) (supports i red) (supports j blue)"
            " (supports k red) (supports k blue) (calibration_target i a)"
            " (calibration_target j b) (calibration_target k c)"
        ),
        optima=[
            (SATELLITES_READY, "(pointing s d)", 0),
            (SATELLITES_READY, "(pointing s a) (pointing t a)", 2),
            # On, turn, calibrate, turn, take.
            (SATELLITES_READY, "(have_image d red)", 5),
            # With k, whose target is one more turn, or without its power with i and j.
            (SATELLITES_READY, "(have_image a red) (have_image b blue)", 7),
            (
                ONLY_S_READY,
                "(have_image a red) (have_image b blue)",
                9,
            ),
            (SATELLITES_READY, "(have_image c red) (have_image c blue)", 5),
            # The last image is taken where the satellite has to point.
            (SATELLITES_READY, "(have_image d red) (pointing s d)", 5),
            (SATELLITES_READY, "(have_image a red) (pointing s d)", 5),
            # Phase i ends in the calibration target of phase j, which saves a turn.
            (
                S_AT_A,
                "(have_image a red) (have_image b red) (have_image b blue)",
                9,
            ),
            # Each phase could end in the target of the other, but only one of them is first.
            (
                ONLY_S_READY,
                "(have_image b red) (have_image a blue)",
                10,
            ),
            # Phase i could save a turn both as the first and as the last, but there is phase j.
            (
                S_AT_A,
                "(have_image d red) (have_image b blue) (pointing s d)",
                10,
            ),
            # On from the start, and calibrated or not.
            ("(pointing s d) (pointing t d) (power_on i) (calibrated i)", "(have_image d red)", 1),
            ("(pointing s d) (pointing t d) (power_on i)", "(have_image a red)", 3),
            ("(pointing s d) (pointing t d) (power_on i)", "(have_image b blue)", 5),
            # Calibrated, but not on: switching on spoils it.
            (
                "(pointing s a) (pointing t d) (power_avail s) (calibrated i)",
                "(have_image a red)",
                3,
            ),
        ],
        unsolvable=[
            (SATELLITES_READY, "(pointing s a) (pointing s b)"),
            ("(pointing s a) (pointing t d)", "(have_image a red)"),
            ("(pointing s a) (pointing t d) (power_avail s) (power_on k)", "(have_image a green)"),
        ],
        inconsistent=[
            (f"{SATELLITES_READY} (pointing s a)", "s points at two directions"),
            (SATELLITES_READY.replace("(pointing s d)", ""), "s points nowhere"),
            (f"{SATELLITES_READY} (on_board i t)", "i is on board of two satellites"),
            (f"{SATELLITES_READY} (power_on i)", "s has power for a second instrument"),
            ("(pointing s d) (pointing t d) (power_on i) (power_on j)", "s has two instruments on"),
        ],
        goal="(have_image a red)",
        initial=SATELLITES_READY,
        other_goals=["(not (pointing s a))", "(power_on i)"],
    ),
}


def problem(name: str, initial: str, goal: str) -> str:
    """Return a problem of a domain."""
    cases = CASES[name]
    return (
        f"(define (problem p) (:domain {name}) (:objects {cases.objects})"
        f" (:init {cases.always} {initial}) (:goal (and {goal})))"
    )
