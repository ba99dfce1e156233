"""Integer programs, solved on one core by HiGHS.

Q. Huangfu, J. A. J. Hall: Parallelizing the dual revised simplex method. Mathematical Programming
Computation 10, 2018. https://highs.dev
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from planlog.errors import PlanlogError

TOLERANCE = 1e-6  # integrality tolerance of HiGHS


class MissingSolverError(PlanlogError):
    """HiGHS is not installed."""


@dataclass(frozen=True)
class Answer:
    """The result of a solver run."""

    values: npt.NDArray[np.float64] | None  # (variables,): the best solution found
    lower_bound: int  # on the cost
    finished: bool  # the solution is optimal, or reaches the target
    infeasible: bool


class IntegerProgram:
    """Minimise integer costs of nonnegative integer variables.

    Variables and constraints can be added between two runs of the solver. The solver is quiet and
    deterministic; `options` are further options of HiGHS. Raise MissingSolverError without HiGHS.
    """

    def __init__(self, **options: bool | int | float) -> None:
        try:
            import highspy
        except ImportError:
            raise MissingSolverError(
                "exact methods need the solver HiGHS: pip install 'planlog[baselines]'"
            ) from None
        self._highspy = highspy
        self._solver = highspy.Highs()  # type: ignore[no-untyped-call]
        fixed = {"output_flag": False, "threads": 1, "random_seed": 0, "mip_rel_gap": 0.0}
        # Costs are integers: a gap below 1 proves optimality.
        for option, value in {**fixed, "mip_abs_gap": 1 - 1e-4, **options}.items():
            self._solver.setOptionValue(option, value)
        self._lowest = 0  # cost if all variables with negative costs have their greatest value
        self._count = 0
        self.variable(most=0)  # HiGHS ignores the rows of a program without variables

    def variable(self, cost: int = 0, most: int = 1) -> int:
        """Add a variable with values from 0 to `most`, and return its number."""
        self._solver.addCol(cost, 0, most, 0, [], [])
        self._lowest += min(0, cost) * most
        self._count += 1
        return self._count - 1

    def at_least(self, least: int, terms: Iterable[tuple[int, int]]) -> None:
        """Require that the sum of factor · variable over (factor, variable) is at least `least`."""
        # HiGHS requires distinct variables in a row.
        factors: dict[int, float] = {}
        for factor, variable in terms:
            factors[variable] = factors.get(variable, 0.0) + factor
        columns, values = [*factors], [*factors.values()]
        self._solver.addRow(least, self._highspy.kHighsInf, len(factors), columns, values)

    def at_most(self, most: int, terms: Iterable[tuple[int, int]]) -> None:
        """Require that the sum of factor · variable over (factor, variable) is at most `most`."""
        self.at_least(-most, [(-factor, variable) for factor, variable in terms])

    def implies(self, variable: int, others: Iterable[int]) -> None:
        """Require that a variable is at most the sum of the others."""
        self.at_least(0, [(-1, variable), *((1, other) for other in others)])

    def solve(
        self,
        seconds: float,
        *,
        start: Mapping[int, int] | None = None,
        target: float = -math.inf,
        relaxed: bool = False,
    ) -> Answer:
        """Return the best solution found within the time limit, and a lower bound.

        `start` maps the nonzero variables of a known solution to their values. A run ends at a
        solution whose cost is below `target`. A relaxed program allows fractions.
        """
        solver, highspy = self._solver, self._highspy
        if not relaxed:
            kinds = np.full(self._count, highspy.HighsVarType.kInteger)
            solver.changeColsIntegrality(self._count, np.arange(self._count), kinds)
        solver.setOptionValue("time_limit", seconds)
        solver.setOptionValue("objective_target", target)
        if start is not None:
            known = highspy.HighsSolution()
            known.col_value = [float(start.get(i, 0)) for i in range(self._count)]
            solver.setSolution(known)
        solver.run()
        model, info = highspy.HighsModelStatus, solver.getInfo()
        status = solver.getModelStatus()
        if status in (model.kInfeasible, model.kUnboundedOrInfeasible):
            return Answer(None, 0, finished=True, infeasible=True)
        finished = status in (model.kOptimal, model.kObjectiveTarget)
        values = None
        if info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible:
            values = np.array(solver.getSolution().col_value)
        bound = info.mip_dual_bound
        if relaxed:
            bound = info.objective_function_value if finished else -math.inf
        elif values is not None:
            values = np.rint(values)
        lower_bound = math.ceil(bound - 10 * TOLERANCE) if math.isfinite(bound) else self._lowest
        return Answer(values, max(self._lowest, lower_bound), finished, infeasible=False)
