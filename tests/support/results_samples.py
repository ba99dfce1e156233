"""Results of experiments that nobody has run, with plausible numbers, for tests of reports.

`python -m support.results_samples`, run in `tests`, writes the results in `golden/report` and the
expected files of their report.
"""

from __future__ import annotations

import json
import math
import random
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from planlog.experiment.records import RECORDS, Family, Record, Status, read_records
from planlog.report import report
from planlog.report.comparison import compare
from planlog.report.document import Figure
from planlog.report.sections import write

DOMAINS = {"blocksworld": 1.0, "ferry": 0.8, "rover": 0.7, "satellite": 0.6}
NETWORKS = ((1, 8), (1, 16), (2, 8), (2, 16))


def sample_records(
    domains: Sequence[str] = tuple(DOMAINS),
    splits: Sequence[tuple[str, int, int]] = (("easy", 5, 29), ("medium", 35, 146)),
    tasks: int = 30,
    seeds: int = 3,
    settings: Sequence[str] = ("paper", "default"),
    networks: Sequence[tuple[int, int]] = NETWORKS,
    epochs: int = 100,
) -> Iterator[Record]:
    """Records of a whole experiment; splits are given with the objects of first and last task."""
    rng = random.Random(0)
    learned = [(f"lrnn-{n}-{w}-{s}", n, w, s) for s in settings for n, w in networks]
    for domain in domains:
        for name, layers, width, setting in learned:
            for seed in range(seeds):
                yield training(rng, domain, name, seed, layers, width, setting, epochs)
        for split, least, most in splits:
            for number in range(1, tasks + 1):
                objects = least + (most - least) * (number - 1) // max(1, tasks - 1)
                task = {"domain": domain, "split": split, "task": f"p{number:02}"}
                yield from _task(rng, task, objects, DOMAINS[domain], seeds, learned)


def _task(
    rng: random.Random,
    task: dict[str, Any],
    objects: int,
    slack: float,
    seeds: int,
    learned: Sequence[tuple[str, int, int, str]],
) -> Iterator[Record]:
    optimum = 2 * objects + rng.randrange(objects)
    known = objects < 30 or rng.random() < 0.5

    def run(planner: str, family: Family, seed: int | None = None, **values: Any) -> Record:
        name = "/".join([*task.values(), planner, str(seed)])
        values = {"status": Status.SOLVED, "objects": objects, "memory": 50_000_000, **values}
        if "length" in values:
            values.setdefault("cost", values["length"])
        configuration = {"kind": family.value, **values.pop("configuration", {})}
        details = {"configuration": configuration, "limits": {"seconds": 1800}}
        return Record(
            name, planner=planner, family=family, seed=seed, details=details, **task, **values
        )

    def longer(share: float) -> int:
        return optimum + round(optimum * share * slack * rng.random())

    for seed in range(seeds):
        seconds = round(0.001 * objects, 4)
        yield run("rules", Family.RULES, seed, length=longer(0.4) + 1, seconds=seconds)
    for name, layers, width, settings in learned:
        worse = 0.25 if settings == "paper" else 0.08
        values = {"layers": layers, "width": width, "settings": settings}
        for seed in range(seeds):
            seconds = round(0.0001 * layers * width * objects, 4)
            length = longer(worse)
            yield run(
                name, Family.LEARNED, seed, length=length, seconds=seconds, configuration=values
            )
    lama = round(0.0002 * objects**2.4, 3)
    if lama < 20:
        plan = {"length": longer(1.2), "seconds": lama}
    else:
        plan = {"status": Status.TIME, "seconds": 20.0}
    planner = {"planner": "lama-first"}
    yield run("lama-first", Family.PLANNER, configuration=planner, **plan)
    found = {"length": optimum, "optimal": True} if objects < 15 else {"status": Status.MEMORY}
    planner = {"planner": "lmcut"}
    yield run("lmcut", Family.PLANNER, seconds=2.5, configuration=planner, **found)
    proved = {"length": optimum, "optimal": True} if known else {"status": Status.TIME}
    bound = {"lower_bound": optimum - (0 if known else 2)}
    yield run("exact", Family.EXACT, seconds=0.3, **proved, **bound)


def training(
    rng: random.Random,
    domain: str,
    name: str,
    seed: int,
    layers: int,
    width: int,
    settings: str,
    epochs: int,
) -> Record:
    speed = (3 if settings == "default" else 1) * (1 + width / 16) * (1 + rng.random() / 3)
    done = [min(1.0, speed * epoch / (epochs + 20)) for epoch in range(epochs + 1)]
    configuration = {"kind": "learned", "layers": layers, "width": width, "settings": settings}
    return Record(
        f"{domain}/{name}/{seed}",
        domain,
        name,
        Family.LEARNED,
        Status.TRAINED,
        seed=seed,
        seconds=12.0 * width * layers,
        details={"configuration": configuration},
        training={
            "loss": [round(0.7 * 0.02**share + 0.01, 5) for share in done],
            "accuracy": [round(0.6 + 0.38 * share, 5) for share in done],
            "f1": [round(0.5 + 0.45 * share, 5) for share in done],
            "best": {"epoch": epochs, "accuracy": 0.98, "f1": 0.95},
            "epochs": epochs,
            "labelled_states": 20_000,
            "tasks": ["p01", "p02", "p03"],
            "objects": [2, 4, 7],
            "seconds": {"data": 1.5, "training": 11.0 * width * layers},
        },
    )


