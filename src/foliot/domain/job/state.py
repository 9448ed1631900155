"""The state of a job, by which lists are filtered."""

from enum import StrEnum


class JobState(StrEnum):
    ENABLED = "enabled"
    """Neither disabled nor paused."""
    DISABLED = "disabled"
    PAUSED = "paused"
    """Paused itself, or its schedules were paused because of `pause_after_failures`."""
    FAILING = "failing"
    """Its newest result is a failure. A disabled job is not failing."""
    RUNNING = "running"
    """Its newest run has begun and has not ended."""
