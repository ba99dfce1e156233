"""The core of Planlog: PDDL, Datalog, state spaces, networks, search."""

import enum
from collections.abc import Sequence

import numpy
from numpy.typing import NDArray

import planlog.errors

_Ids = NDArray[numpy.uint32]
_Atoms = tuple[_Ids, _Ids, bool, int]  # values, offsets, static, columns of integers
_Derivations = tuple[_Ids, _Ids, _Ids, bool]  # heads, bodies, offsets, static
_Features = list[tuple[int, NDArray[numpy.float32]]]  # per relation
_Batch = tuple[list[_Atoms], list[_Derivations]]
_RuleMessages = tuple[int, _Ids, _Ids, _Ids, _Ids]  # rule, children, nodes, offsets, messages
_Layer = tuple[int, int, int, list[_RuleMessages]]  # relation, first, last, messages

sanitized: bool

compiler: str

class PredicateKind(enum.Enum):
    BASIC = 0

    DERIVED = 1

    AUXILIARY = 2

class Severity(enum.Enum):
    ERROR = 0

    UNSUPPORTED = 1

    WARNING = 2

class Domain:
    @property
    def name(self) -> str: ...
    @property
    def types(self) -> list[tuple[str, list[int]]]: ...
    @property
    def predicates(
        self,
    ) -> list[tuple[str, list[tuple[str, list[int]]], PredicateKind, bool, list[bool]]]: ...
    @property
    def actions(
        self,
    ) -> list[
        tuple[str, list[tuple[str, list[int]]], list[tuple[int | None, bool, list[int]]]]
    ]: ...
    @property
    def axioms(
        self,
    ) -> list[
        tuple[int, list[int], list[tuple[str, list[int]]], list[tuple[int | None, bool, list[int]]]]
    ]: ...
    @property
    def functions(self) -> list[tuple[str, int]]: ...
    @property
    def constants(self) -> list[tuple[str, int]]: ...

def read_domain(
    text: bytes,
) -> tuple[Domain | None, list[tuple[Severity, int, int, int, str, str]]]: ...

class Task:
    @property
    def name(self) -> str: ...
    @property
    def objects(self) -> list[tuple[str, int]]: ...
    @property
    def goals(self) -> list[str]: ...
    @property
    def goal_formulas(self) -> list[tuple[str, list[int]]]: ...
    @property
    def static_atoms(self) -> list[tuple[int, tuple[int, ...]]]: ...
    @property
    def minimises_cost(self) -> bool: ...
    @property
    def cost_decimals(self) -> int: ...
    def initial(self) -> NDArray[numpy.uint32]: ...
    def atoms(self, ids: NDArray[numpy.uint32]) -> list[tuple[int, tuple[int, ...]]]: ...
    def intern(self, predicate: int, values: Sequence[int]) -> int: ...

def read_task(
    domain: Domain, text: bytes
) -> tuple[Task | None, list[tuple[Severity, int, int, int, str, str]]]: ...

class Source(enum.Enum):
    STATE = 0

    GOAL = 1

    ACHIEVED_GOAL = 2

    UNACHIEVED_GOAL = 3

    ACHIEVED_NONGOAL = 4

    NEGATIVE_GOAL = 5

    UNWANTED = 6

    TYPE = 7

    FUNCTION = 8

    DERIVED = 9

    AGGREGATE = 10

class Aggregate(enum.Enum):
    COUNT = 0

    SUM = 1

    MIN = 2

    MAX = 3

    FIRST = 4

class ExpressionPart(enum.Enum):
    NUMBER = 0

    VARIABLE = 1

    ADD = 2

    SUBTRACT = 3

    MULTIPLY = 4

class ConstraintRelation(enum.Enum):
    EQUAL = 0

    UNEQUAL = 1

    LESS = 2

    LESS_OR_EQUAL = 3

class NumberError(planlog.errors.PlanlogError):
    pass

class Program:
    def __init__(self, domain: Domain) -> None: ...
    def status(self, predicate: int, source: Source) -> int: ...
    def type(self, types: Sequence[int]) -> int: ...
    def derived(self, name: str, arity: int, numbers: int = 0, least: int | None = None) -> int: ...
    def function(self, function: int) -> int: ...
    def aggregate(
        self, name: str, kind: Aggregate, elements: int, groups: int | None, group_size: int
    ) -> int: ...
    def action(self, action: int) -> int: ...
    def constant(self, name: str) -> int: ...
    def add_rule(
        self,
        head: int,
        head_terms: Sequence[int],
        body: Sequence[tuple[int, bool, Sequence[int]]],
        comparisons: Sequence[tuple[int, int, bool]],
        variable_count: int,
        constraints: Sequence[
            tuple[
                Sequence[tuple[ExpressionPart, int]],
                ConstraintRelation,
                Sequence[tuple[ExpressionPart, int]],
            ]
        ] = [],
        place: str = "",
        text: str = "",
    ) -> int: ...
    @property
    def relations(self) -> list[tuple[Source, str, int]]: ...
    @property
    def rule_count(self) -> int: ...
    def rule(self, number: int) -> tuple[int, list[int]]: ...
    def action_relation(self, action: int) -> int | None: ...
    def check(self) -> None: ...

