"""Success by hand: somebody says that a run counts as done.

A run that has not started ends as a success at once. One that ended otherwise stays as it is, for a terminal run never
changes: a new run, a success from the beginning, stands for it. What runs must be cancelled first.
"""

from enum import StrEnum
from typing import NamedTuple

from foliot.domain.ids import RunId


class MarkAnswer(StrEnum):
    """What marking a run did."""

    MARKED = "marked"
    """It had not started and never will: it is a success."""
    RECORDED = "recorded"
    """It had ended otherwise: a new run, a success, stands for it."""
    SUCCESS = "success"
    """It was a success already, or had one standing for it: nothing changed."""
    RUNNING = "running"
    """It is under way: nothing changed."""
    NOT_FOUND = "not_found"


class Marked(NamedTuple):
    answer: MarkAnswer
    run_id: RunId
    """The run that is a success: itself, or the one that stands for it. Itself where nothing was done."""


def mark_trigger(run_id: RunId) -> str:
    return f"mark:{run_id}"


def mark_key(run_id: RunId) -> str:
    """The dedupe key that lets only one run stand for another."""
    return f"foliot:mark:{run_id}"


def retry_trigger(run_id: RunId) -> str:
    """What a run says that was made because somebody asked for another one again."""
    return f"retry:{run_id}"
