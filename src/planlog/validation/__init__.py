"""An independent plan validator: it reads PDDL and replays plans by itself, in plain Python.

It shares no code with the rest of Planlog, so that a mistake there cannot hide here.
"""

from planlog.validation.replay import Report, Validator, validate, validate_files

__all__ = ["Report", "Validator", "validate", "validate_files"]
