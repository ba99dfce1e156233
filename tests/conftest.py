"""Settings shared by all tests."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

# No deadline: on a busy machine the first examples are slow. pytest-timeout ends a test that
# hangs. `support.profiles.examples` scales the number of examples with the profile.
for profile, max_examples in {"default": 100, "sanitize": 20, "quick": 10}.items():
    settings.register_profile(
        profile,
        deadline=None,
        print_blob=True,
        max_examples=max_examples,
        suppress_health_check=[] if profile == "default" else [HealthCheck.too_slow],
    )
settings.load_profile(os.environ.get("PLANLOG_TEST_PROFILE", "default"))

# A shell lets commands in the background (`make test &`) ignore SIGINT, and child processes would
# inherit that. Tests interrupt themselves and others.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """For tests that interrupt themselves: hypothesis has a function called at each garbage
    collection, and Python drops an interrupt that arrives in there."""
    callbacks = gc.callbacks[:]
    gc.callbacks.clear()
    yield
    gc.callbacks[:] = callbacks
