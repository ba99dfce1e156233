"""Settings shared by all tests."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

# The first examples on a busy machine may be slow, which says nothing about the code; a test
# that really hangs is ended by pytest-timeout.
settings.register_profile("default", deadline=None, print_blob=True)
# Under the sanitizers everything is several times slower.
settings.register_profile(
    "sanitize",
    deadline=None,
    print_blob=True,
    max_examples=20,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("PLANLOG_TEST_PROFILE", "default"))


@pytest.fixture
def interruptible() -> Iterator[None]:
    """For tests that interrupt themselves: hypothesis has a function called at each garbage
    collection, and Python drops an interrupt that arrives in there."""
    callbacks = gc.callbacks[:]
    gc.callbacks.clear()
    yield
    gc.callbacks[:] = callbacks
