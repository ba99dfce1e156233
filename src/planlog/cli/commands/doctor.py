"""`planlog doctor`: a report of what is installed and whether it works."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import platform
import sys
import traceback
from collections.abc import Iterator
from typing import Any

import click

import planlog
from planlog.cli import options
from planlog.cli.command import Command
from planlog.cli.console import emit, emit_json
from planlog.cli.exit_codes import ExitCode

# Everything else is imported inside the functions below, since this command has to run where
# imports fail, and report why.

HELP = """Report what is installed, whether it works, and how to install what is missing.

Examples:

    planlog doctor
    planlog doctor --json

Exit codes: 0 Planlog works here (extras may be missing), 35 it does not, 73 the output
cannot be written.
"""

REQUIRED = ["numpy", "safetensors", "click", "rich"]
# Extra -> what it is for, and the modules that it brings.
EXTRAS = {
    "train": ("training networks", ["torch"]),
    "report": ("plots", ["matplotlib"]),
    "baselines": ("other planners to compare with", ["highspy", "up_fast_downward", "up_symk"]),
    "cluster": ("experiments on several machines", ["distributed"]),
}

TINY_DOMAIN = """
(define (domain switches)
  (:requirements :strips :typing)
  (:types switch)
  (:predicates (off ?s - switch) (lit ?s - switch))
  (:action press :parameters (?s - switch) :precondition (off ?s)
    :effect (and (lit ?s) (not (off ?s)))))
"""
TINY_PROBLEM = """
(define (problem two) (:domain switches)
  (:objects a b - switch) (:init (off a) (off b)) (:goal (and (lit a) (lit b))))
"""
TINY_POLICY = "press(S) :- lit@ug(S)."


@click.command("doctor", cls=Command, help=HELP)
@options.as_json
def command(as_json: bool) -> int:
    core = _core()
    problem = core.pop("problem", None) or _self_test()
    found: dict[str, Any] = {
        "works": problem is None,
        "problem": problem,
        "planlog": planlog.__version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "core": core,
        "packages": {name: _version(name) for name in REQUIRED},
        "extras": {
            name: {module: _version(module) for module in modules}
            for name, (_, modules) in EXTRAS.items()
        },
        "planners": {},
    }
    if problem is None:
        from planlog.experiment.baselines.installed import available

        found["planners"] = available()
    if as_json:
        emit_json(found)
    else:
        emit("\n".join(_lines(found)))
    return ExitCode.SUCCESS if problem is None else ExitCode.CRITICAL


def _lines(found: dict[str, Any]) -> Iterator[str]:
    yield f"planlog {found['planlog']}"
    yield f"python  {found['python']} ({sys.executable})"
    yield f"system  {found['platform']}"
    yield "core    " + ", ".join(f"{key} {value}" for key, value in found["core"].items())
    for name, version in found["packages"].items():
        yield f"        {name} {version or 'MISSING'}"
    for name, modules in found["extras"].items():
        if all(modules.values()):
            versions = ", ".join(f"{module} {version}" for module, version in modules.items())
            yield f"extra   {name}: installed: {versions}"
        else:
            purpose = EXTRAS[name][0]
            yield f"extra   {name}: not installed; for {purpose}: pip install 'planlog[{name}]'"
    for name, version_or_reason in found["planners"].items():
        yield f"planner {name}: {version_or_reason}"
    if found["works"]:
        yield "works   read, solved and validated a small task"
    else:
        yield f"BROKEN  {found['problem']}"
        yield "        Install again with: pip install --force-reinstall planlog"


def _core() -> dict[str, Any]:
    """Describe the compiled core, or the `problem` if it cannot be loaded."""
    try:
        from planlog import _core
    except ImportError as error:
        return {"problem": f"the compiled core cannot be loaded: {error}"}
    sanitizers = "with" if _core.sanitized else "without"
    return {"file": _core.__file__, "compiler": _core.compiler, "built": f"{sanitizers} sanitizers"}


def _self_test() -> str | None:
    """Solve a tiny task through all stages, and return what went wrong, if anything did."""
    # Every failure is the answer to the user's question, so all exceptions are caught.
    try:
        from planlog import Domain, Policy, solve, validate

        domain = Domain.parse(TINY_DOMAIN)
        task = domain.parse_task(TINY_PROBLEM)
        result = solve(task, Policy.parse(TINY_POLICY, domain))
        if result.plan is None or len(result.plan) != 2:
            return f"a task of two switches ended with: {result.outcome.value}"
        report = validate(task, result.plan)
        return None if report.valid else f"the plan is not valid: {report.reason}"
    except Exception:
        return "the self-test failed: " + traceback.format_exc().strip()


def _version(module: str) -> str | None:
    """Find the version of an importable module without importing it."""
    try:
        if importlib.util.find_spec(module) is None:
            return None
        return importlib.metadata.version(module.replace("_", "-"))
    except (ImportError, ValueError, importlib.metadata.PackageNotFoundError):
        return None
