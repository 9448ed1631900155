"""Who wants to hear of executions while they go on."""

from collections.abc import Callable

from foliot.domain.workflow.execution import Progress

Tell = Callable[[Progress], None]
"""Told of what this process has saved about an execution, after it was saved. Must not raise and not wait."""


def nobody(progress: Progress) -> None:
    """Nobody listens."""
