"""Reports: the files of stored results, and properties of every report."""

from __future__ import annotations

import base64
import json
import math
import random
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import matplotlib
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planlog.cli import main
from planlog.experiment.records import Family, Record, Status, read_records
from planlog.report import FORMATS, report
from planlog.report.comparison import compare
from planlog.report.document import Cell, Document, Figure, Group, Section, Table
from planlog.report.drawing import draw, house_style, paint
from planlog.report.figures import pli_figure
from planlog.report.formatting import number, seconds
from planlog.report.planners import Planner
from planlog.report.published import published_npli
from planlog.report.quality import quality_figure
from planlog.report.render import html, lab, latex, markdown
from planlog.report.sections import write
from support.profiles import examples
from support.results_samples import (
    GOLDEN,
    comparable,
    golden_records,
    plotted,
    sample_records,
    write_results,
)

RECORDS = list(golden_records())
FIGURES = write(compare(RECORDS), {}).figures
TEXTS = ("md", "tex", "properties")  # formats without figures


@pytest.fixture(scope="module")
def golden() -> dict[str, bytes]:
    return dict(report(GOLDEN / "results").files)


def test_stored_results_come_from_the_generator() -> None:
    def ordered(records: list[Record]) -> list[str]:
        return sorted(record.to_json() for record in records)

    assert ordered(list(read_records(GOLDEN / "results"))) == ordered(RECORDS)


@pytest.mark.parametrize("name", sorted(path.name for path in (GOLDEN / "expected").iterdir()))
def test_each_file_is_as_expected(golden: dict[str, bytes], name: str) -> None:
    expected = (GOLDEN / "expected" / name).read_text()
    if name == "figures.json":
        shown, stored = (
            {f["name"]: f for f in json.loads(s)} for s in (plotted(FIGURES), expected)
        )
        assert shown == stored
    else:
        assert comparable(name, golden[name]) == expected


def test_all_files_are_there(golden: dict[str, bytes]) -> None:
    figures = [figure.name for figure in FIGURES]
    assert " ".join(figures) == (
        "pli-blocksworld pli-ferry pli-odd____b_ quality-blocksworld time "
        "learning-paper learning-default objects"
    )
    texts = {path.name for path in (GOLDEN / "expected").iterdir()} - {"figures.json"}
    assert set(golden) == texts | {f"{f}.{kind}" for f in figures for kind in ("png", "pdf")}
    assert all(golden[name].startswith(b"\x89PNG") for name in golden if name.endswith(".png"))
    assert all(golden[name].startswith(b"%PDF") for name in golden if name.endswith(".pdf"))


@pytest.mark.slow
def test_the_same_records_give_the_same_bytes(golden: dict[str, bytes], tmp_path: Path) -> None:
    """Independent of the order of records, the time, and the user's matplotlib settings."""
    shuffled = RECORDS[:]
    random.Random(1).shuffle(shuffled)
    write_results(tmp_path / "results", iter(shuffled), workers=5)
    with matplotlib.rc_context({"font.size": 20, "lines.linewidth": 9, "axes.facecolor": "red"}):
        again = report(tmp_path / "results").files
    assert again.keys() == golden.keys()
    for name, content in golden.items():
        assert again[name] == content, name


