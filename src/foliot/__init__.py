"""Foliot turns planned moments into work that is done, once, and can be proved."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from foliot.app import Foliot
    from foliot.domain.context import Context, current_run
    from foliot.domain.workflow.builder import Workflow
    from foliot.errors import FoliotError

__version__ = "0.1.0"
__all__ = ["Context", "Foliot", "FoliotError", "Workflow", "__version__", "current_run"]

_HOMES = {
    "Foliot": "foliot.app",
    "Context": "foliot.domain.context",
    "current_run": "foliot.domain.context",
    "FoliotError": "foliot.errors",
    "Workflow": "foliot.domain.workflow.builder",
}


def __getattr__(name: str) -> Any:
    """Load the public names when they are first used: importing the package costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'foliot' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
