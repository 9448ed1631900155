"""Turns events into deliveries: for the ends of runs by the options of their jobs, and for every alert."""

from collections.abc import Collection, Mapping
from math import inf
from typing import Any, Final

from foliot.domain.alert import Alert
from foliot.domain.events import Event, EventKind
from foliot.domain.ids import JobId, RunId
from foliot.domain.job.job import Job
from foliot.domain.notification.decision import FAILURES, failures_in_a_row, failures_needed, occasion_of
from foliot.domain.notification.message import alert_document, log_lines, message_id, run_document
from foliot.domain.notification.rule import MAX_FAILURES
from foliot.domain.notification.settings import NotificationSettings
from foliot.domain.run.run import TERMINAL, Run
from foliot.domain.tree.run_kind import RunKind, kind_of
from foliot.errors import RowUnreadable
from foliot.ports.deliveries import NewDelivery
from foliot.ports.pages import RunFilter
from foliot.ports.storage import Storage
from foliot.service.notifications.targets import FoundTarget, Targets

_CHUNK: Final = 100
_LOG_CHUNKS: Final = 20
_NOT_NOTIFIED: Final = frozenset({RunKind.ITEM, RunKind.REDUCER})
"""The end of the fanout is notified instead."""


class NotificationPlanner:
    """Stores the deliveries of each event. An event that is repeated adds none: their ids are the same."""

    def __init__(self, storage: Storage, settings: NotificationSettings, targets: Targets) -> None:
        self._storage = storage
        self._settings = settings
        self._targets = targets

    async def __call__(self, event: Event) -> None:
        match event.kind:
            case EventKind.RUNS_ENDED:
                ended = [run_id for run_id, status, _ in event.items if status in TERMINAL]
                for start in range(0, len(ended), _CHUNK):
                    await self._about_runs(event, ended[start : start + _CHUNK])
            case EventKind.ALERT_RAISED:
                await self._about_alerts(event)

    async def _about_runs(self, event: Event, run_ids: Collection[RunId]) -> None:
        runs = await self._storage.queries.get_runs(run_ids)
        notified = [run for run in runs.values() if run.unreadable is None and kind_of(run) not in _NOT_NOTIFIED]
        jobs = await self._jobs({run.job_id for run in notified})
        new = [delivery for run in notified for delivery in await self._about_run(event, run, jobs.get(run.job_id))]
        if new:
            await self._storage.deliveries.add(new)

    async def _jobs(self, job_ids: Collection[JobId]) -> Mapping[JobId, Job]:
        """Return the jobs that can be read. For the others, only [notifications] applies."""
        try:
            return await self._storage.definitions.get_jobs(job_ids)
        except RowUnreadable as error:
            readable = [job_id for job_id in job_ids if job_id != error.name]
            return await self._jobs(readable) if len(readable) < len(job_ids) else {}

    async def _about_run(self, event: Event, run: Run, job: Job | None) -> list[NewDelivery]:
        rule = self._targets.rule(job, is_part=run.parent_id is not None)
        if not rule.urls:
            return []
        is_failure = run.status in FAILURES
        before = await self._failures_before(run) if is_failure or failures_needed(run.status, rule) else 0
        occasion = occasion_of(run.status, before, rule)
        if occasion is None:
            return []
        document = run_document(
            run,
            occasion,
            job_name="" if job is None else job.spec.name,
            log=await self._log(run) if is_failure else (),
            failures=before + is_failure,
            url=self._settings.link(run.id),
        )
        return [
            _delivery(event, run.id, found, document)._replace(run_id=run.id)
            for found in await self._targets.of_job(job, rule)
        ]

    async def _failures_before(self, run: Run) -> int:
        """Count failures in a row before this run, in the order in which runs ended, among the newest runs."""
        newest = await self._storage.queries.page_runs(RunFilter(job_id=run.job_id, limit=MAX_FAILURES))
        earlier = sorted((one for one in newest if _ended(one) < _ended(run)), key=_ended, reverse=True)
        return failures_in_a_row(one.status for one in earlier)

    async def _log(self, run: Run) -> list[str]:
        chunks = await self._storage.queries.tail_log(run.id, limit=_LOG_CHUNKS)
        return log_lines(chunk.data for chunk in chunks if chunk.stream != "meta")

    async def _about_alerts(self, event: Event) -> None:
        documents = [alert_document(Alert.of_item(item), event.at) for item in event.items]
        new = [
            _delivery(event, str(nth), found, document)
            for nth, document in enumerate(documents)
            for found in self._targets.of_alerts()
        ]
        await self._storage.deliveries.add(new)


def _ended(run: Run) -> tuple[float, str]:
    """Return the order in which runs ended. Those that have not ended come last."""
    return inf if run.finished_at is None else run.finished_at, run.id


def _delivery(event: Event, subject: str, found: FoundTarget, document: dict[str, Any]) -> NewDelivery:
    name = message_id(event.seq, subject, found.receiver)
    return NewDelivery(name, found.target, found.owner, None, found.receiver, document)
