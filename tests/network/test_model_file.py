"""Model files: what is written is read back, and damaged or foreign files are refused."""

from __future__ import annotations

import json
import os
import re
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given
from hypothesis import strategies as st

from planlog import domains
from planlog.errors import ModelError
from planlog.network import model_file as model
from planlog.network.model_file import FORMAT, Model
from planlog.network.settings import NetworkSettings, TemplateSettings
from planlog.network.template import build_template
from planlog.pddl.task import Domain
from planlog.policy.policy import Policy
from support.model_files import Change, domain_of, forge, make, put, same_weights, small
from support.profiles import examples
from support.random_networks import (
    NARROW,
    PLAIN,
    networks,
    policies,
    random_weights,
    rng_of,
    rules_of,
    seeds,
    small_task,
    templates,
)
from support.shipped_domains import SMALL

finite = st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | finite | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab_é"), inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(st.text("abc"), values, max_size=4)


def same(left: Model, right: Model) -> bool:
    return left.describe() == right.describe() and same_weights(left, right)


def bytes_of(written: Model, file: Path) -> bytes:
    written.write(file)
    return file.read_bytes()


# --- Round trips -------------------------------------------------------------------------


@given(policies, templates, networks, seeds, objects)
@examples(50)
def test_what_is_written_is_read_back(
    file: Path,
    which: tuple[str, str],
    of_template: TemplateSettings,
    of_network: NetworkSettings,
    seed: int,
    training: dict[str, Any],
) -> None:
    written = make(which, of_template, of_network, seed, training)
    data = bytes_of(written, file)
    read = Model.read(file)
    assert same(read, written)
    assert (read.template, read.network) == (of_template, of_network)
    assert read.training == training
    assert list(read.training) == list(training)
    assert bytes_of(read, file) == data
    # It is used as before.
    task = small_task(which[0], seed % 3)
    walks = [m.policy(task.domain).start(task) for m in (written, read)]
    assert walks[0].scores() == walks[1].scores()
    assert read.rules_for(task.domain).program == rules_of(*which).program


def test_equal_models_are_equal_files(file: Path) -> None:
    """Whatever the order in which weights come, and however they lie in memory."""
    one = make(training={"b": 1, "a": 2})
    weights = {n: np.asfortranarray(one.weights[n]) for n in sorted(one.weights, reverse=True)}
    rules = rules_of("blocksworld", "paper")
    other = Model.of(
        build_template(rules, one.template), one.network, weights, training={"b": 1, "a": 2}
    )
    assert bytes_of(one, file) == bytes_of(other, file)


def test_a_file_tells_how_it_was_made(file: Path) -> None:
    rules = rules_of("ferry", "policy")
    weights = random_weights(rules)
    made = Model.of(
        build_template(rules, PLAIN),
        NARROW,
        weights,
        training={"seed": 3},
        versions={"torch": "2.0"},
    )
    made.write(file)
    read = Model.read(file)
    assert read.domain == "ferry"
    assert read.rules == domains.policy_path("ferry").read_text()
    assert read.training == {"seed": 3}
    assert read.versions.keys() == {"planlog", "python", "numpy", "torch"}
    assert read.signature == build_template(rules, PLAIN).signature
    assert re.fullmatch("[0-9a-f]{64}", read.signature_hash)


def test_format_1_is_translated(file: Path) -> None:
    """Files of format 1 have other keys, in the description and within its training record."""

    def as_format_1(description: dict[str, Any]) -> None:
        description["format"] = 1
        description["template"] = {"layers": 0, "over_derived": False}
        description["training"] = {
            "surveys": {"rounds": 2, "states": 3, "steps": 4, "effort": 5, "expansions": 6},
            "settings": {"keep": "f1", "epochs": 7},
            "members": [0, 1],
            "trainings": [{"round": 0, "surveyed_states": 8, "expansions": 9, "decisions": 10}],
        }

    found = Model.read(forge(file, as_format_1))
    assert found.template == small().template
    assert found.training == {
        "search_labels": {
            "iterations": 2,
            "states_per_iteration": 3,
            "labelled_steps": 4,
            "expansions_per_step": 5,
            "max_expansions": 6,
        },
        "settings": {"select_by": "f1", "epochs": 7},
        "ensemble": [0, 1],
        "trainings": [
            {"iteration": 0, "search_labelled_states": 8, "expansions": 9, "choice_sets": 10}
        ],
    }
    assert found.describe()["format"] == FORMAT == 2


