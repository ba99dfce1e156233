"""Execute one job in this process, a training or a run on a task, and return its record."""

from __future__ import annotations

import platform
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np

from planlog import domains
from planlog.experiment.baselines.exact import exact_method
from planlog.experiment.baselines.installed import planner
from planlog.experiment.baselines.solution import Solution, TimedPlan
from planlog.experiment.configurations import (
    ExternalPlanner,
    Learned,
    PolicyConfiguration,
    Shipped,
)
from planlog.experiment.jobs import Job, hash_files
from planlog.experiment.records import Record, ResultsError, Status
from planlog.files import (
    OutputError,
    explain,
    inputs_read_once,
    make_folder,
    read_input_text,
    write_or_save,
)
from planlog.network.model_file import Model, present_versions
from planlog.network.settings import preset
from planlog.pddl.plan import Plan
from planlog.pddl.task import Domain, Task
from planlog.policy.execution import Outcome, PlanResult, execute
from planlog.policy.policy import Policy
from planlog.search.action_elimination import eliminate_redundant_actions
from planlog.search.improve import first_plan, improve
from planlog.validation import Validator

PLANS = "plans"  # subfolder of the results folder

_STATUS = {
    Outcome.SOLVED: Status.SOLVED,
    Outcome.TIME_LIMIT: Status.TIME,
    Outcome.MEMORY_LIMIT: Status.MEMORY,
}


def execute_job(job: Job, folder: Path) -> Record:
    """Return the record of a job.

    Errors of policies, planners and exact methods are raised. The caller has to enforce the
    limits, which a job keeps only as far as its planner does.
    """
    with inputs_read_once():
        _check_inputs(job, folder)
        record = _train(job, folder) if job.trains else _run(job, folder)
    details = dict(record.details)
    details["versions"] = present_versions() | details.get("versions", {})
    details["machine"] = {"system": platform.platform(), "processor": platform.machine()}
    return replace(record, details=details)


def _check_inputs(job: Job, folder: Path) -> None:
    """Raise ResultsError if a file is no longer the one that the id of the run stands for."""
    named = {"domain": job.files.domain, "policy": job.files.policy, "task": job.files.task}
    for key, name in named.items():
        if name is not None and job.hashes.get(key) != hash_files(folder / name):
            raise ResultsError(f"{folder / name} has changed since the experiment began")


def _train(job: Job, folder: Path) -> Record:
    from planlog.learning.learn import learn

    configuration = job.configuration
    assert isinstance(configuration, Learned) and job.seed is not None
    domain = Domain.read(folder / job.files.domain)
    rules = Policy.read(folder / job.files.policy, domain)
    tasks = [domain.read_task(folder / file) for file in job.files.training]
    settings = preset(configuration.settings).changed(
        layers=configuration.layers,
        width=configuration.width,
        max_states=configuration.max_states,
    )
    start = time.monotonic()
    model = learn(rules, tasks, settings, seed=job.seed, workers=1).model
    file = folder / str(job.files.model)
    make_folder(file.parent)
    model.write(file)
    sizes = {task.name: len(task.objects) for task in tasks}
    training = dict(model.training)
    training["objects"] = [sizes[name] for name in training["tasks"]]
    return job.record(
        Status.TRAINED,
        seconds=time.monotonic() - start,
        training=training,
        details={"versions": dict(model.versions)},
    )


def _run(job: Job, folder: Path) -> Record:
    """Run a configuration on a task; except for planners, the time includes reading the files."""
    start = time.monotonic()
    domain_file, task_file = folder / job.files.domain, folder / str(job.files.task)
    task = Domain.read(domain_file).read_task(task_file)
    match job.configuration:
        case PolicyConfiguration() as configuration:
            policy = _read_policy(job, task.domain, folder)
            solution = _execute_policy(job, configuration, policy, task, start)
        case ExternalPlanner() as configuration:
            scorpion = Path(job.options.scorpion) if job.options.scorpion else None
            chosen = planner(configuration.planner, scorpion=scorpion)
            solution = chosen.solve(domain_file, task_file, job.limits)
        case _:
            solution = _solve_exactly(job, task, start)
    record = job.record(
        solution.status,
        objects=len(task.objects),
        seconds=solution.seconds,
        cpu_seconds=solution.cpu_seconds,
        memory=solution.memory,
        optimal=solution.optimal,
        lower_bound=solution.lower_bound,
        message=solution.message,
        details={"versions": {"planner": solution.version}} if solution.version else {},
    )
    return _with_plans(record, job, folder, task, solution.plans)


