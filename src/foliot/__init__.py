"""Foliot runs jobs at their planned times, once, and keeps a ledger that proves it."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from foliot import client, cron, errors
    from foliot.app import Foliot
    from foliot.domain.run.context import Context, current_run
    from foliot.domain.workflow.builder import Workflow
    from foliot.errors import FoliotError
    from foliot.ports.launcher import RunLauncher
    from foliot.service.queries.execution_view import ExecutionView, StepView
    from foliot.service.queries.run_view import RunView

__version__ = "0.1.0"
__all__ = [
    "Context",
    "ExecutionView",
    "Foliot",
    "FoliotError",
    "RunLauncher",
    "RunView",
    "StepView",
    "Workflow",
    "__version__",
    "client",
    "cron",
    "current_run",
    "errors",
]

_HOMES = {
    "Foliot": "foliot.app",
    "Context": "foliot.domain.run.context",
    "current_run": "foliot.domain.run.context",
    "FoliotError": "foliot.errors",
    "RunLauncher": "foliot.ports.launcher",
    "RunView": "foliot.service.queries.run_view",
    "ExecutionView": "foliot.service.queries.execution_view",
    "StepView": "foliot.service.queries.execution_view",
    "Workflow": "foliot.domain.workflow.builder",
}
_MODULES = ("client", "cron", "errors", "testing")
"""Modules that are loaded on first use. `testing` is for tests only."""


def __getattr__(name: str) -> Any:
    """Load a public name on first use, so that importing the package is fast."""
    from importlib import import_module

    if name in _MODULES:
        return import_module(f"foliot.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'foliot' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """Return the public names, loaded or not, and the other globals."""
    return sorted({*globals(), *__all__, *_MODULES})
