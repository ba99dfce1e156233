"""`planlog demo`: the main job on all shipped domains, from easy to hard."""

from __future__ import annotations

import importlib.util
import time
from pathlib import Path

import click
import numpy as np

from planlog import domains
from planlog.cli import options
from planlog.cli.command import Command
from planlog.cli.console import emit
from planlog.cli.exit_codes import ExitCode
from planlog.network.model_file import Model
from planlog.network.settings import PRESETS
from planlog.pddl.task import Domain, Task
from planlog.policy.execution import execute
from planlog.policy.policy import Policy
from planlog.statespace.labels import PAPER_STATES
from planlog.statespace.space import expand
from planlog.validation import validate

HELP = """Solve tasks of each shipped domain with a few rules, then learn to solve them well.

First, tasks are generated that grow from the smallest of the split "easy" to the largest of
"hard"; the rules of a domain solve them all, and the plans are validated. Then a model is
trained on tiny tasks of one domain, and its plans are set beside those of the rules alone and
the shortest ones there are.

Examples:

    planlog demo
    planlog demo --seed 1

Exit codes: 0 all tasks were solved and all plans are valid, 12 otherwise.
"""

ROW = "{:<12}{:>6}   {:<7}{:>9}{:>8}{:>9}{:>9}   {}"
# Split, and whether its first or last task.
SIZES = [("easy", 0), ("easy", -1), ("medium", -1), ("hard", 0), ("hard", -1)]

# Of the second part: the tasks are so small that their shortest plans can be found.
LEARNING_ROW = "{:<12}{:>8}{:>14}{:>16}{:>12}"
LEARNING_BLOCKS = [5, 6, 6, 7, 7, 7, 8, 8]
MOST_STATES = 1_000_000


@click.command("demo", cls=Command, help=HELP)
@options.seed
def command(seed: int) -> int:
    emit("Planlog: the same rules solve the tasks of a domain, whatever their size\n")
    emit(ROW.format("domain", "rules", "task", "objects", "goals", "actions", "seconds", "plan"))
    start = time.monotonic()
    tasks = failed = 0
    for name in domains.names():
        domain = Domain.read(domains.path(name) / "domain.pddl")
        policy = Policy.read(domains.policy_path(name), domain)
        heading = [name, len(policy.program.rules) if policy.program else 0]
        for split, which in SIZES:
            cells, is_valid = _row(domain, policy, name, split, which, seed)
            emit(ROW.format(*heading, *cells))
            heading = ["", ""]
            tasks += 1
            failed += not is_valid
    verdict = f"{failed} NOT solved by a valid plan" if failed else "all solved, all plans valid"
    emit(f"\n{tasks} tasks in {time.monotonic() - start:.1f} s: {verdict}\n")
    failed += not _learn(seed)
    return ExitCode.NO_PLAN if failed else ExitCode.SUCCESS


def _row(
    domain: Domain, policy: Policy, name: str, split: str, which: int, seed: int
) -> tuple[list[str], bool]:
    """Generate, solve and validate one task; its cells of the table, and whether all is well."""
    sizes = domains.split_sizes(name, split)[which]
    ((_, text),) = domains.generate(name, seed=seed, sizes=sizes)
    start = time.monotonic()
    task = domain.parse_task(text)
    result = execute(policy, task, rng=np.random.default_rng(seed), time_limit=60)
    seconds = time.monotonic() - start
    cells = [split, str(len(task.objects)), str(len(task.goals))]
    if not result.solved:
        return [*cells, "-", f"{seconds:.2f}", result.outcome.value], False
    domain_text = (domains.path(name) / "domain.pddl").read_text(encoding="utf-8")
    valid = validate(domain_text, text, str(result.plan)).valid
    return [
        *cells,
        str(len(result.actions)),
        f"{seconds:.2f}",
        "valid" if valid else "NOT VALID",
    ], valid


def _learn(seed: int) -> bool:
    """Train on tiny Blocksworld tasks, and compare plan lengths; whether all plans are valid."""
    folder = domains.path("blocksworld")
    domain = Domain.read(folder / "domain.pddl")
    rules = Policy.read(domains.policy_path("blocksworld"), domain)
    learned = _train(rules, seed)
    emit(LEARNING_ROW.format("blocksworld", "blocks", "rules alone", "with the model", "optimum"))
    totals = [0.0, 0.0, 0.0]
    good = True
    for number, blocks in enumerate(LEARNING_BLOCKS):
        ((_, text),) = domains.generate(
            "blocksworld", seed=seed + 100 + number, sizes={"blocks": blocks}
        )
        task = domain.parse_task(text)
        drawn = [_plan(rules, task, text, folder, s) for s in range(3)]
        chosen, valid = _plan(learned, task, text, folder, 0)
        optimum = int(expand(task, limit=MOST_STATES, stop_at_goal=True).goal_distances[0])
        row = [sum(length for length, _ in drawn) / len(drawn), chosen, optimum]
        good = good and valid and all(drawn_valid for _, drawn_valid in drawn)
        totals = [total + value for total, value in zip(totals, row, strict=True)]
        emit(LEARNING_ROW.format("", blocks, f"{row[0]:.1f}", chosen, optimum))
    emit(LEARNING_ROW.format("together", "", *(f"{t:.1f}" if t % 1 else int(t) for t in totals)))
    return good


def _train(rules: Policy, seed: int) -> Policy:
    """A policy learned from tiny tasks; the shipped one where training is not installed."""
    if importlib.util.find_spec("torch") is None:
        emit("Training needs torch (pip install 'planlog[train]'); this is the shipped model:\n")
        file = domains.model_path("blocksworld")
        assert file is not None
        return Model.read(file).policy(rules.domain)
    # Torch, which learning imports, may not be installed.
    from planlog.learning.learn import learn

    texts = domains.generate("blocksworld", seed=seed, split="training")
    tasks = [rules.domain.parse_task(text) for _, text in texts]
    start = time.monotonic()
    settings = PRESETS["default"].changed(
        iterations=1,
        states_per_iteration=300,
        ensemble_size=1,
        max_states=PAPER_STATES["blocksworld"],
    )
    model = learn(rules, tasks, settings, seed=seed).model
    made_from = model.training
    emit(
        f"Learned in {time.monotonic() - start:.1f} s which of the allowed actions are best, from "
        f"{made_from['labelled_states']:,} labelled states of small tasks\n"
    )
    return model.policy(rules.domain)


def _plan(policy: Policy, task: Task, text: str, folder: Path, seed: int) -> tuple[int, bool]:
    """The length of a plan, and whether it is one."""
    result = execute(policy, task, rng=np.random.default_rng(seed), time_limit=60)
    domain_text = (folder / "domain.pddl").read_text(encoding="utf-8")
    valid = result.solved and validate(domain_text, text, str(result.plan)).valid
    return len(result.actions), valid
