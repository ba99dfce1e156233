"""`planlog experiment`: policies, learned policies and planners on many tasks → results."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from planlog import domains as shipped_domains
from planlog.cli import options
from planlog.cli.command import BadUsage, Command
from planlog.cli.console import emit, emit_json, say
from planlog.cli.exit_codes import ExitCode
from planlog.cli.formatting import counted, duration
from planlog.cli.progress import RunsProgress
from planlog.cli.resolve import check_output_folder, require
from planlog.cli.signals import Signals
from planlog.experiment import suite
from planlog.experiment.baselines.exact import exact_method
from planlog.experiment.baselines.installed import PLANNERS, planner
from planlog.experiment.cluster import Tls, cluster_workers, is_exposed
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
from planlog.experiment.jobs import Job, JobOptions, plan_jobs
from planlog.experiment.process_limits import Limits
from planlog.experiment.records import RECORDS, Record, Status, read_records
from planlog.experiment.runner import run
from planlog.experiment.suite import Suite
from planlog.experiment.worker_pool import local_workers
from planlog.files import make_folder
from planlog.locks import locked
from planlog.network.settings import PRESETS, RANGES, preset
from planlog.parallel import available_processors
from planlog.pddl.task import Domain
from planlog.ranges import Range
from planlog.statespace.labels import PAPER_STATES

HELP = """Run policies and planners on many tasks, and keep a record of every run.

By default this is the experiment of the paper on generated tasks: four domains, easy and medium
tasks, the rules with three seeds, networks with 1 and 2 layers of widths 8 and 16 trained with
three seeds, LAMA's first plan, and the optimum. `planlog report` makes tables and figures of the
records, also while the experiment runs.

The same command continues an experiment that was killed; other options add runs to the same
records. A run that fails is recorded like any other.

Examples:

    planlog experiment --out results
    planlog experiment --out results --tasks ipc2023-learning --splits easy,medium,hard
    planlog experiment --out results --domains ferry --planners lama,exact --anytime-limit 10
    planlog experiment --out results --layers none --shipped --improve 10
    planlog experiment --out /shared/results --cluster tcp://127.0.0.1:8786

