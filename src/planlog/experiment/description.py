"""`experiment.json`: the commands that wrote a results folder, with versions and machine."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from pathlib import Path

from planlog.experiment.records import ResultsError, timestamp
from planlog.experiment.suite import Suite
from planlog.files import read_input, write_atomically
from planlog.json_text import read_json
from planlog.network.model_file import present_versions
from planlog.parallel import available_processors

FILE = "experiment.json"


def describe(folder: Path, command: str, suites: Sequence[Suite]) -> None:
    """Add a command that starts now."""
    file = folder / FILE
    description = {
        "command": command,
        "started": timestamp(),
        "domains": [suite.domain for suite in suites],
        "splits": list(dict.fromkeys(test.split for suite in suites for test in suite.tests)),
        "versions": present_versions(),
        "machine": {
            "processors": available_processors(),
            "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
            "system": platform.platform(),
        },
    }
    try:
        content = read_json(read_input(file)) if file.exists() else {"commands": []}
        content["commands"].append(description)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ResultsError(f"{file}: not written by `planlog experiment`") from None
    write_atomically(file, json.dumps(content, indent=2) + "\n")
