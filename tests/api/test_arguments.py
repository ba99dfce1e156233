"""Tasks and policies that the functions of `planlog` get by file name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import planlog
from planlog.errors import MissingFileError
from support.graph_domain import DOMAIN, PROBLEM


@pytest.mark.parametrize("call", [planlog.solve, planlog.improve, planlog.check])
@pytest.mark.parametrize("has_domain", [False, True])
def test_the_missing_file_is_the_one_that_is_named(
    call: Callable[[Path], object], has_domain: bool, tmp_path: Path
) -> None:
    if has_domain:
        (tmp_path / "domain.pddl").write_text(DOMAIN)
    with pytest.raises(FileNotFoundError) as caught:
        call(tmp_path / "nope.pddl")
    assert caught.value.filename == str(tmp_path / "nope.pddl")


def test_a_missing_domain_is_named(tmp_path: Path) -> None:
    (tmp_path / "p.pddl").write_text(PROBLEM)
    with pytest.raises(MissingFileError, match=r"there is no .*domain\.pddl"):
        planlog.solve(tmp_path / "p.pddl")
