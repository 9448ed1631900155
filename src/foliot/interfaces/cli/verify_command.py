"""foliot verify: does the ledger say exactly what was planned?"""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from foliot.domain.audit import Finding
from foliot.domain.instant import LATEST, Instant, from_datetime, to_iso
from foliot.interfaces.cli.fault_words import WORDS
from foliot.interfaces.cli.moments import read_ago
from foliot.interfaces.cli.options import json_option, storage_options
from foliot.interfaces.cli.patience import ProgressLine
from foliot.interfaces.cli.place import ask
from foliot.interfaces.cli.speaking import say, tell, tell_json
from foliot.interfaces.cli.text import counted, shown
from foliot.service.queries.verify import Report
from foliot.service.services import Services

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MEND = "declare it again, or restore it from a backup"
_MEND_RUN = "restore it from a backup, or, if it is not over, cancel it"


@click.command("verify")
@storage_options
@click.option("--since", default="7d", show_default=True, help="How far back: 24h, 7d, or a moment in ISO 8601.")
@json_option("one object per schedule")
def command(storage: str | None, config: Path | None, since: str, as_json: bool) -> int:
    """Recompute what the ledger must say and compare. Exit code 1 when something is wrong."""
    after = from_datetime(max(read_ago(since, datetime.now(UTC)), _EPOCH))

    async def check(services: Services) -> list[Report]:
        with ProgressLine() as line:
            tally = Tally(line)
            return [tally.add(report) async for report in services.queries.ledgers.verify(after)]

    reports = ask(storage, config, check)
    for report in reports:
        if as_json or not report.is_sound:
            _print(report, as_json)
    (say if as_json else tell)(_summary(reports))
    return 0 if all(report.is_sound for report in reports) else 1


def _summary(reports: Sequence[Report]) -> str:
    ledgers = [report for report in reports if report.schedule_id is not None]
    unsound = sum(not report.is_sound for report in ledgers)
    ticks = sum(report.ticks for report in ledgers)
    summary = f"{counted(len(ledgers), 'schedule')}, {counted(ticks, 'tick')}, {unsound or 'none'} with faults"
    others = len(reports) - len(ledgers)
    return f"{summary}; {counted(others, 'other row')} unreadable" if others else summary


class Tally:
    """How far it is, for whoever watches."""

    def __init__(self, line: ProgressLine) -> None:
        self._line = line
        self._schedules = self._ticks = 0

    def add(self, report: Report) -> Report:
        self._schedules += report.schedule_id is not None
        self._ticks += report.ticks
        self._line.show(f"{self._schedules} schedules, {self._ticks} ticks ...")
        return report


def _print(report: Report, as_json: bool) -> None:
    if as_json:
        findings = [_document(finding) for finding in report.findings]
        summary = {"schedule_id": report.schedule_id, "ticks": report.ticks, "is_sound": report.is_sound}
        tell_json({**summary, "findings": findings})
        return
    for finding in report.findings:
        what, advice = WORDS[finding.fault]
        if report.schedule_id is None:
            tell(f"{finding.fault}: {shown(finding.row or '')}; {_MEND if finding.run_id is None else _MEND_RUN}")
        else:
            tell(f"{shown(report.schedule_id)}: {finding.fault}, {_where(finding)}: {what}; {advice}")


def _where(finding: Finding) -> str:
    first, last = _iso(finding.first), _iso(finding.last)
    moments = first if finding.first == finding.last else f"{first} to {last}"
    number = "" if finding.count == 1 else f" ({finding.count})"
    run = "" if finding.run_id is None else f" run {shown(finding.run_id)}"
    row = "" if finding.row is None else f": {shown(finding.row)}"
    return moments + number + run + row


def _document(finding: Finding) -> dict[str, Any]:
    what, advice = WORDS[finding.fault]
    where = {"first": _iso(finding.first), "last": _iso(finding.last), "count": finding.count}
    return {
        "fault": finding.fault,
        **where,
        "run_id": finding.run_id,
        "row": finding.row,
        "what": what,
        "advice": advice,
    }


def _iso(moment: Instant) -> str:
    """A number that was written by hand may be none that a calendar has."""
    return to_iso(max(Instant(0), min(moment, LATEST)))
