"""Run a short session of real commands and save it as docs/images/session.svg."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "images" / "session.svg"
SESSION = [
    "cat towers.dl",
    "planlog generate blocksworld --blocks 60 --out tasks",
    "planlog solve tasks/p01.pddl --policy towers.dl --plan-file plan --improve 2",
    "planlog validate tasks/p01.pddl plan.1",
]


def rules() -> str:
    """Return the rules of the README's first example."""
    match = re.search(
        r'```prolog title="towers.dl"\n(.*?)```', (ROOT / "README.md").read_text(), re.S
    )
    if match is None:
        raise SystemExit("README.md has no block towers.dl")
    return match[1]


def main() -> None:
    console = Console(record=True, width=96, file=io.StringIO())
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "towers.dl").write_text(rules())
        for command in SESSION:
            done = subprocess.run(
                ["bash", "-c", command],
                cwd=folder,
                env={**os.environ, "PATH": path, "COLUMNS": "96"},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=True,
            )
            console.print(Text.assemble(("$ ", "bold green"), (command, "bold")))
            console.print(Text(done.stdout))
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(console.export_svg(title="planlog", unique_id="planlog"))


if __name__ == "__main__":
    main()
