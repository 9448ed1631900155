"""Reports that arrive after their lease was given away: recorded for people, and not believed.

A worker that has lost contact ends its runs, and says later what became of them. If the run was given to another worker
meanwhile, its result is that of the other one. What the first one says is in the audit trail of the run, unless
it agrees that the attempt was lost.
"""

import logging
from collections.abc import Sequence
from typing import Final

from foliot.domain.access.trail import AuditAction, AuditKind, ChangeRecord
from foliot.domain.ids import Token
from foliot.domain.run import lease as leases
from foliot.domain.run.outcome import Reason
from foliot.domain.work.outcome import finished_run
from foliot.ports.storage import Storage

log = logging.getLogger(__name__)

_REMEMBERED: Final = 10_000
_LONGEST_ERROR: Final = 500


class LateReports:
    """Records one report of each lost attempt, for all principals of this server."""

    def __init__(self) -> None:
        self._recorded: dict[Token, None] = {}

    async def record(self, storage: Storage, finishes: Sequence[leases.Finish]) -> None:
        for finish in finishes:
            if finish.token not in self._recorded:
                self._recorded[finish.token] = None
                if len(self._recorded) > _REMEMBERED:
                    del self._recorded[next(iter(self._recorded))]
                await _record(storage, finish)


async def _record(storage: Storage, finish: leases.Finish) -> None:
    attempts = await storage.queries.attempts(finish.run_id)
    lost = [one for one in attempts if one.token == finish.token and one.reason == Reason.LEASE_LOST]
    if not lost:
        return  # it ended in another way: the worker was answered before
    number = lost[0].number
    newest = (await storage.audit.latest(AuditKind.RUN, [finish.run_id], [AuditAction.REPORT_LATE])).get(finish.run_id)
    if newest is not None and newest.after is not None and newest.after.get("attempt") == number:
        return
    said = finished_run(finish, "")
    facts = {"attempt": number, "status": said.status, "exit_code": said.exit_code}
    error = {"error": said.error[:_LONGEST_ERROR]} if said.error else {}
    await storage.audit.add([ChangeRecord(AuditAction.REPORT_LATE, AuditKind.RUN, finish.run_id, None, facts | error)])
    log.warning("late_report", extra={"run": finish.run_id, "attempt": number, "status": said.status})
