"""Everything that can be said against one schedule's ledger, however long it is.

What is read is judged and dropped. Kept are the findings, and from one page to the next the place that was reached,
coalesced rows whose target is still to come, and in a few words which runs there are.
"""

from collections.abc import Collection, Iterable, Mapping

from foliot.domain.audit.finding import Finding
from foliot.domain.audit.input import Account, Launched, Page
from foliot.domain.audit.launches import Launches
from foliot.domain.audit.rows import Rows
from foliot.domain.audit.tick_check import Moments, beyond
from foliot.domain.audit.watermark_check import Standing
from foliot.domain.ids import RunId
from foliot.domain.instant import Instant
from foliot.domain.schedule.tick import TickRecord


class Judge:
    """Is shown the runs first, the newest first; then the rows, in order; and is asked for the verdict."""

    def __init__(self, account: Account, shared: Collection[RunId] = ()) -> None:
        """`shared` are the runs that more than one row names."""
        self._until = account.schedule.settled_until
        planned = [tick for tick in account.planned if account.after < tick.scheduled_for <= self._until]
        self._moments = Moments(account.timetable, planned, after=account.after)
        self._rows = Rows(account)
        self._launches = Launches(account, shared)
        self._standing = Standing(account)
        self._planned = account.planned
        self._findings: list[Finding] = []
        self.ticks = 0
        """How many moments the rows up to the watermark stand for."""

    def see_runs(self, runs: Iterable[Launched], rows: Mapping[Instant, TickRecord]) -> None:
        """Runs of the schedule, those before first, and the rows of the moments they were made for."""
        self._launches.see_runs(runs, rows)

    def read(self, page: Page) -> None:
        for tick in page.ticks:
            if tick.scheduled_for <= self._until:
                self.ticks += tick.count
                self._findings += self._moments.enter(tick)
            self._findings += beyond(tick.scheduled_for, tick.until, tick.count, self._until)
            self._findings += self._rows.check(tick, page.keys.get(tick.scheduled_for))
            self._findings += self._launches.check(tick, page)
            self._standing.note(tick)

    def verdict(self) -> list[Finding]:
        """All that is wrong, the earliest moment first."""
        found = self._findings
        found += self._moments.end(self._until)
        for planned in self._planned:
            found += beyond(planned.scheduled_for, planned.scheduled_for, 1, self._until)
        found += [*self._rows.end(), *self._launches.end(), *self._standing.end()]
        return sorted(found, key=lambda finding: (finding.first, finding.fault))
