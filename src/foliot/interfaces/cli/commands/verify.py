"""foliot verify: check that the ledger matches the schedules."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import click

from foliot.domain.instant import from_datetime
from foliot.interfaces.cli.open_storage import with_services
from foliot.interfaces.cli.options import json_option, storage_options
from foliot.interfaces.cli.output import print_json_lines, print_line
from foliot.interfaces.cli.parse import parse_past
from foliot.interfaces.cli.progress import ProgressLine
from foliot.interfaces.cli.render.verify import fault_documents, report_lines, summary, summary_document
from foliot.service.queries.verify import Report
from foliot.service.services import Services

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@click.command("verify")
@storage_options
@click.option("--since", default="7d", show_default=True, help="How far back: 24h, 7d, or a time in ISO 8601.")
@json_option("one object per fault, then a summary")
def command(storage: str | None, config: Path | None, since: str, as_json: bool) -> int:
    """Compare the ledger with the ticks that the schedules should have. The exit code is 1 if a problem is found."""
    after = from_datetime(max(parse_past(since, datetime.now(UTC)), _EPOCH))

    async def check(services: Services) -> list[Report]:
        with ProgressLine() as line:
            progress = VerifyProgress(line)
            return [progress.add(report) async for report in services.queries.ledgers.verify(after)]

    reports = with_services(storage, config, check)
    if as_json:
        print_json_lines(
            [*(fault for report in reports for fault in fault_documents(report)), summary_document(reports)]
        )
    else:
        for line in (line for report in reports for line in report_lines(report)):
            print_line(line)
        print_line(summary(reports))
    return 0 if all(report.is_sound for report in reports) else 1


class VerifyProgress:
    """Counts what has been checked, and shows it on a terminal."""

    def __init__(self, line: ProgressLine) -> None:
        self._line = line
        self._schedules = self._ticks = 0

    def add(self, report: Report) -> Report:
        self._schedules += report.schedule_id is not None
        self._ticks += report.ticks
        self._line.show(f"{self._schedules} schedules, {self._ticks} ticks ...")
        return report
