"""foliot verify: check that the ledger matches the schedules."""

from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

import click

from foliot.interfaces.cli.open_storage import with_services
from foliot.interfaces.cli.options import json_option, storage_options
from foliot.interfaces.cli.output import print_json_lines, print_line, print_note
from foliot.interfaces.cli.parse import parse_past
from foliot.interfaces.cli.progress import ProgressLine
from foliot.interfaces.cli.render.verify import fault_document, finding_line, summary, summary_document
from foliot.service.operations import Operations
from foliot.service.queries.verified import Verified

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@click.command("verify")
@storage_options
@click.option("--since", default="7d", show_default=True, help="How far back: 24h, 7d, or a time in ISO 8601.")
@json_option("one object per problem, then a summary")
def command(storage: str | None, config: Path | None, since: str, as_json: bool) -> int:
    """Compare the ledger with the ticks that the schedules should have. The exit code is 1 if a problem is found."""
    after = max(parse_past(since, datetime.now(UTC)), _EPOCH)

    async def check(services: Operations) -> Verified:
        with ProgressLine() as line:
            return await services.queries.ledgers.verified(after, progress=partial(show_progress, line))

    verified = with_services(storage, config, check)
    if as_json:
        print_json_lines([*map(fault_document, verified.findings), summary_document(verified)])
    else:
        for finding in verified.findings:
            print_line(finding_line(finding))
        print_line(summary(verified))
    if len(verified.findings) < verified.faults:
        print_note(f"{verified.faults - len(verified.findings)} more findings are not listed: see them on the server")
    return 0 if verified.is_sound else 1


def show_progress(line: ProgressLine, schedules: int, ticks: int) -> None:
    line.show(f"{schedules} schedules, {ticks} ticks ...")