def test_other_programs_can_read_it(file: Path) -> None:
    written = make()
    written.write(file)
    tensors = safetensors.numpy.load_file(file)
    assert tensors.keys() == written.weights.keys()
    with safetensors.safe_open(file, framework="numpy") as opened:
        description = json.loads(opened.metadata()["planlog"])
    del description["checksum"]
    assert description == written.describe()


def test_rules_without_a_text_are_written_out(file: Path) -> None:
    given = rules_of("blocksworld", "paper")
    assert given.program is not None
    rules = Policy(given.domain, replace(given.program, text=""))
    Model.of(build_template(rules, PLAIN), NARROW, random_weights(rules)).write(file)
    assert Model.read(file).rules_for(given.domain).program == given.program


def test_numbers_that_json_lacks(file: Path) -> None:
    """They occur in the summary of a training that went astray."""
    given = {"loss": [0.5, float("nan"), float("inf")], "pair": (1, 2), 7: {"x": float("-inf")}}
    made = make(training=given)  # type: ignore[arg-type]
    plain = {"loss": [0.5, None, None], "pair": [1, 2], "7": {"x": None}}
    assert made.training == plain
    made.write(file)
    assert Model.read(file).training == plain


# --- Writing -----------------------------------------------------------------------------


def test_a_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "model.safetensors"
    before = bytes_of(small(), file)

    def fail(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        make().write(file)
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]


def test_nothing_is_written_that_could_not_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for limit in ("MOST_BYTES", "MOST_HEADER_BYTES"):
        with monkeypatch.context() as patch:
            patch.setattr(model, limit, 1000)
            with pytest.raises(ModelError, match="too large"):
                make().write(tmp_path / "model.safetensors")
    assert list(tmp_path.iterdir()) == []


# --- Damaged files -----------------------------------------------------------------------


def assert_refused_or_same(file: Path, data: bytes, original: Model) -> bool:
    """Whether it was refused; any other exception than ModelError fails."""
    file.write_bytes(data)
    try:
        read = Model.read(file)
    except ModelError as error:
        assert str(file) in str(error)
        return True
    assert same(read, original)
    return False


def test_beginnings_are_refused(file: Path) -> None:
    data = bytes_of(small(), file)
    for length in (*range(0, len(data), 11), len(data) - 1):
        assert assert_refused_or_same(file, data[:length], small())


def test_bytes_count_everywhere(file: Path) -> None:
    data = bytes_of(small(), file)
    accepted = 0
    for i in range(0, len(data), 3):
        changed = bytearray(data)
        changed[i] ^= 1 << i % 8
        accepted += not assert_refused_or_same(file, bytes(changed), small())
    # Some blanks may be others.
    assert accepted < 10


@given(st.data())
@examples(300)
def test_damaged_files(file: Path, data: st.DataObject) -> None:
    content = bytearray(bytes_of(small(), file))
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(content)))
        end = data.draw(st.integers(start, min(len(content), start + 40)))
        inserted = data.draw(
            st.binary(max_size=20) | st.sampled_from([b"{", b'"', b"[" * 500, b"0", b"\\", b"},"])
        )
        content[start:end] = inserted
    assert_refused_or_same(file, bytes(content), small())


@given(st.binary(max_size=200))
@examples(100)
def test_any_bytes(file: Path, data: bytes) -> None:
    assert assert_refused_or_same(file, data, small())


@given(values)
@examples(100)
def test_any_header(file: Path, header: Any) -> None:
    text = json.dumps(header).encode()
    assert assert_refused_or_same(file, struct.pack("<Q", len(text)) + text, small())


# --- Forged files: the checksum is right --------------------------------------------------


def test_a_forged_file_without_changes_is_fine(file: Path) -> None:
    """So that the next tests test what they say."""
    assert same(Model.read(forge(file, lambda description: None)), small())


