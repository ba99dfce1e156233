"""Metrics: cases computed by hand, and properties of random results."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planlog.experiment.records import Family, Record, Status
from planlog.report.comparison import compare, difficulty
from planlog.report.metrics import Exclusion, Statistics, agility, measure, npli, pli, quality
from planlog.report.planners import Planner

FAMILIES = {"rules": Family.RULES, "exact": Family.EXACT, "lama": Family.PLANNER}


def run(
    planner: str, task: str, length: int | None, seed: int | None = None, **more: Any
) -> Record:
    values = {"domain": "d", "split": "easy", "status": Status.SOLVED, **more}
    if length is None:
        values["status"] = more.get("status", Status.TIME)
    elif "cost" not in more:
        values["cost"] = float(length)
    name = f"{values['domain']} {values['split']} {task} {planner} {seed}"
    family = FAMILIES.get(planner, Family.LEARNED)
    return Record(
        name, planner=planner, family=family, task=task, length=length, seed=seed, **values
    )


def seeded(planner: str, task: str, lengths: Sequence[int | None], **more: Any) -> list[Record]:
    return [run(planner, task, length, seed, **more) for seed, length in enumerate(lengths)]


# By hand:        <BK>  x*   not eligible because
#           p01    12    8
#           p02     6    6   the rules are optimal
#           p03     -    5   the rules have no plan with the third seed
#           p04    20    ?   the optimum is not known (the best plan has 15, the bound is 14)
#           p05    20   10   (LAMA's plan and the bound of the exact method meet)
HAND = [
    *seeded("rules", "p01", (10, 12, 14)),
    *seeded("learned", "p01", (8, 10, 14)),
    run("lama", "p01", 20),
    run("exact", "p01", 8, optimal=True),
    *seeded("rules", "p02", (6, 6, 6)),
    *seeded("learned", "p02", (6, 6, 8)),
    run("lama", "p02", 6),
    run("exact", "p02", 6, optimal=True),
    *seeded("rules", "p03", (9, 9, None)),
    *seeded("learned", "p03", (5, 5, 5)),
    run("lama", "p03", None),
    run("exact", "p03", 5, optimal=True),
    *seeded("rules", "p04", (20, 20, 20)),
    *seeded("learned", "p04", (18, 18, 24)),
    run("lama", "p04", 15),
    run("exact", "p04", None, lower_bound=14.0),
    *seeded("rules", "p05", (20, 20, 20)),
    *seeded("learned", "p05", (10, 15, None)),
    run("lama", "p05", 10),
    run("exact", "p05", None, lower_bound=10.0),
]


def test_pli_and_npli() -> None:
    assert pli(12, 8) == pytest.approx(100 / 3)
    assert pli(12, 12) == 0
    assert pli(10, 25) == -150
    assert npli(12, 8, 8) == 100
    assert npli(12, 8, 12) == 0
    assert npli(12, 8, 10) == 50
    assert npli(12, 8, 20) == -200
    assert npli(12, 8, 10) == pytest.approx(100 * pli(12, 10) / pli(12, 8))


def test_ipc_scores_of_single_runs() -> None:
    assert quality(10, 10) == 1
    assert quality(10, 40) == 0.25
    assert quality(0, 0) == 1
    assert agility(0.0) == agility(1.0) == 1
    assert agility(1800) == pytest.approx(0)
    assert agility(math.sqrt(1800)) == pytest.approx(0.5)
    assert agility(10_000) == 0


def test_eligible_tasks() -> None:
    tasks = compare(HAND).tasks["d"]
    assert [task.baseline for task in tasks] == [12, 6, None, 20, 20]
    assert [task.optimum for task in tasks] == [8, 6, 5, None, 10]
    assert [task.best for task in tasks] == [8, 6, 5, 15, 10]
    assert [task.exclusion for task in tasks] == [
        None,
        Exclusion.OPTIMAL_RULES,
        Exclusion.UNSOLVED_BY_RULES,
        Exclusion.UNKNOWN_OPTIMUM,
        None,
    ]


def test_measures_by_hand() -> None:
    tasks = compare(HAND).tasks["d"]

    learned = measure(tasks, "learned")
    # p01: 100, 50, -50; p05: 100, 50, and a seed without a plan
    assert learned.npli is not None
    assert learned.npli.mean == pytest.approx(50)
    assert learned.npli.std == pytest.approx(math.sqrt(15_000 / 5))
    assert learned.npli_unsolved == 1
    assert learned.runs == 15
    assert learned.coverage == pytest.approx(4 + 2 / 3)
    assert learned.quality == pytest.approx(
        (1 + 0.8 + 8 / 14) / 3
        + (1 + 1 + 0.75) / 3
        + 1
        + (15 / 18 * 2 + 15 / 24) / 3
        + (1 + 2 / 3) / 3
    )
    # Means: 10.67 < 12, 6.67 > 6, p03 without a mean of the rules, 20 = 20, p05 not all solved.
    assert (learned.longer, learned.compared) == (1, 3)
    assert learned.statuses == {Status.SOLVED: 14, Status.TIME: 1}

    lama = measure(tasks, "lama")
    assert lama.npli == Statistics(mean=-50, std=150, max=100)
    assert lama.npli_unsolved == 0
    assert lama.coverage == 4
    assert lama.quality == pytest.approx(8 / 20 + 1 + 0 + 1 + 1)
    assert (lama.longer, lama.compared) == (1, 4)

    rules = measure(tasks, "rules")
    assert rules.npli is not None
    # p01: 50, 0, -50; p05: 0, 0, 0
    assert rules.npli.mean == pytest.approx(0)
    assert rules.npli.std == pytest.approx(math.sqrt(5000 / 6))
    assert rules.longer == 0

    exact = measure(tasks, "exact")
    assert exact.npli is not None and exact.npli.mean == 100
    assert exact.coverage == 3


def test_planner_that_was_not_run() -> None:
    nothing = measure(compare(HAND).tasks["d"], "nobody")
    assert (nothing.runs, nothing.coverage, nothing.npli, nothing.seconds) == (0, 0, None, None)


def test_first_plan_time_and_total_time() -> None:
    anytime = run("lama", "p01", 8, seconds=1800.0, memory=7, plans=((10.0, 0.5), (8.0, 700.0)))
    slow = run("lama", "p02", 8, seconds=math.sqrt(1800), memory=9)
    failed = run("lama", "p03", None, seconds=10_000.0, memory=100)
    measures = measure(compare([anytime, slow, failed]).tasks["d"], "lama")
    assert measures.agility == pytest.approx(1.5)
    assert measures.seconds is not None
    assert measures.seconds.mean == pytest.approx((1800 + math.sqrt(1800)) / 2)
    assert measures.seconds.max == 1800
    assert measures.memory == Statistics(mean=8, std=1, max=9)


def test_baseline_of_incomplete_results() -> None:
    """There is no baseline unless all seeds have been run."""
    records = [*seeded("rules", "p01", (10, 12)), *seeded("rules", "p02", (10,))]
    first, second = compare(records).tasks["d"]
    assert (first.baseline, second.baseline) == (11, None)


def test_costs_count_where_a_task_has_action_costs() -> None:
    """The optimal plan is longer than those of the rules, and cheaper."""
    records = [*seeded("rules", "p01", (10, 12)), run("exact", "p01", 8, cost=80, optimal=True)]
    (task,) = compare(records).tasks["d"]
    assert task.optimum is None and task.contradictory  # the rules' plans cost less
    records = [
        *(
            run("rules", "p01", 4, seed=i, cost=cost)
            for i, cost in enumerate([10, Decimal("12.5")])
        ),
        run("lama", "p01", 3, cost=15),
        run("exact", "p01", 8, cost=Decimal("2.5"), optimal=True),
    ]
    (task,) = compare(records).tasks["d"]
    assert (task.baseline, task.optimum, task.exclusion) == (11.25, Decimal("2.5"), None)
    lama, exact = measure([task], "lama"), measure([task], "exact")
    assert lama.npli is not None and lama.npli.mean == pytest.approx(100 * (11.25 - 15) / 8.75)
    assert exact.npli is not None and exact.npli.mean == 100
    assert (lama.longer, exact.longer) == (1, 0)


@pytest.mark.parametrize("proof", [{"optimal": True}, {"lower_bound": 9.0}])
def test_contradictions_make_the_optimum_unknown(proof: dict[str, Any]) -> None:
    records = [run("lama", "p01", 8), run("exact", "p01", 9, **proof)]
    comparison = compare(records)
    (task,) = comparison.contradictions
    assert task.optimum is None
    assert not compare(
        [*records[:1], run("exact", "p01", 8, **{**proof, "lower_bound": 8.0})]
    ).contradictions


def test_last_of_equal_runs_counts() -> None:
    first = run("lama", "p01", None, started="2026-01-01T10:00:00+00:00")
    again = replace(run("lama", "p01", 9, started="2026-01-01T12:00:00+00:00"), run="a")
    for records in ([first, again], [again, first]):
        comparison = compare(records)
        assert comparison.replaced == 1
        assert comparison.measures["lama", "d"].coverage == 1
    other = replace(again, seed=1)
    assert compare([first, other]).replaced == 0


def test_invalid_plans_do_not_count() -> None:
    records = [run("lama", "p01", 3, status=Status.INVALID), run("exact", "p01", 9, optimal=True)]
    (task,) = compare(records).tasks["d"]
    assert (task.best, task.optimum) == (9, 9)
    assert measure([task], "lama").coverage == 0


def test_order_of_tasks_and_planners() -> None:
    names = [("hard", "p01"), ("other", "p01"), ("easy", "p10"), ("easy", "p9"), ("medium", "p01")]
    expected = [names[3], names[2], names[4], names[0], names[1]]
    assert sorted(names, key=lambda name: difficulty(*name)) == expected
    comparison = compare(HAND)
    assert [p.name for p in comparison.planners] == ["rules", "lama", "learned", "exact"]


def test_planners_that_prove_optimality() -> None:
    def proves(*records: Record) -> bool:
        (planner,) = compare(records).planners
        return planner.proves

    assert proves(run("exact", "p01", None))
    assert proves(run("lama", "p01", 8, optimal=True), run("lama", "p02", None))
    assert not proves(run("lama", "p01", 8, optimal=True), run("lama", "p02", 9))
    assert not proves(run("lama", "p01", None))
    assert not proves(run("learned", "p01", 8, optimal=True))


def test_planner_from_configuration() -> None:
    described = {"layers": 2, "width": 16, "settings": "paper"}
    record = run("learned", "p01", 8, details={"configuration": described})
    expected = Planner("learned", Family.LEARNED, "learned", settings="paper", network=(2, 16))
    assert compare([record]).planners == (expected,)


def test_search_does_not_change_the_baseline() -> None:
    search = [
        replace(record, family=Family.SEARCH, details={"configuration": {"seconds": 10.0}})
        for record in seeded("rules-10s", "p01", (8, 9, 8, 8))
    ]
    comparison = compare([*HAND, *search])
    assert comparison.tasks["d"][0].baseline == 12
    assert [planner.name for planner in comparison.planners][:2] == ["rules", "rules-10s"]
    assert [planner.seconds for planner in comparison.planners][:2] == [None, 10]
    measures = comparison.measures["rules-10s", "d"]
    assert measures.npli is not None
    assert measures.npli.mean == pytest.approx((100 + 75 + 100 + 100) / 4)
    assert (measures.longer, measures.compared) == (0, 1)


lengths = st.none() | st.integers(1, 40)


@st.composite
def results(draw: st.DrawFn) -> list[Record]:
    """Records without contradictions."""
    records = []
    for task in range(draw(st.integers(1, 5))):
        optimum = draw(st.integers(1, 40))
        name = f"p{task}"
        for planner, seeds in (("rules", 3), ("learned", 3), ("lama", 1)):
            for seed in range(seeds):
                more = draw(lengths)
                length = None if more is None else optimum + more - 1
                if draw(st.integers(0, 9)):  # else: not run yet
                    records.append(run(planner, name, length, seed))
        proof = draw(st.sampled_from(["plan", "bound", "nothing"]))
        if proof == "plan":
            records.append(run("exact", name, optimum, optimal=True))
        elif proof == "bound":
            records.append(run("exact", name, None, lower_bound=float(optimum)))
    return draw(st.permutations(records))


@given(results(), st.sampled_from(["rules", "learned", "lama", "exact"]))
def test_npli_follows_its_definition(records: list[Record], planner: str) -> None:
    """Compute NPLI again from its definition, with fractions."""
    seeds = {r.seed for r in records if r.planner == "rules"}
    values = []
    for task in {record.task for record in records}:
        own = [r for r in records if r.task == task]
        rules = {r.seed: r.length for r in own if r.planner == "rules"}
        plans = [r.length for r in own if r.length is not None]
        proved = [r.length for r in own if r.optimal] + [
            r.lower_bound for r in own if r.lower_bound is not None
        ]
        if set(rules) != seeds or not rules or None in rules.values() or not proved:
            continue
        if not plans or min(plans) != proved[0]:
            continue
        mean = Fraction(sum(rules.values()), len(rules))
        best = min(plans)
        if mean == best:
            continue
        values += [
            100 * ((mean - r.length) / mean) / ((mean - best) / mean)
            for r in own
            if r.planner == planner and r.length is not None
        ]
    found = measure(compare(records).tasks.get("d", ()), planner).npli
    if not values:
        assert found is None
        return
    assert found is not None
    mean = sum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values) / len(values)
    assert found.mean == pytest.approx(float(mean), abs=1e-9)
    assert found.std == pytest.approx(math.sqrt(variance), abs=1e-6)
    assert all(value <= 100 for value in values)


@given(results(), st.integers(0, 1000))
def test_order_of_records_does_not_matter(records: list[Record], seed: int) -> None:
    shuffled = records[:]
    random.Random(seed).shuffle(shuffled)
    one, other = compare(records), compare(shuffled)
    assert one == other
    assert one.measures == other.measures


@given(results())
def test_scores_are_within_their_limits(records: list[Record]) -> None:
    comparison = compare(records)
    assert not comparison.contradictions
    for (name, domain), measures in comparison.measures.items():
        tasks = len(comparison.tasks[domain])
        assert 0 <= measures.quality <= measures.coverage + 1e-9 <= tasks + 2e-9
        assert measures.longer <= measures.compared <= tasks
        assert sum(measures.statuses.values()) == measures.runs
        if name == "rules" and measures.npli is not None:
            assert measures.npli.mean == pytest.approx(0, abs=1e-6)
