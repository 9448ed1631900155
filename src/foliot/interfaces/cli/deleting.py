"""What the commands that delete have in common."""

from collections.abc import Awaitable, Callable
from typing import Any

import click

from foliot.domain.ids import JobId
from foliot.interfaces.cli.each import Deed, Done
from foliot.service.paging import stored_schedules
from foliot.wiring import Services

Delete = Callable[[Services, str, bool], Awaitable[None]]


def force_option(function: Callable[..., Any]) -> Callable[..., Any]:
    meaning = "Also what a file or an application once defined. What they still define comes back."
    return click.option("--force", is_flag=True, help=meaning)(function)


def deleting(delete: Delete, *, force: bool) -> Deed:
    """Delete a job or a workflow, and say which schedules have gone with it."""

    async def deed(services: Services, name: str) -> Done:
        schedules = [schedule.id async for schedule in stored_schedules(services.storage, JobId(name))]
        await delete(services, name, force)
        along = f" with {', '.join(schedules)}" if schedules else ""
        return {"id": name, "schedules": schedules, "done": "deleted", "text": f"deleted {name}{along}"}

    return deed
