"""One job, done in this process: rules, tasks and planners in; a record out."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np

from planlog.baselines.solution import Found, Solution
from planlog.execution import Outcome, PlanResult, execute, format_plan, write_whole
from planlog.experiment.jobs import Job
from planlog.model import Model, present_versions
from planlog.policy import Policy
from planlog.pruning import pruned
from planlog.results import Record, Status
from planlog.search import first_plan, improvements
from planlog.settings import NetworkSettings, preset
from planlog.task import Domain, Task
from planlog.template import TemplateSettings
from planlog.validate import Validator

PLANS = "plans"  # the folder of the plans, if they are kept, in that of the results

_STATUS = {
    Outcome.SOLVED: Status.SOLVED,
    Outcome.TIME_LIMIT: Status.TIME,
    Outcome.MEMORY_LIMIT: Status.MEMORY,
}


def do(job: Job, folder: Path) -> Record:
    """Do a job; errors are the caller's matter, and so are limits that the job does not keep."""
    work = _WORK["train" if job.trains else job.configuration["kind"]]
    record = work(job, folder)
    details = dict(record.details)
    details["versions"] = present_versions() | details.get("versions", {})
    details["machine"] = {"system": platform.platform(), "processor": platform.machine()}
    return replace(record, details=details)


def _train(job: Job, folder: Path) -> Record:
    from planlog.learn import LearningSettings, learn

    domain = Domain.read(folder / job.files["domain"])
    rules = Policy.read(folder / job.files["policy"], domain)
    chosen = job.configuration
    tasks = [domain.read_task(folder / file) for file in job.files["training"]]
    named = preset(chosen["settings"])
    settings = LearningSettings(
        template=TemplateSettings(chosen["layers"], named.over_derived),
        network=NetworkSettings(width=chosen["width"]),
        training=named.training,
        surveys=named.surveys,
        members=named.members,
        max_states=chosen["max_states"],
    )
    start = time.monotonic()
    assert job.seed is not None
    model = learn(rules, tasks, settings, seed=job.seed, workers=1).model
    file = folder / job.files["model"]
    file.parent.mkdir(parents=True, exist_ok=True)
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


def _rules(job: Job, folder: Path) -> Record:
    return _execute(job, folder, lambda domain: Policy.read(folder / job.files["policy"], domain))


def _learned(job: Job, folder: Path) -> Record:
    return _execute(job, folder, Model.read(folder / job.files["model"]).policy)


def _shipped(job: Job, folder: Path) -> Record:
    from planlog import domains

    def policy(domain: Domain) -> Policy:
        name = domains.find(domain.name)
        file = domains.model_path(name) if name else None
        if file is None:
            raise LookupError(f"no model is shipped for the domain '{domain.name}'")
        return Model.read(file).policy(domain)

    return _execute(job, folder, policy)


def _execute(job: Job, folder: Path, policy_for: Callable[[Domain], Policy]) -> Record:
    """Run a policy, from the files to the plan; improve it if that is wanted."""
    start = time.monotonic()
    domain = Domain.read(folder / job.files["domain"])
    policy = policy_for(domain)
    task = domain.read_task(folder / job.files["task"])

    def left() -> float | None:
        return None if job.seconds is None else job.seconds - (time.monotonic() - start)

    def run(policy: Policy) -> PlanResult:
        return execute(
            policy,
            task,
            rng=np.random.default_rng(job.seed or 0),
            time_limit=left(),
            memory_limit=job.memory,
        )

    result = first_plan(policy, run) if job.improves else run(policy)
    first = pruned(task, result) if job.prunes else result
    found = [Found(first.actions, time.monotonic() - start)] if first.solved else []
    if found and job.improves:
        assert job.seconds is not None
        better = improvements(
            policy, task, result, seed=job.seed or 0, threads=1, time_limit=left()
        )
        with suppress(MemoryError):  # what has been found stays
            for plan in better:
                seconds = time.monotonic() - start
                if seconds <= job.seconds:  # the last may be a little late
                    found.append(Found(plan.actions, seconds))
    return _with_plans(
        job.record(
            _STATUS.get(result.outcome, Status.NO_PLAN),
            objects=len(task.objects),
            seconds=time.monotonic() - start,
            message="" if found else result.outcome.value,
        ),
        job,
        folder,
        task,
        found,
    )


def _planner(job: Job, folder: Path) -> Record:
    from planlog.baselines.planners import planner

    scorpion = job.options.get("scorpion")
    chosen = planner(
        job.configuration["planner"], scorpion=None if scorpion is None else Path(scorpion)
    )
    domain_file, task_file = folder / job.files["domain"], folder / job.files["task"]
    task = Domain.read(domain_file).read_task(task_file)
    return _of_solution(job, folder, task, chosen.solve(domain_file, task_file, job.limits))


def _exact(job: Job, folder: Path) -> Record:
    from planlog.baselines.exact import exact

    start = time.monotonic()
    task = Domain.read(folder / job.files["domain"]).read_task(folder / job.files["task"])
    solve = exact(task.domain.name)
    if solve is None:
        raise LookupError(f"there is no exact method for the domain '{task.domain.name}'")
    # The solver of integer programs looks at the clock only now and then.
    left = None if job.seconds is None else 0.7 * (job.seconds - (time.monotonic() - start))
    solution = solve(task, time_limit=left)
    return _of_solution(job, folder, task, replace(solution, seconds=time.monotonic() - start))


def _of_solution(job: Job, folder: Path, task: Task, solution: Solution) -> Record:
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


def _with_plans(
    record: Record, job: Job, folder: Path, task: Task, plans: Sequence[Found]
) -> Record:
    """The record with plans that our validator accepts, or with what it says against one."""
    if not plans:
        return record
    texts = [(folder / job.files[key]).read_text(encoding="utf-8") for key in ("domain", "task")]
    validator = Validator(*texts)
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
    if job.options.get("keep_plans"):
        assert record.cost is not None
        seed = "" if job.seed is None else f"-{job.seed}"
        file = folder / PLANS / job.domain / job.split / f"{job.task}-{job.planner}{seed}.plan"
        file.parent.mkdir(parents=True, exist_ok=True)
        text = format_plan(plans[-1].actions, cost=record.cost, unit_cost=not task.minimises_cost)
        write_whole(file, text)
    return record


_WORK: dict[str, Callable[[Job, Path], Record]] = {
    "train": _train,
    "rules": _rules,
    "learned": _learned,
    "shipped": _shipped,
    "planner": _planner,
    "exact": _exact,
}
