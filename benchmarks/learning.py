"""Measurements of networks: training, and steps of a learned policy."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from inputs import Sizes, best, described, generated, setting
from planlog import domains
from planlog.datalog.syntax import Literal, Relation, Source
from planlog.network.model_file import Model
from planlog.network.scorer import NetworkScorer, weight_shapes
from planlog.network.settings import PRESETS, NetworkSettings, TemplateSettings
from planlog.network.template import build_template
from planlog.pddl.task import Domain, State, Task
from planlog.policy.policy import Policy
from planlog.statespace.labels import PAPER_STATES, Labels, label, select_training
from plans import planlog
from results import Process, Ratio

SECONDS_A_MODEL, MEGABYTES_A_MODEL = 300, 1000

# CPU seconds per step of the paper's implementation, on one core of a similar machine; the lowest
# value of several tasks.
PAPER_SECONDS_A_STEP = {"blocksworld": 0.28, "ferry": 0.17, "satellite": 0.6}


def is_missing(module: str, purpose: str) -> bool:
    """Return whether a module is not installed, and print what is skipped for that reason."""
    missing = importlib.util.find_spec(module) is None
    if missing:
        print(f"skipped: {purpose} needs {module}", file=sys.stderr)
    return missing


# --- Training as in the paper, against NeuraLogic ---------------------------------------------

AS_IN_THE_PAPER = PRESETS["paper"].changed(layers=1, width=8)


def measure_training(sizes: Sizes) -> Iterator[Ratio]:
    """Measure training on the Blocksworld training set, from parsed tasks to the model.

    NeuraLogic gets the states with their labels, grounds the same template and trains it.
    """
    if is_missing("torch", "training") or is_missing("neuralogic", "training against it"):
        return
    if shutil.which("java") is None:
        print("skipped: training against neuralogic needs Java", file=sys.stderr)
        return
    from planlog.learning.learn import learn

    name = "blocksworld"
    domain, rules = setting(name)
    limits = {"limit": sizes.states, "max_states": PAPER_STATES[name]}
    settings = AS_IN_THE_PAPER.changed(**limits)
    texts = [text for _, text in domains.generate(name, seed=0, split="training")]

    def ours() -> float:
        tasks = [domain.parse_task(text) for text in texts]
        start = time.process_time()
        learn(rules, tasks, settings)
        return time.process_time() - start

    spaces = select_training([domain.parse_task(text) for text in texts], **limits)
    labels = [label(space, rules) for space in spaces]
    states, epochs = sum(map(len, labels)), settings.training.epochs
    case = {
        **described_template(rules),
        "states": sample(labels, sizes.sample),
        "epochs": sizes.sample_epochs,
        "learning_rate": settings.training.learning_rate,
    }
    before = ours()
    theirs = trained_by_neuralogic(case)
    after = ours()
    number = len(case["states"])
    yield Ratio(
        f"train as in the paper: {states:,} states, {epochs} epochs, L=1, H=8",
        min(before, after),
        states / number * (theirs["grounding"] + epochs * theirs["epoch"]),
        f"neuralogic, extrapolated from {number} states and {sizes.sample_epochs} epochs",
        required=100,
    )


def trained_by_neuralogic(case: dict[str, Any]) -> dict[str, Any]:
    """Run NeuraLogic, check that it derives the same actions, and return its report."""
    script = Path(__file__).with_name("neuralogic_training.py")
    done = subprocess.run(
        [sys.executable, str(script)],
        input=json.dumps(case),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    report: dict[str, Any] = json.loads(done.stdout)
    for derived, (_, queries) in zip(report["derived"], case["states"], strict=False):
        if sorted(derived) != sorted(action for action, _ in queries):
            raise SystemExit(f"neuralogic derives other actions: {derived} instead of {queries}")
    return report


def described_template(rules: Policy) -> dict[str, Any]:
    """Return the template's rules, and the dimensions of the relations that they derive."""
    layers, network = AS_IN_THE_PAPER.template, AS_IN_THE_PAPER.network
    policy = build_template(rules, layers).policy
    assert policy.program is not None
    program = policy.program.rules

    def parts(literal: Literal) -> list[object]:
        # NeuraLogic treats rules without variables as facts, so nullary atoms get an argument.
        terms = [f"V{term}{i if str(term) == '_' else ''}" for i, term in enumerate(literal.terms)]
        return [symbol(literal.relation), terms or ["Nothing"], literal.negated]

    return {
        "rules": [[parts(r.head), [parts(literal) for literal in r.literals]] for r in program],
        "dimensions": {
            symbol(rule.head.relation): 1 if rule.is_policy_rule else network.width
            for rule in program
        },
    }


def symbol(relation: Relation) -> str:
    return f"{relation.source.name.lower()}_{relation.name.replace('-', '_')}"


