"""Features of PDDL that are not supported, found by their words before anything else is checked.

So a file that uses one is refused for it, whatever else is wrong with the file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from planlog.validation.numbers import is_number, is_zero
from planlog.validation.sexpr import Node, Source

MAX_VARIABLES = 32  # visible at once

_SECTIONS = {
    ":durative-action": "durative actions",
    ":process": "processes",
    ":event": "events",
    ":constraints": "constraints",
    ":axiom": "axioms of PDDL 1",
    **dict.fromkeys((":task", ":method", ":htn"), "hierarchical tasks"),
    **dict.fromkeys((":goal-utilities", ":utility"), "goal utilities"),
    **dict.fromkeys((":bound", ":use-cost-metric"), "bounds on the plan cost"),
    ":goal-reward": "rewards",
    **dict.fromkeys((":observation", ":sensor"), "observations"),
    **dict.fromkeys((":agents", ":private"), "several agents"),
    ":timeless": "timeless facts",
    ":safety": "safety rules",
    ":domain-variables": "domain variables",
    ":situation": "named situations",
    ":extends": "domains that extend others",
}
_ACTION_WORDS = {
    ":vars": "':vars'",
    **dict.fromkeys((":duration", ":condition"), "durative actions"),
    **dict.fromkeys((":observe", ":sense"), "observations"),
    ":agent": "several agents",
    **dict.fromkeys((":expansion", ":only-in-expansions"), "hierarchical tasks"),
    ":maintain": "maintenance conditions",
}
_FORMULA_WORDS = {
    "over": "durative actions",
    "preference": "preferences",
    **dict.fromkeys(("<", ">", "<=", ">="), "numeric conditions"),
    **dict.fromkeys(("assign", "decrease", "scale-up", "scale-down", "change"), "numeric effects"),
    **dict.fromkeys(("oneof", "probabilistic"), "nondeterministic effects"),
    "unknown": "incomplete initial states",
    **dict.fromkeys(
        "always sometime within at-most-once sometime-after sometime-before always-within"
        " hold-during hold-after".split(),
        "trajectory constraints",
    ),
}
_REQUIREMENTS = frozenset(
    ":object-fluents :durative-actions :duration-inequalities :continuous-effects"
    " :timed-initial-literals :timed-initial-fluents :timed-effects :time :preferences"
    " :constraints :processes :events :probabilistic-effects :non-deterministic :nondeterministic"
    " :rewards :mdp :multi-agent :unfactored-privacy :factored-privacy :hierarchy :hierachie :htn"
    " :method-preconditions :domain-axioms :open-world :ucpop :goal-utilities"
    " :partial-observability :contingent :action-expansions :foreach-expansions :dag-expansions"
    " :subgoal-through-axioms :safety-constraints :expression-evaluation :true-negation".split()
)


def refuse_unsupported(
    source: Source, root: Node, predicates: Collection[str], functions: Collection[str]
) -> None:
    """Raise UnsupportedError if a file uses a feature that is not supported.

    The names are those that the domain declares; the file may declare more.
    """
    if root and root[0] == "define":
        _Search(source, root, predicates, functions).search()


class _Search:
    def __init__(
        self, source: Source, root: Node, predicates: Collection[str], functions: Collection[str]
    ) -> None:
        self.source = source
        self.sections = [item for item in root if isinstance(item, Node) and item]
        self.predicates = {*predicates, *self.declared(":predicates")}
        self.functions = {"total-cost", *functions, *self.declared(":functions")}

    def declared(self, section: str) -> Iterator[str]:
        for node in self.sections:
            if node[0] == section:
                for item in node[1:]:
                    if isinstance(item, Node) and item and isinstance(item[0], str):
                        yield item[0]

    def refuse(self, node: Node, feature: str, child: int | None = None) -> None:
        verb = "are" if feature.endswith("s") and "'" not in feature else "is"
        self.source.fail(node, f"{feature} {verb} not supported", child, unsupported=True)

    def search(self) -> None:
        for node in self.sections:
            head = node[0]
            if isinstance(head, str):
                self.section(node, head)

    def section(self, node: Node, head: str) -> None:
        if head in _SECTIONS:
            self.refuse(node, _SECTIONS[head])
        elif head == ":action":
            self.action(node)
        elif head == ":init":
            for fact in node[1:]:
                # Nearly all facts are atoms without lists, which need no closer look.
                is_atom = isinstance(fact, Node) and fact and Node not in map(type, fact)
                if isinstance(fact, Node) and not (is_atom and fact[0] in self.predicates):
                    self.initial(fact)
        elif head == ":metric":
            expression = node[2] if len(node) == 3 else None
            other = isinstance(expression, Node) and expression[:1] != ["total-cost"]
            if node[1:2] == ["maximize"] or other:
                self.refuse(node, "a metric other than 'minimize (total-cost)'")
        elif head == ":derived":
            variables = self.variables(node, 1, 0)
            for item in node[2:]:
                self.formula(item, variables)
        elif head == ":goal":
            for item in node[1:]:
                self.formula(item, 0)
        else:
            self.declarations(node, head)

    def declarations(self, node: Node, head: str) -> None:
        for i, item in enumerate(node):
            if head == ":requirements" and isinstance(item, str) and item in _REQUIREMENTS:
                self.refuse(node, f"requirement {item}", i)
            one_type = head in (":types", ":constants", ":objects")
            if one_type and isinstance(item, Node) and item[:1] == ["either"]:
                self.refuse(node, "'either' outside of parameters", i)
            if head in (":predicates", ":functions"):
                self.variables(node, i, 0)
                after = node[i + 1] if i + 1 < len(node) else "number"
                if head == ":functions" and item == "-" and after != "number":
                    self.refuse(node, "a function whose values are not numbers", i + 1)

    def variables(self, node: Node, child: int, outer: int) -> int:
        """Return the number of visible variables with those of a list."""
        declared = node[child] if child < len(node) else None
        if not isinstance(declared, Node):
            return outer
        found = [i for i, item in enumerate(declared) if isinstance(item, str) and item[0] == "?"]
        if outer <= MAX_VARIABLES < outer + len(found):
            self.refuse(declared, f"more than {MAX_VARIABLES} variables")
        return outer + len(found)

    def action(self, node: Node) -> None:
        variables = 0
        for i in range(2, len(node) - 1):
            if node[i] == ":parameters":
                variables = self.variables(node, i + 1, 0)
        for i, item in enumerate(node[2:], 2):
            if isinstance(item, str) and item in _ACTION_WORDS:
                self.refuse(node, _ACTION_WORDS[item], i)
            self.formula(item, variables)

    def initial(self, fact: Node) -> None:
        head = fact[0] if fact else ""
        if head == "=":
            if len(fact) == 3 and isinstance(fact[1], Node) and fact[1][:1] == ["total-cost"]:
                self.initial_cost(fact)
        elif head in ("or", "oneof") and head not in self.predicates:
            self.refuse(fact, "incomplete initial states")
        else:
            self.formula(fact, 0)

    def initial_cost(self, fact: Node) -> None:
        value = fact[2]
        if isinstance(value, str) and is_number(value) and not is_zero(value):
            self.refuse(fact, "'(total-cost)' other than 0 at the start", 2)

    def formula(self, node: Node | str, variables: int) -> None:
        if not isinstance(node, Node) or not node:
            return
        head = node[0]
        is_predicate = False
        if isinstance(head, str):
            if head == "at" and len(node) == 3 and isinstance(node[2], Node):
                self.refuse(node, "timed literals")
            is_predicate = head in self.predicates
            if not is_predicate and head not in self.functions and head in _FORMULA_WORDS:
                self.refuse(node, _FORMULA_WORDS[head])
            if head == "increase":
                self.increase(node)
                return
            if head in ("forall", "exists"):
                variables = self.variables(node, 1, variables)
        for i, item in enumerate(node):
            if not isinstance(item, Node):
                continue
            if head == "=":
                self.refuse(node, "numeric conditions")
            if is_predicate and item and isinstance(item[0], str) and item[0] in self.functions:
                self.refuse(node, "a function as an argument", i)
            self.formula(item, variables)

    def increase(self, node: Node) -> None:
        if len(node) > 1:
            increased = node[1]
            if not isinstance(increased, Node) or increased[:1] != ["total-cost"]:
                self.refuse(node, "numeric effects other than on (total-cost)")
        if len(node) > 2:
            amount = node[2]
            head = amount[0] if isinstance(amount, Node) and amount else ""
            if head == "total-cost" or (
                head in ("+", "-", "*", "/") and head not in self.functions
            ):
                self.refuse(node, "a cost that is neither a number nor a function", 2)
