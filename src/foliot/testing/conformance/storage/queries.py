"""The promises of a storage about the pages and lists of the queries port."""

import asyncio
from typing import Any

from foliot.domain.gate.decision import Decided, Decision
from foliot.domain.gate.spec import Action, Gate
from foliot.domain.ids import JobId, RunId, ScheduleId
from foliot.domain.instant import MINUTE
from foliot.domain.run.reference import NewestRun, RunById, RunByPart
from foliot.domain.run.run import Run, Status
from foliot.domain.schedule.schedule import Overlap
from foliot.domain.workflow.conditions import Result
from foliot.domain.workflow.progress import StepState
from foliot.domain.workflow.spec import Step, WorkflowSpec
from foliot.domain.workflow.start import StartInput
from foliot.ports.pages import (
    AwaitedLimit,
    ExecutionDetails,
    JobDetails,
    Matches,
    RunDetails,
    RunFilter,
    ScheduleDetails,
    WorkflowDetails,
)
from foliot.testing.builders import NIGHTLY, REPORT, a_run, a_run_id, every, failed, some_runs, succeeded, to_retry
from foliot.testing.conformance.storage.scene import Another, Contract, Scene
from foliot.testing.conformance.storage.tree_builders import (
    ETL,
    a_settlement,
    child_of,
    claim_child,
    final_settlement,
    opened,
    settle,
)

OTHER = JobId("other")
LET = Decision(action=Action.RUN)


async def page_of(scene: Scene, run_id: RunId) -> RunDetails:
    found = await scene.storage.queries.run(RunById(run_id))
    assert isinstance(found, RunDetails)
    return found


async def deployed(scene: Scene, *steps: str, workflow_id: str = ETL, **fields: Any) -> WorkflowSpec:
    spec = WorkflowSpec(steps=tuple(Step(name=name, job=REPORT) for name in steps), **fields)
    await scene.storage.definitions.put_workflows({workflow_id: spec}, at=scene.now)
    return spec


def ids(runs: "list[Run] | Matches") -> list[RunId]:
    assert isinstance(runs, list)
    return [run.id for run in runs]


