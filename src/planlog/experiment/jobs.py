"""Jobs: each run of an experiment with all that it needs, so that it can be sent to a worker.

Two jobs have the same number (`run`) exactly if they are the same run: it is a hash of what the
result depends on, with the content of all files, but not of their places. So results stay good
when the folder is moved, and are made anew when a task or a rule has changed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Self

from planlog.experiment.configurations import (
    Configuration,
    Learned,
    Planner,
    Reworked,
    Shipped,
)
from planlog.experiment.suite import Suite
from planlog.processes import Limits
from planlog.results import Family, Record, Status

MODELS = "models"  # the folder of the trained models, in that of the results


@dataclass(frozen=True)
class Job:
    """One run; plain values only."""

    run: str
    domain: str
    planner: str
    family: str
    configuration: Mapping[str, Any]
    seed: int | None
    split: str  # empty for a training
    task: str
    files: Mapping[str, Any]  # relative to the results folder if they are in it
    hashes: Mapping[str, str]  # of the files' contents
    seconds: float | None  # limits
    memory: int | None
    after: str = ""  # the training that has to be done before
    options: Mapping[str, Any] = field(default_factory=dict)  # that do not change the result

    @property
    def trains(self) -> bool:
        return not self.task

    @property
    def improves(self) -> bool:
        """Whether a policy's plan is improved for the rest of the time."""
        return self.configuration["kind"] != Planner.kind and "seconds" in self.configuration

    @property
    def prunes(self) -> bool:
        """Whether a policy's plan loses the actions that serve nothing."""
        return "pruned" in self.configuration

    @property
    def limits(self) -> Limits:
        return Limits(self.seconds, self.memory)

    def to_json(self) -> str:
        """One line."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, line: str | bytes) -> Self:
        return cls(**json.loads(line))

    def record(self, status: Status, **values: Any) -> Record:
        """A record of this run."""
        details = {
            "configuration": dict(self.configuration),
            "limits": {"seconds": self.seconds, "memory": self.memory},
            "files": dict(self.files),
            "hashes": dict(self.hashes),
        }
        return Record(
            run=self.run,
            domain=self.domain,
            planner=self.planner,
            family=Family(self.family),
            status=status,
            split=self.split,
            task=self.task,
            seed=self.seed,
            details=details | values.pop("details", {}),
            **values,
        )


def plan_jobs(
    folder: Path,
    suites: Iterable[Suite],
    configurations: Mapping[str, Iterable[Configuration]],
    *,
    seeds: int,
    plan_limits: Limits,
    training_limits: Limits,
    options: Mapping[str, Any] | None = None,
) -> Iterator[Job]:
    """All jobs, trainings before what needs them; `configurations` are those of each domain."""
    hash_of = cache(_hash)  # for this time: files change
    given: set[str] = set()  # more than one configuration may need the same training
    for suite in suites:
        for configuration in configurations[suite.domain]:
            for seed in range(seeds) if configuration.seeded else (None,):
                for job in _jobs(
                    folder,
                    suite,
                    configuration,
                    seed,
                    plan_limits,
                    training_limits,
                    options or {},
                    hash_of,
                ):
                    if job.run not in given:
                        given.add(job.run)
                        yield job


def _jobs(
    folder: Path,
    suite: Suite,
    configuration: Configuration,
    seed: int | None,
    plan_limits: Limits,
    training_limits: Limits,
    options: Mapping[str, Any],
    hash_of: Callable[..., str],
) -> Iterator[Job]:
    shared = {"domain": suite.domain_file, "policy": suite.policy_file}
    job = Job(
        run="",
        domain=suite.domain,
        planner=configuration.name,
        family=configuration.family.value,
        configuration=configuration.describe(),
        seed=seed,
        split="",
        task="",
        files={key: _place(folder, file) for key, file in shared.items()},
        hashes={key: hash_of(file) for key, file in shared.items()},
        seconds=training_limits.seconds,
        memory=training_limits.memory,
        options=options,
    )
    after = ""
    policy = configuration.policy if isinstance(configuration, Reworked) else configuration
    if isinstance(policy, Learned):
        model = folder / MODELS / suite.domain / f"{policy.name}-{seed}.safetensors"
        files = dict(job.files) | {"model": _place(folder, model)}
        training = _numbered(
            replace(
                job,
                planner=policy.name,
                configuration=policy.describe(),
                files=files | {"training": [_place(folder, file) for file in suite.training]},
                hashes=dict(job.hashes) | {"training": hash_of(*suite.training)},
            )
        )
        yield training
        after = training.run
        job = replace(job, files=files, hashes=dict(job.hashes) | {"training": after})
    elif isinstance(policy, Shipped) and suite.model_file is not None:
        job = replace(job, hashes=dict(job.hashes) | {"model": hash_of(suite.model_file)})
    own_limit = configuration.describe().get("seconds")
    for test in suite.tests:
        yield _numbered(
            replace(
                job,
                split=test.split,
                task=test.name,
                files=dict(job.files) | {"task": _place(folder, test.file)},
                hashes=dict(job.hashes) | {"task": hash_of(test.file)},
                seconds=own_limit or plan_limits.seconds,
                memory=plan_limits.memory,
                after=after,
            )
        )


def _numbered(job: Job) -> Job:
    """The job with the number that follows from everything else."""
    essential = (job.domain, job.configuration, job.seed, job.split, job.task, job.hashes)
    text = json.dumps(essential, sort_keys=True)
    return replace(job, run=hashlib.sha256(text.encode()).hexdigest()[:20])


def _place(folder: Path, file: Path) -> str:
    file, folder = file.resolve(), folder.resolve()
    return str(file.relative_to(folder) if file.is_relative_to(folder) else file)


def _hash(*files: Path) -> str:
    digest = hashlib.sha256()
    for file in files:
        content = file.read_bytes()
        digest.update(len(content).to_bytes(8, "little") + content)
    return digest.hexdigest()


def is_done(job: Job, record: Record | None, folder: Path, *, retry_failed: bool = False) -> bool:
    """Whether a record tells what the job would find out.

    A run that was stopped by a limit is done again with a larger one, and a failed one if that
    is wanted.
    """
    if record is None:
        return False
    if record.status is Status.FAILED:
        return not retry_failed
    had = record.details.get("limits", {})
    if record.status is Status.TIME:
        return not _is_more(job.seconds, had.get("seconds"))
    if record.status is Status.MEMORY:
        return not _is_more(job.memory, had.get("memory"))
    return not job.trains or (folder / job.files["model"]).exists()


def _is_more(limit: float | None, than: float | None) -> bool:
    return than is not None and (limit is None or limit > than)
