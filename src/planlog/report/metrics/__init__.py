"""What records of runs say of planners: how their plans compare with the rules and the optimum."""

from planlog.report.metrics.comparison import Comparison, Planner, compare, difficulty
from planlog.report.metrics.measures import Grounds, Measures, measure
from planlog.report.metrics.scores import Spread, agility, npli, pli, quality
from planlog.report.metrics.tasks import TaskRuns, cost_of, is_solved, length_of, seconds_to_plan

__all__ = [
    "Spread",
    "agility",
    "npli",
    "pli",
    "quality",
    "TaskRuns",
    "cost_of",
    "is_solved",
    "length_of",
    "seconds_to_plan",
    "Grounds",
    "Measures",
    "measure",
    "Comparison",
    "Planner",
    "compare",
    "difficulty",
]
