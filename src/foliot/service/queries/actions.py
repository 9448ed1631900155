"""Who did something with a run, a job or a schedule, from the audit trail."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import msgspec
from msgspec.structs import replace

from foliot.domain.access.trail import AuditAction, AuditEntry, AuditKind
from foliot.domain.instant import to_datetime
from foliot.domain.run.outcome import Reason
from foliot.ports.audit import Audit, AuditFilter
from foliot.service.queries.execution_view import StepView
from foliot.service.queries.job_view import JobView
from foliot.service.queries.schedule_view import ScheduleView

_ACTIONS: Final = 20
"""How many entries about a run are shown."""
_DECIDED: Final = frozenset({Reason.MARKED, Reason.REJECTED})
_DECISIONS: Final = (AuditAction.APPROVE, AuditAction.REJECT, AuditAction.MARK)


class ActionView(msgspec.Struct, frozen=True, kw_only=True):
    """What a person or a program did with a run."""

    at: datetime
    actor: str
    action: str
    """trigger, cancel, mark, approve or reject"""


class ActionQueries:
    def __init__(self, audit: Audit) -> None:
        self._audit = audit

    async def of_run(self, run_id: str) -> list[ActionView]:
        """Return what was done with a run, in order."""
        entries = await self._audit.page(AuditFilter(id=run_id, limit=_ACTIONS))
        return [_view(entry) for entry in reversed(entries) if entry.kind == AuditKind.RUN]

    async def of_steps(self, steps: Sequence[StepView]) -> dict[str, ActionView]:
        """Return who decided the result of a step, by its name, for the steps that a person or a program decided."""
        decided = {one.run_id: one.name for one in steps if one.run_id is not None and one.cause in _DECIDED}
        found = await self._audit.latest(AuditKind.RUN, [*decided], _DECISIONS) if decided else {}
        return {decided[run_id]: _view(entry) for run_id, entry in found.items()}

    async def with_pausers(self, schedules: Sequence[ScheduleView]) -> list[ScheduleView]:
        """Return schedules, the paused ones with who paused them."""
        paused = await self._pausers(AuditKind.SCHEDULE, [one.schedule_id for one in schedules if one.paused])
        return [
            replace(one, paused_by=paused[one.schedule_id]) if one.paused and one.schedule_id in paused else one
            for one in schedules
        ]

    async def with_pauser(self, job: JobView) -> JobView:
        """Return a job, with who paused it if it is paused."""
        paused = await self._pausers(AuditKind.JOB, [job.id] if job.paused else [])
        return replace(job, paused_by=paused[job.id]) if job.id in paused else job

    async def _pausers(self, kind: AuditKind, names: Sequence[str]) -> dict[str, str]:
        found = await self._audit.latest(kind, names, [AuditAction.PAUSE]) if names else {}
        return {name: entry.actor for name, entry in found.items()}


def _view(entry: AuditEntry) -> ActionView:
    return ActionView(at=to_datetime(entry.at), actor=entry.actor, action=entry.action)