def _read_policy(job: Job, domain: Domain, folder: Path) -> Policy:
    """Return the policy of a job: rules, a trained model, or the model shipped for the domain."""
    match job.configuration:
        case Learned():
            return Model.read(folder / str(job.files.model)).policy(domain)
        case Shipped():
            name = domains.find(domain.name)
            file = domains.model_path(name) if name else None
            if file is None:
                raise LookupError(f"no model is shipped for the domain '{domain.name}'")
            return Model.read(file).policy(domain)
        case _:
            return Policy.read(folder / job.files.policy, domain)


def _execute_policy(
    job: Job, configuration: PolicyConfiguration, policy: Policy, task: Task, start: float
) -> Solution:
    """Execute a policy and postprocess its plan."""

    def left() -> float | None:
        limit = job.limits.seconds
        return None if limit is None else limit - (time.monotonic() - start)

    def run(policy: Policy) -> PlanResult:
        return execute(
            policy,
            task,
            rng=np.random.default_rng(job.seed or 0),
            time_limit=left(),
            memory_limit=job.limits.memory,
        )

    result = first_plan(policy, run) if configuration.improves else run(policy)
    first = eliminate_redundant_actions(task, result) if configuration.eliminate else result
    found = [TimedPlan(first.actions, time.monotonic() - start)] if first.solved else []
    if found and configuration.seconds is not None:
        better = improve(policy, task, result, seed=job.seed or 0, threads=1, time_limit=left())
        with suppress(MemoryError):  # keep the plans found so far
            for plan in better:
                seconds = time.monotonic() - start
                if seconds <= configuration.seconds:  # the last plan may be late
                    found.append(TimedPlan(plan.actions, seconds))
    return Solution(
        _STATUS.get(result.outcome, Status.NO_PLAN),
        plans=tuple(found),
        seconds=time.monotonic() - start,
        message="" if found else result.outcome.value,
    )


def _solve_exactly(job: Job, task: Task, start: float) -> Solution:
    solve = exact_method(task.domain.name)
    if solve is None:
        raise LookupError(f"no exact method for the domain '{task.domain.name}'")
    # HiGHS checks its time limit rarely, so it gets only a part of the time.
    limit = job.limits.seconds
    left = None if limit is None else 0.7 * (limit - (time.monotonic() - start))
    solution = solve(task, time_limit=left)
    return replace(solution, seconds=time.monotonic() - start)


def _with_plans(
    record: Record, job: Job, folder: Path, task: Task, plans: Sequence[TimedPlan]
) -> Record:
    """Return the record with its validated plans, or with the reason why one is invalid."""
    if not plans:
        return record
    files = (job.files.domain, str(job.files.task))
    texts = (read_input_text(folder / file) for file in files)
    validator = Validator(*texts, names=files)
    for plan in plans:
        report = validator.replay("".join(f"{action}\n" for action in plan.actions))
        if not report.valid:
            return replace(record, status=Status.INVALID, optimal=False, message=report.reason)
        record = replace(
            record,
            length=len(plan.actions),
            cost=report.cost,
            plans=(*record.plans, (report.cost, round(plan.seconds, 4))),
        )
    if job.options.keep_plans:
        assert record.cost is not None
        seed = "" if job.seed is None else f"-{job.seed}"
        file = folder / PLANS / job.domain / job.split / f"{job.task}-{job.planner}{seed}.plan"
        plan_text = str(Plan(plans[-1].actions, record.cost, not task.minimises_cost))
        try:
            make_folder(file.parent)
            write_or_save(file, plan_text.encode(), ".plan")
        except OutputError as error:
            record = replace(record, message=f"the plan is not kept: {explain(error)}")
    return record
