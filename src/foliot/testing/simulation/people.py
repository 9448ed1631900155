"""Commands of people on a running cluster: create and cancel runs, create, edit, pause and delete schedules, edit
workflows and pause their steps."""

from collections.abc import Callable
from random import Random
from typing import Final

from foliot.domain.ids import IdSource, JobId, RunId, ScheduleId, ScheduleUid
from foliot.domain.instant import SECOND, later
from foliot.domain.run.run import NewRun
from foliot.domain.schedule.project_pause import PauseOrder
from foliot.domain.schedule.schedule import Schedule, ScheduleSpec, check_schedule
from foliot.domain.workflow.jobs import jobs_of
from foliot.errors import FoliotError
from foliot.ports.clock import Clock
from foliot.ports.definitions import NewSchedule
from foliot.ports.storage import Storage
from foliot.testing.invariants import Violation
from foliot.testing.simulation.catalogue import (
    CHAINS,
    FANOUTS,
    Catalogue,
    draw_schedule,
    redraw_schedule,
    redraw_workflow,
)
from foliot.testing.simulation.watch import Watch

_SCHEDULES: Final = tuple(ScheduleId(f"schedule-{number}") for number in range(6))


class People:
    """Executes random commands and writes them to the trace."""

    def __init__(
        self,
        storage: Storage,
        clock: Clock,
        random: Random,
        ids: IdSource,
        catalogue: Catalogue,
        watch: Watch,
        note: Callable[[str], None],
    ) -> None:
        self._storage = storage
        self._clock = clock
        self._random = random
        self._ids = ids
        self._catalogue = catalogue
        self._watch = watch
        self._note = note

    async def enqueue(self) -> None:
        await self._enqueue(self._random.choice(list(self._catalogue.jobs)))

    async def start_workflow(self) -> None:
        await self._enqueue(JobId(self._random.choice(list(self._catalogue.workflows))))

    async def start_fanout(self) -> None:
        await self._enqueue(JobId(self._random.choice(FANOUTS)))

    async def start_chain(self) -> None:
        await self._enqueue(JobId(self._random.choice(CHAINS)))

    async def _enqueue(self, job_id: JobId) -> None:
        random, now, spec = self._random, self._clock.now(), self._catalogue.jobs[job_id]
        key = random.choice((None, None, "a", "b"))
        run = NewRun(
            id=RunId(self._ids.make(now)),
            job_id=job_id,
            due_at=later(now, random.choice((0, 0, -5, 45)) * SECOND),
            options=spec.options,
            dedupe_key=key,
            dedupe_scope=random.choice(("forever", "active", "window")),
            dedupe_for=random.randrange(1, 300) * SECOND,
            is_gated=spec.gate is not None,
        )
        [answer] = await self._storage.orders.create([run])
        if key is None and not answer.is_new:
            raise Violation(f"R1-41 run {run.id} has no dedupe key and was not created")

    async def cancel(self) -> None:
        run_ids = self._watch.unfinished or self._watch.run_ids
        if run_ids:
            run_id = self._random.choice(run_ids)
            answers = await self._storage.orders.cancel([run_id])
            self._note(f"{run_id} {answers[run_id]}")

    async def put_schedule(self) -> None:
        spec = draw_schedule(self._random, self._clock.now(), self._catalogue)
        schedule_id = self._random.choice(_SCHEDULES)
        if schedule_id not in await self._storage.definitions.get_schedules([schedule_id]):
            await self._put(schedule_id, spec)

    async def edit_schedule(self) -> None:
        for schedule in await self._some_schedule():
            spec, now = schedule.revision.spec, self._clock.now()
            await self._put(schedule.id, redraw_schedule(self._random, spec, now, self._catalogue))

    async def _put(self, schedule_id: ScheduleId, spec: ScheduleSpec) -> None:
        now = self._clock.now()
        try:
            check_schedule(spec, schedule_id, now)
        except FoliotError as refused:
            self._note(f"refused: {refused}")
            return
        self._note(f"{schedule_id} {spec.type} {spec.expr} {spec.overlap} {spec.catchup}")
        await self._storage.definitions.put_schedules(
            [NewSchedule(ScheduleUid(self._ids.make(now)), schedule_id, spec)]
        )

    async def pause_or_resume(self) -> None:
        for schedule in await self._some_schedule():
            await self._storage.definitions.pause_schedules([schedule.id], paused=schedule.paused_at is None)

    async def pause_or_resume_all(self) -> None:
        now, last = self._clock.now(), await self._storage.queries.project_pause()
        if last is not None and last.is_in_force(now) and self._random.random() < 0.8:
            await self._storage.definitions.resume_project()
            return
        ends_at = self._random.choice((None, later(now, self._random.randrange(1, 600) * SECOND)))
        await self._storage.definitions.pause_project(PauseOrder(ends_at))

    async def delete_schedule(self) -> None:
        for schedule in await self._some_schedule():
            await self._storage.definitions.delete_schedules([schedule.id])

    async def edit_workflow(self) -> None:
        """Put a new version. Open executions continue with theirs."""
        workflow_id = self._random.choice(list(self._catalogue.workflows))
        spec = redraw_workflow(self._random, self._catalogue.workflows[workflow_id])
        [known] = (await self._storage.definitions.put_workflows({workflow_id: spec})).values()
        await self._storage.definitions.put_jobs(list(jobs_of(workflow_id, known.version, spec).items()))
        self._note(f"{workflow_id} version {known.version}")

    async def pause_or_resume_step(self) -> None:
        workflow_id = self._random.choice(list(self._catalogue.workflows))
        step = self._random.choice(self._catalogue.workflows[workflow_id].steps).name
        paused = step not in await self._storage.definitions.paused_steps(workflow_id)
        await self._storage.definitions.pause_step(workflow_id, step, paused=paused)
        self._note(f"{workflow_id} {step} {paused}")

    async def _some_schedule(self) -> list[Schedule]:
        schedules = await self._storage.definitions.page_schedules()
        return [self._random.choice(schedules)] if schedules else []
