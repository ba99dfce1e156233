"""The shipped policies against clingo, over states along walks by the policy and at random.

In each state both the model from scratch and the one maintained along the walk are compared, with
all derived predicates and actions and the number of satisfied substitutions of each rule.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from planlog import domains
from planlog.pddl.task import Domain, State, Task
from planlog.policy.policy import Policy
from support.clingo_reference import (
    DomainText,
    ProblemText,
    assert_equal,
    atoms_of,
    evaluate,
    facts_text,
    rules_text,
)

STATES = 200
STEPS = 20  # of a walk, at most

# Least and largest numbers of objects.
SIZES = {
    "blocksworld": {"blocks": (2, 7)},
    "ferry": {"cars": (2, 5), "locations": (2, 4)},
    "rover": {"rovers": (1, 2), "waypoints": (2, 6), "cameras": (1, 4), "objectives": (1, 6)},
    "satellite": {
        "satellites": (1, 2),
        "instruments": (1, 6),
        "modes": (1, 3),
        "directions": (2, 5),
    },
}


# A rover that could take an image where it is, but rather drives on to one that cannot wait:
# small tasks hardly ever come to that.
HESITATION = """(define (problem hesitation) (:domain rover)
  (:objects r - rover c - camera m - mode l - lander w0 w1 w2 - waypoint t o1 o2 - objective)
  (:init (at r w1) (at_lander l w2) (visible w0 w2) (equipped_for_imaging r)
    (on_board c r) (supports c m) (calibrated c r) (calibration_target c t) (visible_from t w0)
    (visible_from o1 w0) (visible_from o1 w1) (visible_from o2 w2))
  (:goal (and (communicated_image_data o1 m) (communicated_image_data o2 m))))"""


def tasks(name: str, rng: np.random.Generator) -> Iterator[str]:
    if name == "rover":
        yield HESITATION
    while True:
        yield generated(name, rng)


def generated(name: str, rng: np.random.Generator) -> str:
    """A small task, every other time with a goal that the generator would not give."""
    sizes = {size: int(rng.integers(a, b + 1)) for size, (a, b) in SIZES[name].items()}
    for size, of in (("cameras", "rovers"), ("instruments", "satellites")):
        if size in sizes:
            sizes[size] = max(sizes[size], sizes[of])
    ((_, text),) = domains.generate(name, seed=int(rng.integers(1_000_000)), sizes=sizes)
    return text if rng.random() < 0.5 else with_other_goal(name, text, rng)


def with_other_goal(name: str, text: str, rng: np.random.Generator) -> str:
    """The task with some of its goals and some atoms of a state far away."""
    domain = Domain.read(domains.path(name) / "domain.pddl")
    walk = Policy.applicable(domain).start(domain.parse_task(text))
    for _ in range(200):
        action = walk.sample(rng)
        if action is not None:
            walk.apply(action)
    goal: list[str] = []
    for atoms in (walk.task.goals, map(str, walk.state.atoms)):
        part = rng.random()
        goal += [atom for atom in atoms if rng.random() < part]
    before, _ = text.split("(:goal")  # the last section
    return f"{before}(:goal (and {' '.join(goal)})))"


def random_state(applicable: Policy, task: Task, rng: np.random.Generator) -> State:
    """Some of the atoms that a random walk makes true, whether or not they can be true together."""
    walk = applicable.start(task)
    seen = [walk.state.ids]
    while len(seen) < 200 and (action := walk.sample(rng)) is not None:
        walk.apply(action)
        seen.append(walk.state.ids)
    atoms = np.unique(np.concatenate(seen))
    return State(task, atoms[rng.random(len(atoms)) < rng.random()])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "variant"), [(name, v) for name in domains.names() for v in domains.variants(name)]
)
def test_policy_derives_what_clingo_derives(name: str, variant: str) -> None:
    rng = np.random.default_rng(1)
    domain_file = domains.path(name) / "domain.pddl"
    domain, domain_text = Domain.read(domain_file), DomainText.read(domain_file.read_text())
    # Without marks the rules that only networks read are evaluated, too.
    rule_file = domains.policy_path(name, variant).read_text()
    policy = Policy.parse(rule_file.replace("@network", ""), domain)
    assert policy.program is not None
    assert policy.network_rules == ()
    applicable = Policy.applicable(domain)
    rules = rules_text(policy.program, domain_text)
    derivations = np.zeros(len(policy.program.rules), dtype=int)
    seen = 0
    for number, text in enumerate(tasks(name, rng)):
        problem = ProblemText.read(text)
        task = domain.parse_task(text)
        assert atoms_of(task, task.initial) == problem.initial
        start = task.initial if number % 2 == 0 else random_state(applicable, task, rng)
        walk = policy.start(task, start)
        obedience = rng.choice([0, 0.8, 1])
        states, references = [], []
        while walk.steps < STEPS:
            facts = facts_text(
                domain_text, problem.objects, atoms_of(task, walk.state), problem.goal
            )
            expected = evaluate(policy.program, rules, facts)
            assert_equal(policy, task, walk.derivations(), expected)
            derivations += [heads.total() for heads in expected.heads]
            states.append(walk.state)
            references.append(expected)
            if rng.random() < obedience:
                action = walk.sample(rng)
            else:
                action = applicable.start(task, walk.state).sample(rng)
            if action is None:
                break
            walk.apply(action)
        from_scratch = policy.derivations(task, states)
        for position, expected in enumerate(references):
            assert_equal(policy, task, from_scratch, expected, position)
        seen += len(states)
        if seen >= STATES and (derivations.all() or seen >= 5 * STATES):
            break
    # A rule that is never satisfied has not been compared.
    unused = [rule for rule, n in zip(policy.program.rules, derivations, strict=True) if n == 0]
    assert not unused, unused[0].text