def drop(*path: str) -> Change:
    def change(description: dict[str, Any]) -> None:
        for key in path[:-1]:
            description = description[key]
        del description[path[-1]]

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("format", FORMAT + 1), f"has format {FORMAT + 1}; .* up to {FORMAT}"),
        (put("format", 10**30), "has format 10{30}"),
        (put("format", 0), "format 0"),
        (put("format", True), "format True"),
        (put("format", "1"), "invalid description"),
        (drop("format"), "has no 'format' in its description"),
        (drop("rules"), "has no 'rules' in its description"),
        (drop("training"), "has no 'training' in its description"),
        (put("domain", 5), "must be texts"),
        (put("rules", ["unstack(A, B)."]), "must be texts"),
        (put("signature", None), "must be texts"),
        (put("versions", {"numpy": 2}), "must be texts"),
        (put("versions", "2"), "invalid description"),
        (put("training", 7), "invalid description"),
        (put("template", "layers", 10**9), "layers: expected a whole number from"),
        (put("template", "layers", -1), "layers: expected a whole number from"),
        (put("template", "layers", 1.5), "layers: expected a whole number from"),
        (put("template", "layers", True), "layers: expected a whole number from"),
        (put("template", "layers", "1"), "invalid description"),
        (put("template", "layers", None), "invalid description"),
        (put("template", "derived_messages", "no"), "derived_messages must be a bool"),
        (put("template", "depth", 1), "invalid description.*depth"),
        (put("template", None), "invalid description"),
        (put("network", "width", 0), "width: expected a whole number from"),
        (put("network", "width", 1.0), "width: expected a whole number from"),
        (put("network", "score_width", -3), "score_width: expected a whole number from"),
        (put("network", "score_width", "x"), "score_width: expected a whole number from"),
        (put("network", "aggregation", "median"), "invalid description.*median"),
        (put("network", "atom_activation", ["tanh"]), "invalid description.*tanh"),
        (put("network", "depth", 1), "invalid description.*depth"),
        (put("network", []), "invalid description"),
        (lambda _: "", "invalid description"),
        (lambda _: "{", "invalid description"),
        (lambda _: "[]", "invalid description"),
        (lambda _: "7", "invalid description"),
        (lambda _: '"format"', "invalid description"),
        (lambda _: "null", "invalid description"),
        (lambda _: "{}", "has no 'format' in its description"),
        (lambda _: '{"format": 1}', "has been changed"),
        (lambda _: "[" * 100_000, "invalid description"),
        (lambda _: '{"format": 1, "training": ' + '{"a":' * 50_000, "invalid description"),
        (lambda _: '{"format": ' + "9" * 10_000 + "}", "invalid description"),
        (lambda _: '{"format": 1, "training": {"a": 1e999}}', "invalid description"),
        (lambda _: '{"format": 1, "training": {"a": NaN}}', "invalid description"),
        (lambda _: '{"format": 1, "rules": "\\ud800"}', "invalid description"),
    ],
)
def test_descriptions_that_make_no_sense(file: Path, change: Change, message: str) -> None:
    forge(file, change)
    with pytest.raises(ModelError, match=f"(?s){message}"):
        Model.read(file)


KEYS = [
    *([key] for key in small().describe()),
    *(["template", key] for key in small().describe()["template"]),
    *(["network", key] for key in small().describe()["network"]),
]


@given(st.sampled_from(KEYS), values | st.integers(-2, 300) | st.text("ab(X),:-. \n"))
@examples(150)
def test_forged_descriptions(file: Path, path: list[str], value: Any) -> None:
    """Whatever stands there: it is refused, or it is used as it says."""
    forge(file, put(*path, value))
    try:
        read = Model.read(file)
        task = small_task("blocksworld", 0)
        policy = read.policy(task.domain)
    except ModelError:
        return
    assert policy.actions(task, task.initial) == small().rules_for(task.domain).actions(
        task, task.initial
    )


def test_rules_that_do_not_parse(file: Path) -> None:
    for rules, message in (
        ("unstack(A, B) :- ", "rules of the model"),
        ("unstack(A, B) :- next-to(A, B).", "next-to"),
        ("\0", "rules of the model"),
    ):
        read = Model.read(forge(file, put("rules", rules)))
        for use in (read.policy, read.rules_for):
            with pytest.raises(ModelError, match=f"do not fit the domain(?s:.)*{message}"):
                use(domain_of("blocksworld"))


def test_other_rules_than_those_of_the_weights(file: Path) -> None:
    read = Model.read(forge(file, put("rules", "unstack(A, B) :- on@ug(A, B).")))
    with pytest.raises(ModelError, match=r"(?s)another domain.*only in that one: unstack.*on@aa"):
        read.policy(domain_of("blocksworld"))
    assert read.rules_for(domain_of("blocksworld")).program is not None


# --- Weights -----------------------------------------------------------------------------


