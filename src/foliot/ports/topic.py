"""The topics that wake waiting loops."""

from collections.abc import Iterable
from enum import StrEnum

from foliot.domain.run.lane import TREES_QUEUE


class Topic(StrEnum):
    """A reason to wake a waiting loop."""

    RUNS = "runs"
    """A run may have become ready to start."""
    TREES = "trees"
    """A run may have become ready to be opened as a tree."""
    SCHEDULES = "schedules"
    """A schedule may now be due earlier than before."""
    LATER = "later"
    """A run may now be due earlier than before."""
    GATES = "gates"
    """A run may now wait for its gate."""
    CANCELS = "cancels"
    """Cancellation of a running run was requested."""
    NOTES = "notes"
    """A child of a tree has ended, or a tree needs a decision."""
    EVENTS = "events"
    """An event was stored."""
    LOGS = "logs"
    """Output of a run was stored."""


def topics_of_ready(queues: Iterable[str]) -> set[Topic]:
    """Return the topics to signal when runs have become ready in these queues."""
    return {Topic.TREES if queue == TREES_QUEUE else Topic.RUNS for queue in set(queues)}
