"""Metrics of planners: plan length against the rules and the optimum, coverage, IPC scores."""

from planlog.report.metrics.comparison import Comparison, Planner, compare, difficulty
from planlog.report.metrics.measures import Eligibility, Measures, measure
from planlog.report.metrics.scores import MeanStd, agility, npli, pli, quality
from planlog.report.metrics.tasks import TaskRuns, cost_of, is_solved, length_of, seconds_to_plan

__all__ = [
    "Comparison",
    "Eligibility",
    "MeanStd",
    "Measures",
    "Planner",
    "TaskRuns",
    "agility",
    "compare",
    "cost_of",
    "difficulty",
    "is_solved",
    "length_of",
    "measure",
    "npli",
    "pli",
    "quality",
    "seconds_to_plan",
]