def changed_weights(name: str, weight: np.ndarray | None) -> dict[str, np.ndarray]:
    weights = dict(small().weights)
    if weight is None:
        del weights[name]
    else:
        weights[name] = weight
    return weights


@pytest.mark.parametrize("kind", [np.float64, np.float16, np.int32, np.uint8, np.bool_])
def test_weights_of_other_kinds(file: Path, kind: Any) -> None:
    weights = changed_weights("r0.H", small().weights["r0.H"].astype(kind))
    with pytest.raises(ModelError, match=r"weight r0\.H consists of .*, not of F32"):
        Model.read(forge(file, lambda _: None, weights))
    with pytest.raises(ModelError, match=r"weight r0\.H consists of"):
        Model.of(build_template(rules_of("blocksworld", "paper"), PLAIN), NARROW, weights)


def test_kinds_that_numpy_does_not_have(file: Path) -> None:
    data = bytes_of(small(), file)
    end = 8 + struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:end])
    header["r0.H"] |= {"dtype": "BF16", "shape": [1, 2]}
    text = json.dumps(header).encode()
    file.write_bytes(struct.pack("<Q", len(text)) + text + data[end:])
    with pytest.raises(ModelError, match=r"r0\.H consists of BF16, not of F32"):
        Model.read(file)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_weights_that_are_not_finite(file: Path, value: float) -> None:
    weight = np.full_like(small().weights["r1.B0"], value)
    with pytest.raises(ModelError, match=r"weight r1\.B0 has values that are not finite"):
        Model.read(forge(file, lambda _: None, changed_weights("r1.B0", weight)))
    rules = small().rules_for(domain_of("blocksworld"))
    with pytest.raises(ModelError, match="not finite"):
        Model.of(
            build_template(rules, small().template),
            small().network,
            changed_weights("r1.B0", weight),
        )


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("r0.H", None),
        ("r0.B0", None),
        ("r0.B7", (1, 1)),
        ("nonsense", (1, 1)),
        ("r0.H", (2, 1)),
        ("r0.H", (1,)),
        ("r0.H", (1, 1, 1)),
        ("r0.H", ()),
        ("r0.H", (0, 5)),
        ("r0.H", (2**40, 0)),
    ],
)
def test_weights_that_do_not_fit(file: Path, name: str, shape: tuple[int, ...] | None) -> None:
    weight = None if shape is None else np.ones(shape, np.float32)
    read = Model.read(forge(file, lambda _: None, changed_weights(name, weight)))
    message = f"weights do not fit its rules: .*{re.escape(name)}"
    with pytest.raises(ModelError, match=message):
        read.policy(domain_of("blocksworld"))


def test_weights_of_another_width(file: Path) -> None:
    read = Model.read(forge(file, put("network", "width", 10**6)))
    with pytest.raises(ModelError, match="weights do not fit"):
        read.policy(domain_of("blocksworld"))


# --- Other files -------------------------------------------------------------------------


def test_other_files(tmp_path: Path) -> None:
    file = tmp_path / "file"
    for data, message in (
        (b"", "no model file"),
        (b"not a model", "no model file"),
        (b"PK\x03\x04" + bytes(100), "no model file"),
        (struct.pack("<Q", 2**63) + b"{}", "no model file, or its description is too large"),
        (struct.pack("<Q", 10**8) + b"{}", "no model file, or its description is too large"),
        (struct.pack("<Q", 1000) + b"{}", "no model file"),
        (safetensors.numpy.save({"a": np.zeros(3)}), "not of Planlog"),
        (safetensors.numpy.save({}, metadata={"format": "pt"}), "not of Planlog"),
    ):
        file.write_bytes(data)
        with pytest.raises(ModelError, match=f"{re.escape(str(file))} .*{message}"):
            Model.read(file)


def test_a_tensor_that_is_not_there(tmp_path: Path) -> None:
    header = json.dumps({"a": {"dtype": "F32", "shape": [2**40], "data_offsets": [0, 2**42]}})
    file = tmp_path / "file"
    file.write_bytes(struct.pack("<Q", len(header)) + header.encode())
    with pytest.raises(ModelError, match="part of it is missing"):
        Model.read(file)


def test_files_too_large_are_not_read(tmp_path: Path) -> None:
    file = tmp_path / "large"
    file.touch()
    os.truncate(file, 2**33)  # takes no space
    with pytest.raises(ModelError, match="too large for a model file: 8,589,934,592 bytes"):
        Model.read(file)