class RunQueryContract(Contract):
    """Queries about runs. Every storage must pass these tests unchanged."""

    async def test_a_run_page_has_its_attempts_and_start_values(self, scene: Scene) -> None:
        start = b'{"start":{"user_id":"ann","idempotency_key":"k"},"retry":{"retries":1,"base":0}}'
        claim = await scene.start(a_run(overrides=start))
        await scene.finish(to_retry(claim))
        [again] = await scene.claim(only=[claim.run_id])
        await scene.finish(succeeded(again))

        page = await page_of(scene, claim.run_id)

        assert page.run == await scene.run(claim.run_id)
        assert [attempt.number for attempt in page.attempts] == [1, 2]
        assert page.start_input == StartInput(user_id="ann", idempotency_key="k")
        assert (page.decision, page.execution, page.logs_kept_from) == (None, None, None)

    async def test_a_run_page_has_the_decision_of_its_gate(self, scene: Scene) -> None:
        [run_id] = await scene.create(a_run(is_gated=True))
        await scene.storage.admission.decide_gates([Decided(run_id, LET)], [], at=scene.now)

        assert (await page_of(scene, run_id)).decision == LET

    async def test_a_run_page_has_awaited_limits_and_their_holders(self, scene: Scene) -> None:
        first, second = [await scene.start(a_run(max_concurrent=2)) for _ in range(2)]
        [waiting] = await scene.create(a_run(max_concurrent=2))

        page = await page_of(scene, waiting)

        limit = AwaitedLimit(f"job:{REPORT}", 2, [second.run_id, first.run_id])
        assert page.blockers.limits == {waiting: [limit]}
        assert (await page_of(scene, first.run_id)).blockers.limits == {}

    async def test_a_run_page_has_the_workers_and_the_job(self, scene: Scene) -> None:
        job, worker = await scene.job(), await scene.worker("north", queues=["default", "mail"])
        [run_id] = await scene.create(a_run())

        blockers = (await page_of(scene, run_id)).blockers

        assert blockers.jobs == {REPORT: job}
        assert [state.worker for state in blockers.workers] == [worker]
        assert blockers.limits == {}

    async def test_the_pages_of_a_step_and_of_its_execution_have_the_execution(self, scene: Scene) -> None:
        spec = await deployed(scene, "extract", "load")
        execution = await opened(scene)
        claim = await claim_child(scene, execution)

        of_step, of_execution = await page_of(scene, claim.run_id), await page_of(scene, execution.run_id)

        assert of_step.execution == of_execution.execution
        found = of_step.execution
        assert found is not None
        assert (found.execution.run_id, found.run) == (execution.run_id, of_execution.run)
        assert [(step.name, step.status) for step in found.steps] == [("extract", Status.RUNNING), ("load", None)]
        assert getattr(found.version, "spec", None) == spec
        assert found.waiting == {}

    async def test_an_execution_page_has_the_waiting_runs_of_steps(self, scene: Scene) -> None:
        execution = await opened(scene)
        part = await child_of(scene, execution)

        found = (await page_of(scene, execution.run_id)).execution

        assert found is not None
        assert found.waiting == {part: await scene.run(part)}
        assert found.version is None

    async def test_a_run_page_is_one_snapshot_during_concurrent_writes(self, scene: Scene, another: Another) -> None:
        run_ids = await scene.create(*some_runs(20))
        writer = Scene(await another(), scene.clock)

        async def finish_all() -> None:
            for claim in await writer.claim(only=run_ids):
                await writer.finish(failed(claim))

        writing = asyncio.create_task(finish_all())
        while not writing.done():
            for run_id in run_ids:
                page = await page_of(scene, run_id)
                assert (page.run.status is Status.FAILED) == (len(page.attempts) == 1)
        await writing

    async def test_an_execution_and_its_steps_are_one_snapshot(self, scene: Scene, another: Another) -> None:
        names = tuple(f"step{number}" for number in range(20))
        execution = await opened(scene, steps=names)
        writer = Scene(await another(), scene.clock)

        async def resolve_all() -> None:
            known = execution
            for name in names[:-1]:
                changed = {name: StepState(0, result=Result.SUCCESS)}
                assert await settle(writer, a_settlement(known, changed=changed))
                known = known._replace(state=known.state + 1, open=known.open - 1)

        writing = asyncio.create_task(resolve_all())
        while not writing.done():
            found = (await page_of(scene, execution.run_id)).execution
            assert found is not None
            assert found.execution.unresolved == sum(step.state.result is None for step in found.steps)
        await writing

    async def test_a_run_is_found_by_id_by_part_of_its_id_and_as_the_newest(self, scene: Scene) -> None:
        first, last = await scene.create(a_run(job_id=OTHER), a_run())
        queries = scene.storage.queries

        assert await queries.find_run(RunById(first)) == (await scene.run(first), StartInput(), None)
        assert await queries.find_run(RunByPart(first[-8:])) == (await scene.run(first), StartInput(), None)
        assert await queries.find_run(RunByPart(last[:-1])) in (
            (await scene.run(last), StartInput(), None),
            Matches((last, first)),
        )
        assert await queries.find_run(NewestRun(None)) == (await scene.run(last), StartInput(), None)
        assert await queries.find_run(NewestRun(OTHER)) == (await scene.run(first), StartInput(), None)

    async def test_a_run_whose_id_ends_in_the_last_letter_is_found_by_its_beginning(self, scene: Scene) -> None:
        run_id = RunId(a_run_id()[:-2] + "ZZ")
        await scene.create(a_run(id=run_id))

        found = await scene.storage.queries.find_run(RunByPart(run_id[:-1]))

        assert found == (await scene.run(run_id), StartInput(), None)

    async def test_a_reference_to_no_run_or_several_returns_the_matches(self, scene: Scene) -> None:
        queries = scene.storage.queries
        absent = RunById(a_run_id())
        assert await queries.run(absent) == await queries.find_run(absent) == Matches(())
        assert await queries.run(NewestRun(None)) == Matches(())

        runs = await scene.create(*some_runs(2))

        shared = RunByPart(runs[0][:10])
        assert await queries.run(shared) == await queries.find_run(shared) == Matches(tuple(runs[::-1]))

    async def test_runs_are_listed_newest_first_with_every_filter(self, scene: Scene) -> None:
        execution = await opened(scene)
        part = await child_of(scene, execution)
        plain = await scene.create(*some_runs(2))
        queries = scene.storage.queries

        assert ids(await queries.runs(RunFilter())) == [*plain[::-1], part, execution.run_id]
        assert ids(await queries.runs(RunFilter(job_id=REPORT, limit=1))) == [plain[1]]
        assert ids(await queries.runs(RunFilter(status=Status.RUNNING))) == [execution.run_id]
        assert ids(await queries.runs(RunFilter(), root=RunById(execution.run_id))) == [part]
        assert await queries.runs(RunFilter(), root=RunById(a_run_id())) == Matches(())