class Page(HTMLParser):
    """All tags of a page; checks that they are closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))
        if tag not in ("meta", "img"):
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_page_is_self_contained_and_accessible(golden: dict[str, bytes]) -> None:
    text = golden["report.html"].decode()
    page = Page(text)
    tags = [tag for tag, _ in page.tags]
    assert not {"script", "link", "iframe", "object", "b>"} & set(tags)
    assert "<script>alert(1)</script>" in page.text  # as text
    assert not re.search(
        r"(src|href)=\"(?!data:|#)|url\(|@import|http", comparable("x.html", golden["report.html"])
    )
    assert ("html", {"lang": "en"}) in page.tags
    images = [attributes for tag, attributes in page.tags if tag == "img"]
    assert len(images) == len(FIGURES)
    for image in images:
        assert image["alt"] and len(image["alt"]) > 40
        kind, _, data = str(image["src"]).partition(",")
        assert kind == "data:image/svg+xml;base64"
        drawing = base64.b64decode(data)
        assert ElementTree.fromstring(drawing).tag.endswith("svg")
        # Only the namespaces of XML and SVG are addresses.
        hosts = set(re.findall(rb"https?://([\w.]+)", drawing))
        assert hosts <= {b"www.w3.org", b"purl.org", b"creativecommons.org"}
    assert all("scope" in attributes for tag, attributes in page.tags if tag == "th")
    assert tags.count("caption") == tags.count("table") > 8
    targets = {attributes.get("id") for _, attributes in page.tags}
    links = [str(attributes["href"]) for tag, attributes in page.tags if tag == "a"]
    assert links and all(link[1:] in targets for link in links)


nasty = st.text(
    st.sampled_from("ab\\{}&%$#_~^<>|*`[]()!\"'-– ±−…é\n"), min_size=1, max_size=12
).filter(str.strip)


@st.composite
def any_table(draw: st.DrawFn) -> Table:
    columns = draw(st.integers(1, 4))
    cells = st.builds(Cell, nasty, nasty | st.just(""), st.booleans())
    rows = st.lists(st.tuples(*[cells] * columns), min_size=1, max_size=3).map(tuple)
    groups = draw(st.lists(st.builds(Group, nasty | st.just(""), rows), min_size=1, max_size=3))
    header = draw(st.tuples(*[nasty] * columns))
    return Table("name", draw(nasty), draw(nasty), header, tuple(groups))


@given(any_table())
def test_latex_tables_are_well_formed(table: Table) -> None:
    text = latex.render(table)
    lines = text.splitlines()
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 1
    body = lines[lines.index(r"\toprule") + 1 : lines.index(r"\bottomrule")]
    rows = [line for line in body if line != r"\midrule"]
    assert len(rows) == 1 + sum(len(g.rows) + bool(g.title) for g in table.groups)
    for line in rows:
        assert line.endswith(r" \\")
        line = line.removesuffix(r" \\")
        if not line.startswith(r"\multicolumn"):
            assert len(re.findall(r"(?<!\\)&", line)) == len(table.header) - 1
        assert not re.search(r"(?<!\\)[%#_~]", line)
        depth = 0
        for brace in re.findall(r"(?<!\\)[{}]", line):
            depth += 1 if brace == "{" else -1
            assert depth >= 0
        assert depth == 0
        assert len(re.findall(r"(?<!\\)\$", line)) % 2 == 0
    assert all(line.startswith("%") for line in lines[: lines.index(r"\toprule") - 1])


@given(any_table())
def test_markdown_and_html_tables_keep_their_shape(table: Table) -> None:
    document = Document("title", (Section("section", (table,)),))
    text = markdown.render(document, None)
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert len(rows) == 2 + sum(len(g.rows) + bool(g.title) for g in table.groups)
    for line in rows:
        assert len(re.findall(r"(?<!\\)\|", re.sub(r"\\\\", "", line))) == len(table.header) + 1
    page = Page(html.render(document, {}))
    cells = sum(tag in ("td", "th") for tag, _ in page.tags)
    expected = sum(len(g.rows) * len(table.header) + bool(g.title) for g in table.groups)
    assert cells == expected + len(table.header)


def test_properties_in_the_format_of_lab(golden: dict[str, bytes]) -> None:
    runs = json.loads(golden["properties"])
    assert len(runs) == sum(record.task != "" for record in RECORDS)
    best: dict[tuple[str, str], float] = {}
    for name, run in runs.items():
        assert "-".join(run["id"]) == name
        assert run["id"] == [run["algorithm"], run["domain"], run["problem"]]
        assert run["coverage"] == int(run["error"] == "success") == int("cost" in run)
        if run["coverage"]:
            key = run["domain"], run["problem"]
            best[key] = min(run["cost"], best.get(key, math.inf))
    for run in runs.values():
        cost = best[run["domain"], run["problem"]]
        assert run["score_quality"] == pytest.approx(cost / run["cost"] if run["coverage"] else 0)
    run = runs["lama-first-blocksworld-medium-p03.pddl"]
    assert run["memory"] == 50_000_000 // 1024
    assert run["total_time"] == run["wall_clock_time"] > 1
    assert runs["rules-seed1-ferry-easy-p01.pddl"]["seed"] == 1
    assert runs["lmcut-ferry-medium-p01.pddl"]["error"] == "search-out-of-memory"
    assert "total_time" not in runs["lmcut-ferry-medium-p01.pddl"]


def simple(planner: str, task: str, length: int | None, seed: int | None = None) -> Record:
    family = {"rules": Family.RULES, "exact": Family.EXACT, "lama-first": Family.PLANNER}
    return Record(
        f"{planner} {task} {seed}", "d", planner, family.get(planner, Family.LEARNED),
        Status.TIME if length is None else Status.SOLVED, "easy", task, 4, seed, length,
        length, planner == "exact",
    )  # fmt: skip


def test_pli_figure() -> None:
    records = [
        *(simple("rules", "p01", length, seed) for seed, length in enumerate((10, 12, 14))),
        *(simple("learned", "p01", length, seed) for seed, length in enumerate((8, 9, None))),
        simple("lama-first", "p01", 60),
        simple("exact", "p01", 8),
        *(simple("rules", "p02", 20, seed) for seed in range(3)),
        simple("learned", "p02", 15, 0),
        simple("lama-first", "p02", None),
    ]
    figure = pli_figure(compare(records), "d")
    assert figure is not None
    ((panel,),) = figure.panels
    lines = {line.label: line for line in panel.lines}
    assert lines["rules alone"].y == (0, 0)
    assert lines["optimal"].y == pytest.approx((100 / 3, math.nan), nan_ok=True)
    assert lines["learned"].y == pytest.approx((100 * 3.5 / 12, 25), nan_ok=True)
    assert lines["LAMA, first plan"].y == pytest.approx((-400, math.nan), nan_ok=True)
    assert [line.label for line in panel.lines if line.learned] == ["learned"]
    assert panel.y_range is not None and -400 < panel.y_range[0] < 0 < 100 / 3 < panel.y_range[1]
    assert "down to −400" in panel.note


def test_quality_figure() -> None:
    def anytime(planner: str, task: str, *plans: tuple[float, float], limit: float = 10) -> Record:
        record = simple(planner, task, int(plans[-1][0]) if plans else None)
        details = {"configuration": {"seconds": limit}}
        return replace(record, plans=plans, seconds=limit, details=details)

    rules = [replace(simple("rules", "p01", 20, seed), seconds=0.1) for seed in range(2)]
    others = [simple("rules", "p02", None, 0), simple("rules", "p02", 16, 1)]
    plain = [*rules, *others, simple("exact", "p01", 10)]
    assert quality_figure(compare(plain), "d") is None
    records = [
        *plain,
        anytime("learned", "p01", (20, 0.001), (16, 1.0), (10, 9.99)),
        anytime("learned", "p02", (8, 0.1)),
        anytime("other", "p01", (10, 0.5), limit=1),
        anytime("other", "p02", limit=1),
    ]
    figure = quality_figure(compare(records), "d")
    assert figure is not None
    assert figure.name == "quality-d"
    ((panel, enlarged),) = figure.panels
    assert panel.y_range[0] < 0 < enlarged.y_range[0] < 0.5 < 1 < enlarged.y_range[1]
    lines = {line.label: line for line in panel.lines}
    assert enlarged.lines == panel.lines
    assert set(lines) == {"rules alone", "learned, 10 s", "other, 1 s"}  # nothing that proves

    def at(label: str, seconds: float) -> float:
        line = lines[label]
        assert line.steps and line.x[0] == 0.01 and line.x[-1] == 10
        return max((y, x) for x, y in zip(line.x, line.y, strict=True) if x <= seconds)[0]

    times = (0.01, 0.09, 0.12, 0.9, 1.1, 9.9, 10)
    # The best plan for p02 has 8 actions; the rules solve it with one of two seeds.
    assert [at("rules alone", t) for t in times] == pytest.approx(
        [0.125, 0.125, 0.375, 0.375, 0.375, 0.375, 0.375]
    )
    assert [at("learned, 10 s", t) for t in times] == pytest.approx(
        [0.25, 0.25, 0.75, 0.75, 0.8125, 0.8125, 1]
    )
    assert [at("other, 1 s", t) for t in times] == pytest.approx([0, 0, 0, 0.5, 0.5, 0.5, 0.5])
    assert "learned, 10 s 1.000" in figure.description


@given(st.data())
def test_quality_increases_up_to_the_score(data: st.DataObject) -> None:
    records = [simple("exact", "p01", 5)]
    for task in ("p01", "p02"):
        for seed in range(2):
            costs = sorted(data.draw(st.sets(st.integers(5, 40), max_size=4)), reverse=True)
            times = sorted(data.draw(st.floats(0, 10)) for _ in costs)
            record = simple("learned", task, costs[-1] if costs else None, seed)
            plans = tuple(zip(map(float, costs), times, strict=True))
            details = {"configuration": {"seconds": 10.0}}
            records.append(replace(record, plans=plans, details=details))
    comparison = compare(records)
    figure = quality_figure(comparison, "d")
    assert figure is not None
    (line,) = (line for line in figure.panels[0][0].lines if line.label == "learned, 10 s")
    assert list(line.x) == sorted(set(line.x))
    assert all(before <= after + 1e-9 for before, after in zip(line.y, line.y[1:], strict=False))
    assert line.y[-1] == pytest.approx(comparison.measures["learned", "d"].quality / 2)


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_drawn_figures_show_their_data(figure: Figure) -> None:
    with house_style():
        canvas = paint(figure)
        canvas.draw_without_rendering()
    legend = [text.get_text() for text in canvas.legends[0].get_texts()]
    panels = [panel for row in figure.panels for panel in row]
    for axes, panel in zip(canvas.axes, panels, strict=True):
        assert axes.get_title(loc="left") == panel.title
        if panel.bars:
            drawn = [tuple(line.get_xdata()) for line in axes.lines]
            assert drawn == [(bar.low, bar.high) for bar in panel.bars]
            assert {bar.label for bar in panel.bars} == set(legend)
            assert axes.get_xscale() == "log"
            continue
        solid = set()
        for line, artist in zip(panel.lines, axes.lines, strict=False):
            assert list(artist.get_xdata()) == list(line.x)
            assert [float(y) for y in artist.get_ydata()] == pytest.approx(line.y, nan_ok=True)
            assert artist.is_dashed() == line.learned
            assert (artist.get_drawstyle() == "steps-post") == line.steps
            assert line.label in legend
            solid.add((artist.get_color(), artist.get_marker(), artist.get_markerfacecolor()))
        assert len(solid) == len(panel.lines)
        assert (axes.get_yscale() == "log") == (panel.y_log and bool(panel.lines))
    # Every text is inside of the canvas.
    for text in [
        *canvas.legends[0].get_texts(),
        *(a.xaxis.label for a in canvas.axes),
        *(a.yaxis.label for a in canvas.axes),
        *(a._left_title for a in canvas.axes),
    ]:
        if text.get_text():
            box = text.get_window_extent()
            assert box.x0 >= 0 and box.y0 >= 0, text
            assert box.x1 <= canvas.bbox.x1 and box.y1 <= canvas.bbox.y1, text


def test_text_formats_do_not_need_matplotlib(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    program = "import sys; from planlog.cli import main; code = main(sys.argv[1:]);"
    program += "print('matplotlib' in sys.modules); sys.exit(code)"
    command = ["report", str(GOLDEN / "results"), "--format", ",".join(TEXTS)]
    command = [sys.executable, "-c", program, *command, "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "False"), done.stderr
    assert "](" not in (tmp_path / "report.md").read_text()  # no links to figures

    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert main(["report", str(GOLDEN / "results"), "--out", str(tmp_path / "other")]) == 36
    error = capsys.readouterr().err
    assert "pip install 'planlog[report]'" in error and "--format md,tex,properties" in error
    assert not (tmp_path / "other").exists()


def test_the_command_writes_the_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], golden: dict[str, bytes]
) -> None:
    write_results(tmp_path / "results", iter(RECORDS))
    assert main(["report", str(tmp_path / "results"), "--format", "tex, properties"]) == 0
    written = {file.name: file.read_bytes() for file in (tmp_path / "results/report").iterdir()}
    assert written == {name: golden[name] for name in golden if re.search("tex|prop", name)}
    out, err = capsys.readouterr()
    assert out == f"191 runs: 5 files in {tmp_path / 'results' / 'report'}\n"
    assert "not complete" in err and "Contradictions" in err


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["nowhere"], 31, "nowhere: no results here: there is no file records/*.jsonl"),
        (["empty"], 31, "no results here"),
        (["broken"], 31, "0.jsonl:2: "),
        (["about"], 31, "experiment.json: not a JSON object"),
        (["good", "--format", "md,docx"], 36, f"expected some of {','.join(FORMATS)}, got 'docx'"),
        (["good", "--format", ""], 36, "got ''"),
        (["good", "--out", "good/experiment.json"], 36, "experiment.json is not a folder"),
    ],
)
def test_errors(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    code: int,
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty").mkdir()
    for name in ("good", "broken", "about"):
        write_results(Path(name), iter(RECORDS[:4]), workers=1)
    with Path("broken/records/0.jsonl").open("r+") as file:
        lines = file.readlines()
        file.seek(0)
        file.writelines([lines[0], '{"something": "else"}\n'])
    Path("about/experiment.json").write_text("[")
    if "--format" not in arguments:
        arguments = [*arguments, "--format", "md"]
    assert main(["report", *arguments]) == code
    assert said in capsys.readouterr().err


def test_incomplete_results(tmp_path: Path) -> None:
    """Some runs are missing, and the last line is incomplete."""
    records = list(sample_records(("ferry",), tasks=2, epochs=2))
    there = (r for r in records if (r.split, r.task, r.planner) != ("medium", "p02", "rules"))
    write_results(tmp_path, there, workers=1)
    file = tmp_path / "records/0.jsonl"
    file.write_bytes(file.read_bytes() + records[-1].to_json()[:100].encode())
    made = report(tmp_path, TEXTS)
    assert any("not complete" in warning for warning in made.warnings)
    assert "Results are not complete" in made.files["report.md"].decode()
    assert re.search(r"\| rules alone \| 9 of 12 \|", made.files["report.md"].decode())


few = list(sample_records(("rover",), (("easy", 4, 9),), 2, 2, networks=((1, 8),), epochs=2))


@given(st.lists(st.sampled_from(few), min_size=1, unique_by=lambda record: record.run))
@examples(50)
def test_any_results_can_be_reported_on(records: list[Record]) -> None:
    comparison = compare(records)
    document = write(comparison, {"commands": [{"machine": 3}, None, {"command": 1}]})
    text = markdown.render(document, None)
    assert "## Summary" in text and "nan" not in text
    for table in document.tables.values():
        assert all(len(row) == len(table.header) for row in table.rows)
        latex.render(table)
    html.render(document, {figure.name: b"" for figure in document.figures})
    assert len(json.loads(lab.render(comparison))) == sum(r.task != "" for r in records)
    for figure in document.figures:
        assert len({len(row) for row in figure.panels}) == 1


@given(st.lists(st.sampled_from(few), min_size=1, unique_by=lambda record: record.run))
@examples(8)
def test_any_results_can_be_drawn(records: list[Record]) -> None:
    for figure in write(compare(records), {}).figures:
        assert draw(figure, ["svg"])["svg"].startswith(b"<?xml")


def test_settings_with_changed_values() -> None:
    names = ("default", "default+derived_messages=no+weight_decay=0.1")
    split = ("easy", 4, 9)
    records = list(
        sample_records(("rover",), (split,), 2, 2, settings=names, networks=((1, 8),), epochs=2)
    )
    document = write(compare(records), {})
    figures = [figure.name for figure in document.figures if figure.name.startswith("learning")]
    assert figures == ["learning-default", "learning-default_derived_messages_no_weight_decay_0.1"]
    assert f"Learned, settings {names[1]}" in markdown.render(document, None).replace("\\", "")
    assert r"settings default+derived\_messages=no" in latex.render(document.tables["npli"])


def test_figures_of_many_domains_are_no_wider_than_a_page() -> None:
    records = [
        replace(record, domain=f"d{i}", run=f"{i} {record.run}") for i in range(6) for record in few
    ]
    for figure in write(compare(records), {}).figures:
        if figure.name == "time" or figure.name.startswith("learning"):
            assert [len(row) for row in figure.panels] == [4] * 4
            titles = [panel.title for row in figure.panels for panel in row if panel.lines]
            assert {title[:2] for title in titles if title} == {f"D{i}" for i in range(6)}
            with house_style():
                axes = paint(figure).axes
            assert sum(a.axison for a in axes) == 12
            labelled = [i for i, a in enumerate(axes) if a.get_xlabel()]
            assert labelled == [6, 7, 12, 13]


def test_all_best_values_are_bold() -> None:
    records = [simple("rules", "p01", 10, 0), simple("exact", "p01", 6)]
    for name, length in (("a", 8), ("b", 8), ("c", 9)):
        records.append(simple(name, "p01", length, 0))
    text = markdown.render(write(compare(records), {}), None)
    rows = re.findall(r"\| (\w[\w ]*) \| (\S+ ± 0\.0) \|", text)
    assert rows == [
        ("rules alone", "0.0 ± 0.0"),
        ("a", "**50.0** ± 0.0"),
        ("b", "**50.0** ± 0.0"),
        ("c", "25.0 ± 0.0"),
    ]


def test_published_npli() -> None:
    printed = """
        LAMA -674.4 603.5  -504.5 659.8  -28.4 147.8  88.4 17.2
        1 8    46.4  34.1    94.0  20.0   57.4  36.7  16.8 16.8
        1 16   22.2  49.5   100.0   0.0   56.3  40.2  50.8 27.8
        2 8    25.8  45.2    95.7  11.7   53.1  48.2  50.5 30.3
        2 16   53.2  31.6    97.1   9.9   44.9  40.2  28.7 26.2
    """
    for line in printed.strip().splitlines():
        *name, a, b, c, d, e, f, g, h = line.split()
        planner = Planner("lama-first", Family.PLANNER)
        if name != ["LAMA"]:
            planner = Planner("x", Family.LEARNED, network=(int(name[0]), int(name[1])))
        domains = ("blocksworld", "ferry", "rover", "satellite")
        numbers = [(float(x), float(y)) for x, y in ((a, b), (c, d), (e, f), (g, h))]
        assert [published_npli(planner, domain) for domain in domains] == numbers
    assert published_npli(planner, "rovers") == (44.9, 40.2)
    assert published_npli(planner, "gripper") is None
    assert published_npli(Planner("lama", Family.PLANNER), "ferry") is None
    assert published_npli(Planner("rules", Family.RULES), "ferry") is None
    assert published_npli(replace(planner, seconds=10.0), "ferry") is None


def test_numbers_as_text() -> None:
    assert [number(v) for v in (-28.44, -0.04, 0.0, 1234.56)] == ["−28.4", "0.0", "0.0", "1,234.6"]
    times = [seconds(v) for v in (0, 0.0004, 0.0123, 0.456, 3.44, 42.4, 1234.5)]
    assert times == ["0 s", "0.000 s", "0.012 s", "0.46 s", "3.4 s", "42 s", "1,234 s"]


@pytest.mark.slow
def test_thirty_thousand_records(tmp_path: Path) -> None:
    splits = (("easy", 5, 29), ("medium", 35, 146), ("hard", 160, 488))
    write_results(tmp_path, sample_records(splits=splits, tasks=84), workers=4)
    made = report(tmp_path)
    assert made.runs > 30_000 and len(made.files) == 6 + 2 * 8 + 1
