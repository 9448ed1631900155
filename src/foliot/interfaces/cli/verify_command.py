"""foliot verify: does the ledger say exactly what was planned?"""

import asyncio
import json
import sys
from datetime import UTC, datetime

import click

from foliot.domain.instant import from_datetime, to_iso
from foliot.interfaces.cli.target import moment, storage_option
from foliot.service.verify import Report, verify
from foliot.wiring import open_services


@click.command("verify")
@storage_option
@click.option("--since", default="7d", show_default=True, help="How far back: 24h, 7d, or a moment in ISO 8601.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per schedule.")
def command(storage: str, since: str, as_json: bool) -> None:
    """Recompute which ticks must exist and compare. Exit code 1 when something is wrong."""
    start = moment(since, datetime.now(UTC))
    reports = asyncio.run(_verify(storage, start))
    for report in reports:
        if as_json or not report.is_sound:
            _print(report, as_json)
    unsound = sum(not report.is_sound for report in reports)
    ticks = sum(report.ticks for report in reports)
    click.echo(f"{len(reports)} schedules, {ticks} ticks, {unsound} schedules with faults", err=as_json)
    sys.exit(1 if unsound else 0)


async def _verify(storage: str, since: datetime) -> list[Report]:
    services = await open_services(storage, create=False)
    try:
        after = from_datetime(max(since, datetime(1970, 1, 1, tzinfo=UTC)))
        return [report async for report in verify(services.storage, after)]
    finally:
        await services.close()


def _print(report: Report, as_json: bool) -> None:
    findings = [
        {"fault": f.fault, "first": to_iso(f.first), "last": to_iso(f.last), "count": f.count} for f in report.findings
    ]
    if as_json:
        summary = {"schedule_id": report.schedule_id, "ticks": report.ticks, "is_sound": report.is_sound}
        click.echo(json.dumps({**summary, "findings": findings, "runs_missing": report.runs_missing}))
        return
    for finding in findings:
        click.echo(f"{report.schedule_id}: {finding['fault']} {finding['count']} from {finding['first']}")
    for run_id in report.runs_missing:
        click.echo(f"{report.schedule_id}: run {run_id} of a tick is not there")