class DefinitionQueryContract(Contract):
    """Queries about jobs, schedules, workflows and the overview. Every storage must pass these tests unchanged."""

    async def test_a_job_page_has_schedules_latest_runs_and_dependencies(self, scene: Scene) -> None:
        job = await scene.job(gate=Gate(depends_on=(OTHER,)))
        schedule = await scene.schedule(every(60))
        runs = await scene.create(*some_runs(7))
        [needed] = await scene.create(a_run(job_id=OTHER))

        page = await scene.storage.queries.job(REPORT)

        assert page is not None
        assert (page.job, page.schedules) == (job, [schedule])
        assert [run.id for run in page.runs] == runs[:1:-1]
        assert page.latest == {OTHER: await scene.run(needed)}
        assert await scene.storage.queries.job(OTHER) is None

    async def test_jobs_are_listed_by_id_with_their_latest_runs_and_schedules(self, scene: Scene) -> None:
        for name in ("c", "a", "b"):
            await scene.job(name)
        await scene.create(a_run(job_id=JobId("a")))
        [latest] = await scene.create(a_run(job_id=JobId("a")))
        schedule = await scene.schedule(every(60, job_id=JobId("a")))

        first, *others = await scene.storage.queries.jobs(limit=2)
        rest = await scene.storage.queries.jobs(after=JobId("b"), limit=2)

        assert (first.latest, first.schedules) == (await scene.run(latest), [schedule])
        assert [getattr(one.job, "id", None) for one in (first, *others, *rest)] == ["a", "b", "c"]
        assert [(one.latest, [*one.schedules]) for one in (*others, *rest)] == [(None, [])] * 2

    async def test_a_schedule_page_has_its_latest_ticks_and_their_runs(self, scene: Scene) -> None:
        await scene.schedule(every(60, overlap=Overlap.ALLOW))
        [first] = await scene.fire_after(MINUTE)
        [second] = await scene.fire_after(MINUTE)

        page = await scene.storage.queries.schedule(NIGHTLY)

        assert page is not None
        assert page.schedule == await scene.stored()
        assert page.revisions == [page.schedule.revision]
        assert [tick.record.run_id for tick in page.ticks] == [second, first]
        assert page.runs.keys() == {first, second}
        assert await scene.storage.queries.schedule(ScheduleId("no")) is None

    async def test_schedules_are_listed_by_id_and_can_be_limited_to_a_job(self, scene: Scene) -> None:
        for name, job_id in (("c", REPORT), ("a", OTHER), ("b", REPORT)):
            await scene.schedule(every(60, job_id=job_id), schedule_id=name)
        queries = scene.storage.queries

        assert [one.id for one in (await queries.schedules(limit=2)).schedules] == ["a", "b"]
        assert [one.id for one in (await queries.schedules(after=ScheduleId("b"))).schedules] == ["c"]
        assert [one.id for one in (await queries.schedules(job_id=REPORT)).schedules] == ["b", "c"]
        assert [one.id for one in (await queries.schedules(job_id=REPORT, after=ScheduleId("b"))).schedules] == ["c"]

    async def test_a_name_finds_a_job_a_schedule_or_a_run(self, scene: Scene) -> None:
        await scene.schedule(every(60))
        [run_id] = await scene.create(a_run())
        queries = scene.storage.queries

        assert isinstance(await queries.named(REPORT), JobDetails)
        assert isinstance(await queries.named(NIGHTLY), ScheduleDetails)
        assert isinstance(await queries.named(run_id.lower()), RunDetails)
        assert isinstance(await queries.named(f"{REPORT}@last"), RunDetails)
        assert await queries.named("nothing") == await queries.named("a\0b") == Matches(())

    async def test_a_workflow_page_has_its_newest_version_and_execution(self, scene: Scene) -> None:
        await deployed(scene, "extract", "load")
        first, second = await opened(scene), await opened(scene)
        await scene.storage.definitions.pause_step(ETL, "load", paused=True)

        page = await self.workflow(scene)
        asked = await self.workflow(scene, execution=RunById(first.run_id))

        assert page.version == page.newest
        assert (page.newest.version, page.paused, page.asked) == (1, {"load"}, None)
        assert page.latest == await scene.run(second.run_id)
        assert (self.shown(page), self.shown(asked)) == (second.run_id, first.run_id)
        assert asked.asked == await scene.run(first.run_id)
        assert await scene.storage.queries.workflow("no") is None

    async def test_a_workflow_page_has_the_requested_version(self, scene: Scene) -> None:
        await deployed(scene, "extract", "load")
        execution = await opened(scene)
        await deployed(scene, "extract")

        page = await self.workflow(scene, version=1)
        gone = await self.workflow(scene, version=3)
        asked = await self.workflow(scene, execution=RunById(execution.run_id))

        assert [one.newest.version for one in (page, gone, asked)] == [2, 2, 2]
        assert [getattr(one.version, "version", None) for one in (page, gone, asked)] == [1, None, 1]

    async def test_a_workflow_page_has_no_execution_for_a_run_that_is_not_one(self, scene: Scene) -> None:
        await deployed(scene, "extract", "load")
        execution = await opened(scene)
        part = await child_of(scene, execution)
        [plain] = await scene.create(a_run())

        for run_id in (part, plain):
            page = await self.workflow(scene, execution=RunById(run_id))
            assert (page.asked, page.execution) == (await scene.run(run_id), None)
        assert (await self.workflow(scene, execution=RunById(a_run_id()))).asked == Matches(())

    async def test_workflows_are_listed_by_id_with_their_latest_runs_and_schedules(self, scene: Scene) -> None:
        for name in ("b", "a"):
            await deployed(scene, "extract", workflow_id=name)
        await deployed(scene, "load", workflow_id="a")
        [latest] = await scene.create(a_run(job_id=JobId("a")))
        schedule = await scene.schedule(every(60, job_id=None, workflow_id="a"))

        first, second = await scene.storage.queries.workflows()

        assert getattr(first.version, "version", None) == 2
        assert (first.latest, first.schedules) == (await scene.run(latest), [schedule])
        assert (second.latest, [*second.schedules]) == (None, [])
        assert await scene.storage.queries.workflows(after="a", limit=1) == [second]

    async def test_open_executions_are_listed_oldest_first(self, scene: Scene) -> None:
        first, second, third = [await opened(scene) for _ in range(3)]
        other = await opened(scene, a_run(job_id=OTHER))
        await settle(scene, final_settlement(second))
        queries = scene.storage.queries

        def shown(executions: "list[ExecutionDetails] | Any") -> list[RunId]:
            return [one.execution.run_id for one in executions]

        page = await queries.executions()
        assert shown(page.executions) == [first.run_id, third.run_id, other.run_id]
        assert shown((await queries.executions(workflow_id=ETL)).executions) == [first.run_id, third.run_id]
        assert shown((await queries.executions(after=first.run_id, limit=1)).executions) == [third.run_id]
        assert shown((await queries.execution(second.run_id)).executions) == [second.run_id]
        assert (await queries.execution(a_run_id())).executions == []

    async def workflow(self, scene: Scene, **asked: Any) -> WorkflowDetails:
        page = await scene.storage.queries.workflow(ETL, **asked)
        assert page is not None
        return page

    def shown(self, page: WorkflowDetails) -> RunId | None:
        return None if page.execution is None else page.execution.execution.run_id
