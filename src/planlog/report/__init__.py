"""Reports: from the records of an experiment to tables, figures and pages.

Results are only read. The files follow the way: `document` says what there is to say, with
`tables`, `figures` and `learning` as plain values; `markdown`, `html`, `latex` and `drawing` give
these their form, `lab` writes runs for the tools of others, and `files` puts it all together.
"""

from planlog.report.files import FORMATS, MissingMatplotlibError, Report, report

__all__ = ["FORMATS", "MissingMatplotlibError", "Report", "report"]
