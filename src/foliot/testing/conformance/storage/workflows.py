"""The promises of a storage about versions of workflows."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from foliot.domain.events import EventKind
from foliot.domain.gate.spec import Gate
from foliot.domain.ids import JobId, ScheduleId, ScheduleUid
from foliot.domain.instant import MINUTE
from foliot.domain.run.run import Status
from foliot.domain.workflow.jobs import jobs_of
from foliot.domain.workflow.spec import ON_SUCCESS, Edge, Step, WorkflowSpec
from foliot.errors import ChangedMeanwhile
from foliot.ports.definitions import Deployment, NewSchedule, WorkflowVersion
from foliot.ports.storage import Storage
from foliot.testing.builders import REPORT, a_job_spec, a_run, a_schedule, cron, succeeded
from foliot.testing.conformance.storage.scene import Contract, Scene
from foliot.testing.conformance.storage.tree_builders import child_of, final_settlement, opened, settle, shown

ETL, EXTRACT = JobId("etl"), JobId("etl.extract")
NIGHTLY = cron("0 3 * * *", job_id=None, workflow_id="etl")


def a_workflow(*names: str, **fields: Any) -> WorkflowSpec:
    """Build a workflow with sequential steps."""
    parents = (None, *names)
    steps = tuple(
        Step(name=name, definition=a_job_spec(), after=() if parent is None else (Edge(parent=parent),))
        for name, parent in zip(names, parents, strict=False)
    )
    return WorkflowSpec(steps=steps, **fields)


async def put(scene: Scene, spec: WorkflowSpec, workflow_id: str = "etl") -> WorkflowVersion:
    versions = await scene.storage.definitions.put_workflows({workflow_id: spec}, at=scene.now)
    return versions[workflow_id]


async def deploy(
    scene: Scene, spec: WorkflowSpec, *schedules: NewSchedule, gone: Sequence[ScheduleId] = ()
) -> dict[str, WorkflowVersion]:
    return await scene.storage.definitions.deploy(Deployment({"etl": spec}, schedules, gone), at=scene.now)


class WorkflowContract(Contract):
    """Every storage must pass these tests unchanged."""

    @pytest.mark.proves("D7")
    async def test_versions_are_counted_from_one_and_never_change(self, scene: Scene) -> None:
        first = await put(scene, a_workflow("extract"))
        scene.clock.advance(MINUTE)
        second = await put(scene, a_workflow("extract", "load"))

        assert first == ("etl", 1, a_workflow("extract"), scene.after(-MINUTE))
        assert second == ("etl", 2, a_workflow("extract", "load"), scene.now)
        found = await scene.storage.definitions.get_workflows([("etl", 1), ("etl", 2)])
        assert found == {("etl", 1): first, ("etl", 2): second}

    async def test_putting_an_equal_workflow_keeps_its_version(self, scene: Scene) -> None:
        spec = a_workflow("extract", params={"days": (1, 2)})
        first = await put(scene, spec)
        scene.clock.advance(MINUTE)

        assert await put(scene, spec) == first
        assert await scene.items(EventKind.WORKFLOW_CHANGED) == [["etl", 1]]

    async def test_putting_an_earlier_version_again_adds_a_new_version(self, scene: Scene) -> None:
        await put(scene, a_workflow("extract"))
        await put(scene, a_workflow("load"))

        assert (await put(scene, a_workflow("extract"))).version == 3
        assert await scene.items(EventKind.WORKFLOW_CHANGED) == [["etl", 1], ["etl", 2], ["etl", 3]]

    async def test_reading_a_workflow_without_a_version_returns_the_newest(self, scene: Scene) -> None:
        await put(scene, a_workflow("extract"))
        newest = await put(scene, a_workflow("load"))

        assert await scene.storage.definitions.get_workflows([("etl", None)]) == {("etl", None): newest}

    async def test_missing_workflows_and_versions_are_not_returned(self, scene: Scene) -> None:
        await put(scene, a_workflow("extract"))

        assert await scene.storage.definitions.get_workflows([("etl", 2), ("elt", 1), ("elt", None)]) == {}
        assert await scene.storage.definitions.get_workflows([]) == {}

    async def test_the_newest_version_of_each_workflow_is_listed_page_by_page(self, scene: Scene) -> None:
        for name in ("c", "a", "b"):
            await put(scene, a_workflow("extract"), name)
        await put(scene, a_workflow("load"), "a")

        page = await scene.storage.definitions.page_workflows(limit=2)
        rest = await scene.storage.definitions.page_workflows(after="b", limit=2)

        assert [(found.workflow_id, found.version) for found in (*page, *rest)] == [("a", 2), ("b", 1), ("c", 1)]

    async def test_steps_are_paused_and_resumed_independently(self, scene: Scene) -> None:
        for step in ("extract", "load", "load"):
            await scene.storage.definitions.pause_step("etl", step, paused=True)
        await scene.storage.definitions.pause_step("other", "check", paused=True)
        assert await scene.storage.definitions.paused_steps("etl") == {"extract", "load"}

        await scene.storage.definitions.pause_step("etl", "load", paused=False)

        assert await scene.storage.definitions.paused_steps("etl") == {"extract"}
        assert await scene.storage.definitions.paused_steps("other") == {"check"}

    @pytest.mark.proves("R4-32")
    async def test_a_workflow_is_deployed_with_its_jobs_and_schedules(self, scene: Scene) -> None:
        versions = await deploy(scene, a_workflow("extract"), a_schedule(NIGHTLY, schedule_id="etl:nightly"))

        assert versions["etl"] == ("etl", 1, a_workflow("extract"), scene.now)
        jobs = await scene.storage.definitions.get_jobs([ETL, EXTRACT])
        assert {name: job.spec for name, job in jobs.items()} == jobs_of("etl", 1, a_workflow("extract"))
        [schedule] = await scene.storage.definitions.page_schedules(job_id=ETL)
        assert (schedule.id, schedule.revision.spec.workflow_id) == ("etl:nightly", "etl")
        assert schedule.next_run_at is not None

    async def test_deploying_again_changes_only_what_differs(self, scene: Scene) -> None:
        kept, gone = (a_schedule(NIGHTLY, schedule_id=f"etl:{name}") for name in ("kept", "gone"))
        await deploy(scene, a_workflow("extract"), kept, gone)
        before = await scene.storage.definitions.get_jobs([EXTRACT])
        scene.clock.advance(MINUTE)
        more = a_workflow("extract", "load")

        versions = await deploy(scene, more, kept, gone=[gone.id, ScheduleId("nothing")])

        assert versions["etl"].version == 2
        assert await scene.storage.definitions.get_jobs([EXTRACT]) == before
        assert [one.id for one in await scene.storage.definitions.page_schedules(job_id=ETL)] == ["etl:kept"]
        assert await deploy(scene, more, kept) == versions

    async def test_jobs_workflows_and_schedules_are_stored_together(self, scene: Scene) -> None:
        daily = a_schedule(cron("0 4 * * *"), schedule_id="report:daily")
        both = Deployment({"etl": a_workflow("extract")}, [daily], jobs={REPORT: a_job_spec()})

        await scene.storage.definitions.deploy(both, at=scene.now)

        jobs = await scene.storage.definitions.get_jobs([REPORT, ETL, EXTRACT])
        assert jobs.keys() == {REPORT, ETL, EXTRACT}
        assert (await scene.storage.definitions.get_schedules([daily.id])).keys() == {daily.id}

    async def test_a_deployment_for_another_revision_stores_nothing(self, scene: Scene) -> None:
        definitions = scene.storage.definitions
        await definitions.deploy(Deployment({"etl": a_workflow("extract")}, jobs={REPORT: a_job_spec()}), at=scene.now)
        changed = Deployment({"etl": a_workflow("load")}, jobs={REPORT: a_job_spec(description="new")})

        for refused in ({"revisions": {REPORT: 7}}, {"versions": {"etl": 0}}):
            with pytest.raises(ChangedMeanwhile):
                await definitions.deploy(changed._replace(**refused), at=scene.now)

        assert (await definitions.get_jobs([REPORT]))[REPORT].revision == 1
        assert (await definitions.get_workflows([("etl", None)]))["etl", None].version == 1
        assert await definitions.deploy(changed._replace(revisions={REPORT: 1}, versions={"etl": 1}), at=scene.now)

    async def test_a_deployment_can_pause_what_it_creates_and_nothing_else(self, scene: Scene) -> None:
        definitions = scene.storage.definitions
        known, new = a_schedule(NIGHTLY, schedule_id="etl:nightly"), a_schedule(schedule_id="report:daily")
        await definitions.deploy(Deployment({"etl": a_workflow("extract")}, [known]), at=scene.now)
        again = NewSchedule(ScheduleUid("other"), known.id, known.spec)
        more = Deployment({"etl": a_workflow("load")}, [again, new], jobs={REPORT: a_job_spec()}, pauses_new=True)

        await definitions.deploy(more, at=scene.now)

        found = await definitions.get_schedules([known.id, new.id])
        assert {name: one.paused_at for name, one in found.items()} == {known.id: None, new.id: scene.now}
        assert (await definitions.get_jobs([REPORT]))[REPORT].paused_at == scene.now

    async def test_deploying_keeps_the_workflow_that_a_job_leads(self, scene: Scene) -> None:
        await deploy(scene, a_workflow("extract"))
        await scene.job()
        await scene.storage.definitions.add_dependency(REPORT, EXTRACT, ON_SUCCESS, at=scene.now)

        await deploy(scene, replace(a_workflow("extract", "load"), description="changed"))

        [step] = (await scene.storage.definitions.get_jobs([EXTRACT])).values()
        assert step.leads == "after:etl.extract"

    async def test_gates_of_steps_read_ends_from_before_their_deployment(self, scene: Scene) -> None:
        await scene.job()
        await scene.finish(succeeded(await scene.start()))
        gated = replace(a_job_spec(), gate=Gate(depends_on=(REPORT,)))

        await deploy(scene, WorkflowSpec(steps=(Step(name="extract", definition=gated),)))

        dependency_states = await scene.storage.admission.dependency_states(
            [REPORT], after=scene.after(-MINUTE), until=scene.now
        )
        assert dependency_states[REPORT].end is not None

    @pytest.mark.proves("R4-27")
    async def test_deleting_a_workflow_deletes_its_jobs_and_schedules(self, scene: Scene) -> None:
        await deploy(scene, a_workflow("extract"))
        await deploy(scene, a_workflow("load"), *(a_schedule(NIGHTLY, schedule_id=name) for name in ("etl:a", "mine")))
        for name in ("before", "other"):
            await put(scene, a_workflow("extract"), name)
        await scene.job()

        assert await scene.storage.definitions.delete_workflows(["etl", "nothing"], at=scene.now) == ["etl"]

        assert await scene.storage.definitions.get_workflows([("etl", None)]) == {}
        page, rest = (
            await scene.storage.definitions.page_workflows(limit=2),
            await scene.storage.definitions.page_workflows(after="c", limit=1),
        )
        assert [[one.workflow_id for one in found] for found in (page, rest)] == [["before", "other"], ["other"]]
        assert [job.id for job in await scene.storage.definitions.page_jobs()] == [REPORT]
        assert await scene.storage.definitions.page_schedules() == []
        assert await scene.items(EventKind.WORKFLOW_DELETED) == [["etl", 2]]
        assert await scene.storage.definitions.delete_workflows(["etl"], at=scene.now) == []

    async def test_versions_of_a_deleted_workflow_are_kept_and_numbering_continues(self, scene: Scene) -> None:
        first = await put(scene, a_workflow("extract"))
        await scene.storage.definitions.delete_workflows(["etl"], at=scene.now)

        again = await put(scene, a_workflow("extract"))

        assert (again.version, again.spec) == (2, first.spec)
        assert await scene.storage.definitions.get_workflows([("etl", 1), ("etl", None)]) == {
            ("etl", 1): first,
            ("etl", None): again,
        }
        assert [one.version for one in await scene.storage.definitions.page_workflows()] == [2]

    async def test_deleting_a_workflow_keeps_an_unrelated_job_with_a_similar_name(self, scene: Scene) -> None:
        await put(scene, a_workflow("extract"))
        await scene.storage.definitions.put_jobs([(EXTRACT, a_job_spec())], at=scene.now)

        await scene.storage.definitions.delete_workflows(["etl"], at=scene.now)

        assert [job.id for job in await scene.storage.definitions.page_jobs()] == [EXTRACT]

    @pytest.mark.proves("D7")
    async def test_deleting_a_workflow_keeps_open_executions_and_cancels_waiting_ones(self, scene: Scene) -> None:
        await deploy(scene, a_workflow("extract"))
        execution = await opened(scene)
        [waiting] = await scene.create(a_run(job_id=ETL))
        part = await child_of(scene, execution)

        await scene.storage.definitions.delete_workflows(["etl"], at=scene.now)

        assert await scene.statuses(execution.run_id, part, waiting) == [
            Status.RUNNING,
            Status.QUEUED,
            Status.CANCELLED,
        ]
        assert (await shown(scene, execution.run_id)).revision is None

    async def test_deleting_a_workflow_releases_the_places_of_waiting_executions(self, scene: Scene) -> None:
        await deploy(scene, a_workflow("extract"))
        await scene.job()
        first, second = await scene.create(*(a_run(job_id=name, concurrency_key="one") for name in (ETL, REPORT)))
        assert await scene.ready() == [first]

        await scene.storage.definitions.delete_workflows(["etl"], at=scene.now)

        assert (await scene.status(first), await scene.ready()) == (Status.CANCELLED, [second])

    @pytest.mark.proves("D7")
    async def test_a_workflow_renamed_to_the_id_of_a_deleted_one_is_separate_from_it(self, scene: Scene) -> None:
        [former] = (await deploy(scene, a_workflow("extract"))).values()
        execution = await opened(scene)
        await scene.storage.definitions.pause_step("etl", "extract", paused=True)
        await scene.storage.definitions.delete_workflows(["etl"], at=scene.now)
        await scene.storage.definitions.deploy(Deployment({"elt": a_workflow("extract", "load")}), at=scene.now)
        await settle(scene, final_settlement(execution))

        await scene.storage.definitions.rename_jobs({JobId("elt"): ETL}, at=scene.now)

        found = await shown(scene, execution.run_id)
        versions = await scene.storage.definitions.get_workflows(
            [("etl", 1), (found.workflow_id, 1), (found.workflow_id, None)]
        )
        assert versions == {
            ("etl", 1): ("etl", 1, a_workflow("extract", "load"), scene.now),
            (found.workflow_id, 1): former._replace(workflow_id=found.workflow_id),
        }
        assert found.workflow_id.startswith("etl~")
        assert found.revision is None
        assert await scene.storage.definitions.paused_steps("etl") == set()
        assert await scene.storage.definitions.paused_steps(found.workflow_id) == {"extract"}

    async def test_the_id_of_a_deleted_workflow_can_be_reused_repeatedly(self, scene: Scene) -> None:
        for number in range(3):
            other = JobId(f"other{number}")
            spec = a_workflow(f"step{number}")
            await scene.storage.definitions.deploy(Deployment({other: spec}), at=scene.now)

            assert await scene.storage.definitions.rename_jobs({other: ETL}, at=scene.now) == {other: ETL}

            assert [one.spec for one in await scene.storage.definitions.page_workflows()] == [spec]
            await scene.storage.definitions.delete_workflows(["etl"], at=scene.now)

    async def test_a_job_with_the_id_of_a_deleted_workflow_is_independent_of_it(self, scene: Scene) -> None:
        await deploy(scene, a_workflow("extract"))
        execution = await opened(scene)
        await scene.storage.definitions.delete_workflows(["etl"], at=scene.now)
        await scene.job()
        await settle(scene, final_settlement(execution))

        await scene.storage.definitions.rename_jobs({REPORT: ETL}, at=scene.now)

        assert (await shown(scene, execution.run_id)).workflow_id == "etl"
        assert list(await scene.storage.definitions.get_workflows([("etl", 1)])) == [("etl", 1)]

    async def test_concurrent_puts_of_a_workflow_get_different_versions(
        self, scene: Scene, another: Callable[[], Awaitable[Storage]]
    ) -> None:
        scenes = [scene, Scene(await another(), scene.clock), Scene(await another(), scene.clock)]
        specs = [a_workflow(name) for name in ("a", "b", "c")]

        versions = await asyncio.gather(*(put(one, spec) for one, spec in zip(scenes, specs, strict=True)))
        again = await asyncio.gather(*(put(one, versions[0].spec, "same") for one in scenes))

        assert sorted(version.version for version in versions) == [1, 2, 3]
        assert {version.version for version in again} == {1}

    async def test_versions_are_listed_newest_first_in_pages(self, scene: Scene) -> None:
        versions = [await put(scene, a_workflow(*"abcd"[:number])) for number in range(1, 5)]
        await put(scene, a_workflow("x"), "other")

        async def listed(*given: Any, **more: Any) -> list[Any]:
            return [*(await scene.storage.queries.workflow_versions(*given, **more)).values()]

        assert await listed("etl") == versions[::-1]
        assert await listed("etl", limit=2) == [versions[3], versions[2]]
        assert await listed("etl", before=3, limit=2) == [versions[1], versions[0]]
        assert await listed("etl", before=10**30) == versions[::-1]
        assert await listed("missing") == []
        assert [*(await scene.storage.queries.workflow_versions("etl"))] == [4, 3, 2, 1]
