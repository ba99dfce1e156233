"""How many steps a second a policy takes in rollouts, on one thread and on two.

A step is: choose the best of the derived actions by the network's scores, and apply it. Rollouts
go from different states of one task to its goal, in the core, without a word to Python in between.
At first nothing is known of the task but the weights; what the first rollouts compute serves the
later ones.
Exits with 1 if a required speed is missed.

    python benchmarks/rollouts.py
    python benchmarks/rollouts.py --blocks 100 --json
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial

import numpy as np
from rich.console import Console
from rich.table import Table

from inputs import best, generated
from learning import learned_policy, untrained_policy
from planlog.network.settings import NetworkSettings, TemplateSettings
from planlog.pddl.task import State, Task
from planlog.policy.execution import execute
from planlog.policy.policy import Policy
from speed import verdict

STEPS_A_SECOND = 20_000  # with scores, on one core
TWO_THREADS = 1.8  # times as many as one
MOST_STEPS = 10_000  # of a rollout


@dataclass(frozen=True)
class Rate:
    """Steps a second of a policy in rollouts."""

    policy: str
    steps: int  # of all rollouts of a round
    one_thread: float  # by processor time
    two_threads: float  # times as many as one, by the clock
    required: int | None  # on one thread, with linear use of a second; None: for information

    @property
    def met(self) -> bool:
        if self.required is None:
            return True
        return self.one_thread >= self.required and self.two_threads >= TWO_THREADS


def starts(rules: Policy, task: Task, number: int) -> list[State]:
    """States that random executions of the rules reach."""
    found = []
    for seed in range(number):
        actions = execute(rules, task, rng=np.random.default_rng(seed)).actions
        walk = rules.start(task)
        for action in actions[: len(actions) // 4]:
            walk.apply(action)
        found.append(walk.state)
    return found


class Rollouts:
    """One round of them, for a policy that meets the task for the first time."""

    def __init__(self, policy: Policy, task: Task, begin: list[State]) -> None:
        self.policy = policy
        self.task = task
        self.begin = [state.ids for state in begin]
        self.steps = 0

    def __call__(self) -> float:
        """Seconds of processor time in which steps were taken."""
        walk = self.policy.start(self.task).core
        seconds, self.steps = 0.0, 0
        for key, state in enumerate(self.begin):
            walk.start(state)
            start = time.thread_time()
            self.steps += walk.follow_policy(key, MOST_STEPS)
            seconds += time.thread_time() - start
        return seconds

    def by_the_clock(self, threads: int, rounds: int) -> float:
        """Seconds for some rounds on each of some threads."""

        def work() -> None:
            for _ in range(rounds):
                self()

        with ThreadPoolExecutor(threads) as pool:
            start = time.perf_counter()
            for done in [pool.submit(work) for _ in range(threads)]:
                done.result()
            return time.perf_counter() - start


def measure(blocks: int, number: int, repetitions: int, seconds_a_run: float) -> Iterator[Rate]:
    """The rules alone, the shipped model, and a larger network."""
    name = "blocksworld"
    domain, learned = learned_policy(name)
    rules = learned.rules
    task = domain.parse_task(generated(name, {"blocks": blocks}, seed=1))
    begin = starts(rules, task, number)
    larger = untrained_policy(rules, TemplateSettings(layers=2), NetworkSettings(width=32))
    for title, policy, required in (
        ("rules alone", rules, None),
        ("shipped model", learned, STEPS_A_SECOND),
        ("2 layers, width 32", larger, STEPS_A_SECOND),
    ):
        rollouts = Rollouts(policy, task, begin)
        (seconds,) = best(repetitions, rollouts)
        by_the_clock = partial(rollouts.by_the_clock, rounds=round(seconds_a_run / seconds) + 1)
        one, two = best(repetitions, partial(by_the_clock, 1), partial(by_the_clock, 2))
        yield Rate(title, rollouts.steps, rollouts.steps / seconds, 2 * one / two, required)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--blocks", type=int, default=30)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--no-fail", action="store_true", help="exit with 0 whatever the speed")
    parser.add_argument("--quick", action="store_true", help="a few rollouts: does it work?")
    arguments = parser.parse_args()
    amount = (2, 1, 0.01) if arguments.quick else (20, 7, 0.3)
    rates = list(measure(arguments.blocks, *amount))
    if arguments.json:
        found = [{**asdict(rate), "met": rate.met} for rate in rates]
        print(json.dumps({"blocks": arguments.blocks, "rollouts": found}, indent=2))
    else:
        table = Table(
            f"rollouts, {arguments.blocks} blocks",
            "steps",
            "steps/s, one thread",
            "required",
            "on two threads",
            "required",
            "met",
        )
        for rate in rates:
            table.add_row(
                rate.policy,
                f"{rate.steps:,}",
                f"{rate.one_thread:,.0f}",
                "" if rate.required is None else f"{rate.required:,}",
                f"× {rate.two_threads:.2f}",
                "" if rate.required is None else f"× {TWO_THREADS}",
                "" if rate.required is None else verdict(rate.met),
            )
        Console(width=None if sys.stdout.isatty() else 140).print(table)
    return 0 if all(r.met for r in rates) or arguments.no_fail or arguments.quick else 1


if __name__ == "__main__":
    sys.exit(main())
