"""Reports: tables, figures and pages from the records of an experiment.

Results are only read. `metrics` compares the runs; `document` collects the content as plain values
from `tables`, `figures`, `quality` and `learning`; `render` and `drawing` turn it into files.
"""

from planlog.report.files import FORMATS, MissingMatplotlibError, Report, report

__all__ = ["FORMATS", "MissingMatplotlibError", "Report", "report"]
