"""foliot runs: what ran, what runs, what waits."""

import asyncio
import json

import click

from foliot.domain.ids import JobId
from foliot.domain.instant import to_iso
from foliot.domain.run import Run, parse_status
from foliot.interfaces.cli.target import storage_option
from foliot.ports.storage import RunFilter
from foliot.wiring import open_services


@click.command("runs")
@storage_option
@click.option("--job", help="Only runs of this job.")
@click.option("--status", help="Only runs of this status.")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 10_000))
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line.")
def command(storage: str, job: str | None, status: str | None, limit: int, as_json: bool) -> None:
    """List runs, newest first."""
    only = RunFilter(
        job_id=None if job is None else JobId(job),
        status=None if status is None else parse_status(status),
        limit=limit,
    )
    for run in asyncio.run(_page(storage, only)):
        click.echo(json.dumps(as_object(run)) if as_json else _line(run))


async def _page(storage: str, only: RunFilter) -> list[Run]:
    services = await open_services(storage, create=False)
    try:
        return await services.desk.page(only)
    finally:
        await services.close()


def as_object(run: Run) -> dict[str, object]:
    """A run for programs: ISO times, canonical statuses."""
    moments = ("due_at", "created_at", "started_at", "finished_at")
    plain = {name: value for name, value in run._asdict().items() if name not in ("tick", *moments)}
    times = {name: None if (at := getattr(run, name)) is None else to_iso(at) for name in moments}
    tick = run.tick
    planned = {
        "schedule_id": None if tick is None else tick.schedule_id,
        "scheduled_for": None if tick is None else to_iso(tick.scheduled_for),
        "idempotency_key": None if tick is None else tick.key,
    }
    return {**plain, **times, **planned}


def _line(run: Run) -> str:
    reason = f" ({run.reason})" if run.reason else ""
    planned = f"  for {to_iso(run.tick.scheduled_for)}" if run.tick else ""
    return f"{run.id}  {run.status + reason:26}  {run.job_id:24}  attempt {run.attempt}{planned}"
