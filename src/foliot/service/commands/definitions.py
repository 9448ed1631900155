"""Definitions as text: checks a text, applies it as a whole or not at all, and returns stored definitions as text.

A text is read like a configuration file, but never reads this machine. What it does not name is never changed.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from foliot.domain.chain.spec import CHAIN
from foliot.domain.deploy.deployment import OWNERS, Declared
from foliot.domain.deploy.text import API, TextDefinitions
from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.job.job import Job, JobSpec
from foliot.domain.schedule.schedule import Schedule, ScheduleSpec
from foliot.domain.secrets import HIDDEN
from foliot.domain.workflow.jobs import jobs_of_all
from foliot.domain.workflow.spec import GRAPH, WorkflowSpec
from foliot.errors import (
    InvalidDefinitions,
    InvalidInput,
    InvalidWorkflow,
    NotFound,
    OwnedElsewhere,
    Place,
    Problem,
    RowUnreadable,
    Severity,
)
from foliot.ports.clock import Clock
from foliot.ports.definitions import Deployment, WorkflowVersion
from foliot.ports.storage import Storage
from foliot.service.commands.definition_plan import PlannedDefinition, Stored, plan
from foliot.service.commands.jobs import JobService, check_job
from foliot.service.commands.schedules import ScheduleService
from foliot.service.commands.texts import ParsedText, TextFormat, TextToml
from foliot.service.commands.workflows import WorkflowService
from foliot.service.notifications.urls import UrlSecrets
from foliot.service.paging import known_jobs, stored_schedules, versions_with_errors
from foliot.service.queries.definition_view import (
    AppliedText,
    CheckedText,
    DefinitionAction,
    DefinitionToml,
    view_problem,
)

_MOST_PROBLEMS: Final = 1_000
"""How many problems an answer lists."""


class Plan(NamedTuple):
    """What applying a text would do."""

    definitions: Sequence[PlannedDefinition]
    problems: Sequence[Problem]

    @property
    def errors(self) -> list[Problem]:
        return [problem for problem in self.problems if problem.severity is Severity.ERROR]

    @property
    def wanted(self) -> list[PlannedDefinition]:
        return [one for one in self.definitions if one.is_stored_next]


class DefinitionService:
    """Checks and applies texts with definitions, and writes them."""

    def __init__(
        self,
        storage: Storage,
        clock: Clock,
        jobs: JobService,
        schedules: ScheduleService,
        workflows: WorkflowService,
        urls: UrlSecrets,
        texts: TextFormat,
    ) -> None:
        self._storage = storage
        self._clock = clock
        self._jobs = jobs
        self._schedules = schedules
        self._workflows = workflows
        self._urls = urls
        self._texts = texts

    async def check(self, text: str) -> CheckedText:
        """Return what a text defines, compared with what is stored, and all problems in it. Nothing is stored."""
        found = await self._plan(text)
        now = self._clock.now()
        return CheckedText(
            is_valid=not found.errors,
            problems=[view_problem(problem) for problem in found.problems[:_MOST_PROBLEMS]],
            definitions=await asyncio.to_thread(lambda: [one.view(now) for one in found.definitions]),
        )

    async def apply(
        self,
        text: str,
        *,
        pause_new: bool = False,
        expected: Mapping[str, int] | None = None,
        revision: int | None = None,
        keeps_changed: bool = False,
    ) -> AppliedText:
        """Store all definitions of a text in one transaction, or none. Others are not changed.

        `pause_new`: jobs and schedules that it creates are paused. `expected`: the revisions that the change was made
        for, of workflows their versions; 0: it must not exist. `revision`: the same for the only definition of a text.
        `keeps_changed`: what exists and differs stays as it is.

        InvalidDefinitions has every problem; OwnedElsewhere names what a file or an application defines.
        """
        found = await self._plan(text)
        if keeps_changed:
            found = found._replace(definitions=[_kept(one) for one in found.definitions])
        if found.errors:
            raise InvalidDefinitions(found.errors[:_MOST_PROBLEMS])
        _refuse_owned(found.definitions)
        await self._save(found.wanted, _expected(found, expected, revision), pause_new=pause_new)
        return await self._applied(found)

    async def job_toml(self, job_id: str) -> DefinitionToml:
        """Return a job, a fanout or a class of chains as TOML, with its schedules and masked secrets."""
        job = await self._jobs.record(job_id)
        if job.spec.kind == GRAPH:
            return await self.workflow_toml(job_id)
        own = await self._own_schedules(job)
        return _toml(self._texts.write_job(job.id, job.spec, own), job.revision)

    async def workflow_toml(self, workflow_id: str, *, version: int | None = None) -> DefinitionToml:
        """Return a workflow as TOML, with its schedules and masked secrets."""
        found = await self._workflows.record(workflow_id, version)
        schedules = await self._workflows.own_schedules(workflow_id)
        own = {name: spec for name, spec in schedules.items() if name.startswith(f"{workflow_id}:")}
        return _toml(self._texts.write_workflow(workflow_id, found.spec, own), found.version)

    async def class_toml(self, class_id: str) -> DefinitionToml:
        """Return a class of chains as TOML."""
        job = (await known_jobs(self._storage, [JobId(class_id)])).get(JobId(class_id))
        if job is None or job.spec.kind != CHAIN:
            raise NotFound("class", class_id, hint="List them with: foliot chains")
        return await self.job_toml(class_id)

    # -- planning

    async def _plan(self, text: str) -> Plan:
        parsed = await asyncio.to_thread(self._texts.parse, text)
        specs = await self._workflows.jobs_named(parsed.names, besides=parsed.ids)
        stored = await self._stored(parsed.ids)
        if HIDDEN in text:
            parsed = await self._with_secrets(parsed, stored)
        defaults, ceilings = self._schedules.defaults, self._schedules.default_layers.ceilings
        read = await asyncio.to_thread(parsed.read, specs, self._clock.now(), defaults, ceilings)
        stored = stored._replace(schedules=await self._taken(read))
        planned = await asyncio.to_thread(lambda: [plan(one, stored) for one in read.definitions])
        problems = [*read.problems, *(problem for one in planned for problem in one.problems)]
        found = Plan(planned, sorted(problems, key=lambda one: one.line))
        if found.errors:
            return found
        more = await self._refusals(found)
        return found._replace(problems=sorted([*problems, *more], key=lambda one: one.line))

    async def _stored(self, ids: set[JobId]) -> Stored:
        """Return what is stored under these ids, without `schedules`: these are known only when the text is read."""
        jobs = await known_jobs(self._storage, ids)
        readable = {name: replace(job, spec=await self._urls.readable(job.spec)) for name, job in jobs.items()}
        versions = await versions_with_errors(self._storage, [(name, None) for name in ids]) if ids else {}
        workflows = {name: found for (name, _), found in versions.items() if isinstance(found, WorkflowVersion)}
        by_target = {name: [one async for one in stored_schedules(self._storage, name)] for name in jobs}
        return Stored(readable, workflows, schedules={}, by_target=by_target)

    async def _taken(self, read: TextDefinitions) -> dict[ScheduleId, Schedule]:
        """Return the stored schedules with ids that the text uses."""
        names = [name for one in read.definitions for name in one.schedules]
        return await self._storage.definitions.get_schedules(names) if names else {}

    async def _with_secrets(self, parsed: ParsedText, stored: Stored) -> ParsedText:
        trees: dict[JobId, Mapping[str, Any]] = {}
        for name in stored.jobs:
            version, job = stored.workflows.get(name), stored.job(name)
            own = stored.own_schedules(name, is_workflow=version is not None)
            specs = {schedule_id: one.revision.spec for schedule_id, one in own.items()}
            if version is not None:
                trees[name] = self._texts.secret_workflow(name, version.spec, specs)
            elif job is not None:
                trees[name] = self._texts.secret_job(name, job.spec, specs)
        return parsed.with_secrets(trees)

    async def _refusals(self, found: Plan) -> list[Problem]:
        """Return what prevents storing the definitions that was not found when they were read."""
        wanted = found.wanted
        places = {one.id: one.definition.place for one in wanted}
        for one in wanted:
            try:
                if one.definition.job is not None:
                    check_job(one.id, one.definition.job)
                self._schedules.check(_changed_schedules([one]))
            except InvalidInput as error:
                return [_problem(error, one.definition.place)]
        try:
            await self._workflows.check(_workflows(wanted), _declared(wanted))
        except InvalidWorkflow as error:
            place = places.get(JobId(error.workflow_id), Place())
            return [Problem(Severity.ERROR, place, problem.message, problem.hint) for problem in error.problems]
        except (InvalidInput, OwnedElsewhere) as error:
            return [_problem(error, Place())]
        return []

    # -- saving

    async def _save(
        self, wanted: Sequence[PlannedDefinition], expected: Mapping[str, int] | None, *, pause_new: bool
    ) -> None:
        jobs, workflows = _jobs(wanted), _workflows(wanted)
        coming = {*jobs, *jobs_of_all(workflows)}
        schedules = {one.id: one.spec for each in wanted for one in each.schedules if one.action != "removed"}
        gone = [one.id for each in wanted for one in each.schedules if one.action == "removed"]
        revisions = None if expected is None else {JobId(name): number for name, number in expected.items()}
        deployment = Deployment(
            workflows,
            await self._schedules.prepare(schedules, coming=coming),
            gone,
            jobs=await self._jobs.prepare(jobs, coming=coming),
            revisions=revisions and {name: revisions[name] for name in jobs if name in revisions},
            versions=expected and {name: expected[name] for name in workflows if name in expected},
            pauses_new=pause_new,
        )
        await self._storage.definitions.deploy(deployment)

    async def _applied(self, found: Plan) -> AppliedText:
        """Return what was stored, with the revisions that it has now."""
        names = [one.id for one in found.definitions]
        jobs = await known_jobs(self._storage, names)
        versions = await versions_with_errors(self._storage, [(name, None) for name in names]) if names else {}
        revisions = {name: job.revision for name, job in jobs.items()}
        revisions |= {
            JobId(name): version.version
            for (name, _), version in versions.items()
            if not isinstance(version, RowUnreadable)
        }
        now = self._clock.now()
        return AppliedText(
            definitions=await asyncio.to_thread(
                lambda: [one.view(now, revisions.get(one.id)) for one in found.definitions]
            ),
            warnings=[view_problem(problem) for problem in found.problems[:_MOST_PROBLEMS]],
        )

    async def _own_schedules(self, job: Job) -> dict[ScheduleId, ScheduleSpec]:
        """Return the schedules that a text of the job can contain: those with its owner, named after it."""
        found: dict[ScheduleId, ScheduleSpec] = {}
        async for one in stored_schedules(self._storage, job.id):
            is_named = one.id.startswith(f"{job.id}:") and ":" not in one.id.removeprefix(f"{job.id}:")
            if is_named and one.revision.spec.source == job.spec.source and not one.is_unreadable:
                found[one.id] = one.revision.spec
        return found


def _jobs(wanted: Sequence[PlannedDefinition]) -> dict[JobId, JobSpec]:
    return {one.id: one.definition.job for one in wanted if one.definition.job is not None}


def _workflows(wanted: Sequence[PlannedDefinition]) -> dict[str, WorkflowSpec]:
    return {one.id: one.definition.workflow for one in wanted if one.definition.workflow is not None}


def _declared(wanted: Sequence[PlannedDefinition]) -> Declared:
    return Declared(jobs=_jobs(wanted), workflows=_workflows(wanted), source=API)


def _changed_schedules(wanted: Sequence[PlannedDefinition]) -> dict[ScheduleId, ScheduleSpec]:
    return {one.id: one.spec for each in wanted for one in each.schedules if one.action in ("created", "changed")}


def _kept(planned: PlannedDefinition) -> PlannedDefinition:
    is_changed = planned.action is DefinitionAction.CHANGED
    return planned._replace(action=DefinitionAction.KEPT) if is_changed else planned


def _problem(error: InvalidInput | OwnedElsewhere, place: Place) -> Problem:
    return Problem(Severity.ERROR, place, error.message, error.hint)


def _refuse_owned(definitions: Sequence[PlannedDefinition]) -> None:
    """Refuse the text if other owners define something of it, all in one error."""
    refused = [one for one in definitions if one.action is DefinitionAction.REFUSED]
    if refused:
        facts = "; ".join(f'"{one.id}" is defined {OWNERS[one.owner or ""]}' for one in refused)
        hint = "Change it where it is defined, or give the definition another id here. Nothing was stored."
        raise OwnedElsewhere(facts, hint=hint, names=[one.id for one in refused])


def _expected(found: Plan, expected: Mapping[str, int] | None, revision: int | None) -> Mapping[str, int] | None:
    """Return the expected revisions by id. Refuse ids that the text does not define."""
    ids = [one.id for one in found.definitions]
    if revision is not None:
        if len(ids) != 1:
            raise InvalidInput(
                f"If-Match means one definition, and the text has {len(ids)}", hint="Use expected.", field="expected"
            )
        return {ids[0]: revision, **(expected or {})}
    others = sorted({*(expected or ())} - {*ids})
    if others:
        raise InvalidInput(
            f"the text does not define {others[0][:64]!a}", hint="Leave it out of expected.", field="expected"
        )
    return expected


def _toml(written: TextToml, revision: int) -> DefinitionToml:
    return DefinitionToml(toml=written.toml, revision=revision, is_masked=written.is_masked)
