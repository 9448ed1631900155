"""The parts that the delete commands share."""

from collections.abc import Callable, Sequence
from typing import Any

import click

from foliot.interfaces.cli.batch import Result


def force_option(function: Callable[..., Any]) -> Callable[..., Any]:
    meaning = "Also what a file or an application once defined. What they still define comes back."
    return click.option("--force", is_flag=True, help=meaning)(function)


def deleted(name: str, schedules: Sequence[str]) -> Result:
    """Return the result of deleting a job or a workflow together with its schedules."""
    along = f" with {', '.join(schedules)}" if schedules else ""
    return {"id": name, "schedules": schedules, "done": "deleted", "text": f"deleted {name}{along}"}
