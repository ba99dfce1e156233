"""`planlog experiment`: policies, learned policies and planners on many tasks → results."""

from __future__ import annotations

import importlib.util
import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planlog.cli.exits import (
    ExitCode,
    bad_usage,
    catch_signals,
    emit,
    emit_json,
    say,
    signal_code,
    user_errors,
)
from planlog.cli.progress import RunsProgress
from planlog.cli.wording import duration, many
from planlog.settings import preset

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from planlog.experiment.configurations import Configuration, Policy
    from planlog.experiment.suite import Suite
    from planlog.results import Record

HELP = """Run policies and planners on many tasks, and keep a record of every run.

Without further options this is the experiment of the paper, on generated tasks: four domains,
easy and medium tasks, the rules with three seeds, networks of 1 and 2 layers and widths 8 and 16
that are trained with three seeds, LAMA's first plan, and the optimum. `planlog report` makes
tables and figures of the results, also before all is done.

Killed at any moment and started again, it goes on where it was. A run that fails is a record as
any other. Other options add other runs to the same results.

**Examples**

    planlog experiment --out results
    planlog experiment --out results --tasks ipc2023-learning --splits easy,medium,hard
    planlog experiment --out results --domains ferry --planners lama,exact --anytime-limit 10
    planlog experiment --out results --layers none --shipped --improve 10
    planlog experiment --out /shared/results --cluster tcp://10.0.0.1:8786

**Exit codes**: 0 all runs are done (solved or not), 12 some have failed, 31 bad input, 34
unsupported PDDL, 36 bad usage, 130 or 143 ended by Ctrl-C or SIGTERM.
"""

EXACT = "exact"


