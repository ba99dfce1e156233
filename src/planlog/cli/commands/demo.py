"""`planlog demo`: the main job on all shipped domains, from easy to hard."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Mapping

import click

from planlog import domains
from planlog.api.solve import solve
from planlog.api.validate import validate
from planlog.cli import options
from planlog.cli.command import Command
from planlog.cli.console import emit
from planlog.cli.exit_codes import ExitCode
from planlog.network.model_file import Model
from planlog.network.settings import PRESETS
from planlog.pddl.task import Domain, Task
from planlog.policy.execution import PlanResult
from planlog.policy.policy import Policy
from planlog.statespace.labels import PAPER_STATES
from planlog.statespace.space import expand

HELP = """Solve tasks of each shipped domain with a few rules, then learn to solve them well.

The first part generates tasks from the smallest of the split "easy" to the largest of "hard",
solves them with the rules of their domain, and validates the plans. The second part trains a
model on tiny tasks of one domain, and compares its plans with those of the rules alone and with
shortest plans.

Examples:

    planlog demo
    planlog demo --seed 1

Exit codes: 0 all tasks were solved and all plans are valid, 12 otherwise, 73 the output
cannot be written.
"""

VALID = "valid"
ROW = "{:<12}{:>6}   {:<7}{:>9}{:>8}{:>9}{:>9}   {}"
# Split, and whether its first or last task.
SIZES = [("easy", 0), ("easy", -1), ("medium", -1), ("hard", 0), ("hard", -1)]

# In the second part, tasks are so small that their shortest plans can be found.
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
        policy = _shipped_rules(name)
        heading = [name, len(policy.program.rules) if policy.program else 0]
        for split, which in SIZES:
            task = _generate(policy, name, seed, domains.split_sizes(name, split)[which])
            result, verdict = _solve(policy, task, seed)
            sizes = [split, len(task.objects), len(task.goals), len(result.actions)]
            emit(ROW.format(*heading, *sizes, f"{result.seconds:.2f}", verdict))
            heading = ["", ""]
            tasks += 1
            failed += verdict != VALID
    total = f"{failed} NOT solved by a valid plan" if failed else "all solved, all plans valid"
    emit(f"\n{tasks} tasks in {time.monotonic() - start:.1f} s: {total}\n")
    failed += not _learn(seed)
    return ExitCode.NO_PLAN if failed else ExitCode.SUCCESS


def _shipped_rules(name: str) -> Policy:
    domain = Domain.read(domains.path(name) / "domain.pddl")
    return Policy.read(domains.policy_path(name), domain)


def _generate(policy: Policy, name: str, seed: int, sizes: Mapping[str, int]) -> Task:
    ((_, text),) = domains.generate(name, seed=seed, sizes=sizes)
    return policy.domain.parse_task(text)


def _solve(policy: Policy, task: Task, seed: int) -> tuple[PlanResult, str]:
    """Solve a task, and return the result with the validator's verdict, or the outcome."""
    result = solve(task, policy, seed=seed, eliminate=False, time_limit=60)
    if result.plan is None:
        return result, result.outcome.value
    return result, VALID if validate(task, result.plan).valid else "NOT VALID"


def _learn(seed: int) -> bool:
    """Train on tiny Blocksworld tasks, compare plan lengths, and return whether all are valid."""
    rules = _shipped_rules("blocksworld")
    learned = _train(rules, seed)
    emit(LEARNING_ROW.format("blocksworld", "blocks", "rules alone", "with the model", "optimum"))
    rows = []
    verdicts: set[str] = set()
    for number, blocks in enumerate(LEARNING_BLOCKS, start=seed + 100):
        task = _generate(rules, "blocksworld", number, {"blocks": blocks})
        runs = [*(_solve(rules, task, s) for s in range(3)), _solve(learned, task, 0)]
        verdicts.update(verdict for _, verdict in runs)
        *sampled, best = (len(result.actions) for result, _ in runs)
        optimum = int(expand(task, limit=MOST_STATES, stop_at_goal=True).goal_distances[0])
        rows.append((sum(sampled) / len(sampled), best, optimum))
        emit(LEARNING_ROW.format("", blocks, f"{rows[-1][0]:.1f}", best, optimum))
    alone, with_model, optimum = (sum(column) for column in zip(*rows, strict=True))
    emit(LEARNING_ROW.format("together", "", f"{alone:.1f}", with_model, optimum))
    return verdicts == {VALID}


def _train(rules: Policy, seed: int) -> Policy:
    """Learn a policy from tiny tasks; without torch, return the shipped one."""
    if importlib.util.find_spec("torch") is None:
        emit("Training needs torch (pip install 'planlog[train]'); this is the shipped model:\n")
        file = domains.model_path("blocksworld")
        assert file is not None
        return Model.read(file).policy(rules.domain)
    # Torch, which learning imports, may not be installed.
    from planlog.api.learn import learn

    texts = domains.generate("blocksworld", seed=seed, split="training")
    tasks = [rules.domain.parse_task(text) for _, text in texts]
    start = time.monotonic()
    settings = PRESETS["default"].changed(
        iterations=1,
        states_per_iteration=300,
        ensemble_size=1,
        max_states=PAPER_STATES["blocksworld"],
    )
    model = learn(tasks, rules, settings, seed=seed)
    emit(
        f"Learned in {time.monotonic() - start:.1f} s which derived actions are best, from "
        f"{model.training['labelled_states']:,} labelled states of small tasks\n"
    )
    return model.policy(rules.domain)
