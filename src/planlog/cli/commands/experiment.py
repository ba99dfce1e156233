"""`planlog experiment`: policies, learned policies and planners on many tasks → results."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from planlog import domains as shipped_domains
from planlog.cli import options
from planlog.cli.command import BadUsage, Command
from planlog.cli.console import emit, emit_json, say
from planlog.cli.exit_codes import ExitCode
from planlog.cli.formatting import duration, many
from planlog.cli.progress import RunsProgress
from planlog.cli.resolve import require
from planlog.cli.signals import Signals
from planlog.experiment import suite
from planlog.experiment.baselines.exact import exact_method
from planlog.experiment.baselines.installed import PLANNERS, planner
from planlog.experiment.cluster import cluster_workers
from planlog.experiment.configurations import (
    Configuration,
    Exact,
    ExternalPlanner,
    Learned,
    PolicyConfiguration,
    Rules,
    Shipped,
)
from planlog.experiment.description import describe
from planlog.experiment.jobs import JobOptions, plan_jobs
from planlog.experiment.process_limits import Limits
from planlog.experiment.records import Record, ResultsError, Status, read_records
from planlog.experiment.runner import run
from planlog.experiment.suite import Suite
from planlog.experiment.worker_pool import Workers, local_workers
from planlog.network.settings import PRESETS, preset
from planlog.parallel import available_processors
from planlog.pddl.task import Domain
from planlog.statespace.labels import PAPER_STATES

HELP = """Run policies and planners on many tasks, and keep a record of every run.

Without further options this is the experiment of the paper, on generated tasks: four domains,
easy and medium tasks, the rules with three seeds, networks of 1 and 2 layers and widths 8 and 16
that are trained with three seeds, LAMA's first plan, and the optimum. `planlog report` makes
tables and figures of the results, also before all is done.

Killed at any moment and started again, it goes on where it was. A run that fails is a record as
any other. Other options add other runs to the same results.

Examples:

    planlog experiment --out results
    planlog experiment --out results --tasks ipc2023-learning --splits easy,medium,hard
    planlog experiment --out results --domains ferry --planners lama,exact --anytime-limit 10
    planlog experiment --out results --layers none --shipped --improve 10
    planlog experiment --out /shared/results --cluster tcp://10.0.0.1:8786

