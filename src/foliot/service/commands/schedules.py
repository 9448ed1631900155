"""Commands on schedules: upsert, put, pause, resume and delete. Each checks everything, then stores all or nothing."""

import logging
from collections.abc import Collection, Mapping
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Final, NamedTuple, Unpack

from foliot.domain.chain.spec import Ceilings
from foliot.domain.ids import IdSource, JobId, ScheduleId, ScheduleUid
from foliot.domain.input.keywords import as_written, read_keywords
from foliot.domain.input.schedule import schedule_of
from foliot.domain.input.timing import Moment, optional_instant
from foliot.domain.input.typed import UpsertManyOptions, UpsertOptions
from foliot.domain.input.words import flag, text
from foliot.domain.instant import Instant
from foliot.domain.job.job import check_name
from foliot.domain.run.payload import encode_payload
from foliot.domain.schedule.defaults import NO_DEFAULTS, ScheduleDefaults
from foliot.domain.schedule.edit import is_same_rule
from foliot.domain.schedule.memoize import memoize_by_spec
from foliot.domain.schedule.project_pause import PauseOrder, check_pause
from foliot.domain.schedule.schedule import Schedule, ScheduleSpec, canonical, expiry_error
from foliot.domain.vocabulary.places import UPSERT_CALL
from foliot.domain.workflow.jobs import is_part_of_workflow
from foliot.errors import FoliotError, InvalidInput, InvalidSchedule, NotFound, RowUnreadable
from foliot.ports.clock import Clock
from foliot.ports.definitions import NewSchedule
from foliot.ports.storage import Storage
from foliot.service.commands.jobs import JobService
from foliot.service.commands.ownership import refuse_foreign, refuse_owned
from foliot.service.commands.schedule_input import check_id, read_batch, read_pause
from foliot.service.paging import SUGGESTIONS, check_limit
from foliot.service.queries.documents import moment
from foliot.service.queries.pause_view import PauseView, view_pause
from foliot.service.queries.schedule_view import ScheduleView, TickView
from foliot.service.queries.schedules import ScheduleQueries
from foliot.service.references import References

log = logging.getLogger(__name__)

_MOST_NAMED: Final = 5


class UpsertedSchedule(NamedTuple):
    """The id and the next fire time of a stored schedule; None for a schedule without fire times of its own."""

    schedule_id: str
    next_run_at: datetime | None


class _Comparison(NamedTuple):
    """Schedules to store, compared with the stored ones."""

    specs: Mapping[ScheduleId, ScheduleSpec]
    known: Mapping[ScheduleId, Schedule]
    changes: Mapping[ScheduleId, ScheduleSpec]
    """New and changed schedules. An unchanged one may be over: a one-shot that has fired, for example."""


class DefaultLayers:
    """The defaults for new and changed definitions, the same for the services of every actor."""

    def __init__(self) -> None:
        self.ceilings = Ceilings()
        """What no class of chains may exceed, by the configuration."""
        self.app = NO_DEFAULTS
        """Defaults that the application declares."""
        self.file = NO_DEFAULTS
        """Defaults of the configuration, for those that the application does not declare."""