class Activation(enum.Enum):
    IDENTITY = 0

    TANH = 1

    SIGMOID = 2

    RELU = 3

    LEAKY_RELU = 4

class Aggregation(enum.Enum):
    MAX = 0

    MEAN = 1

    SUM = 2

class Network:
    def __init__(
        self,
        program: Program,
        dimensions: Sequence[int],
        rules: Sequence[tuple[int, NDArray[numpy.float32], Sequence[NDArray[numpy.float32]]]],
        message_activation: Activation,
        atom_activations: Sequence[Activation],
        aggregation: Aggregation,
        with_features: Sequence[int] = [],
    ) -> None: ...

class MissingValue(LookupError):
    pass

class CostOverflow(OverflowError):
    pass

class Walk:
    def __init__(self, task: Task, program: Program, network: Network | None) -> None: ...
    def start(self, state: NDArray[numpy.uint32]) -> None: ...
    def apply(self, action: int, arguments: Sequence[int]) -> bool: ...
    def undo(self) -> None: ...
    def holds(self, relation: int) -> bool: ...
    def derivation_count(self, rule: int) -> int: ...
    def actions(self) -> list[tuple[int, tuple[int, ...]]]: ...
    def sample(self, key: int) -> tuple[int, tuple[int, ...]] | None: ...
    def scores(self) -> list[tuple[tuple[int, tuple[int, ...]], float]]: ...
    def best(self, temperature: float | None, key: int) -> tuple[int, tuple[int, ...]] | None: ...
    def follow_policy(self, key: int, max_steps: int) -> int: ...
    def values(self, relation: int) -> tuple[_Ids, NDArray[numpy.float32]]: ...
    @property
    def computed(self) -> int: ...
    def rules_of(self, action: int, arguments: Sequence[int]) -> list[int]: ...
    def state(self) -> NDArray[numpy.uint32]: ...
    def snapshot(self) -> _Batch: ...
    def derive(self, states: _Ids, offsets: _Ids) -> _Batch: ...
    def copy(self) -> Walk: ...
    def numbers(self) -> NDArray[numpy.int64]: ...
    def set_deadline(self, seconds: float | None) -> None: ...
    @property
    def fingerprint(self) -> int: ...
    @property
    def action_count(self) -> int: ...
    @property
    def steps(self) -> int: ...
    @property
    def cost(self) -> int: ...
    @property
    def goals_left(self) -> int: ...
    @property
    def goals_hold(self) -> list[bool]: ...

class StateSpace:
    def __init__(
        self,
        task: Task,
        program: Program,
        start: NDArray[numpy.uint32],
        limit: int,
        through_goals: bool,
        stop_at_goal: bool,
    ) -> None: ...
    def advance(self, count: int) -> bool: ...
    def action(self, number: int) -> tuple[int, tuple[int, ...]]: ...
    def __len__(self) -> int: ...
    @property
    def visited(self) -> int: ...
    @property
    def bits(self) -> NDArray[numpy.uint64]: ...
    @property
    def atoms(self) -> NDArray[numpy.uint32]: ...
    @property
    def depths(self) -> NDArray[numpy.uint32]: ...
    @property
    def goals(self) -> NDArray[numpy.uint8]: ...
    @property
    def offsets(self) -> NDArray[numpy.uint32]: ...
    @property
    def successors(self) -> NDArray[numpy.uint32]: ...
    @property
    def actions(self) -> NDArray[numpy.uint32]: ...
    @property
    def costs(self) -> NDArray[numpy.int64]: ...
    @property
    def rules(self) -> tuple[list[int], list[int]]: ...

class Derivation:
    def __init__(self, space: StateSpace, program: Program, dead: int | None = None) -> None: ...
    def advance(self, count: int) -> bool: ...
    @property
    def derived(self) -> NDArray[numpy.uint8]: ...
    @property
    def is_dead(self) -> NDArray[numpy.uint8]: ...
    @property
    def rules(self) -> tuple[list[int], list[int]]: ...

