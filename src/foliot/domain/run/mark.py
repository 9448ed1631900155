"""Marking a run as a success by hand.

A run that has not started ends immediately as a success. A run that has ended otherwise does not change, since a
terminal run never changes: a new run that is already a success replaces it. A run that is running must be cancelled
first.
"""

from enum import StrEnum
from typing import NamedTuple

from foliot.domain.ids import RunId


class MarkAnswer(StrEnum):
    """The result of marking a run."""

    MARKED = "marked"
    """The run had not started and will not start: it is now a success."""
    RECORDED = "recorded"
    """The run had ended otherwise: a new run, a success, replaces it."""
    SUCCESS = "success"
    """The run was a success already, or had been replaced by one: nothing changed."""
    RUNNING = "running"
    """The run is running: nothing changed."""
    NOT_FOUND = "not_found"


class Marked(NamedTuple):
    answer: MarkAnswer
    run_id: RunId
    """The run that is a success: the marked run, or the one that replaces it. If nothing changed, the marked run."""


def mark_trigger(run_id: RunId) -> str:
    return f"mark:{run_id}"


def mark_key(run_id: RunId) -> str:
    """Return the dedupe key that allows only one run to replace another."""
    return f"foliot:mark:{run_id}"


def retry_trigger(run_id: RunId) -> str:
    """Return the trigger of a run that repeats another run on request."""
    return f"retry:{run_id}"