class ScheduleService:
    """Creates and changes schedules."""

    def __init__(
        self, storage: Storage, clock: Clock, ids: IdSource, jobs: JobService, default_layers: DefaultLayers
    ) -> None:
        self._storage = storage
        self._clock = clock
        self._ids = ids
        self._jobs = jobs
        self._queries = ScheduleQueries(storage, clock)
        self.default_layers = default_layers

    @property
    def defaults(self) -> ScheduleDefaults:
        """The defaults for new and changed schedules."""
        return self.default_layers.app.over(self.default_layers.file)

    async def upsert(
        self,
        schedule_id: str | None = None,
        *,
        paused: bool | None = None,
        enabled: bool | None = None,
        expected_revision: int | None = None,
        **options: Unpack[UpsertOptions],
    ) -> UpsertedSchedule:
        """Create or change a schedule of the job `job_id` or the workflow `workflow_id`.

        Without `overlap`, `catchup` and `jitter` it has the defaults of the application, or of the configuration of the
        server.

        A paused schedule stays paused unless `paused` is False, or `enabled` is True, which means the same. Pausing and
        changing are two writes, in the order that prevents unwanted fires between them; only a new schedule exists for
        an instant before it is paused.

        `expected_revision`: the revision that the change was made for. Another one raises ChangedMeanwhile.
        """
        check_id(schedule_id)
        paused = read_pause(paused=paused, enabled=enabled)
        chosen = ScheduleId(schedule_id or self._ids.make(self._clock.now()))
        read = read_keywords(UPSERT_CALL, options, InvalidSchedule)
        with as_written(read.written):
            spec = schedule_of({**self.defaults.options, **read}, read.written, source="api")
            prepared = await self.prepare({chosen: spec})
        if paused:
            with suppress(RowUnreadable):  # the stored rule that cannot be read is replaced
                await self._storage.definitions.pause_schedules([chosen], paused=True)
        expected = None if expected_revision is None else {chosen: expected_revision}
        [schedule] = await self._storage.definitions.put_schedules(prepared, expected=expected)
        if paused is not None:
            [schedule] = await self._storage.definitions.pause_schedules([chosen], paused=paused) or [schedule]
        return UpsertedSchedule(schedule.id, moment(schedule.next_run_at))

    async def upsert_many(self, schedules: Mapping[str, UpsertManyOptions]) -> list[UpsertedSchedule]:
        """Create or change up to 10,000 schedules in one transaction, given by their ids with the options of `upsert`.

        If one is refused, the error names it and nothing is stored. Pausing and resuming are further writes, as with
        `upsert`.
        """
        read = read_batch(schedules, self.defaults.options)
        compared = await self._compare(read.specs)
        self.check(compared.changes)
        await self._check_named(compared)
        prepared = self._with_uids(compared.specs)
        with suppress(RowUnreadable):  # as in `upsert`
            await self._storage.definitions.pause_schedules(read.paused, paused=True)
        stored = {one.id: one for one in await self._storage.definitions.put_schedules(prepared)}
        for names, paused in ((read.paused, True), (read.resumed, False)):
            changed = await self._storage.definitions.pause_schedules(names, paused=paused) if names else []
            stored |= {one.id: one for one in changed}
        return [UpsertedSchedule(name, moment(stored[name].next_run_at)) for name in read.specs]

    async def put(self, schedules: Mapping[ScheduleId, ScheduleSpec]) -> list[Schedule]:
        """Create or change schedules, all or none."""
        return await self._storage.definitions.put_schedules(await self.prepare(schedules))

    async def declare(self, schedules: Mapping[ScheduleId, ScheduleSpec]) -> list[Schedule]:
        """Put the schedules that an application declares at every start.

        A schedule that is over must not stop the application from starting: it is logged, changed if it is stored, and
        otherwise not created.
        """
        compared = await self._compare(schedules)
        over = self._over(compared.changes)
        _log_over(over, compared.known)
        await self._check_named(compared)
        wanted = {name: spec for name, spec in compared.specs.items() if name in compared.known or name not in over}
        return await self._storage.definitions.put_schedules(self._with_uids(wanted))

    async def prepare(
        self, schedules: Mapping[ScheduleId, ScheduleSpec], *, coming: Collection[JobId] = ()
    ) -> list[NewSchedule]:
        """Return schedules in the form that the storage takes. One invalid schedule refuses all. They may start jobs in
        `coming`, which are stored together with them."""
        compared = await self._compare(schedules)
        self.check(compared.changes)
        await self._check_changes(compared, coming)
        return self._with_uids(compared.specs)

    async def _compare(self, schedules: Mapping[ScheduleId, ScheduleSpec]) -> _Comparison:
        specs = _canonical(schedules)
        known = await self._storage.definitions.get_schedules(specs)
        changes = {
            schedule_id: spec
            for schedule_id, spec in specs.items()
            if schedule_id not in known or not is_same_rule(known[schedule_id], spec)
        }
        return _Comparison(specs, known, changes)

    async def _check_named(self, compared: _Comparison) -> None:
        """As `_check_changes`, and the error about a job names the schedules."""
        try:
            await self._check_changes(compared)
        except NotFound as error:
            named = [schedule_id for schedule_id, spec in compared.changes.items() if spec.job_id == error.name]
            error.add_context(f"schedule {_quoted(named)}")
            raise

    async def _check_changes(self, compared: _Comparison, coming: Collection[JobId] = ()) -> None:
        """Refuse changes of schedules with another owner, and schedules of jobs that do not exist.

        A schedule may name a workflow that is deployed later.
        """
        owners = {name: schedule.revision.spec.source for name, schedule in compared.known.items()}
        changed = [(name, owners[name], spec.source) for name, spec in compared.changes.items() if name in owners]
        refuse_foreign("schedule", changed)
        named = {spec.job_id for spec in compared.changes.values() if spec.job_id is not None}
        await self._jobs.refuse_missing(named.difference(coming))

    def _with_uids(self, specs: Mapping[ScheduleId, ScheduleSpec]) -> list[NewSchedule]:
        uids = map(ScheduleUid, self._ids.batch(self._clock.now(), len(specs)))
        return [*map(NewSchedule, uids, specs.keys(), specs.values())]

    def check(self, schedules: Mapping[ScheduleId, ScheduleSpec]) -> None:
        """Refuse schedules that are invalid, or would never fire if they were stored now."""
        for schedule_id, error in self._over(schedules).items():
            error.add_context(f"schedule {schedule_id[:64]!a}")
            raise error

    def _over(self, schedules: Mapping[ScheduleId, ScheduleSpec]) -> dict[ScheduleId, InvalidInput]:
        """Return the schedules that will not fire any more, each with the reason. Refuse invalid ones."""
        reason = memoize_by_spec(partial(_reason_over, now=self._clock.now()), schedules.values())
        over: dict[ScheduleId, InvalidInput] = {}
        for schedule_id, spec in schedules.items():
            try:
                check_name("schedule_id", schedule_id, InvalidSchedule)
                error = reason(spec, schedule_id)
            except InvalidInput as refusal:
                refusal.add_context(f"schedule {schedule_id[:64]!a}")
                raise
            if error is not None:
                over[schedule_id] = error
        return over

    async def pause(self, schedule_id: str, paused: bool = True) -> None:
        """Pause or resume a schedule. Ticks of a paused schedule are recorded as skipped."""
        flag(paused, "paused", InvalidSchedule)
        name = ScheduleId(text(schedule_id, "schedule_id", InvalidInput))
        if not await self._storage.definitions.pause_schedules([name], paused=paused):
            raise await self._not_found(schedule_id)

    async def resume(self, schedule_id: str) -> None:
        """Resume a paused schedule."""
        await self.pause(schedule_id, paused=False)

    async def pause_all(self, until: Moment | None = None, note: str = "", by: str = "") -> PauseView:
        """Pause all schedules, also those that are created meanwhile, until a time or until `resume_all`.

        A tick at that time fires; the ticks before it are recorded as skipped. Runs that are started by hand run. `by`
        is the name of the person (by default the actor), `note` the reason; both are shown. If all are paused already,
        the pause gets this end, name and note. Each schedule can still be paused and resumed.
        """
        ends_at = optional_instant(until, "until")
        author = text(by, "by", InvalidInput) or str(self._storage.actor)
        order = PauseOrder(ends_at, author, text(note, "note", InvalidInput))
        check_pause(order, self._clock.now())
        return view_pause(await self._storage.definitions.pause_project(order))

    async def resume_all(self) -> PauseView | None:
        """End the pause of all schedules and return it. None: none is in force. Schedules that are paused by
        themselves stay paused."""
        ended = await self._storage.definitions.resume_project()
        return None if ended is None else view_pause(ended)

    async def pause_named(self, name: str, paused: bool = True) -> list[ScheduleId]:
        """Pause or resume a job with all its schedules, or one schedule, given by name; return the ids of schedules."""
        known = await self._storage.definitions.get_jobs([JobId(name)])
        if known:
            schedules = await self._jobs.pause(name, paused)
            if not schedules and is_part_of_workflow(known[JobId(name)].spec):
                hint = "Pause a schedule of the workflow, or a step: foliot workflows pause WORKFLOW STEP."
                raise FoliotError(f"{name!a} has no schedule", hint=hint)
            return schedules
        try:
            await self.pause(name, paused)
        except NotFound:
            raise await References(self._storage).nothing(name, "job or schedule") from None
        return [ScheduleId(name)]

    async def delete(self, schedule_id: str, *, force: bool = False) -> None:
        """Delete a schedule and keep its runs. `force` also deletes one that a file or an application defined."""
        flag(force, "force", InvalidInput)
        schedule = await self.record(schedule_id)
        refuse_owned("schedule", schedule.id, schedule.revision.spec.source, force=force)
        if not await self._storage.definitions.delete_schedules([schedule.id]):
            raise await self._not_found(schedule_id)

    async def get(self, schedule_id: str) -> ScheduleView:
        """Return a schedule with its next five fire times."""
        return (await self._queries.page(text(schedule_id, "schedule_id", InvalidInput))).schedule

    async def ticks(self, schedule_id: str, limit: int = 100) -> list[TickView]:
        """Return up to `limit` rows of the ledger of a schedule, at most 10,000, newest first."""
        check_limit(limit)
        return await self._queries.ticks(text(schedule_id, "schedule_id", InvalidInput), limit)

    async def record(self, schedule_id: str) -> Schedule:
        """Return a schedule as it is stored."""
        found = await self._storage.definitions.get_schedules(
            [ScheduleId(text(schedule_id, "schedule_id", InvalidInput))]
        )
        if ScheduleId(schedule_id) not in found:
            raise await self._not_found(schedule_id)
        return found[ScheduleId(schedule_id)]

    async def _not_found(self, schedule_id: str) -> NotFound:
        known = [schedule.id for schedule in await self._storage.definitions.page_schedules(limit=SUGGESTIONS)]
        return NotFound("schedule", schedule_id, known=known)