def test_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Model.read(tmp_path / "none")
    with pytest.raises(IsADirectoryError):
        Model.read(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelError, match="is no file"):
        Model.read(tmp_path / "pipe")
    with pytest.raises(ModelError, match="is no file"):
        Model.read("/dev/zero")


# --- Other domains -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("which", "change", "message"),
    [
        (
            ("blocksworld", "paper"),
            ("(domain blocksworld)", "(domain blocks)"),
            "for the domain 'blocksworld', not for 'blocks'",
        ),
        # The rules need it, so it is they that do not fit.
        (("blocksworld", "paper"), ("on-table", "on-floor"), "do not fit the domain:.*on-table"),
        (
            ("blocksworld", "none"),
            ("on-table", "on-floor"),
            "only in that one: .*on-table@.*only in this one: .*on-floor@",
        ),
        (("blocksworld", "paper"), ("stack", "pile"), "do not fit the domain:.*unstack"),
        (
            ("satellite", "none"),
            ("(power_on ?i -", "(idle ?m) (power_on ?i -"),
            "this one: .*idle@ag",
        ),
        (
            ("blocksworld", "paper"),
            ("(and (holding ?ob) (clear ?underob))", "(and (holding ?ob) (not (clear ?underob)))"),
            r"that one: app_stack\(.* clear\(X2\).*this one: app_stack\(.* not clear\(X2\)",
        ),
        (
            ("ferry", "policy"),
            ("car location - object", "car - thing location thing - object"),
            "that one: type car - object.*this one: type car - thing",
        ),
        (("ferry", "policy"), ("?to - location", "?to - object"), r"app_debark.* location\(X2\)"),
    ],
)
def test_other_domains(which: tuple[str, str], change: tuple[str, str], message: str) -> None:
    made = make(which)
    with pytest.raises(ModelError, match=f"(?s){message}"):
        made.policy(domain_of(which[0], change))


@pytest.mark.parametrize("which", [("ferry", "none"), ("satellite", "policy")])
def test_the_same_domain_in_other_words(which: tuple[str, str]) -> None:
    text = (domains.path(which[0]) / "domain.pddl").read_text()
    made = make(which)
    changed = Domain.parse(f"; another comment\n{text.upper().replace('?', '?NEW_')}")
    task = small_task(which[0], 0)
    policies = [made.policy(domain) for domain in (changed, task.domain)]
    ((_, problem),) = domains.generate(which[0], seed=0, sizes=SMALL[which[0]])
    walks = [policy.start(policy.domain.parse_task(problem)) for policy in policies]
    assert walks[0].scores() == walks[1].scores()


def test_sampling_needs_a_temperature(file: Path) -> None:
    made, task = make(("ferry", "none")), small_task("ferry", 1)
    with pytest.raises(ValueError, match="temperature must be positive"):
        made.policy(task.domain, temperature=0)
    walk = made.policy(task.domain, temperature=5.0).start(task)
    assert len({walk.choose(rng_of(seed)) for seed in range(50)}) > 1


def test_the_order_of_declarations_does_not_matter() -> None:
    """Two authors of a domain seldom write its parts in the same order."""
    one = """(define (domain d) (:requirements :strips :typing :equality)
      (:types block - object table - object)
      (:predicates (on ?x ?y - block) (clear ?x - block) (free))
      (:action move :parameters (?x ?y - block)
        :precondition (and (clear ?x) (free) (not (= ?x ?y)) (on ?x ?y) (on ?y ?x))
        :effect (not (on ?x ?y)))
      (:action hold :parameters () :precondition (free) :effect (not (free))))"""
    other = """(define (domain d) (:requirements :typing :equality :strips)
      (:types table block)
      (:predicates (free) (clear ?a - block) (on ?a ?b - block))
      (:action hold :parameters () :precondition (free) :effect (not (free)))
      (:action move :parameters (?a ?b - block)
        :precondition (and (on ?b ?a) (on ?a ?b) (not (= ?a ?b)) (free) (clear ?a))
        :effect (not (on ?a ?b))))"""
    domains = [Domain.parse(text) for text in (one, other)]
    for rules in ("move(X, Y) :- clear(X).\nhold :- free.", None):
        policies = [
            Policy.applicable(domain) if rules is None else Policy.parse(rules, domain)
            for domain in domains
        ]
        first, second = (
            build_template(policy, TemplateSettings(2)).signature for policy in policies
        )
        assert first == second
