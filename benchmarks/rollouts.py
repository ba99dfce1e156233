"""Steps per second of policies in rollouts, on one thread and on two.

A step chooses the derived action with the highest score and applies it. Rollouts lead from
different states of one task to its goal, inside the core. Each round starts without cached values;
values that the first rollouts compute serve the later ones. The exit code is 1 if a required speed
is missed.

    python benchmarks/rollouts.py
    python benchmarks/rollouts.py --blocks 100 --json
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np

from inputs import best, generated
from learning import learned_policy, untrained_policy
from planlog.network.settings import NetworkSettings, TemplateSettings
from planlog.pddl.task import State, Task
from planlog.policy.execution import execute
from planlog.policy.policy import Policy
from results import report, verdict

STEPS_PER_SECOND = 20_000  # with scores, on one core
TWO_THREADS = 1.8  # speedup
MOST_STEPS = 10_000  # of a rollout


@dataclass(frozen=True)
class Rate:
    """Steps per second of a policy in rollouts."""

    NAME = "rollouts"
    COLUMNS = ("rollouts", "steps", "steps/s, one thread", "required", "two threads", "", "met")

    policy: str
    steps: int  # of all rollouts of a round
    one_thread: float  # steps per second of CPU time
    two_threads: float  # speedup, by the clock
    required: int | None  # on one thread, with TWO_THREADS on two; None: for information

    @property
    def met(self) -> bool:
        if self.required is None:
            return True
        return self.one_thread >= self.required and self.two_threads >= TWO_THREADS

    def row(self) -> tuple[str, ...]:
        steps, rate = f"{self.steps:,}", f"{self.one_thread:,.0f}"
        speedup = f"× {self.two_threads:.2f}"
        if self.required is None:
            return self.policy, steps, rate, "", speedup, "", ""
        required = f"{self.required:,}", f"× {TWO_THREADS}"
        return self.policy, steps, rate, required[0], speedup, required[1], verdict(self.met)


def starts(rules: Policy, task: Task, number: int) -> list[State]:
    """Return states that random executions of the rules reach."""
    found = []
    for seed in range(number):
        actions = execute(rules, task, rng=np.random.default_rng(seed)).actions
        walk = rules.start(task)
        for action in actions[: len(actions) // 4]:
            walk.apply(action)
        found.append(walk.state)
    return found


class Rollouts:
    """A round of rollouts of a policy, with a search that has seen nothing of the task yet."""

    def __init__(self, policy: Policy, task: Task, begin: list[State]) -> None:
        self.policy = policy
        self.task = task
        self.begin = [state.ids for state in begin]
        self.steps = 0

    def __call__(self) -> float:
        """Run the rollouts and return the CPU seconds of their steps."""
        walk = self.policy.start(self.task).core
        seconds, self.steps = 0.0, 0
        for key, state in enumerate(self.begin):
            walk.start(state)
            start = time.thread_time()
            self.steps += walk.follow_policy(key, MOST_STEPS)
            seconds += time.thread_time() - start
        return seconds

    def by_the_clock(self, threads: int, rounds: int) -> float:
        """Return the seconds of some rounds on each of some threads."""

        def work() -> None:
            for _ in range(rounds):
                self()

        with ThreadPoolExecutor(threads) as pool:
            start = time.perf_counter()
            for done in [pool.submit(work) for _ in range(threads)]:
                done.result()
            return time.perf_counter() - start


def measure(blocks: int, number: int, repetitions: int, seconds_a_run: float) -> Iterator[Rate]:
    """Measure the rules alone, the shipped model, and a larger network."""
    name = "blocksworld"
    domain, learned = learned_policy(name)
    rules = learned.rules
    task = domain.parse_task(generated(name, {"blocks": blocks}, seed=1))
    begin = starts(rules, task, number)
    larger = untrained_policy(rules, TemplateSettings(layers=2), NetworkSettings(width=32))
    for title, policy, required in (
        ("rules alone", rules, None),
        ("shipped model", learned, STEPS_PER_SECOND),
        ("2 layers, width 32", larger, STEPS_PER_SECOND),
    ):
        rollouts = Rollouts(policy, task, begin)
        (seconds,) = best(repetitions, rollouts)
        by_the_clock = partial(rollouts.by_the_clock, rounds=round(seconds_a_run / seconds) + 1)
        one, two = best(repetitions, partial(by_the_clock, 1), partial(by_the_clock, 2))
        yield Rate(
            f"{title}, {blocks} blocks",
            rollouts.steps,
            rollouts.steps / seconds,
            2 * one / two,
            required,
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--blocks", type=int, default=30)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--no-fail", action="store_true", help="exit with 0 whatever the speed")
    parser.add_argument("--quick", action="store_true", help="a few rollouts, to test the script")
    arguments = parser.parse_args()
    amount = (2, 1, 0.01) if arguments.quick else (20, 7, 0.3)
    rates = list(measure(arguments.blocks, *amount))
    may_fail = arguments.no_fail or arguments.quick
    return report(rates, as_json=arguments.json, may_fail=may_fail)


if __name__ == "__main__":
    sys.exit(main())
