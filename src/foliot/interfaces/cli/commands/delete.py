"""foliot jobs delete, schedules delete and workflows delete."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from foliot.interfaces.cli.batch import Result, run_batch
from foliot.interfaces.cli.id_completion import complete_ids
from foliot.interfaces.cli.options import json_option, storage_options
from foliot.service.operations import Operations


def _force_option(function: Callable[..., Any]) -> Callable[..., Any]:
    meaning = "Also delete what a file or an application defined; what it still defines is created again."
    return click.option("--force", is_flag=True, help=meaning)(function)


@click.command("delete")
@click.argument("jobs", nargs=-1, required=True, shell_complete=complete_ids("job"))
@_force_option
@storage_options
@json_option("one object per job")
def delete_jobs(jobs: tuple[str, ...], force: bool, storage: str | None, config: Path | None, as_json: bool) -> int:
    """Delete JOBS that no file and no application defines, with their schedules.

    Runs that have not started are cancelled, running work continues, and history is kept.
    """

    async def delete(services: Operations, name: str) -> Result:
        return _result(name, await services.jobs.delete(name, force=force))

    return run_batch(storage, config, jobs, delete, as_json=as_json)


@click.command("delete")
@click.argument("schedules", nargs=-1, required=True, shell_complete=complete_ids("schedule"))
@_force_option
@storage_options
@json_option("one object per schedule")
def delete_schedules(
    schedules: tuple[str, ...], force: bool, storage: str | None, config: Path | None, as_json: bool
) -> int:
    """Delete SCHEDULES that no file and no application defines. Their runs are kept."""

    async def delete(services: Operations, name: str) -> Result:
        await services.schedules.delete(name, force=force)
        return {"id": name, "done": "deleted", "text": f"deleted {name}"}

    return run_batch(storage, config, schedules, delete, as_json=as_json)


@click.command("delete")
@click.argument("workflows", nargs=-1, required=True, shell_complete=complete_ids("workflow"))
@_force_option
@storage_options
@json_option("one object per workflow")
def delete_workflows(
    workflows: tuple[str, ...], force: bool, storage: str | None, config: Path | None, as_json: bool
) -> int:
    """Delete WORKFLOWS that no file and no application defines, with their schedules and the jobs of their steps.

    Executions that have not started are cancelled, others continue, and history is kept.
    """

    async def delete(services: Operations, name: str) -> Result:
        return _result(name, await services.workflows.delete(name, force=force))

    return run_batch(storage, config, workflows, delete, as_json=as_json)


def _result(name: str, schedules: Sequence[str]) -> Result:
    """Return the result of deleting a job or a workflow together with its schedules."""
    along = f" with {', '.join(schedules)}" if schedules else ""
    return {"id": name, "schedules": schedules, "done": "deleted", "text": f"deleted {name}{along}"}
