"""Hypothesis settings that scale with the profile, and the texts of failing examples.

A test states how many examples the complete suite (`make test`) runs. The profiles "quick"
(`make check`) and "sanitize" run a fraction of them.
"""

from __future__ import annotations

from hypothesis import HealthCheck, note, settings


def examples(count: int) -> settings:
    """Run `count` examples under the default profile, fewer under a shorter one."""
    return settings(
        max_examples=max(1, settings().max_examples * count // 100),
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


def noted(task: tuple[str, str]) -> tuple[str, str]:
    """Print the texts of a domain and a problem if the example fails, and return them."""
    note("\n".join(task))
    return task