def experiment(
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="Results.", show_default=False)
    ],
    tasks: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="IPC-style folder of domains to use instead of generated tasks."
        ),
    ] = None,
    generate: Annotated[
        bool, typer.Option("--generate", help="Use generated tasks (the default).")
    ] = False,
    domains: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Domains; all by default.")
    ] = None,
    splits: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="`easy,medium`, or all in the folder of --tasks."),
    ] = None,
    count: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Tasks of each split; 30 by default.")
    ] = None,
    task_seed: Annotated[int, typer.Option(min=0, help="Of the generated tasks.")] = 0,
    seeds: Annotated[
        int, typer.Option(metavar="N", min=1, help="Of rules and of trainings: 0 to N - 1.")
    ] = 3,
    layers: Annotated[
        str, typer.Option(metavar="LS", help="Layers of the networks, or `none`: no networks.")
    ] = "1,2",
    widths: Annotated[str, typer.Option(metavar="HS", help="Widths of the networks.")] = "8,16",
    settings: Annotated[
        str, typer.Option(metavar="NAMES", help="Settings of training.")
    ] = "paper,small",
    planners: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="lama-first, lama, lmcut, symk, scorpion, exact (ours), or `none`.",
        ),
    ] = "lama-first,exact",
    shipped: Annotated[
        bool, typer.Option("--shipped", help="Also the models that come with Planlog.")
    ] = False,
    prune: Annotated[
        bool,
        typer.Option("--prune", help="Also the plans of all policies without needless actions."),
    ] = False,
    improve: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            min=0.1,
            help="Also learned policies whose plans are improved so long.",
        ),
    ] = None,
    improve_rules: Annotated[
        bool, typer.Option("--improve-rules", help="Improve the plans of the rules as long.")
    ] = False,
    scorpion: Annotated[
        Path | None, typer.Option(metavar="FILE", envvar="SCORPION", help="Scorpion's driver.")
    ] = None,
    time_limit: Annotated[
        float, typer.Option(metavar="SECONDS", min=0.1, help="Of each run.")
    ] = 1800.0,
    anytime_limit: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", min=0.1, help="Of planners that go on improving."),
    ] = None,
    training_limit: Annotated[
        float, typer.Option(metavar="SECONDS", min=0.1, help="Of each training.")
    ] = 3600.0,
    memory_limit: Annotated[int, typer.Option(metavar="MB", min=1, help="Of each run.")] = 8192,
    workers: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Runs at once; one a processor.")
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Dask scheduler to give the runs to.")
    ] = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Repeat runs that have failed.")
    ] = False,
    keep_plans: Annotated[
        bool, typer.Option("--keep-plans", help="Keep every plan in DIR/plans.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    if tasks is not None and generate:
        raise bad_usage("--tasks and --generate are two sources of tasks: give one of them")
    if cluster is not None and workers is not None:
        raise bad_usage("--workers is for this machine: a cluster has workers of its own")
    if improve_rules and improve is None:
        raise bad_usage("--improve-rules: --improve has to say for how long")
    trained = [] if layers == "none" else _networks(layers, widths, settings)
    _need_packages(bool(trained), _words(planners), cluster)
    with user_errors(as_json), catch_signals() as signals:
        from planlog.experiment import suite
        from planlog.experiment.configurations import Pruned
        from planlog.experiment.description import describe
        from planlog.experiment.jobs import plan_jobs
        from planlog.experiment.runner import run
        from planlog.processes import Limits

        start = time.monotonic()
        out.mkdir(parents=True, exist_ok=True)
        chosen: list[Suite]
        if tasks is not None:
            chosen = suite.find(tasks, _words(domains), _words(splits), count)
        else:
            chosen = _generated(out / "tasks", domains, splits, task_seed, count)
        limit = anytime_limit or time_limit
        configurations = {}
        for each in chosen:
            policies = list(_policies(each, trained, shipped))
            configurations[each.domain] = [
                *policies,
                *(map(Pruned, policies) if prune else ()),
                *_improved(policies, improve, improve_rules),
                *_planners(each, _words(planners), limit, scorpion),
            ]
        jobs = list(
            plan_jobs(
                out,
                chosen,
                configurations,
                seeds=seeds,
                plan_limits=Limits(time_limit, memory_limit * 1024**2),
                training_limits=Limits(training_limit, memory_limit * 1024**2),
                options={
                    "keep_plans": keep_plans,
                    "scorpion": None if scorpion is None else str(scorpion.resolve()),
                },
            )
        )
        done = _records(out)
        describe(out, shlex.join(["planlog", *sys.argv[1:]]), chosen)
        try:
            with (
                _executor(cluster, workers) as (executor, processors),
                RunsProgress(jobs, done, processors) as progress,
            ):
                records = run(
                    jobs,
                    done,
                    out.resolve(),
                    executor,
                    retry_failed=retry_failed,
                    on_record=progress.on_record,
                )
        except KeyboardInterrupt:
            say("planlog: interrupted: the same command goes on where it was")
            raise typer.Exit(signal_code(signals)) from None
        everything = _records(out)
        outcome = _outcome(jobs, everything, len(records), time.monotonic() - start)
    if as_json:
        emit_json(outcome)
    else:
        emit(_summary(outcome, out))
    raise typer.Exit(ExitCode.NO_PLAN if outcome["failed"] else ExitCode.SUCCESS)


experiment.__doc__ = HELP


def _words(text: str | None) -> list[str]:
    """`a,b` as a list; `none` and nothing as an empty one."""
    words = [word.strip() for word in (text or "").split(",") if word.strip()]
    return [] if words == ["none"] else list(dict.fromkeys(words))


def _numbers(text: str, option: str, least: int) -> list[int]:
    words = _words(text)
    if not words or any(not word.isdecimal() or int(word) < least for word in words):
        raise bad_usage(
            f"{option}: expected whole numbers from {least} on, such as 1,2; got {text}"
        )
    return [int(word) for word in words]


def _networks(layers: str, widths: str, settings: str) -> list[tuple[int, int, str]]:
    for name in _words(settings):
        try:
            preset(name)
        except ValueError as error:
            raise bad_usage(f"--settings: {error}") from None
    return [
        (layer, width, name)
        for name in _words(settings)
        for layer in _numbers(layers, "--layers", 0)
        for width in _numbers(widths, "--widths", 1)
    ]


def _need_packages(trains: bool, planners: list[str], cluster: str | None) -> None:
    """Say at once what is not installed."""
    from planlog.baselines.planners import PLANNERS

    for name in planners:
        if name != EXACT and name not in PLANNERS:
            known = ", ".join((*PLANNERS, EXACT))
            raise bad_usage(f"--planners: expected some of {known}; got {name}")
    needed = [
        (trains, "torch", "train", "training (--layers none leaves it out)"),
        (EXACT in planners, "highspy", "baselines", "the exact methods"),
        (cluster is not None, "distributed", "cluster", "--cluster"),
    ]
    for used, module, extra, purpose in needed:
        if used and importlib.util.find_spec(module) is None:
            raise bad_usage(f"{purpose}: needs {module}: pip install 'planlog[{extra}]'")


def _generated(
    folder: Path, names: str | None, splits: str | None, seed: int, count: int | None
) -> list[Suite]:
    from planlog import domains
    from planlog.experiment import suite

    return [
        suite.generate(folder, name, _words(splits) or ["easy", "medium"], seed=seed, count=count)
        for name in _words(names) or domains.names()
    ]


def _policies(
    suite: Suite, networks: list[tuple[int, int, str]], shipped: bool
) -> Iterator[Policy]:
    """The policies that are run on the tasks of a domain, in the order in which it is begun."""
    from planlog.experiment.configurations import Learned, Rules, Shipped
    from planlog.labels import PAPER_STATES
    from planlog.task import Domain

    if networks and not suite.training:
        raise bad_usage(
            f"{suite.domain_file.parent} has no training tasks: --layers none trains nothing"
        )
    states = PAPER_STATES.get(Domain.read(suite.domain_file).name)
    for layers, width, settings in networks:
        yield Learned(layers, width, settings, states)
    yield Rules()
    if shipped and suite.model_file is not None:
        yield Shipped()


def _improved(
    policies: list[Policy], seconds: float | None, with_rules: bool
) -> Iterator[Configuration]:
    """The same policies with plans that are improved."""
    from planlog.experiment.configurations import Improved, Rules

    for policy in policies:
        if seconds is not None and (with_rules or not isinstance(policy, Rules)):
            yield Improved(policy, seconds)


def _planners(
    suite: Suite, names: list[str], anytime_limit: float, scorpion: Path | None
) -> Iterator[Configuration]:
    """Planners and exact methods for the tasks of a domain."""
    from planlog.baselines.exact import exact
    from planlog.baselines.planners import planner
    from planlog.experiment.configurations import Exact, Planner
    from planlog.task import Domain

    for wanted in names:
        if wanted == EXACT:
            if exact(Domain.read(suite.domain_file).name) is not None:
                yield Exact()
        else:
            found = planner(wanted, scorpion=scorpion)  # an error now, if it is not there
            yield Planner(wanted, anytime_limit if found.anytime else None)


def _records(out: Path) -> dict[str, Record]:
    from planlog.results import ResultsError, read_records

    try:
        return {record.run: record for record in read_records(out)}
    except ResultsError:
        if any((out / "records").glob("*.jsonl")):
            raise
        return {}


@contextmanager
def _executor(cluster: str | None, workers: int | None) -> Iterator[tuple[Executor, int]]:
    """Where runs are done, and how many at once."""
    from planlog.experiment.cluster import cluster_executor
    from planlog.experiment.runner import local_executor
    from planlog.parallel import available_processors

    if cluster is not None:
        with cluster_executor(cluster) as (executor, number):
            yield executor, number
    else:
        number = workers or available_processors()
        with local_executor(number) as executor:
            yield executor, number


def _outcome(
    jobs: list[Any], records: dict[str, Record], new: int, seconds: float
) -> dict[str, Any]:
    from planlog.results import Status

    own = [records[job.run] for job in jobs if job.run in records]
    counts = {status.value: sum(r.status is status for r in own) for status in Status}
    bad = [r for r in own if r.status in (Status.FAILED, Status.INVALID)]
    return {
        "runs": len(jobs),
        "new": new,
        "left_out": len(jobs) - len(own),
        "failed": len(bad),
        "outcomes": {name: number for name, number in counts.items() if number},
        "first_failure": f"{bad[0].planner} on {bad[0].domain} {bad[0].task}: {bad[0].message}"
        if bad
        else None,
        "seconds": round(seconds, 3),
    }


def _summary(outcome: dict[str, Any], out: Path) -> str:
    counts = ", ".join(f"{number:,} {name}" for name, number in outcome["outcomes"].items())
    lines = [
        f"{many(outcome['runs'], 'run')}, {outcome['new']:,} of them now, "
        f"in {duration(outcome['seconds'])}: {counts}"
    ]
    if outcome["left_out"]:
        lines.append(f"{many(outcome['left_out'], 'run')} left out, since their training failed")
    if outcome["first_failure"]:
        lines.append(f"first failure: {outcome['first_failure'].splitlines()[0]}")
        lines.append("--retry-failed repeats what has failed")
    lines.append(f"results in {out}; tables and figures: planlog report {out}")
    return "\n".join(lines)