def _canonical(schedules: Mapping[ScheduleId, ScheduleSpec]) -> dict[ScheduleId, ScheduleSpec]:
    plain = memoize_by_spec(canonical, schedules.values())
    specs: dict[ScheduleId, ScheduleSpec] = {}
    for schedule_id, spec in schedules.items():
        try:
            specs[schedule_id] = plain(spec, schedule_id)
        except InvalidInput as error:
            if len(schedules) > 1:
                error.add_context(f"schedule {schedule_id[:64]!a}")
            raise
    return specs


def _quoted(names: Collection[ScheduleId]) -> str:
    first = ", ".join(f"{name[:64]!a}" for name in sorted(names)[:_MOST_NAMED])
    return f"{first} and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else first


def _log_over(over: Mapping[ScheduleId, InvalidInput], known: Collection[ScheduleId]) -> None:
    for schedule_id, error in over.items():
        hint = "Remove it, or give it a later time."
        facts = {"schedule": schedule_id, "problem": f"it will not fire any more: {error.message}"}
        log.warning("schedule_ended", extra={**facts, "is_stored": schedule_id in known, "hint": hint})


def _reason_over(spec: ScheduleSpec, schedule_id: ScheduleId, *, now: Instant) -> InvalidInput | None:
    """Return why a schedule will not fire any more. Refuse one that never could."""
    encode_payload(spec.payload)
    return expiry_error(spec, schedule_id, now)
