"""Jobs as JSON documents, with the schedules that belong to them: what the HTTP API stores and returns.

The schedules of a job's document are named `<job>:<name>`, as those of a file are.
"""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from foliot.domain.ids import IdSource, JobId, ScheduleId
from foliot.domain.input.words import text
from foliot.domain.job.job import Job
from foliot.domain.notification.rule import Notify
from foliot.domain.schedule.edit import is_stored
from foliot.domain.schedule.schedule import Schedule, ScheduleSpec
from foliot.domain.secrets import HIDDEN
from foliot.errors import InvalidJob, RowUnreadable, shown
from foliot.ports.clock import Clock
from foliot.ports.storage import Storage
from foliot.service.commands.documents import Document, DocumentFormat
from foliot.service.commands.jobs import JobService
from foliot.service.commands.schedules import ScheduleService
from foliot.service.paging import stored_schedules
from foliot.service.queries.job_view import JobView, view_job

_SOURCE = "api"


class StoredJob(msgspec.Struct, frozen=True, kw_only=True):
    """A job that was stored from a document."""

    job: JobView
    is_new: bool
    schedules: list[str]
    """The ids of the schedules that belong to it."""
    warnings: list[str]


class JobDocumentService:
    """Stores jobs given as documents."""

    def __init__(
        self,
        storage: Storage,
        clock: Clock,
        ids: IdSource,
        jobs: JobService,
        schedules: ScheduleService,
        documents: DocumentFormat,
    ) -> None:
        self._storage = storage
        self._clock = clock
        self._ids = ids
        self._jobs = jobs
        self._schedules = schedules
        self._documents = documents

    async def put(self, document: Document, job_id: str | None = None, *, revision: int | None = None) -> StoredJob:
        """Create or replace a job and its schedules. Without an id in the document it gets one.

        A masked value keeps the stored one. `revision`: the one that the change was made for; another one raises
        ChangedMeanwhile. An invalid document raises InvalidJobDocument with every problem. The job and its schedules
        are several writes: repeat the call if it was interrupted.
        """
        tree = self._identified(self._documents.open(document), job_id)
        before = await self._known(tree["id"])
        kept = _kept_urls(tree, before)
        tree = await self._restored({name: value for name, value in tree.items() if name not in kept}, before)
        read = self._documents.read_job(tree, self._clock.now(), self._schedules.defaults)
        spec = replace(read.spec, notify=replace(read.spec.notify, **kept))
        stored = {one.id: one for one in await self._own(read.id)}
        wanted = {
            name: spec
            for name, spec in read.schedules.items()
            if name not in read.past or is_stored(name, spec, stored)
        }
        self._schedules.check({name: spec for name, spec in wanted.items() if name not in read.past})
        expected = None if revision is None else {read.id: revision}
        [job] = await self._jobs.put({read.id: spec}, expected=expected)
        await self._schedules.put(wanted)
        await self._storage.definitions.delete_schedules([name for name in stored if name not in wanted])
        return StoredJob(job=view_job(job), is_new=before is None, schedules=[*wanted], warnings=[*read.warnings])

    async def public(self, job_id: str) -> dict[str, Any] | None:
        """Return a job as a document with masked secrets. None: no document can contain it."""
        job = await self._jobs.record(job_id)
        document = await self._document(job)
        return None if document is None else self._documents.public_job(document)

    def _identified(self, tree: dict[str, Any], job_id: str | None) -> dict[str, Any]:
        given = tree.get("id", job_id)
        if given is None:
            given = self._ids.make(self._clock.now())
        if job_id is not None and given != job_id:
            hint = "Leave it out of the body, or give the same id."
            raise InvalidJob(f"id {shown(given)} is not {shown(job_id)}", hint=hint, field="id")
        return {**tree, "id": text(given, "id", InvalidJob)}

    async def _known(self, job_id: str) -> Job | None:
        """Return the stored job. One that cannot be read is replaced."""
        try:
            return (await self._storage.definitions.get_jobs([JobId(job_id)])).get(JobId(job_id))
        except RowUnreadable:
            return None

    async def _restored(self, tree: dict[str, Any], job: Job | None) -> dict[str, Any]:
        document = None if job is None else await self._document(job)
        return tree if document is None else self._documents.restore_hidden(tree, document)

    async def _document(self, job: Job) -> dict[str, Any] | None:
        schedules: Mapping[ScheduleId, ScheduleSpec] = {
            one.id: one.revision.spec for one in await self._own(job.id) if not one.is_unreadable
        }
        return self._documents.write_job(job.id, job.spec, schedules)

    async def _own(self, job_id: JobId) -> list[Schedule]:
        """Return the schedules that belong to the document of a job."""
        found = stored_schedules(self._storage, job_id)
        return [one async for one in found if one.revision.spec.source == _SOURCE and one.id.startswith(f"{job_id}:")]


def _kept_urls(tree: Mapping[str, Any], job: Job | None) -> dict[str, str]:
    """Return the encrypted URLs of a stored job that masks in the document stand for."""
    notify = Notify() if job is None else job.spec.notify
    stored = {"webhook_url": notify.webhook_url, "slack_webhook_url": notify.slack_webhook_url}
    return {name: url for name, url in stored.items() if url and tree.get(name) == HIDDEN}