Exit codes: 0 all runs are done (solved or not), 12 some have failed, 31 bad input, 34
unsupported PDDL, 36 bad usage, 73 a record cannot be written (the same command continues the
experiment), 130 or 143 ended by Ctrl-C or SIGTERM.
"""

EXACT = "exact"


@click.command("experiment", cls=Command, help=HELP)
@options.file("-o", "--out", metavar="DIR", help="Folder for records.", required=True)
@options.file("--tasks", metavar="DIR", help="IPC-style folder of domains and tasks.")
@options.flag("--generate", help="Generated tasks, which are the default.")
@options.words("--domains", shipped_domains.names(), "Domains.", others=True, show_default="all")
@options.words(
    "--splits",
    shipped_domains.SPLITS,
    "Splits.",
    others=True,
    show_default="easy,medium, or all of --tasks",
)
@options.number("--count", help="Tasks per split.", show_default="30")
@options.number(
    "--task-seed",
    help="Random seed of generated tasks.",
    least=0,
    most=options.MOST_SEED,
    default=0,
)
@options.number("--seeds", help="Number of seeds of rules and trainings.", most=10_000, default=3)
@options.words("--layers", ["none"], "Numbers of layers, or none.", others=True, default="1,2")
@options.words("--widths", [], "Widths of the networks.", others=True, default="8,16")
@options.words("--settings", PRESETS, "Training settings.", others=True, default="paper,small")
@options.words(
    "--planners",
    (*PLANNERS, EXACT, "none"),
    "Planners: lama-first, lama, lmcut, symk, scorpion, exact (Planlog's own), or none.",
    default="lama-first,exact",
)
@options.flag("--shipped", help="Additional runs of the shipped models.")
@options.flag("--eliminate", help="Additional runs with redundant actions eliminated.")
@options.seconds(
    "--improve",
    help="Additional runs of learned policies that improve their plans for this time.",
    least=0.1,
)
@options.flag("--improve-rules", help="Additional runs of the rules, with the time of --improve.")
@options.file("--scorpion", help="Driver script of Scorpion.", envvar="SCORPION")
@options.seconds("--time-limit", "run_time", help="Time limit of a run.", least=0.1, default=1800.0)
@options.seconds("--anytime-limit", help="Time limit of anytime planners.", least=0.1)
@options.seconds("--training-limit", help="Time limit of a training.", least=0.1, default=3600.0)
@options.number(
    "--memory-limit",
    "run_memory",
    help="Memory limit of a run.",
    most=options.MOST_MEGABYTES,
    metavar="MB",
    default=8192,
)
@options.number(
    "--workers",
    help="Number of runs at a time.",
    most=options.MOST_WORKERS,
    show_default="number of processors",
)
@click.option("--cluster", metavar="ADDRESS", help="Dask scheduler for the runs.")
@options.file("--tls-ca", help="Certificate of the authority that both sides of a cluster trust.")
@options.file("--tls-cert", help="Certificate of this client of a cluster.")
@options.file("--tls-key", help="Private key of that certificate.")
@options.flag("--retry-failed", help="Repetition of failed runs.")
@options.flag("--keep-plans", help="Plan files in DIR/plans.")
@options.as_json
def command(
    out: Path,
    tasks: Path | None,
    generate: bool,
    domains: list[str] | None,
    splits: list[str] | None,
    count: int | None,
    task_seed: int,
    seeds: int,
    layers: list[str],
    widths: list[str],
    settings: list[str],
    planners: list[str],
    shipped: bool,
    eliminate: bool,
    improve: float | None,
    improve_rules: bool,
    scorpion: Path | None,
    run_time: float,
    anytime_limit: float | None,
    training_limit: float,
    run_memory: int,
    workers: int | None,
    cluster: str | None,
    tls_ca: Path | None,
    tls_cert: Path | None,
    tls_key: Path | None,
    retry_failed: bool,
    keep_plans: bool,
    as_json: bool,
) -> int:
    if tasks is not None and generate:
        raise BadUsage("--tasks and --generate are two sources of tasks: give one of them")
    if cluster is not None and workers is not None:
        raise BadUsage("--workers is for this machine: a cluster has workers of its own")
    tls = _tls(cluster, tls_ca, tls_cert, tls_key)
    if improve_rules and improve is None:
        raise BadUsage("--improve-rules: --improve has to say for how long")
    networks = list(_networks(layers, widths, settings))
    needed = [
        (networks, "torch", "train", "training (--layers none leaves it out)"),
        (EXACT in planners, "highspy", "baselines", "the exact methods"),
        (cluster, "distributed", "cluster", "--cluster"),
    ]
    for used, module, extra, purpose in needed:
        if used:
            require(module, extra, purpose)
    start = time.monotonic()
    outcome: dict[str, Any] | None = None
    check_output_folder(out, "--out")
    with Signals() as signals, ExitStack() as lock:
        with signals.until_interrupted():
            make_folder(out)
            lock.enter_context(locked(out))
            if tasks is not None:
                suites = suite.find(tasks, domains or (), splits or (), count)
            else:
                splits = splits or ["easy", "medium"]
                suites = [
                    suite.generate(out / "tasks", name, splits, seed=task_seed, count=count)
                    for name in domains or shipped_domains.names()
                ]
            configurations: dict[str, list[Configuration]] = {}
            for each in suites:
                name = Domain.read(each.domain_file).name
                policies = list(_policies(each, name, networks, shipped))
                improved = [p for p in policies if improve_rules or not isinstance(p, Rules)]
                configurations[each.domain] = [
                    *policies,
                    *(replace(policy, eliminate=True) for policy in policies if eliminate),
                    *(replace(policy, seconds=improve) for policy in improved if improve),
                    *_planners(name, planners, anytime_limit or run_time, scorpion),
                ]
            jobs = list(
                plan_jobs(
                    out,
                    suites,
                    configurations,
                    seeds=seeds,
                    plan_limits=Limits(run_time, run_memory * 1024**2),
                    training_limits=Limits(training_limit, run_memory * 1024**2),
                    options=JobOptions(
                        keep_plans, None if scorpion is None else str(scorpion.resolve())
                    ),
                )
            )
            done = _records(out)
            describe(out, shlex.join(["planlog", *sys.argv[1:]]), suites)
            folder = out.resolve()
            if cluster is not None:
                connection = cluster_workers(cluster, folder, tls)
            else:
                connection = local_workers(folder, workers or available_processors())
            with connection as pool, RunsProgress(jobs, done, pool.number) as progress:
                on_record = progress.on_record
                records = run(
                    jobs, done, folder, pool, retry_failed=retry_failed, on_record=on_record
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


def _tls(cluster: str | None, ca: Path | None, cert: Path | None, key: Path | None) -> Tls | None:
    """Return the files of TLS if they are given, or else tell what an open connection means."""
    given = [file for file in (ca, cert, key) if file is not None]
    if ca is not None and cert is not None and key is not None:
        if cluster is None:
            raise BadUsage("--tls-ca, --tls-cert and --tls-key are for a --cluster")
        for file in given:
            if not file.is_file():
                raise BadUsage(f"{file}: there is no such file")
        return Tls(ca, cert, key)
    if given:
        raise BadUsage("TLS needs all of --tls-ca, --tls-cert and --tls-key")
    if cluster is not None and is_exposed(cluster):
        say(
            f"warning: the connection to {cluster} is neither encrypted nor authenticated, and "
            "whoever reaches that scheduler runs code on its workers; use TLS (--tls-ca, "
            "--tls-cert, --tls-key)"
        )
    return None


def _networks(
    layers: list[str], widths: list[str], settings: list[str]
) -> Iterator[tuple[int, int, str]]:
    """Yield layers, width and settings of all networks to train."""
    for name in settings if layers else []:
        try:
            preset(name)
        except ValueError as error:
            raise BadUsage(f"--settings: {error}") from None
        for layer in _numbers(layers, "--layers", RANGES["layers"]):
            for width in _numbers(widths, "--widths", RANGES["width"]):
                yield layer, width, name


def _numbers(words: list[str], option: str, range: Range) -> list[int]:
    try:
        return [int(range.read(word)) for word in words]
    except ValueError as error:
        raise BadUsage(f"{option}: a list such as 1,2: {error}") from None


def _policies(
    suite: Suite, domain: str, networks: list[tuple[int, int, str]], shipped: bool
) -> Iterator[PolicyConfiguration]:
    """Yield the policies for the tasks of a domain, in the order in which they are run."""
    if networks and not suite.training:
        raise BadUsage(
            f"{suite.domain_file.parent} has no training tasks: --layers none trains nothing"
        )
    for layers, width, settings in networks:
        yield Learned(layers, width, settings, PAPER_STATES.get(domain))
    yield Rules()
    if shipped and suite.model_file is not None:
        yield Shipped()


def _planners(
    domain: str, names: list[str], anytime_limit: float, scorpion: Path | None
) -> Iterator[Configuration]:
    """Yield planners, and the exact method of a domain if there is one."""
    for name in names:
        if name != EXACT:
            found = planner(name, scorpion=scorpion)  # an error now, if it is not there
            yield ExternalPlanner(name, anytime_limit if found.kind.anytime else None)
        elif exact_method(domain) is not None:
            yield Exact()


def _records(out: Path) -> dict[str, Record]:
    if not any((out / RECORDS).glob("*.jsonl")):
        return {}
    return {record.run: record for record in read_records(out)}


def _outcome(
    jobs: list[Job], records: dict[str, Record], new: int, seconds: float
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
        f"{counted(outcome['runs'], 'run')}, {outcome['new']:,} of them now, "
        f"in {duration(outcome['seconds'])}: {counts}"
    ]
    if outcome["left_out"]:
        lines.append(f"{counted(outcome['left_out'], 'run')} left out, since their training failed")
    if outcome["first_failure"]:
        lines.append(f"first failure: {outcome['first_failure'].splitlines()[0]}")
        lines.append("--retry-failed repeats what has failed")
    lines.append(f"results in {out}; tables and figures: planlog report {out}")
    return "\n".join(lines)
