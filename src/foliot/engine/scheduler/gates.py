"""Evaluates the gates of due runs: whether each may start, must wait, or ends as skipped or failed.

A run that waits for its gate occupies no slot of a worker. Any number of processes may evaluate gates
concurrently: a decision is saved only if the run still waits for one.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from foliot.domain.gate.decision import Decided, Decision, Gated, Postponed, cooling, decide, waits, window_of
from foliot.domain.gate.spec import Action, Gate, WindowKind
from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import SECOND, Instant, Millis
from foliot.domain.run.outcome import Reason
from foliot.domain.run.payload import UNREADABLE
from foliot.domain.run.run import Status
from foliot.engine.loop import IMMEDIATELY
from foliot.ports.storage import Storage
from foliot.ports.topic import Topic

log = logging.getLogger(__name__)

BATCH: Final = 200
RECHECK: Final = Millis(SECOND)
"""How often a gate checks whether the dependency that it waits for has ended."""

_DECISION: Final = msgspec.json.Decoder(Decision)
_DECLINED: Final = (Status.SKIPPED, Status.FAILED)
_DECLINED_BECAUSE: Final = (Reason.DEP_MISSING, Reason.DEP_FAILED)


class Gates:
    """The duty that passes, postpones or ends gated runs."""

    name = "gates"

    def __init__(self, storage: Storage, *, every: Millis = SECOND) -> None:
        self._storage = storage
        self._every = every
        self._next_check: Instant | None = None

    @property
    def wake(self) -> asyncio.Event:
        return self._storage.signal(Topic.GATES)

    @property
    def is_waiting(self) -> bool:
        """Whether a postponed gate is checked again soon."""
        return self._next_check is not None

    async def round(self) -> Millis | None:
        now, waiting = await self._storage.admission.gated(BATCH)
        results = [await self._check(run, now) for run in waiting]
        decided = [result for result in results if isinstance(result, Decided)]
        postponed = [result for result in results if isinstance(result, Postponed)]
        # A run that was postponed in an earlier round may not be due yet.
        moments = [one.until for one in postponed] + [at for at in (self._next_check,) if at is not None and at > now]
        self._next_check = min(moments, default=None)
        if decided or postponed:
            saved = set(await self._storage.admission.decide_gates(decided, postponed))
            _report(decided, {run.run_id: run.job_id for run in waiting if run.run_id in saved})
        return IMMEDIATELY if len(waiting) == BATCH and decided else self._every

    async def _check(self, run: Gated, now: Instant) -> Decided | Postponed:
        """Decide about one run. A run whose gate cannot be read fails."""
        if run.error is not None:
            log.error("gate_unreadable", extra={"run": run.run_id, "error": run.error})
            return Decided(run.run_id, Decision(action=Action.FAIL, reason=Reason.LAUNCH_FAILED, trouble=run.error))
        if run.gate is None:
            return Decided(run.run_id, Decision(action=Action.RUN))
        return await self._evaluate(run, run.gate, now)

    async def _evaluate(self, run: Gated, gate: Gate, now: Instant) -> Decided | Postponed:
        if gate.cooldown:
            declined = await self._latest(run.job_id, _DECLINED, run.planned, because=_DECLINED_BECAUSE)
            if cooling(gate, declined, run.planned):
                return Decided(run.run_id, Decision(action=Action.SKIP, reason=Reason.COOLDOWN))
        since, until = await self._window_start(gate, run), now if gate.wait else run.planned
        dependencies = await self._storage.admission.dependency_states(gate.depends_on, after=since, until=until)
        if waits(gate, dependencies, run.planned, now):
            return Postponed(run.run_id, Instant(min(now + RECHECK, run.planned + gate.wait)))
        is_continuous = gate.window_kind is WindowKind.LAST_SUCCESS
        decision = msgspec.structs.replace(decide(gate, dependencies), until=until if is_continuous else None)
        return Decided(run.run_id, decision)

    async def _window_start(self, gate: Gate, run: Gated) -> Instant:
        needs_success = gate.window_kind is WindowKind.LAST_SUCCESS
        return window_of(gate, run.planned, await self._last_success(run) if needs_success else None)

    async def _last_success(self, run: Gated) -> Instant | None:
        """Return the end of the window that the last successful run of the job covered. If that run passed no gate,
        return when it finished."""
        successes = (Status.SUCCESS, Status.PARTIAL)
        end = await self._storage.admission.latest_end(run.job_id, successes, until=run.planned)
        if end is None:
            return None
        found = await self._storage.admission.decisions([end.run_id])
        decision = _decision(found.get(end.run_id))
        return end.finished_at if decision is None or decision.until is None else decision.until

    async def _latest(
        self, job_id: JobId, statuses: Sequence[Status], until: Instant, because: Sequence[Reason] | None = None
    ) -> Instant | None:
        end = await self._storage.admission.latest_end(job_id, statuses, reasons=because, until=until)
        return None if end is None else end.finished_at


def _decision(document: bytes | None) -> Decision | None:
    """Decode a stored decision. An unreadable one is treated like a missing one."""
    try:
        return None if document is None else _DECISION.decode(document)
    except UNREADABLE:
        return None


def _report(decided: Sequence[Decided], saved: Mapping[RunId, JobId]) -> None:
    """Log the saved decisions to skip or fail a run. Decisions of other processes are logged there."""
    for run_id, decision in decided:
        if decision.action is not Action.RUN and run_id in saved:
            facts = {"run": run_id, "job": saved[run_id], "action": decision.action, "reason": decision.reason}
            log.info("gate_declined", extra=facts)
