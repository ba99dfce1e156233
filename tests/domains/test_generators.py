"""Generated tasks: reproducible, of the requested sizes, and solvable."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import pairwise

import pypddl.formalism as pypddl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planlog import domains
from planlog.domains import SPLITS, SizeError, linear
from planlog.errors import UnknownNameError
from planlog.pddl.task import Task
from support.profiles import examples
from support.shipped_domains import SHIPPED as DOMAINS

# The first and last sizes of the IPC 2023 learning track.
ENDS = {
    "blocksworld": {"easy": ((5,), (29,)), "medium": ((35,), (146,)), "hard": ((160,), (488,))},
    "ferry": {
        "easy": ((2, 5), (20, 15)),
        "medium": ((10, 20), (97, 49)),
        "hard": ((200, 100), (974, 487)),
    },
    "rover": {
        "easy": ((1, 4, 1, 1), (4, 10, 4, 10)),
        "medium": ((5, 15, 5, 15), (10, 88, 49, 88)),
        "hard": ((15, 100, 60, 100), (30, 190, 95, 190)),
    },
    "satellite": {
        "easy": ((3, 3, 1, 4), (10, 20, 3, 10)),
        "medium": ((15, 15, 3, 15), (40, 78, 5, 30)),
        "hard": ((50, 50, 5, 40), (99, 195, 10, 98)),
    },
}

Atom = tuple[str, ...]
Facts = dict[str, set[Atom]]


def facts(text: str) -> Facts:
    """The ground atoms of a part of a problem, by predicate."""
    found: Facts = defaultdict(set)
    for atom in re.findall(r"\(([^():]+)\)", text):
        predicate, *arguments = atom.split()
        found[predicate].add(tuple(arguments))
    return found


def read(name: str, text: str) -> tuple[Task, Facts, Facts]:
    """The task, which has to be correct, with its initial and its goal atoms."""
    task = DOMAINS[name].parse_task(text)
    initial, goal = text.split("(:init")[1].split("(:goal")
    return task, facts(initial), facts(goal)


@st.composite
def generated(draw: st.DrawFn, name: str) -> tuple[dict[str, int], str]:
    """Sizes up to a dozen, and the text of a task with them."""
    sizes = {
        size.name: draw(st.integers(size.minimum, 12), label=size.name)
        for size in domains.parameters(name)
    }
    seed = draw(st.integers(0, 2**32), label="seed")
    ((_, text),) = domains.generate(name, seed=seed, sizes=sizes)
    return sizes, text


@pytest.mark.parametrize("name", domains.names())
class TestEveryDomain:
    @pytest.mark.parametrize("split", SPLITS)
    def test_same_seed_same_tasks(self, name: str, split: str) -> None:
        first, again, other = (
            dict(domains.generate(name, seed=seed, split=split, count=4)) for seed in (7, 7, 8)
        )
        assert list(first) == ["p01.pddl", "p02.pddl", "p03.pddl", "p04.pddl"]
        assert first == again
        bodies = [text.split("\n", 1)[1] for text in (*first.values(), *other.values())]
        if split != "training":  # the smallest tasks coincide now and then
            assert len(set(bodies)) == 8

    def test_a_task_does_not_depend_on_those_before_it(self, name: str) -> None:
        few = list(domains.generate(name, seed=3, count=2))
        many = list(domains.generate(name, seed=3, count=9))
        assert many[:2] == few
        assert len({text for _, text in many}) == 9

    @pytest.mark.parametrize("split", ["easy", "medium", "hard"])
    def test_splits_grow_from_the_first_to_the_last_size(self, name: str, split: str) -> None:
        rows = [tuple(row.values()) for row in domains.split_sizes(name, split)]
        assert len(rows) == 30
        assert (rows[0], rows[-1]) == ENDS[name][split]
        for column in zip(*rows, strict=True):
            steps = [b - a for a, b in pairwise(column)]
            assert min(steps) >= 0
            assert max(steps) - min(steps) <= 1  # linear

    def test_training_begins_with_the_smallest_tasks(self, name: str) -> None:
        rows = [tuple(row.values()) for row in domains.split_sizes(name, "training")]
        assert len(rows) == 99
        assert rows[-1] == ENDS[name]["easy"][1]
        assert sum(rows[0]) == min(map(sum, rows))
        assert len(domains.split_sizes(name, "training", 10)) == 10

    @given(data=st.data())
    @examples(25)
    def test_sizes_are_those_asked_for(self, name: str, data: st.DataObject) -> None:
        sizes, text = data.draw(generated(name))
        task, _, _ = read(name, text)
        kinds = Counter(task.objects.values())
        if name == "blocksworld":
            assert len(task.objects) == sizes["blocks"]
        else:
            assert {key: kinds[key.removesuffix("s")] for key in sizes} == sizes
        assert not set(task.goals) <= set(map(str, task.initial.atoms))
        header = text.split("\n", 1)[0]
        assert all(f"{key}={value}" in header for key, value in sizes.items())

    def test_wrong_sizes_are_refused(self, name: str) -> None:
        size = domains.parameters(name)[0]
        with pytest.raises(SizeError, match=f"{size.name} must be at least {size.minimum}, not 0"):
            domains.generate(name, seed=0, sizes={size.name: 0})
        with pytest.raises(SizeError, match=f"unknown size 'wheels'.*{size.name}"):
            domains.generate(name, seed=0, sizes={"wheels": 4})
        with pytest.raises(SizeError, match="unknown split 'huge'; the splits are training"):
            domains.generate(name, seed=0, split="huge")
        with pytest.raises(SizeError, match="number of tasks must be at least 1, not 0"):
            domains.generate(name, seed=0, split="easy", count=0)
        with pytest.raises(SizeError, match="number of tasks must be at least 1, not -1"):
            domains.generate(name, seed=0, count=-1)
        with pytest.raises(SizeError, match="seed must not be negative"):
            domains.generate(name, seed=-1)
        with pytest.raises(SizeError, match="either a split or sizes"):
            domains.generate(name, seed=0, split="easy", sizes={size.name: 5})


def test_unknown_domain() -> None:
    with pytest.raises(UnknownNameError, match=r"no domain 'logistics'.*blocksworld, ferry"):
        domains.generate("logistics", seed=0)


@given(first=st.integers(0, 50), growth=st.integers(0, 500), count=st.integers(1, 120))
def test_linear(first: int, growth: int, count: int) -> None:
    numbers = linear((first, first + growth), count)
    assert len(numbers) == count
    assert numbers[0] == first
    assert count == 1 or numbers[-1] == first + growth
    assert numbers == sorted(numbers)


@given(generated("blocksworld"))
def test_blocksworld_gives_every_block_a_place(case: tuple[dict[str, int], str]) -> None:
    task, initial, goal = read("blocksworld", case[1])
    for towers in (initial, goal):
        below = [block for (block,) in towers["on-table"]] + [a for a, _ in towers["on"]]
        assert sorted(below) == sorted(task.objects)
        carrying = {b for _, b in towers["on"]}
        assert len(carrying) == len(towers["on"])
        assert {block for (block,) in towers["clear"]} == set(task.objects) - carrying


def test_blocksworld_has_few_high_towers() -> None:
    """One tower, and one more for about every ten blocks."""
    tasks = domains.generate("blocksworld", seed=1, count=60, sizes={"blocks": 41})
    towers = [
        len(read("blocksworld", text)[side]["on-table"]) for _, text in tasks for side in (1, 2)
    ]
    assert 4 < sum(towers) / len(towers) < 6
    assert min(towers) < max(towers)


@given(generated("ferry"))
def test_ferry_moves_every_car(case: tuple[dict[str, int], str]) -> None:
    _, initial, goal = read("ferry", case[1])
    start, end = dict(initial["at"]), dict(goal["at"])
    assert len(start) == len(end) == case[0]["cars"]
    assert all(start[car] != end[car] for car in start)
    assert len(initial["at-ferry"]) == 1
    assert initial["empty-ferry"]


def test_ferry_uses_all_places_alike() -> None:
    ((_, text),) = domains.generate("ferry", seed=4, sizes={"cars": 3000, "locations": 3})
    _, initial, goal = read("ferry", text)
    start, end = dict(initial["at"]), dict(goal["at"])
    moves = Counter((start[car], end[car]) for car in start)
    assert len(moves) == 6
    assert min(moves.values()) > 400


@given(generated("satellite"))
def test_satellite_can_take_every_image(case: tuple[dict[str, int], str]) -> None:
    sizes, text = case
    _, initial, goal = read("satellite", text)
    assert len(dict(initial["on_board"])) == len(initial["on_board"]) == sizes["instruments"]
    equipped = {satellite for _, satellite in initial["on_board"]}
    assert len(equipped) == min(sizes["satellites"], sizes["instruments"])
    assert len(dict(initial["calibration_target"])) == sizes["instruments"]
    assert len({mode for _, mode in initial["supports"]}) == sizes["modes"]
    assert {instrument for instrument, _ in initial["supports"]} == set(dict(initial["on_board"]))
    assert len(initial["pointing"]) == len(initial["power_avail"]) == sizes["satellites"]
    assert 1 <= len(goal["have_image"]) <= sizes["modes"] * sizes["directions"]
    assert len(dict(goal["pointing"])) == len(goal["pointing"])


def test_satellite_wants_any_share_of_the_images() -> None:
    shares = []
    pointing = 0
    for _, text in domains.generate("satellite", seed=2, count=150):
        _, _, goal = read("satellite", text)
        shares.append(len(goal["have_image"]) / 12)
        pointing += len(goal["pointing"])
    assert 0.45 < sum(shares) / len(shares) < 0.63
    assert min(shares) < 0.2
    assert max(shares) > 0.9
    assert 0.4 < pointing / (150 * 5) < 0.6


@given(generated("rover"))
def test_rover_can_reach_every_goal(case: tuple[dict[str, int], str]) -> None:
    sizes, text = case
    task, initial, goal = read("rover", text)

    visible = initial["visible"]
    assert visible == {(b, a) for a, b in visible}
    assert all(a != b for a, b in visible)
    waypoints = [o for o, kind in task.objects.items() if kind == "waypoint"]
    seen, todo = {waypoints[0]}, [waypoints[0]]
    while todo:
        here = todo.pop()
        new = {b for a, b in visible if a == here} - seen
        seen |= new
        todo += new
    assert len(seen) == sizes["waypoints"]

    for kind in ("soil", "rock"):
        assert initial[f"equipped_for_{kind}_analysis"]
        assert goal[f"communicated_{kind}_data"] <= initial[f"at_{kind}_sample"]
    imaging = {rover for (rover,) in initial["equipped_for_imaging"]}
    carrier = dict(initial["on_board"])
    assert len(carrier) == sizes["cameras"]
    assert set(carrier.values()) <= imaging
    assert {mode for _, mode in initial["supports"]} == {"colour", "high_res", "low_res"}
    assert len(dict(initial["calibration_target"])) == sizes["cameras"]
    assert len({objective for objective, _ in initial["visible_from"]}) == sizes["objectives"]
    assert len(initial["store_of"]) == len(initial["empty"]) == sizes["rovers"]


def test_rover_varies_in_every_respect() -> None:
    """Shares of pairs of waypoints that see each other, of places of a view, and of goals."""
    pairs, views, samples, images = [], [], [], []
    for _, text in domains.generate("rover", seed=6, count=100, sizes={"waypoints": 12}):
        _, initial, goal = read("rover", text)
        pairs.append(len(initial["visible"]) / (12 * 11))
        seen = Counter(objective for objective, _ in initial["visible_from"])
        views += [n / 12 for n in seen.values()]
        samples.append(len(initial["at_soil_sample"]) / 12)
        images.append(len(goal["communicated_image_data"]) / 12)
    for shares, low, high in ((pairs, 0.5, 0.68), (views, 0.46, 0.62), (samples, 0.4, 0.6)):
        assert low < sum(shares) / len(shares) < high
    for shares in (pairs, views, images):
        assert min(shares) < 0.25
        assert max(shares) > 0.9


def test_rover_of_any_size() -> None:
    """The largest sizes of the IPC are no limit: several MB of text in a moment."""
    sizes = {"rovers": 30, "waypoints": 320, "cameras": 95, "objectives": 320}
    texts = [text for _, text in domains.generate("rover", seed=0, count=3, sizes=sizes)]
    assert max(map(len, texts)) > 3_000_000


@pytest.mark.parametrize("name", domains.names())
def test_pypddl_agrees_that_tasks_are_correct(name: str) -> None:
    options = pypddl.ParserOptions()
    options.strict = True
    parser = pypddl.Parser((domains.path(name) / "domain.pddl").read_text(), options)
    for split in SPLITS:
        for _, text in domains.generate(name, seed=5, split=split, count=3):
            parser.parse_task(text)
