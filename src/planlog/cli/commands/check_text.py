"""Results of `planlog check` as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from planlog.checking import Property, Summary, TaskReport, Verdict
from planlog.checking.report import Counterexample, Finding, Fond, Fraction, RuleReport, Scope
from planlog.cli.formatting import many, percent, wrapped
from planlog.pddl.task import Action

# Maximum numbers of entries shown of long lists; --json has all.
MOST_ATOMS = 200
MOST_ACTIONS = 20
MOST_STEPS = 30

# What fails, before the states in which it fails.
_FAILS = {
    Property.GOAL_ACHIEVING: "the policy leads to no goal from",
    Property.CYCLE_FREE: "cycles through",
    Property.OPTIMALITY_PRESERVING: "no optimal derived action in",
}


@dataclass(frozen=True)
class Checked:
    """The report on a task, with the names of its files."""

    file: Path
    report: TaskReport
    plans: dict[Property, Path]  # plan files of counterexamples


def task_block(checked: Checked, limit: int) -> str:
    """Return the number of states of a task and its verdicts, with their scopes."""
    report = checked.report
    lines = [f"{checked.file}: {_sizes(report, limit)}"]
    if report.unsolvable:
        lines.append("  this task is unsolvable: no goal is reachable")
    lines += [_row(p, _basis(finding, report)) for p, finding in report.findings.items()]
    return "\n".join([*lines, _fond(report.fond)])


def task_line(checked: Checked, limit: int) -> str:
    """Return the number of states of a task and its verdicts in one line."""
    verdicts = (f"{p.value} {f.verdict.value}" for p, f in checked.report.findings.items())
    return f"{checked.file}: {_sizes(checked.report, limit)}; {', '.join(verdicts)}"


def counterexamples(results: Sequence[Checked], domain: Path, every: bool) -> Iterator[str]:
    """Yield the counterexample with the shortest trace for each property; the others as lines.

    With `every`, yield all of them in full.
    """
    for property in Property:
        findings = ((result, result.report.findings.get(property)) for result in results)
        found = [(r, f.counterexample) for r, f in findings if f and f.counterexample]
        found.sort(key=lambda pair: len(pair[1].trace))
        shown = found if every else found[:1]
        for result, example in shown:
            yield _counterexample(result, property, example, domain)
        if others := found[len(shown) :]:
            number = many(len(others), "other task")
            lines = [f"{_title(property)} is refuted on {number} as well (-v shows everything):"]
            for result, example in others:
                length = many(len(example.trace), "action")
                after = f"after {length}" if example.trace else "in the initial state"
                lines.append(f"  {result.file}: {example.reason.value}, {after}")
            yield "\n".join(lines)


def summary_block(results: Sequence[Checked]) -> str:
    """Return the verdicts on all tasks together."""
    summary = Summary(tuple(r.report for r in results))
    lines = [f"{many(len(results), 'task')}, {many(summary.states, 'state')} seen"]
    for property in summary.reports[0].findings:
        verdicts = Counter(report.findings[property].verdict for report in summary.reports)
        lines.append(_row(property, _count(summary.verdict(property), verdicts)))
        if property is Property.OPTIMALITY_PRESERVING and summary.fully_known:
            failing = _failing(property, summary.failing(property), summary.failing_reached)
            where = f"with all states known, {many(summary.fully_known, 'task')}"
            lines.append(f"{'':27}{where}: {failing}")
    return "\n".join([*lines, _fond(summary.fond)])


def rules_block(report: RuleReport) -> str:
    """Return how often the rules fired, and which choices they leave."""
    scope = report.scope.value if report.scope else "the scope differs between tasks"
    lines = [f"Rules and choices, in {many(report.states, 'non-goal state')} ({scope}):"]
    if report.rules:
        lines.append(f"{'states':>10}{'derivations':>13}{'line':>6}  rule")
    for rule in report.rules:
        lines.append(f"{rule.states:>10,}{rule.derivations:>13,}{rule.line:>6}  {rule.rule}")
    if report.never_fired:
        places = ", ".join(str(rule.line) for rule in report.never_fired)
        noun = "rule, in line" if len(report.never_fired) == 1 else "rules, in lines"
        lines.append(f"  never fired: {len(report.never_fired):,} {noun} {places}")
    lines.append(f"  derived actions per state: {report.mean_actions:.2f} on average")
    lines.append(f"  more than one derived action: {_of(report.choice)}")
    if report.mixed is not None and report.mixed.of:
        mixed = f"  optimal and other derived actions: {_of(report.mixed)}"
        lines.append(f"{mixed}, where learning can shorten plans")
    return "\n".join(lines)


def _title(property: Property) -> str:
    return f"{property.value} {property.title}"


def _row(property: Property, text: str) -> str:
    return f"  {_title(property):<25}{text}"


def _of(part: Fraction, noun: str = "state") -> str:
    return f"{part.number:,} of {many(part.of, noun)} ({percent(part.number, part.of)})"


def _sizes(report: TaskReport, limit: int) -> str:
    reached = f"{report.reached:,}" if report.reached_complete else f"more than {limit:,}"
    if report.whole is None:
        return f"the policy reaches {reached} {'state' if reached == '1' else 'states'}"
    if report.whole_complete:
        return f"{many(report.whole, 'state')}, of which the policy reaches {reached}"
    return f"more than {many(limit, 'state')}; the policy reaches {reached}"


def _basis(finding: Finding, report: TaskReport) -> str:
    """Return the verdict on a property, and the states on which it is based."""
    verdict, property, failing = finding.verdict.value, finding.property, finding.failing
    seen = f"{many(finding.states, 'state')} seen"
    walks = report.walks
    walked = walks and (
        f"{many(walks.walks, 'random walk')} (seed {walks.seed}, {many(walks.steps, 'step')}, "
        f"{many(walks.states, 'state')})"
    )
    if finding.verdict is Verdict.PROVED:
        if finding.scope is Scope.WHOLE:
            states = f"the whole state space, {many(finding.states, 'state')}"
        else:
            number = "the only state" if finding.states == 1 else f"all {finding.states:,} states"
            states = f"{number} the policy reaches"
        return f"{verdict} on this task: {states}"
    if finding.verdict is Verdict.UNDECIDED:
        text = f"{verdict} within the limit: {seen}, no counterexample"
        if property is Property.OPTIMALITY_PRESERVING and failing and failing.of:
            text += f" in the {failing.of:,} whose optimal actions are known"
        return f"{text}; {walked} found none" if walked else text
    if finding.scope is Scope.WALKS or failing is None:
        return f"{verdict}: found by {walked}"
    if finding.scope in (Scope.WHOLE, Scope.REACHED):
        return f"{verdict}: {_failing(property, failing, finding.failing_reached)}"
    return f"{verdict}: {_FAILS[property]} {failing.number:,} of the {seen}"


def _failing(property: Property, failing: Fraction, reached: Fraction | None) -> str:
    """Return the fraction of failing states, and that among reached states if it is known."""
    kind = "solvable" if property is Property.OPTIMALITY_PRESERVING else "reached"
    text = f"{_FAILS[property]} {_of(failing, f'{kind} state')}"
    return text if reached is None else f"{text}, {_of(reached, 'reached one')}"


def _count(verdict: Verdict, verdicts: Counter[Verdict]) -> str:
    """Return the verdict on all tasks, or the number of tasks with each verdict."""
    if len(verdicts) == 1:
        number = verdicts[verdict]
        return f"{verdict.value} on {'this task' if number == 1 else f'all {number:,} tasks'}"
    order = (Verdict.REFUTED, Verdict.UNDECIDED, Verdict.PROVED)
    return ", ".join(f"{v.value} on {many(verdicts[v], 'task')}" for v in order if verdicts[v])


def _fond(fond: Fond) -> str:
    return (
        f"  FOND solution            weak {fond.weak.value}, "
        f"strong-cyclic {fond.strong_cyclic.value}, strong {fond.strong.value}"
    )


def _counterexample(
    checked: Checked, property: Property, example: Counterexample, domain: Path
) -> str:
    lines = [
        f"Counterexample to {_title(property)}, {checked.file}:",
        f"  {example.reason.value}",
        *_trace(example),
        "  the state, without static atoms:",
        wrapped(sorted(map(str, example.state.atoms)), "    ", MOST_ATOMS),
        *_goals(example),
        *_actions(example),
    ]
    if example.cycle:
        lines.append(f"  the cycle back to this state, {many(len(example.cycle), 'action')}:")
        lines += _steps(example.cycle, len(example.trace))
    elif example.ending:
        lines.append("  from here the policy leads to a state without derived actions:")
        lines += _steps(example.ending, len(example.trace))
    if property in checked.plans:
        plan = checked.plans[property]
        lines.append(f"  replay: planlog validate {domain} {checked.file} {plan} --prefix")
    else:
        lines.append("  --plan-dir DIR writes a plan file for `planlog validate --prefix`")
    return "\n".join(lines)


def _trace(example: Counterexample) -> list[str]:
    if not example.trace:
        return ["  in the initial state"]
    length = many(len(example.trace), "action")
    how = "under the policy" if example.under_policy else "by actions the policy does not derive"
    shortest = "no trace is shorter" if example.shortest else "a shorter trace may exist"
    heading = f"  after {length} from the initial state, {how} ({shortest}):"
    return [heading, *_steps(example.trace, 0)]


def _steps(actions: Sequence[Action], before: int) -> list[str]:
    """Return numbered actions; the beginning and the end of a long list."""
    rows = [f"  {before + i:>5}  {action}" for i, action in enumerate(actions, 1)]
    if len(rows) <= MOST_STEPS:
        return rows
    half = MOST_STEPS // 2
    left_out = f"      …  {many(len(rows) - 2 * half, 'action')} more: see --plan-dir or --json"
    return [*rows[:half], left_out, *rows[-half:]]


def _goals(example: Counterexample) -> list[str]:
    left = [status.goal for status in example.goals if not status.holds]
    heading = f"  goals that do not hold, {len(left):,} of {len(example.goals):,}:"
    return [heading, wrapped(left, "    ", MOST_ATOMS)] if left else [heading]


def _actions(example: Counterexample) -> Iterator[str]:
    """Yield the goal distance of the state, its derived actions and its optimal actions."""
    if example.dead_end:
        yield "  a dead end: no goal is reachable"
    elif example.distance is not None:
        yield f"  goal distance: {many(example.distance, 'action')}"
    else:
        yield "  goal distance: unknown within the limit"
    yield "  derived actions:" + ("" if example.derived else " none")
    for rule, actions in example.derived_by_rule.items():
        yield f"    {rule}"
        yield wrapped(list(map(str, actions)), "      ", MOST_ACTIONS)
    if example.optimal:
        yield "  optimal actions:"
        yield wrapped(list(map(str, example.optimal)), "    ", MOST_ACTIONS)