class Sharing(enum.Enum):
    """Criterion by which atoms are the same node."""

    NONE = 0
    """Every atom is a node of its own."""

    SETS = 1
    """Equal sets of messages from each rule: enough for the maximum."""

    MULTISETS = 2
    """Equal multisets of messages from each rule: needed for mean and sum."""

class Circuit:
    def __init__(
        self,
        program: Program,
        rules: Sequence[int],
        sharing: Sharing,
        with_features: Sequence[int] = [],
    ) -> None: ...
    def finish(
        self, outputs: Sequence[int]
    ) -> tuple[list[_Layer], list[_Ids], _Features, tuple[int, int, int, int, int]]: ...

class CircuitFeed:
    def __init__(
        self,
        circuit: Circuit,
        task: Task,
        features: Sequence[tuple[int, NDArray[numpy.uint32], NDArray[numpy.uint32]]],
    ) -> None: ...
    def add_state(self, state: NDArray[numpy.uint32]) -> None: ...
    def nodes(self, relation: int) -> tuple[_Ids, _Ids]: ...
    def actions(self) -> tuple[_Ids, _Ids]: ...
    def add_states(self, space: StateSpace, states: _Ids) -> tuple[_Ids, _Ids, _Ids, _Ids]: ...

def reverse(offsets: _Ids, targets: _Ids, size: int) -> tuple[_Ids, _Ids, _Ids]: ...
def distances(
    offsets: NDArray[numpy.uint32],
    targets: NDArray[numpy.uint32],
    size: int,
    sources: NDArray[numpy.uint32],
) -> NDArray[numpy.int32]: ...
def least_costs(
    offsets: NDArray[numpy.uint32],
    targets: NDArray[numpy.uint32],
    size: int,
    costs: NDArray[numpy.int64],
    sources: NDArray[numpy.uint32],
) -> NDArray[numpy.int64]: ...
def components(
    offsets: NDArray[numpy.uint32], targets: NDArray[numpy.uint32], size: int
) -> NDArray[numpy.uint32]: ...

class SearchOutcome(enum.Enum):
    RUNNING = 0

    SOLVED = 1

    EXHAUSTED = 2

    FULL = 3

class BestFirstSearch:
    def __init__(
        self,
        task: Task,
        program: Program,
        network: Network | None,
        state: NDArray[numpy.uint32],
        levels: Sequence[int],
        dead: int | None,
        limit: int,
        path: Sequence[tuple[int, Sequence[int]]],
        has_rules: bool,
    ) -> None: ...
    def advance(self, count: int) -> SearchOutcome: ...
    def plan(self) -> list[tuple[int, tuple[int, ...]]]: ...
    @property
    def states(self) -> int: ...
    @property
    def expanded(self) -> int: ...
    @property
    def dead(self) -> int: ...
    @property
    def state_size(self) -> int: ...
    @property
    def memory(self) -> int: ...

def eliminate_actions(
    task: Task,
    state: NDArray[numpy.uint32],
    plan: Sequence[tuple[int, Sequence[int]]],
    seconds: float | None = None,
) -> tuple[list[int], int] | None: ...

class ParallelSearch:
    def __init__(
        self,
        task: Task,
        program: Program,
        network: Network | None,
        state: NDArray[numpy.uint32],
        plan: Sequence[tuple[int, Sequence[int]]],
        seed: int,
        threads: int,
        eliminate: bool,
        seconds: float | None = None,
    ) -> None: ...
    def improve(self, expansions: int, seconds: float | None) -> bool: ...
    def action_costs(
        self, step: int
    ) -> list[tuple[tuple[int, tuple[int, ...]], tuple[int, int] | None]]: ...
    def plan(self) -> list[tuple[int, tuple[int, ...]]]: ...
    def state(self, step: int) -> NDArray[numpy.uint32]: ...
    @property
    def cost(self) -> int: ...
    @property
    def expansions(self) -> int: ...

class StopReason(enum.Enum):
    NONE = 0

    TIME = 1

    MEMORY = 2

    INTERRUPT = 3

    TERMINATE = 4

class Watchdog:
    @staticmethod
    def watch(seconds: float | None, memory: int | None) -> None: ...
    @staticmethod
    def rest() -> None: ...
    @staticmethod
    def signal_pipe() -> int: ...
    @staticmethod
    def set_ending(reason: StopReason, output: bytes, message: bytes, exit_code: int) -> None: ...
    @staticmethod
    def set_patience(seconds: float) -> None: ...
    @staticmethod
    def set_stops_work(value: bool) -> None: ...
    @staticmethod
    def reason() -> StopReason: ...

def resident_memory() -> int: ...
