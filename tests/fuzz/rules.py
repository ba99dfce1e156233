"""Rules: damaged files give located errors; programs that are read mean what clingo says,
also after actions, when only what has changed is evaluated.

An input is a rule file whose first line names its domain, as in `% domain: blocks`.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

from fuzz import targets
from fuzz.mutations import STRANGE, change_alike, change_bytes, change_text
from fuzz.texts import check_diagnostics
from planlog.datalog import Program, parse_program
from planlog.errors import RuleError
from planlog.pddl.task import Domain
from planlog.policy.policy import Policy
from support.random_programs import (
    ARITIES,
    World,
    assert_maintained,
    check_against_clingo,
    make_task,
)
from support.random_programs import DOMAIN as CHANGES

HERE = Path(__file__).parents[1]
DOMAINS = {
    "changes": CHANGES,
    **{
        path.stem: Domain.read(path)
        for path in sorted((HERE / "support" / "small_domains").glob("*.pddl"))
    },
}
FILES = [
    path.read_text(encoding="utf-8") for path in sorted((HERE / "golden").glob("rules-*/policy.dl"))
]
WORDS = [
    *":- , . ( ) @ = != not _ X Y on clear a % ; <- ?x 'a' é".split(" "),
    *"@goal @ag @ug @aa @un @network".split(" "),
    *"else prefer for any minimise maximise can family include with : | { } count first".split(" "),
]
MOVES = 4
MOST_VARIABLES = 7  # of a rule that is evaluated: its cost grows with their number


def make(rng: Random) -> bytes:
    kind = rng.random()
    if kind < 0.25:
        return _program(rng).encode()
    text = rng.choice(
        [*FILES, _program(rng), _program(rng), _text(rng.choice(targets.seeds("rules")))]
    )
    header, _, body = text.partition("\n")
    if kind < 0.5:
        body = change_alike(body, rng)
    elif kind < 0.85:
        body = change_text(body, WORDS, rng)
    elif kind < 0.9:  # names meet that never met before
        lines = [line for file in FILES for line in file.splitlines()[1:]]
        body = "\n".join(rng.choices(lines, k=12))
    elif kind < 0.95:
        body = "".join(rng.choices(STRANGE, k=rng.randrange(60)))
    else:
        return f"{header}\n".encode() + change_bytes(body.encode(), rng)
    return f"{header}\n{body}".encode(errors="surrogatepass")


def _program(rng: Random) -> str:
    """Return a program for the domain whose actions change any atom; most of them are correct."""
    known = {**ARITIES, "warm": 1, "thing": 1}
    lines = ["% domain: changes"]
    names = {f"d{i}": rng.randint(0, 3) for i in range(rng.randint(1, 4))}
    heads = [*names.items(), ("add-red", 1), *[("del-edge", 2)] * rng.randint(0, 1)]
    for head, arity in heads:
        recursive = {head: arity} if head in names else {}
        for _ in range(rng.randint(1, 3)):
            lines.append(_rule(head, arity, known, {**known, **recursive}, rng))
        if head in names:
            known[head] = arity
    return "\n".join(_ordered(lines, rng))


def _ordered(lines: list[str], rng: Random) -> list[str]:
    """Return rules with choices, orders and prohibitions; half of the programs have none."""
    if rng.random() < 0.5:
        return lines
    found = lines[:1]
    for line in lines[1:]:
        if rng.random() < 0.3 and " :- " in line:
            variable = rng.choice([v for v in "XYZ" if v in line] or ["X"])
            group = rng.choice(["", "", " for X", " for Y"])
            line = line.removesuffix(".") + f", any {variable}{group}."
        found.append(line)
        if rng.random() < 0.2:
            found.append(rng.choice(["else", "else for X", "prefer", "else for X, Y"]))
    if rng.random() < 0.4:
        found.append(rng.choice([":- add-red(X), blue(X).", ":- del-edge(X, X).", "dead :- flag."]))
    return found


def _rule(head: str, arity: int, lower: dict[str, int], all_: dict[str, int], rng: Random) -> str:
    def atom(names: dict[str, int], terms: list[str]) -> str:
        name = rng.choice(list(names))
        marks = ["", "", "", "@ag", "@ug", "@aa", "@goal", "@un"]
        mark = rng.choice(marks) if name in ARITIES else ""
        row = ", ".join(rng.choice(terms) for _ in range(names[name]))
        return f"{name}{mark}({row})" if row else f"{name}{mark}"

    body = [atom(all_, ["X", "Y", "Z", "_", "a"]) for _ in range(rng.randint(0, 3))]
    bound = [v for v in "XYZ" if any(v in part for part in body)]
    if not bound:
        body.append("thing(X)")
        bound = ["X"]
    body += [f"not {atom(lower, [*bound, '_', 'b'])}" for _ in range(rng.randint(0, 2))]
    if rng.random() < 0.3:
        body.append(f"{rng.choice(bound)} {rng.choice(['=', '!='])} {rng.choice([*bound, 'a'])}")
    rng.shuffle(body)
    row = ", ".join(rng.choice([*bound, *bound, "a"]) for _ in range(arity))
    return f"{head}({row}) :- {', '.join(body)}." if row else f"{head} :- {', '.join(body)}."


def check(data: bytes) -> str:
    text = _text(data)
    name = text.partition("\n")[0].removeprefix("% domain: ")
    domain = DOMAINS.get(name, CHANGES)
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    try:
        program = parse_program(text, domain, "rules.dl")
    except RuleError as error:
        assert error.diagnostics
        check_diagnostics((d for d in error.diagnostics if d.file == "rules.dl"), lines)
        return "refused"
    check_diagnostics((d for d in program.warnings if d.file == "rules.dl"), lines)
    again = parse_program(str(program), domain)
    assert again == program or program.unnamed  # aggregates get new names
    policy = Policy.parse(text, domain)
    if domain is not CHANGES or not _is_small(program):
        return "read"
    world = World(int(targets.digest(data), 16) % 2**32)
    initial, goal = world.task()
    parts = world.goal_parts()
    task = make_task(initial, goal, (part.text for part in parts))
    try:
        policy.check_task(task)
    except RuleError:
        return "read"  # it names an object that the task lacks
    found = policy.derivations(task, [task.initial])
    check_against_clingo(policy, task, found, set(initial), set(goal), parts)
    walk = policy.start(task)
    for move in world.moves(MOVES):
        if move is not None:
            walk.apply(move)
        elif walk.steps:
            walk.undo()
        assert_maintained(walk)
    return "evaluated"


def _text(data: bytes) -> str:
    return data.decode("utf-8-sig", errors="replace")


def _is_small(program: Program) -> bool:
    sizes = [len(set(rule.terms)) for rule in program.rules]
    return len(sizes) < 100 and max(sizes, default=0) <= MOST_VARIABLES
