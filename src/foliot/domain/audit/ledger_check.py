"""The check of one schedule's ledger of any length.

Memory does not grow with the number of rows: between pages only the findings, the position, coalesced rows whose target
has not been read, and a summary of the runs are kept.
"""

from collections.abc import Collection, Iterable, Mapping

from foliot.domain.audit.finding import Finding
from foliot.domain.audit.input import AuditInput, LaunchedRun, Page
from foliot.domain.audit.row_check import RowCheck
from foliot.domain.audit.run_check import RunCheck
from foliot.domain.audit.tick_check import TickCheck, beyond
from foliot.domain.audit.watermark_check import WatermarkCheck
from foliot.domain.ids import RunId
from foliot.domain.instant import Instant
from foliot.domain.schedule.tick import TickRecord


class LedgerCheck:
    """Call `read_runs` with all runs, newest first, then `read` with all rows in order, then `findings`."""

    def __init__(self, given: AuditInput, shared: Collection[RunId] = ()) -> None:
        """`shared` are the runs that more than one row names."""
        self._until = given.schedule.settled_until
        planned = [tick for tick in given.planned if given.after < tick.scheduled_for <= self._until]
        self._tick_check = TickCheck(given.timetable, planned, after=given.after)
        self._row_check = RowCheck(given)
        self._run_check = RunCheck(given, shared)
        self._watermark_check = WatermarkCheck(given)
        self._planned = given.planned
        self._findings: list[Finding] = []
        self.ticks = 0
        """The number of moments that the rows up to the watermark cover."""

    def read_runs(self, runs: Iterable[LaunchedRun], rows: Mapping[Instant, TickRecord]) -> None:
        """Read runs of the schedule, newest first, with the rows of their moments."""
        self._run_check.read_runs(runs, rows)

    def read(self, page: Page) -> None:
        """Check the next rows."""
        for tick in page.ticks:
            if tick.scheduled_for <= self._until:
                self.ticks += tick.count
                self._findings += self._tick_check.enter(tick)
            self._findings += beyond(tick.scheduled_for, tick.until, tick.count, self._until)
            self._findings += self._row_check.check(tick, page.keys.get(tick.scheduled_for))
            self._findings += self._run_check.check(tick, page)
            self._watermark_check.note(tick)

    def findings(self) -> list[Finding]:
        """Return all findings, the earliest moment first."""
        found = self._findings
        found += self._tick_check.end(self._until)
        for planned in self._planned:
            found += beyond(planned.scheduled_for, planned.scheduled_for, 1, self._until)
        found += [*self._row_check.end(), *self._run_check.end(), *self._watermark_check.end()]
        return sorted(found, key=lambda finding: (finding.first, finding.fault))
