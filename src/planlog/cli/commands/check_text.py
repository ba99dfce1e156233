"""Text that `planlog check` prints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from planlog.checking import Property, Summary, TaskReport, Verdict
from planlog.checking.report import Counterexample, Finding, Fond, Fraction, Scope
from planlog.cli.formatting import counted, percent, wrapped
from planlog.costs import cost_text
from planlog.pddl.task import Action

# Items shown of long lists; --json has all of them.
MOST_ATOMS = 200
MOST_ACTIONS = 20
MOST_STEPS = 30

# Failures, followed by the states in which they occur.
_FAILS = {
    Property.GOAL_ACHIEVING: "the policy leads to no goal from",
    Property.CYCLE_FREE: "cycles through",
    Property.OPTIMALITY_PRESERVING: "no optimal derived action in",
}
# The same for the third property where optimal means least cost: there may be an optimal derived
# action that costs nothing and leads round a cycle.
_LOSES = "plans of least cost are lost in"


@dataclass(frozen=True)
class Checked:
    """The report on a task, with the names of its files."""

    file: Path
    report: TaskReport
    plans: dict[Property, Path]  # the counterexamples that were written

    def counterexample(self, property: Property) -> Counterexample | None:
        """Return the counterexample to a property, if there is one."""
        finding = self.report.findings.get(property)
        return None if finding is None else finding.counterexample


def describe(
    results: Sequence[Checked], domain: Path, limit: int, in_full: bool, every: bool
) -> str:
    """Describe at least one task: `in_full` or in a line, with `every` counterexample or not."""
    if in_full:
        blocks = [_task_block(result, limit) for result in results]
    else:
        blocks = ["\n".join(_task_line(result, limit) for result in results)]
    blocks += _counterexamples(results, domain, every)
    summary = Summary(tuple(result.report for result in results))
    if len(results) > 1:
        blocks.append(_summary_block(summary))
    return "\n\n".join([*blocks, _rules_block(summary)])


def _task_block(checked: Checked, limit: int) -> str:
    """Describe a task: the number of states, and each verdict with its basis."""
    report = checked.report
    lines = [f"{checked.file}: {_sizes(report, limit)}"]
    if report.minimises_cost:
        lines.append(
            "  the task minimises total-cost: optimal means least cost, not fewest actions"
        )
    if report.dead is not None:
        wrong = "all of them rightly"
        if report.dead.number:
            wrong = f"WRONGLY: {_of(report.dead)} have a plan"
        lines.append(f"  the rules call {counted(report.dead.of, 'state')} dead, {wrong}")
    if report.unsolvable:
        lines.append("  this task is unsolvable: no goal is reachable")
    lines += [_row(p, _basis(finding, report)) for p, finding in report.findings.items()]
    return "\n".join([*lines, _fond(report.fond)])


def _task_line(checked: Checked, limit: int) -> str:
    """Describe a task in a line: the number of states, and the verdicts."""
    verdicts = (f"{p.value} {f.verdict.value}" for p, f in checked.report.findings.items())
    return f"{checked.file}: {_sizes(checked.report, limit)}; {', '.join(verdicts)}"


def _counterexamples(results: Sequence[Checked], domain: Path, every: bool) -> Iterator[str]:
    """Yield the counterexample with the shortest trace for each property, and a line for others."""
    for property in Property:
        found = [(r, c) for r in results if (c := r.counterexample(property))]
        found.sort(key=lambda pair: len(pair[1].trace))
        shown = found if every else found[:1]
        for checked, example in shown:
            yield _counterexample(checked, property, example, domain)
        if others := found[len(shown) :]:
            number = counted(len(others), "other task")
            lines = [f"{_title(property)} is refuted on {number} as well (-v shows everything):"]
            for checked, example in others:
                length = len(example.trace)
                after = f"after {counted(length, 'action')}" if length else "in the initial state"
                lines.append(f"  {checked.file}: {example.reason.value}, {after}")
            yield "\n".join(lines)


def _summary_block(summary: Summary) -> str:
    """Describe all tasks together."""
    lines = [f"{counted(len(summary.reports), 'task')}, {counted(summary.states, 'state')} seen"]
    for property in summary.reports[0].findings:
        verdicts = Counter(report.findings[property].verdict for report in summary.reports)
        lines.append(_row(property, _count(summary.verdict(property), verdicts)))
        if property is Property.OPTIMALITY_PRESERVING and summary.fully_known:
            fails = _fails(property, summary.minimise_cost > 0)
            share = _failing(fails, property, summary.failing(property), summary.failing_reached)
            where = f"with all states known, {counted(summary.fully_known, 'task')}"
            lines.append(f"{'':27}{where}: {share}")
    lines.append(_fond(summary.fond))
    if summary.minimise_cost:
        tasks = counted(summary.minimise_cost, "task")
        lines.append(f"  optimal means least cost in {tasks} with the metric total-cost")
    return "\n".join(lines)


def _rules_block(summary: Summary) -> str:
    """Describe how often the rules fired, and the choices that they leave."""
    report = summary.rules
    scope = report.scope.value if report.scope else "the scope differs between tasks"
    lines = [f"Rules and choices, in {counted(report.states, 'non-goal state')} ({scope}):"]
    if report.rules:
        lines.append(f"{'states':>10}{'derivations':>13}{'line':>6}  rule")
    for rule in report.rules:
        lines.append(f"{rule.states:>10,}{rule.derivations:>13,}{rule.line:>6}  {rule.rule}")
    if report.never_fired:
        places = ", ".join(str(rule.line) for rule in report.never_fired)
        noun = "rule, in line" if len(report.never_fired) == 1 else "rules, in lines"
        lines.append(f"  never fired: {len(report.never_fired):,} {noun} {places}")
    for rule in report.crowded:
        actions = f"{rule.derivations // rule.states:,} actions in a state"
        hint = "'any X' keeps one of equal ones"
        lines.append(f"  the rule in line {rule.line} derives {actions}: {hint}")
    lines.append(f"  derived actions per state: {report.mean_actions:.2f} on average")
    lines.append(f"  more than one derived action: {_of(report.choice)}")
    if report.mixed is not None and report.mixed.of:
        mixed = f"  optimal and other derived actions: {_of(report.mixed)}"
        improve = "make plans cheaper" if summary.minimise_cost else "shorten plans"
        lines.append(f"{mixed}, where learning can {improve}")
    return "\n".join(lines)


def _title(property: Property) -> str:
    return f"{property.value} {property.title}"


def _row(property: Property, text: str) -> str:
    return f"  {_title(property):<25}{text}"


def _of(share: Fraction, noun: str = "state") -> str:
    return f"{share.number:,} of {counted(share.of, noun)} ({percent(share.number, share.of)})"


def _sizes(report: TaskReport, limit: int) -> str:
    reached = f"{report.reached:,}" if report.reached_complete else f"more than {limit:,}"
    if report.whole is None:
        return f"the policy reaches {reached} {'state' if reached == '1' else 'states'}"
    if report.whole_complete:
        return f"{counted(report.whole, 'state')}, of which the policy reaches {reached}"
    return f"more than {counted(limit, 'state')}; the policy reaches {reached}"


def _basis(finding: Finding, report: TaskReport) -> str:
    """Describe the verdict on a property and its basis."""
    verdict, property, failing = finding.verdict.value, finding.property, finding.failing
    fails = _fails(property, report.minimises_cost)
    seen = f"{counted(finding.states, 'state')} seen"
    walked = ""
    if walks := report.walks:
        sizes = f"{counted(walks.steps, 'step')}, {counted(walks.states, 'state')}"
        walked = f"{counted(walks.walks, 'random walk')} (seed {walks.seed}, {sizes})"
    if finding.verdict is Verdict.PROVED:
        if finding.scope is Scope.WHOLE:
            whole = f"the whole state space, {counted(finding.states, 'state')}"
            return f"{verdict} on this task: {whole}"
        states = "the only state" if finding.states == 1 else f"all {finding.states:,} states"
        return f"{verdict} on this task: {states} the policy reaches"
    if finding.verdict is Verdict.UNDECIDED:
        text = f"{verdict} within the limit: {seen}, no counterexample"
        if property is Property.OPTIMALITY_PRESERVING and failing and failing.of:
            text += f" in the {failing.of:,} whose optimal actions are known"
        return f"{text}; {walked} found none" if walked else text
    if finding.scope is Scope.WALKS or failing is None:
        return f"{verdict}: found by {walked}"
    if finding.scope in (Scope.WHOLE, Scope.REACHED):
        return f"{verdict}: {_failing(fails, property, failing, finding.failing_reached)}"
    return f"{verdict}: {fails} {failing.number:,} of the {seen}"


def _fails(property: Property, minimises_cost: bool) -> str:
    is_optimality = property is Property.OPTIMALITY_PRESERVING
    return _LOSES if is_optimality and minimises_cost else _FAILS[property]


def _failing(fails: str, property: Property, failing: Fraction, reached: Fraction | None) -> str:
    """Count the failing states, and those that the policy reaches if they are known."""
    kind = "solvable" if property is Property.OPTIMALITY_PRESERVING else "reached"
    text = f"{fails} {_of(failing, f'{kind} state')}"
    return text if reached is None else f"{text}, {_of(reached, 'reached one')}"


def _count(verdict: Verdict, verdicts: Counter[Verdict]) -> str:
    """Describe the verdict on all tasks, and the number of tasks with each verdict."""
    if len(verdicts) == 1:
        number = verdicts[verdict]
        return f"{verdict.value} on {'this task' if number == 1 else f'all {number:,} tasks'}"
    order = (Verdict.REFUTED, Verdict.UNDECIDED, Verdict.PROVED)
    return ", ".join(f"{v.value} on {counted(verdicts[v], 'task')}" for v in order if verdicts[v])


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
        lines.append(f"  the cycle back to this state, {counted(len(example.cycle), 'action')}:")
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
    length = counted(len(example.trace), "action")
    who = "under the policy" if example.under_policy else "by actions the policy does not derive"
    shortest = "no trace is shorter" if example.shortest else "a shorter trace may exist"
    heading = f"  after {length} from the initial state, {who} ({shortest}):"
    return [heading, *_steps(example.trace, 0)]


def _distance(example: Counterexample) -> str:
    """Describe a known goal distance: a number of actions or a cost."""
    assert example.distance is not None
    if example.plan.unit_cost:
        return counted(int(example.distance), "action")
    return f"cost {cost_text(example.distance)}"


def _steps(actions: Sequence[Action], before: int) -> list[str]:
    """Number the actions; of a long list, show the beginning and the end."""
    rows = [f"  {before + i:>5}  {action}" for i, action in enumerate(actions, 1)]
    if len(rows) <= MOST_STEPS:
        return rows
    half = MOST_STEPS // 2
    left_out = f"      …  {counted(len(rows) - 2 * half, 'action')} more: see --plan-dir or --json"
    return [*rows[:half], left_out, *rows[-half:]]


def _goals(example: Counterexample) -> list[str]:
    left = [status.goal for status in example.goals if not status.holds]
    heading = f"  unachieved goals, {len(left):,} of {len(example.goals):,}:"
    return [heading, wrapped(left, "    ", MOST_ATOMS)] if left else [heading]


def _actions(example: Counterexample) -> Iterator[str]:
    """Yield the goal distance, the derived actions by rule, and the optimal actions."""
    if example.dead_end:
        yield "  a dead end: no goal is reachable"
    elif example.distance is not None:
        yield f"  goal distance: {_distance(example)}"
    else:
        yield "  goal distance: unknown within the limit"
    yield "  derived actions:" + ("" if example.derived else " none")
    for rule, actions in example.derived_by_rule.items():
        yield f"    {rule}"
        yield wrapped([str(action) for action in actions], "      ", MOST_ACTIONS)
    if example.optimal:
        yield "  optimal actions:"
        yield wrapped([str(action) for action in example.optimal], "    ", MOST_ACTIONS)
