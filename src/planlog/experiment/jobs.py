"""Jobs: the runs of an experiment as values that can be sent to a worker.

The id of a job (`run`) is a hash of everything that its result depends on: the configuration and
the contents of all files, but not their paths. Results stay valid when the folder moves, and a
run is repeated when a task or a rule has changed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from planlog.experiment.configurations import Configuration, Learned, Shipped
from planlog.experiment.process_limits import Limits
from planlog.experiment.records import Record, Status
from planlog.experiment.suite import Suite
from planlog.files import read_input

MODELS = "models"  # subfolder of the results folder


@dataclass(frozen=True)
class JobFiles:
    """Input files, relative to the results folder if inside; a training writes `model`."""

    domain: str
    policy: str
    task: str | None = None
    model: str | None = None
    training: tuple[str, ...] = ()


@dataclass(frozen=True)
class JobOptions:
    """Options that do not change the result of a run."""

    keep_plans: bool = False
    scorpion: str | None = None  # path of its driver


NO_OPTIONS = JobOptions()


@dataclass(frozen=True, kw_only=True)
class Job:
    """One run: the training of a model, or a configuration on a task."""

    domain: str
    configuration: Configuration
    seed: int | None
    split: str = ""  # empty for a training
    task: str = ""  # empty for a training
    files: JobFiles
    hashes: Mapping[str, str]  # of the files' contents
    limits: Limits
    after: str = ""  # run of the training that this job needs
    options: JobOptions = NO_OPTIONS
    attempt: int = 0  # number of earlier records of this run

    @cached_property
    def run(self) -> str:
        """The id of the run."""
        configuration = self.configuration.describe()
        essential = (self.domain, configuration, self.seed, self.split, self.task, self.hashes)
        text = json.dumps(essential, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:20]

    @property
    def trains(self) -> bool:
        return not self.task

    @property
    def planner(self) -> str:
        return self.configuration.name

    def record(self, status: Status, **values: Any) -> Record:
        """Return a record of this run."""
        details = {
            "configuration": self.configuration.describe(),
            "limits": asdict(self.limits),
            "files": {key: value for key, value in asdict(self.files).items() if value},
            "hashes": dict(self.hashes),
        }
        return Record(
            run=self.run,
            domain=self.domain,
            planner=self.planner,
            family=self.configuration.family,
            status=status,
            split=self.split,
            task=self.task,
            seed=self.seed,
            attempt=self.attempt,
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
    options: JobOptions = NO_OPTIONS,
) -> Iterator[Job]:
    """Yield all jobs, trainings before the jobs that need them.

    `configurations` maps domains to their configurations.
    """
    planner = _JobPlanner(folder.resolve(), plan_limits, training_limits, options)
    planned: set[str] = set()  # several configurations may share a training
    for suite in suites:
        for configuration in configurations[suite.domain]:
            for seed in range(seeds) if configuration.seeded else (None,):
                for job in planner.jobs(suite, configuration, seed):
                    if job.run not in planned:
                        planned.add(job.run)
                        yield job


@dataclass
class _JobPlanner:
    """The parts that all jobs of an experiment share."""

    folder: Path
    plan_limits: Limits
    training_limits: Limits
    options: JobOptions
    # Each experiment reads its files once; another one reads them again, as they may change.
    hash: Callable[..., str] = field(default_factory=lambda: cache(hash_files))

    def jobs(self, suite: Suite, configuration: Configuration, seed: int | None) -> Iterator[Job]:
        """Yield the jobs of a configuration with one seed: a training if needed, then the runs."""
        limits = self.plan_limits
        if configuration.time_limit is not None:
            limits = replace(limits, seconds=configuration.time_limit)
        domain, policy = suite.domain_file, suite.policy_file
        job = Job(
            domain=suite.domain,
            configuration=configuration,
            seed=seed,
            files=JobFiles(self._path(domain), self._path(policy)),
            hashes={"domain": self.hash(domain), "policy": self.hash(policy)},
            limits=limits,
            options=self.options,
        )
        if isinstance(configuration, Learned):
            alone = configuration.alone
            model = self.folder / MODELS / suite.domain / f"{alone.name}-{seed}.safetensors"
            files = replace(job.files, model=self._path(model))
            training = replace(
                job,
                configuration=alone,
                files=replace(files, training=tuple(map(self._path, suite.training))),
                hashes={**job.hashes, "training": self.hash(*suite.training)},
                limits=self.training_limits,
            )
            yield training
            hashes = {**job.hashes, "training": training.run}
            job = replace(job, files=files, hashes=hashes, after=training.run)
        elif isinstance(configuration, Shipped) and suite.model_file is not None:
            job = replace(job, hashes={**job.hashes, "model": self.hash(suite.model_file)})
        for test in suite.tests:
            yield replace(
                job,
                split=test.split,
                task=test.name,
                files=replace(job.files, task=self._path(test.file)),
                hashes={**job.hashes, "task": self.hash(test.file)},
            )

    def _path(self, file: Path) -> str:
        file = file.resolve()
        return str(file.relative_to(self.folder) if file.is_relative_to(self.folder) else file)


def hash_files(*files: Path) -> str:
    """Return a hash of the contents of files."""
    digest = hashlib.sha256()
    for file in files:
        content = read_input(file)
        digest.update(len(content).to_bytes(8, "little") + content)
    return digest.hexdigest()


def is_done(job: Job, record: Record | None, folder: Path, *, retry_failed: bool = False) -> bool:
    """Return whether a record holds the result of the job.

    A run that reached a limit is repeated with a larger limit, a failed run with `retry_failed`.
    """
    if record is None:
        return False
    if record.status is Status.FAILED:
        return not retry_failed
    had = record.details.get("limits", {})
    if record.status is Status.TIME:
        return not _is_more(job.limits.seconds, had.get("seconds"))
    if record.status is Status.MEMORY:
        return not _is_more(job.limits.memory, had.get("memory"))
    return not job.trains or (folder / str(job.files.model)).exists()


def _is_more(limit: float | None, than: float | None) -> bool:
    return than is not None and (limit is None or limit > than)
