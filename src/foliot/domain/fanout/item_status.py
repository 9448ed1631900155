"""The status of an item of a fanout, by which items are listed."""

from enum import StrEnum


class ItemStatus(StrEnum):
    PENDING = "pending"
    """It has no run yet."""
    WAITING = "waiting"
    """Its run has not started."""
    RUNNING = "running"
    SUCCESS = "success"
    PARTIAL = "partial"
    FAILED = "failed"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    """Also before it was started, if the fanout has ended."""
    SKIPPED = "skipped"
