"""For tests of applications and adapters: a virtual clock, an engine without threads, builders, conformance suites.

`InlineEngine` and `VirtualClock` can be imported from here. With `pytest -p foliot.testing` this package is a plug-in
that registers the mark `proves` of the conformance suites.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

    from foliot.testing.clock import VirtualClock
    from foliot.testing.inline import InlineEngine

__all__ = ["InlineEngine", "VirtualClock"]

_HOMES = {"InlineEngine": "foliot.testing.inline", "VirtualClock": "foliot.testing.clock"}


def __getattr__(name: str) -> Any:
    """Load a name when it is first used: the other modules of this package do not need the engine."""
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def pytest_configure(config: "pytest.Config") -> None:
    """Register the mark of the conformance suites. Called by pytest."""
    config.addinivalue_line("markers", "proves(*ids): the requirement and invariant ids that this test proves")
