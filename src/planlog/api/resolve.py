"""Find the domain of a task, the tasks of a folder, and the policy that a user names."""

from __future__ import annotations

import errno
import glob
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from planlog import domains
from planlog.api.file_kinds import FileKind, expect, recognise, wrong_file
from planlog.errors import MissingFileError, ModelError, PlanlogError, RuleError, UnknownNameError
from planlog.files import is_stream
from planlog.pddl.task import Domain
from planlog.policy.policy import Policy

if TYPE_CHECKING:
    from planlog.network.model_file import Model

# The IPC's repositories keep `domain.pddl` two folders above the tasks.
_LEVELS = 3


def find_domain(place: Path) -> Path:
    """Find `domain.pddl` beside a task, or in a folder, or in a folder above.

    Raises FileNotFoundError if the task or folder itself is missing, MissingFileError if there is
    no domain.
    """
    if not place.exists():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(place))
    folder = place if place.is_dir() else place.parent
    for parent in [folder, *folder.absolute().parents[:_LEVELS]]:
        if (parent / "domain.pddl").is_file():
            return parent / "domain.pddl"
    raise MissingFileError(
        f"no DOMAIN is given, and there is no {folder / 'domain.pddl'} or one in a folder above"
    )


def split_files(files: Sequence[Path]) -> tuple[Path, list[Path]]:
    """Split `[DOMAIN] TASK…` into the domain file and the task files.

    A task may be a folder or a glob pattern. A domain that is not given is found by `find_domain`.
    """
    first, *others = files
    kind = recognise(first)
    if kind is FileKind.DOMAIN or (
        others and kind not in (FileKind.PROBLEM, FileKind.FOLDER) and not _is_pattern(first)
    ):
        expect(first, FileKind.DOMAIN, "DOMAIN")
        if not others:
            raise MissingFileError(f"no TASK is given: {first} is {FileKind.DOMAIN.value}")
        return first, task_files(others)
    if kind is FileKind.PROBLEM and any(recognise(f) is FileKind.DOMAIN for f in others):
        raise wrong_file(first, kind, FileKind.DOMAIN, "DOMAIN")
    tasks = task_files(files)
    return find_domain(tasks[0]), tasks


def task_files(arguments: Sequence[Path]) -> list[Path]:
    """Expand folders and glob patterns to the problem files they contain, in natural order."""
    found: list[Path] = []
    for argument in arguments:
        if argument.is_dir():
            inside = list(argument.glob("*.pddl"))
        elif _is_pattern(argument):
            inside = [Path(name) for name in glob.glob(str(argument), recursive=True)]  # noqa: PTH207 (patterns may be absolute)
        else:
            expect(argument, FileKind.PROBLEM, "TASK")
            found.append(argument)
            continue
        problems = [file for file in inside if recognise(file) is FileKind.PROBLEM]
        if not problems:
            raise PlanlogError(f"{argument}: no PDDL problem found there")
        found += sorted(problems, key=_natural)
    return found


def _is_pattern(file: Path) -> bool:
    return glob.has_magic(str(file)) and not file.exists()


def _natural(file: Path) -> list[tuple[int, str]]:
    """Sort `p2` before `p10`."""
    parts = re.findall(r"\d+|\D+", str(file))
    return [(int(part), "") if part.isdecimal() else (0, part) for part in parts]


@dataclass(frozen=True)
class Choice:
    """A policy that was named or found, with notes for the user."""

    policy: Policy
    name: str
    shipped: str | None = None  # the shipped domain, if the policy is one of Planlog's
    notes: tuple[str, ...] = ()


def choose_rules(domain: Domain, given: str | Path | None = None) -> Choice:
    """Find the rules of a policy.

    `given` is a rule file, `none` for all applicable actions, `shipped` for the rules that Planlog
    ships for the domain's name, or the name of a shipped domain. A variant may follow the last two
    (`shipped:paper`). The default is `shipped` if there are such rules, else `none`.
    """
    if given is None:
        if domains.find(domain.name) is not None:
            return _shipped_rules(domain, "shipped", "")
        note = (
            f"no policy is shipped for the domain '{domain.name}', so all applicable actions are "
            "allowed; give rules with --policy FILE"
        )
        return Choice(Policy.applicable(domain), "none", notes=(note,))
    if str(given) == "none":
        return Choice(Policy.applicable(domain), "none")
    file = Path(given)
    if is_policy_word(str(given)) and not file.is_file():
        word, _, variant = str(given).partition(":")
        return _shipped_rules(domain, word, variant)
    expect(file, FileKind.RULES, "the policy")
    return Choice(Policy.read(file, domain), str(given))


def is_policy_word(text: str) -> bool:
    """Return whether the text names a policy by a word: `none`, `shipped` or a shipped domain."""
    return text == "none" or text.partition(":")[0] in ("shipped", *domains.names())


def _shipped_rules(domain: Domain, word: str, variant: str) -> Choice:
    name = domains.find(domain.name) if word == "shipped" else word
    if name is None:
        raise UnknownNameError(
            f"no policy is shipped for the domain '{domain.name}'; policies are shipped for "
            + ", ".join(domains.names())
        )
    file = domains.policy_path(name, variant or "policy")
    try:
        policy = Policy.read(file, domain)
    except RuleError as error:
        error.add_note(
            f"planlog: the policy shipped for '{name}' does not fit this domain; give another "
            "with --policy FILE, or --policy none for all applicable actions"
        )
        raise
    return Choice(policy, f"shipped: {name}" + (f"/{variant}" if variant else ""), name)


def choose_policy(
    domain: Domain,
    policy: str | Path | None = None,
    *,
    model: str | Path | None = None,
    use_model: bool = True,
    temperature: float | None = None,
) -> Choice:
    """Find a policy: rules, and perhaps a model that scores their actions.

    It is the learned policy of the file `model`, or the rules that `choose_rules` finds for
    `policy`, or by default the shipped rules with the shipped model. `use_model=False` gives the
    rules alone; `temperature` samples actions by their scores.
    """
    if model is not None:
        learned = read_model(model)
        if not use_model:
            return Choice(learned.rules_for(domain), f"rules of {model}")
        return Choice(learned.policy(domain, temperature=temperature), str(model))
    if policy is not None or not use_model:
        return choose_rules(domain, policy)
    shipped = domains.find(domain.name)
    file = domains.model_path(shipped) if shipped else None
    if file is None:
        if temperature is not None:
            raise ModelError(
                f"--sample needs a model, and none is shipped for the domain '{domain.name}': "
                "give one with --model FILE"
            )
        return choose_rules(domain)
    try:
        # The model holds the rules too, so the rule file is not read.
        trained = read_model(file).policy(domain, temperature=temperature)
    except ModelError as error:
        if temperature is not None:
            raise
        note = f"the shipped rules are used without the shipped model: {error}"
        return replace(choose_rules(domain), notes=(note,))
    return Choice(trained, f"shipped: {shipped}, learned", shipped)


def read_model(file: str | Path, argument: str = "the model") -> Model:
    """Read a model file, which messages about a file of another kind call `argument`."""
    # Imported here: rules alone, which most commands use, need no networks.
    from planlog.network.model_file import Model

    if not is_stream(Path(file)):
        expect(Path(file), FileKind.MODEL, argument)
    return Model.read(file)
