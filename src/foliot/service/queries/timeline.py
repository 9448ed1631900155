"""The timeline of a run: when it waited, and when each attempt ran on which worker."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum

import msgspec

from foliot.domain.ids import WorkerId
from foliot.domain.instant import Instant, to_datetime
from foliot.domain.run.run import BEGUN, AttemptRecord, Run, Status
from foliot.service.queries.documents import moment


class PhaseKind(StrEnum):
    SCHEDULED = "scheduled"
    """Before its time."""
    QUEUED = "queued"
    """Until a worker has taken it; before a retry also the delay of the retry."""
    RUNNING = "running"


class Phase(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the life of a run."""

    kind: PhaseKind
    attempt: int
    """The attempt that runs, or that the run waits for."""
    begin: datetime
    end: datetime | None
    """None: it has not ended."""
    status: str | None = None
    """How the attempt ended; of the last phase, how the run ended without one. None: neither."""
    reason: str | None = None
    worker_id: str | None = None
    worker: str | None = None
    """The name of the worker. None: no attempt runs in this phase, or the worker is not known any more."""


def timeline(run: Run, attempts: Sequence[AttemptRecord], names: Mapping[WorkerId, str]) -> list[Phase]:
    """Return the phases of a run in order. `names`: those of the workers that are known."""
    phases: list[Phase] = []
    begin = run.created_at
    for record in attempts:
        phases += _waiting(run, begin, record.started_at, record.number, is_first=not phases)
        phases.append(_running(record, names))
        begin = record.finished_at
    if run.status.is_terminal and attempts:
        return phases
    following = attempts[-1].number + 1 if attempts else 1
    if run.status in BEGUN and run.started_at is not None:
        phases += _waiting(run, begin, run.started_at, run.attempt, is_first=not phases)
        worker = None if run.worker_id is None else names.get(run.worker_id)
        return [
            *phases,
            Phase(
                kind=PhaseKind.RUNNING,
                attempt=run.attempt,
                begin=to_datetime(run.started_at),
                end=None,
                worker_id=run.worker_id,
                worker=worker,
            ),
        ]
    waiting = _waiting(run, begin, run.finished_at, following, is_first=not phases)
    if run.status.is_terminal and waiting:
        waiting[-1] = msgspec.structs.replace(waiting[-1], status=run.status, reason=run.reason)
    return [*phases, *waiting]


def _waiting(run: Run, begin: Instant, end: Instant | None, attempt: int, *, is_first: bool) -> list[Phase]:
    """Return the phases between two attempts, or before the first one."""
    # A retry moves the due time, so the first one is only known while there was no retry.
    due = run.due_at if is_first and run.attempt <= 1 else begin
    due = due if end is None else min(due, end)
    if end is None and run.status is Status.SCHEDULED:
        return [_phase(PhaseKind.SCHEDULED, attempt, begin, None)]
    before = [_phase(PhaseKind.SCHEDULED, attempt, begin, due)] if due > begin else []
    return [*before, _phase(PhaseKind.QUEUED, attempt, max(begin, due), end)]


def _phase(kind: PhaseKind, attempt: int, begin: Instant, end: Instant | None) -> Phase:
    return Phase(kind=kind, attempt=attempt, begin=to_datetime(begin), end=moment(end))


def _running(record: AttemptRecord, names: Mapping[WorkerId, str]) -> Phase:
    return Phase(
        kind=PhaseKind.RUNNING,
        attempt=record.number,
        begin=to_datetime(record.started_at),
        end=to_datetime(record.finished_at),
        status=record.status,
        reason=record.reason,
        worker_id=record.worker_id,
        worker=names.get(record.worker_id),
    )
