"""Shell completion of ids, from the ids in the database."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from foliot.service.operations import Operations

Finder = Callable[["Operations"], Awaitable[list[CompletionItem]]]
Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]

_MOST: Final = 500
_TIMEOUT: Final = 2.0


def complete_ids(*kinds: str) -> Completer:
    """Return a completer for ids of these kinds: job, schedule, run, workflow. On any error it offers nothing."""

    def complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        with suppress(Exception):
            return asyncio.run(_found(context, kinds, incomplete))
        return []

    return complete


async def _found(context: click.Context, kinds: tuple[str, ...], incomplete: str) -> list[CompletionItem]:
    # Imported here because it loads the storage: every command with an id argument imports this module.
    from foliot.interfaces.cli.open_storage import opened_place

    async with asyncio.timeout(_TIMEOUT), opened_place(context) as services:
        items = [item for kind in kinds for item in await _FINDERS[kind](services)]
    return [item for item in items if item.value.startswith(incomplete)]


async def _jobs(services: "Operations") -> list[CompletionItem]:
    jobs = await services.queries.jobs.listed(limit=_MOST)
    return [CompletionItem(one.job.id, help=one.job.description or one.job.kind) for one in jobs]


async def _schedules(services: "Operations") -> list[CompletionItem]:
    schedules = await services.queries.schedules.listed(limit=_MOST)
    return [CompletionItem(one.schedule_id, help=one.schedule_expr) for one in schedules]


async def _runs(services: "Operations") -> list[CompletionItem]:
    runs = await services.queries.runs.newest(limit=50)
    return [CompletionItem(run.id, help=f"{run.job_id} {run.status}") for run in runs]


async def _workflows(services: "Operations") -> list[CompletionItem]:
    found = await services.queries.workflows.all()
    return [CompletionItem(one.id, help=one.description or f"version {one.version}") for one in found[:_MOST]]


_FINDERS: Final[dict[str, Finder]] = {"job": _jobs, "schedule": _schedules, "run": _runs, "workflow": _workflows}