def sample(labels: list[Labels], number: int) -> list[list[Any]]:
    """Return the facts of random labelled states, and their derived actions with labels."""
    every = [(part, i) for part in labels for i in range(len(part))]
    chosen = np.random.default_rng(0).permutation(len(every))[:number]
    result = []
    for part, i in (every[j] for j in chosen):
        space = part.space
        entries, queries = part.segments[i], []
        derived = part.derived[entries]
        actions, optimal = part.actions[entries][derived], part.optimal[entries][derived]
        for number, is_optimal in zip(actions, optimal, strict=True):
            action = space.action(int(number))
            relation = Relation(action.name, len(action.arguments), Source.ACTION)
            queries.append(([symbol(relation), list(action.arguments)], bool(is_optimal)))
        result.append([facts(space.task, space.state(int(part.states[i]))), queries])
    return result


def facts(task: Task, state: State) -> list[tuple[str, list[str]]]:
    """Return the facts of a state: its atoms, goals, goal statuses, and types of objects."""
    true, goal = {*state.atoms, *task.static_atoms}, set(task.goal_atoms)
    found = []
    for item, kind in task.objects.items():
        for above in task.domain.types:
            if task.domain.is_subtype(kind, above.name):
                found.append((symbol(Relation(above.name, 1, Source.TYPE)), [item]))
    for source, atoms in (
        (Source.STATE, true),
        (Source.GOAL, goal),
        (Source.ACHIEVED_GOAL, true & goal),
        (Source.UNACHIEVED_GOAL, goal - true),
        (Source.ACHIEVED_NONGOAL, true - goal),
    ):
        for atom in sorted(atoms):
            relation = Relation(atom.name, len(atom.arguments), source)
            found.append((symbol(relation), list(atom.arguments) or ["nothing"]))
    return found


# --- From PDDL files to a model file ----------------------------------------------------------


def measure_models(sizes: Sizes) -> Iterator[Process]:
    """Measure `planlog train` on the training set of each domain, on two cores."""
    if is_missing("torch", "training"):
        return
    for name in sizes.models:
        with tempfile.TemporaryDirectory() as folder:
            files = []
            for file, text in domains.generate(name, seed=0, split="training"):
                files.append(Path(folder, file))
                files[-1].write_text(text, encoding="utf-8")
            done = planlog(
                "train",
                str(domains.path(name) / "domain.pddl"),
                *map(str, files),
                f"--out={Path(folder, 'model.safetensors')}",
                f"--settings={sizes.training}",
                f"--max-states={PAPER_STATES[name]}",
                f"--limit={sizes.states}",
                cores=2,
            )
        training = done.report["training"]
        yield Process(
            what=f"train {name}: {len(files)} tasks, {training['labelled_states']:,} states",
            outcome=done.report["outcome"],
            expected="trained",
            steps=training["epochs"],
            seconds=done.seconds,
            megabytes=done.megabytes,
            allowed_seconds=SECONDS_A_MODEL,
            allowed_megabytes=MEGABYTES_A_MODEL,
        )


# --- A step with a learned policy -------------------------------------------------------------


def learned_policy(name: str) -> tuple[Domain, Policy]:
    """Return the policy of the shipped model, or one with random weights if none is shipped."""
    domain, rules = setting(name)
    file = domains.model_path(name)
    if file is not None:
        return domain, Model.read(file).policy(domain)
    return domain, untrained_policy(rules, TemplateSettings(), NetworkSettings())


def untrained_policy(rules: Policy, layers: TemplateSettings, network: NetworkSettings) -> Policy:
    """Return a learned policy with random weights."""
    template = build_template(rules, layers)
    shapes = weight_shapes(template.structure, network, template.scores)
    rng = np.random.default_rng(0)
    weights = {
        key: (rng.normal(size=shape) / np.sqrt(shape[1])).astype(np.float32)
        for key, shape in shapes.items()
    }
    return rules.with_scorer(NetworkScorer(template, network, weights))


def measure_score(sizes: Sizes) -> Iterator[Ratio]:
    """Measure the mean step of a whole plan: choose the best action and apply it."""
    for name, measured in sizes.score_sizes.items():
        domain, policy = learned_policy(name)
        task = domain.parse_task(generated(name, measured, seed=0))
        steps = 0

        def run(name: str = name, policy: Policy = policy, task: Task = task) -> float:
            nonlocal steps
            walk = policy.start(task)
            rng = np.random.default_rng(0)
            steps = 0
            start = time.thread_time()
            while not walk.is_goal:
                action = walk.choose(rng)
                if action is None or steps > 100 * len(task.objects):
                    raise SystemExit(f"{name}: the learned policy finds no plan")
                walk.apply(action)
                steps += 1
            return time.thread_time() - start

        (seconds,) = best(sizes.repetitions, run)
        yield Ratio(
            f"one step, learned, {described(name, measured)} ({steps} steps)",
            seconds / steps,
            PAPER_SECONDS_A_STEP[name],
            "the paper's implementation, measured elsewhere",
            required=1000,
        )
