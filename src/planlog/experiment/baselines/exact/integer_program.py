"""Integer programs, solved on one core by HiGHS.

Q. Huangfu, J. A. J. Hall: Parallelizing the dual revised simplex method. Mathematical Programming
Computation 10, 2018. https://highs.dev
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from planlog.errors import PlanlogError

TOLERANCE = 1e-6  # integrality tolerance of HiGHS


class MissingSolverError(PlanlogError):
    """HiGHS is not installed."""


def load_highs() -> ModuleType:
    """Import HiGHS; raise MissingSolverError if it is not installed."""
    try:
        import highspy
    except ImportError:
        raise MissingSolverError(
            "exact methods need the solver HiGHS: pip install 'planlog[baselines]'"
        ) from None
    module: ModuleType = highspy
    return module


def new_solver(highspy: ModuleType, **options: Any) -> Any:
    """Return a quiet, deterministic HiGHS solver on one core for costs that are integers."""
    solver = highspy.Highs()
    for option, value in {
        "output_flag": False,
        "threads": 1,
        "random_seed": 0,
        "mip_rel_gap": 0.0,
        **options,
    }.items():
        solver.setOptionValue(option, value)
    return solver


@dataclass(frozen=True)
class Answer:
    """The result of a solver run."""

    values: npt.NDArray[np.int64] | None  # (variables,): the best solution found
    lower_bound: int  # on the cost
    infeasible: bool


class IntegerProgram:
    """Minimise integer costs of nonnegative integer variables."""

    def __init__(self) -> None:
        self._costs: list[int] = []
        self._most: list[int] = []
        # Rows in compressed form; each is a lower bound on a sum of factor · variable.
        self._variables: list[int] = []
        self._factors: list[int] = []
        self._starts: list[int] = []
        self._least: list[int] = []

    def variable(self, cost: int = 0, most: int = 1) -> int:
        """Add a variable with values from 0 to `most`, and return its number."""
        self._costs.append(cost)
        self._most.append(most)
        return len(self._costs) - 1

    def at_least(self, least: int, terms: Iterable[tuple[int, int]]) -> None:
        """Require that the sum of factor · variable over (factor, variable) is at least `least`."""
        self._starts.append(len(self._variables))
        self._least.append(least)
        # HiGHS requires distinct variables in a row.
        merged: dict[int, int] = {}
        for factor, variable in terms:
            merged[variable] = merged.get(variable, 0) + factor
        self._variables += merged.keys()
        self._factors += merged.values()

    def at_most(self, most: int, terms: Iterable[tuple[int, int]]) -> None:
        """Require that the sum of factor · variable over (factor, variable) is at most `most`."""
        self.at_least(-most, [(-factor, variable) for factor, variable in terms])

    def implies(self, variable: int, others: Iterable[int]) -> None:
        """Require that a variable is at most the sum of the others."""
        self.at_least(0, [(-1, variable), *((1, other) for other in others)])

    def implies_all(self, variables: Sequence[int], other: int) -> None:
        """Require that the sum of the variables is at most the other one."""
        if variables:
            self.at_least(0, [(1, other), *((-1, variable) for variable in variables)])

    def solve(self, seconds: float, start: Mapping[int, int] | None = None) -> Answer:
        """Return the best solution found within the time limit, and a lower bound.

        `start` maps the nonzero variables of a known solution to their values.
        """
        count = len(self._costs)
        if count == 0:
            return Answer(np.zeros(0, dtype=np.int64), 0, any(b > 0 for b in self._least))
        highspy = load_highs()
        solver = new_solver(highspy, mip_abs_gap=1 - 1e-4, time_limit=seconds)
        solver.passModel(self._model(highspy))
        if start is not None:
            known = highspy.HighsSolution()
            known.col_value = [float(start.get(i, 0)) for i in range(count)]
            solver.setSolution(known)
        solver.run()
        status = solver.getModelStatus()
        if status in (
            highspy.HighsModelStatus.kInfeasible,
            highspy.HighsModelStatus.kUnboundedOrInfeasible,
        ):
            return Answer(None, 0, True)
        info = solver.getInfo()
        found = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
        values = np.rint(solver.getSolution().col_value).astype(np.int64) if found else None
        bound = info.mip_dual_bound
        lowest = sum(min(0, c) * m for c, m in zip(self._costs, self._most, strict=True))
        lower_bound = math.ceil(bound - TOLERANCE) if math.isfinite(bound) else lowest
        return Answer(values, max(lowest, lower_bound), False)

    def cost(self, values: npt.NDArray[np.int64]) -> int:
        """Return the cost of a solution: (variables,)."""
        return int(np.dot(values, self._costs))

    def _model(self, highspy: ModuleType) -> object:
        rows = len(self._least)
        model = highspy.HighsLp()
        model.num_col_ = len(self._costs)
        model.num_row_ = rows
        model.col_cost_ = np.array(self._costs, dtype=np.float64)
        model.col_lower_ = np.zeros(len(self._costs))
        model.col_upper_ = np.array(self._most, dtype=np.float64)
        model.row_lower_ = np.array(self._least, dtype=np.float64)
        model.row_upper_ = np.full(rows, highspy.kHighsInf)
        model.integrality_ = [highspy.HighsVarType.kInteger] * len(self._costs)
        matrix = model.a_matrix_
        matrix.format_ = highspy.MatrixFormat.kRowwise
        matrix.start_ = np.array([*self._starts, len(self._variables)], dtype=np.int32)
        matrix.index_ = np.array(self._variables, dtype=np.int32)
        matrix.value_ = np.array(self._factors, dtype=np.float64)
        return model
