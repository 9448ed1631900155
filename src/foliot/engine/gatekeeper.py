"""Asks gates: may this run start, now that it is due?

A run whose job depends on others waits here, not in a worker. Any number of gatekeepers may work at once: a decision is
saved only for a run that still waits for one.
"""

import asyncio
import logging
from collections.abc import Sequence
from typing import Final

from foliot.domain.gate.decision import Decision, Gated, Passed, Postponed, cooling, decide, waits, window_of
from foliot.domain.gate.spec import Action, Gate, WindowKind
from foliot.domain.ids import JobId
from foliot.domain.instant import SECOND, Instant, Millis
from foliot.domain.outcome import Reason
from foliot.domain.run import Status
from foliot.engine.loop import AT_ONCE
from foliot.ports.storage import Storage, Topic

log = logging.getLogger(__name__)

BATCH: Final = 200
LOOK_AGAIN: Final = Millis(SECOND)
"""How often a gate that waits for a dependency looks whether it has ended."""

_DECLINED: Final = (Status.SKIPPED, Status.FAILED)
_DECLINED_BECAUSE: Final = (Reason.DEP_MISSING, Reason.DEP_FAILED)


class Gatekeeper:
    """The duty that lets gated runs pass or ends them."""

    name = "gatekeeper"

    def __init__(self, storage: Storage, *, every: Millis = SECOND) -> None:
        self._storage = storage
        self._every = every
        self.is_waiting = False
        """Whether some gate looks again soon."""

    @property
    def wake(self) -> asyncio.Event:
        return self._storage.signal(Topic.GATES)

    async def round(self) -> Millis | None:
        now, waiting = await self._storage.runs.gated(BATCH)
        answers = [await self._ask(run, now) for run in waiting]
        passed = [answer for answer in answers if isinstance(answer, Passed)]
        postponed = [answer for answer in answers if isinstance(answer, Postponed)]
        self.is_waiting = bool(postponed)
        if answers:
            await self._storage.runs.pass_gates(passed, postponed)
            _report(passed)
        return AT_ONCE if len(waiting) == BATCH and passed else self._every

    async def _ask(self, run: Gated, now: Instant) -> Passed | Postponed:
        gate = await self._gate(run.job_id)
        if gate is None:
            return Passed(run.run_id, Decision(action=Action.RUN))
        if gate.cooldown:
            declined = await self._latest(run.job_id, _DECLINED, run.planned, because=_DECLINED_BECAUSE)
            if cooling(gate, declined, run.planned):
                return Passed(run.run_id, Decision(action=Action.SKIP, reason=Reason.COOLDOWN))
        since = await self._window(gate, run)
        sights = await self._storage.runs.sights(gate.depends_on, after=since, until=now if gate.wait else run.planned)
        if waits(gate, sights, run.planned, now):
            return Postponed(run.run_id, Instant(min(now + LOOK_AGAIN, run.planned + gate.wait)))
        return Passed(run.run_id, decide(gate, sights))

    async def _gate(self, job_id: JobId) -> Gate | None:
        """What the job asks for today; one that is gone or asks for nothing lets its runs pass."""
        found = await self._storage.jobs.get([job_id])
        return found[job_id].spec.gate if job_id in found else None

    async def _window(self, gate: Gate, run: Gated) -> Instant:
        last = None
        if gate.window_kind is WindowKind.LAST_SUCCESS:
            last = await self._latest(run.job_id, (Status.SUCCESS, Status.PARTIAL), run.planned)
        return window_of(gate, run.planned, last)

    async def _latest(
        self, job_id: JobId, statuses: Sequence[Status], until: Instant, because: Sequence[Reason] | None = None
    ) -> Instant | None:
        end = await self._storage.runs.latest_end(job_id, statuses, reasons=because, until=until)
        return None if end is None else end.finished_at


def _report(passed: Sequence[Passed]) -> None:
    for run_id, decision in passed:
        if decision.action is not Action.RUN:
            log.info("gate_declined", extra={"run": run_id, "action": decision.action, "reason": decision.reason})