def write_results(folder: Path, records: Iterator[Record], workers: int = 2) -> None:
    """A folder of results as an experiment leaves it."""
    lines: list[list[str]] = [[] for _ in range(workers)]
    for i, record in enumerate(records):
        lines[i % workers].append(record.to_json() + "\n")
    (folder / RECORDS).mkdir(parents=True)
    for i, some in enumerate(lines):
        (folder / RECORDS / f"{i}.jsonl").write_text("".join(some))
    command = {
        "command": "planlog experiment --generate --out results",
        "machine": {"processors": 2, "memory": 8 * 2**30, "system": "Linux"},
        "versions": {"planlog": "0.1.0"},
    }
    about = {"commands": [command, command]}
    (folder / "experiment.json").write_text(json.dumps(about, indent=2) + "\n")


def improving(record: Record, planner: str, seconds: float = 10.0) -> Record:
    """The same run by something that finds worse plans first, and goes on to the end."""
    configuration = {**record.details["configuration"], "seconds": seconds}
    if "planner" in configuration:
        configuration["planner"] = planner
    same = replace(
        record,
        run=f"{record.run} {seconds:g}s",
        planner=f"{planner}-{seconds:g}s",
        family=Family.SEARCH if record.family is Family.RULES else record.family,
        seconds=seconds,
        details={**record.details, "configuration": configuration},
    )
    if record.cost is None or record.seconds > seconds / 4:
        return replace(same, status=Status.TIME, length=None, cost=None)
    steps = ((6, 1), (2, 2), (0, 4))
    plans = tuple((record.cost + more, round(record.seconds * late, 4)) for more, late in steps)
    return replace(same, plans=plans)


GOLDEN = Path(__file__).parents[1] / "golden" / "report"


_GO_ON = {"rules": "rules", "lama-first": "lama", "lrnn-1-8-default": "lrnn-1-8-default"}


def golden_records() -> Iterator[Record]:
    """Few, but with all that can happen."""
    splits = (("easy", 5, 20), ("medium", 40, 90))
    networks = ((1, 8), (2, 16))
    samples = sample_records(("blocksworld", "ferry"), splits, 3, 2, networks=networks, epochs=4)
    for record in samples:
        yield record
        # Only in one domain.
        if record.domain == "blocksworld" and record.task and record.planner in _GO_ON:
            yield improving(record, _GO_ON[record.planner])
    odd: dict[str, Any] = {"domain": "odd & <b>", "split": "te|st", "task": "p_1", "objects": 3}
    for seed in range(2):
        yield Record(
            f"odd {seed}", **odd, planner="rules", family=Family.RULES, status=Status.SOLVED,
            seed=seed, length=5 + seed, cost=5 + seed, seconds=0.01,
        )  # fmt: skip
    yield Record(
        "odd worse", **odd, planner="100%_$#{x}^~\\*", family=Family.PLANNER, status=Status.SOLVED,
        length=9, cost=9, seconds=2.0, plans=((12, 1.5), (9, 1.9)),
    )  # fmt: skip
    yield Record(
        "odd wrong", **odd, planner="exact", family=Family.EXACT, status=Status.SOLVED,
        length=6, cost=6, optimal=True, lower_bound=6,
    )  # fmt: skip
    yield Record(
        "odd failed", **odd, planner="symk", family=Family.PLANNER, status=Status.FAILED,
        message="Traceback\n<script>alert(1)</script> | `x` *y*", seconds=0.5,
    )  # fmt: skip


def comparable(name: str, content: bytes) -> str:
    """Return the text of a file, without the style sheet and the images of an HTML page.

    Images differ with the version of matplotlib.
    """
    text = content.decode()
    if name.endswith(".html"):
        text = re.sub(r"(?s)<style>.*</style>", "<style>…</style>", text)
        text = re.sub(r'src="data:[^"]*"', 'src="data:…"', text)
    return text


def plotted(figures: Sequence[Figure]) -> str:
    """What figures show, to be compared."""

    def plain(value: Any) -> Any:
        if isinstance(value, float):
            return None if math.isnan(value) else round(value, 6)
        if isinstance(value, dict):
            return {key: plain(each) for key, each in value.items() if each not in ("", (), False)}
        return [plain(each) for each in value] if isinstance(value, list | tuple) else value

    return json.dumps([plain(asdict(figure)) for figure in figures], indent=1) + "\n"


def write_golden() -> None:
    shutil.rmtree(GOLDEN, ignore_errors=True)
    write_results(GOLDEN / "results", golden_records())
    expected = GOLDEN / "expected"
    expected.mkdir()
    for name, content in report(GOLDEN / "results").files.items():
        if not name.endswith((".png", ".pdf")):
            (expected / name).write_text(comparable(name, content))
    figures = write(compare(read_records(GOLDEN / "results")), {}).figures
    (expected / "figures.json").write_text(plotted(figures))


if __name__ == "__main__":
    write_golden()