Exit codes: 0 all runs are done (solved or not), 12 some have failed, 31 bad input, 34
unsupported PDDL, 36 bad usage, 130 or 143 ended by Ctrl-C or SIGTERM.
"""

EXACT = "exact"


@click.command("experiment", cls=Command, help=HELP)
@options.file("-o", "--out", metavar="DIR", help="Folder for records.", required=True)
@options.file("--tasks", metavar="DIR", help="IPC-style folder of domains and tasks.")
@options.flag("--generate", help="Generated tasks (the default).")
@options.names("--domains", shipped_domains.names(), "Domains.", show_default="all")
@options.names(
    "--splits", shipped_domains.SPLITS, "Splits.", show_default="easy,medium, or all of --tasks"
)
@options.number("--count", "Tasks per split.", show_default="30")
@options.number("--task-seed", "Random seed of generated tasks.", least=0, default=0)
@options.number("--seeds", "Number of seeds of rules and trainings.", default=3)
@click.option("--layers", metavar="LIST", default="1,2", help="Layers of the networks, or none.")
@click.option("--widths", metavar="LIST", default="8,16", help="Widths of the networks.")
@options.names("--settings", PRESETS, "Training settings.", default="paper,small")
@options.names(
    "--planners",
    (*PLANNERS, EXACT, "none"),
    "Planners: lama-first, lama, lmcut, symk, scorpion, exact (Planlog's own), or none.",
    default="lama-first,exact",
)
@options.flag("--shipped", help="Runs of the shipped models too.")
@options.flag("--eliminate", help="Runs with redundant actions eliminated too.")
@options.seconds(
    "--improve", "Runs of learned policies whose plans are improved for this time too.", least=0.1
)
@options.flag("--improve-rules", help="Improved runs of the rules too.")
@options.file("--scorpion", help="Driver script of Scorpion.", envvar="SCORPION")
@options.seconds("--time-limit", "Time limit of a run.", least=0.1, default=1800.0)
@options.seconds("--anytime-limit", "Time limit of anytime planners.", least=0.1)
@options.seconds("--training-limit", "Time limit of a training.", least=0.1, default=3600.0)
@options.number("--memory-limit", "Memory limit of a run.", metavar="MB", default=8192)
@options.number("--workers", "Number of runs at a time.", show_default="number of processors")
@click.option("--cluster", metavar="ADDRESS", help="Dask scheduler for the runs.")
@options.flag("--retry-failed", help="Repetition of failed runs.")
@options.flag("--keep-plans", help="Every plan in DIR/plans.")
@options.as_json
def command(
    out: Path,
    tasks: Path | None,
    generate: bool,
    domains: str | None,
    splits: str | None,
    count: int | None,
    task_seed: int,
    seeds: int,
    layers: str,
    widths: str,
    settings: str,
    planners: str,
    shipped: bool,
    eliminate: bool,
    improve: float | None,
    improve_rules: bool,
    scorpion: Path | None,
    time_limit: float,
    anytime_limit: float | None,
    training_limit: float,
    memory_limit: int,
    workers: int | None,
    cluster: str | None,
    retry_failed: bool,
    keep_plans: bool,
    as_json: bool,
) -> int:
    if tasks is not None and generate:
        raise BadUsage("--tasks and --generate are two sources of tasks: give one of them")
    if cluster is not None and workers is not None:
        raise BadUsage("--workers is for this machine: a cluster has workers of its own")
    if improve_rules and improve is None:
        raise BadUsage("--improve-rules: --improve has to say for how long")
    trained = [] if layers == "none" else _networks(layers, widths, settings)
    _require_packages(bool(trained), _words(planners), cluster)
    start = time.monotonic()
    outcome: dict[str, Any] | None = None
    with Signals() as signals:
        with signals.until_interrupted():
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
                    *(replace(policy, eliminate=True) for policy in policies if eliminate),
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
                    options=JobOptions(
                        keep_plans, None if scorpion is None else str(scorpion.resolve())
                    ),
                )
            )
            done = _records(out)
            describe(out, shlex.join(["planlog", *sys.argv[1:]]), chosen)
            with (
                _workers(out.resolve(), cluster, workers) as pool,
                RunsProgress(jobs, done, pool.number) as progress,
            ):
                records = run(
                    jobs,
                    done,
                    out.resolve(),
                    pool,
                    retry_failed=retry_failed,
                    on_record=progress.on_record,
                )
            seconds = time.monotonic() - start
            outcome = _outcome(jobs, _records(out), len(records), seconds)
        if outcome is None:
            say("planlog: interrupted: the same command continues the experiment")
            return signals.exit_code
        if as_json:
            emit_json(outcome)
        else:
            emit(_summary(outcome, out))
        return ExitCode.NO_PLAN if outcome["failed"] else ExitCode.SUCCESS


def _words(text: str | None) -> list[str]:
    """`a,b` as a list; `none` and nothing as an empty one."""
    words = [word.strip() for word in (text or "").split(",") if word.strip()]
    return [] if words == ["none"] else list(dict.fromkeys(words))


def _numbers(text: str, option: str, least: int) -> list[int]:
    words = _words(text)
    if not words or any(not word.isdecimal() or int(word) < least for word in words):
        raise BadUsage(f"{option}: expected whole numbers from {least} on, such as 1,2; got {text}")
    return [int(word) for word in words]


def _networks(layers: str, widths: str, settings: str) -> list[tuple[int, int, str]]:
    for name in _words(settings):
        try:
            preset(name)
        except ValueError as error:
            raise BadUsage(f"--settings: {error}") from None
    return [
        (layer, width, name)
        for name in _words(settings)
        for layer in _numbers(layers, "--layers", 0)
        for width in _numbers(widths, "--widths", 1)
    ]


def _require_packages(trains: bool, planners: list[str], cluster: str | None) -> None:
    """Say at once what is not installed."""
    for name in planners:
        if name != EXACT and name not in PLANNERS:
            known = ", ".join((*PLANNERS, EXACT))
            raise BadUsage(f"--planners: expected some of {known}; got {name}")
    needed = [
        (trains, "torch", "train", "training (--layers none leaves it out)"),
        (EXACT in planners, "highspy", "baselines", "the exact methods"),
        (cluster is not None, "distributed", "cluster", "--cluster"),
    ]
    for used, module, extra, purpose in needed:
        if used:
            require(module, extra, purpose)


def _generated(
    folder: Path, names: str | None, splits: str | None, seed: int, count: int | None
) -> list[Suite]:
    return [
        suite.generate(folder, name, _words(splits) or ["easy", "medium"], seed=seed, count=count)
        for name in _words(names) or shipped_domains.names()
    ]


def _policies(
    suite: Suite, networks: list[tuple[int, int, str]], shipped: bool
) -> Iterator[PolicyConfiguration]:
    """The policies that are run on the tasks of a domain, in the order in which it is begun."""
    if networks and not suite.training:
        raise BadUsage(
            f"{suite.domain_file.parent} has no training tasks: --layers none trains nothing"
        )
    states = PAPER_STATES.get(Domain.read(suite.domain_file).name)
    for layers, width, settings in networks:
        yield Learned(layers, width, settings, states)
    yield Rules()
    if shipped and suite.model_file is not None:
        yield Shipped()


def _improved(
    policies: list[PolicyConfiguration], seconds: float | None, with_rules: bool
) -> Iterator[Configuration]:
    """The same policies with plans that are improved."""
    for policy in policies:
        if seconds is not None and (with_rules or not isinstance(policy, Rules)):
            yield replace(policy, seconds=seconds)


def _planners(
    suite: Suite, names: list[str], anytime_limit: float, scorpion: Path | None
) -> Iterator[Configuration]:
    """Planners and exact methods for the tasks of a domain."""
    for wanted in names:
        if wanted == EXACT:
            if exact_method(Domain.read(suite.domain_file).name) is not None:
                yield Exact()
        else:
            found = planner(wanted, scorpion=scorpion)  # an error now, if it is not there
            yield ExternalPlanner(wanted, anytime_limit if found.kind.anytime else None)


def _records(out: Path) -> dict[str, Record]:
    try:
        return {record.run: record for record in read_records(out)}
    except ResultsError:
        if any((out / "records").glob("*.jsonl")):
            raise
        return {}


@contextmanager
def _workers(folder: Path, cluster: str | None, number: int | None) -> Iterator[Workers]:
    """Start workers on this machine, or connect to those of a cluster."""
    if cluster is not None:
        with cluster_workers(cluster, folder) as workers:
            yield workers
    else:
        with local_workers(folder, number or available_processors()) as workers:
            yield workers


def _outcome(
    jobs: list[Any], records: dict[str, Record], new: int, seconds: float
) -> dict[str, Any]:
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
