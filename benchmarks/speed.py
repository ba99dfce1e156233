"""Speed of Planlog, compared with other implementations and with itself.

Both sides of a ratio are measured in the same run, on the same inputs, in turns, and the best of
several repetitions counts: CPU time of the working thread, to which other work on the machine can
only add. The exit code is 1 if a required speed is missed.

    python benchmarks/speed.py
    python benchmarks/speed.py --only read step --json
"""

from __future__ import annotations

import argparse
import sys

from choices import measure_choices, measure_search
from inputs import FULL, QUICK
from learning import measure_models, measure_score, measure_training
from measures import measure_reading, measure_scratch, measure_space, measure_step
from plans import measure_growth, measure_learned_plans, measure_plans
from results import report
from values import measure_aggregates, measure_distances, measure_nearest

MEASURES = {
    "read": measure_reading,
    "scratch": measure_scratch,
    "step": measure_step,
    "space": measure_space,
    "plans": measure_plans,
    "growth": measure_growth,
    "train": measure_training,
    "models": measure_models,
    "score": measure_score,
    "learned": measure_learned_plans,
    "distances": measure_distances,
    "nearest": measure_nearest,
    "aggregates": measure_aggregates,
    "choices": measure_choices,
    "search": measure_search,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=MEASURES, default=tuple(MEASURES))
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--no-fail", action="store_true", help="exit with 0 whatever the speed")
    parser.add_argument("--quick", action="store_true", help="tiny tasks, to test the script")
    arguments = parser.parse_args()
    sizes = QUICK if arguments.quick else FULL
    results = [r for part, f in MEASURES.items() if part in arguments.only for r in f(sizes)]
    may_fail = arguments.no_fail or arguments.quick
    return report(results, as_json=arguments.json, may_fail=may_fail)


if __name__ == "__main__":
    sys.exit(main())
