"""Dependencies between jobs: what a storage promises about edges and the workflows made of them."""

import asyncio

import pytest

from foliot.domain.events import EventKind
from foliot.domain.ids import JobId
from foliot.domain.workflow.conditions import Condition
from foliot.domain.workflow.spec import ON_SUCCESS, Edge, WorkflowSpec
from foliot.errors import CycleDetected, InvalidJob, NotFound
from foliot.ports.storage import Storage
from foliot.testing.builders import a_job_spec, every, manual
from foliot.testing.conformance.storage.scene import Another, Contract, Scene

A, B, C, D = map(JobId, "abcd")
ON_FAILURE = frozenset({Condition.FAILURE})


async def depend(scene: Scene, child: JobId, *parents: JobId) -> None:
    for parent in parents:
        await scene.storage.definitions.add_dependency(child, parent, ON_SUCCESS, at=scene.now)


async def parents(scene: Scene) -> dict[JobId, list[str]]:
    edges = await scene.storage.definitions.dependencies()
    return {child: [edge.parent for edge in waits] for child, waits in edges.items()}


async def leads(scene: Scene) -> dict[JobId, str]:
    jobs = await scene.storage.definitions.get_jobs([A, B, C, D])
    return {job_id: job.leads for job_id, job in sorted(jobs.items()) if job.leads}


async def unit(scene: Scene, workflow_id: str) -> WorkflowSpec:
    return (await scene.storage.definitions.get_workflows([(workflow_id, None)]))[workflow_id, None].spec


async def steps(scene: Scene, workflow_id: str) -> list[str]:
    return [step.name for step in (await unit(scene, workflow_id)).steps]


class DependencyContract(Contract):
    """Every storage passes these, unchanged."""

    @pytest.fixture(autouse=True)
    async def jobs(self, scene: Scene) -> None:
        for name in (A, B, C, D):
            await scene.job(name)

    # -- edges

    async def test_conditions_on_one_parent_are_joined(self, scene: Scene) -> None:
        for when in (ON_FAILURE, ON_SUCCESS, ON_SUCCESS):
            await scene.storage.definitions.add_dependency(B, A, when, at=scene.now)

        assert await scene.storage.definitions.dependencies() == {B: (Edge(parent=A, when=ON_SUCCESS | ON_FAILURE),)}

    async def test_adding_an_edge_twice_changes_nothing(self, scene: Scene) -> None:
        await depend(scene, B, A)
        changed = await scene.items(EventKind.WORKFLOW_CHANGED)

        await depend(scene, B, A)

        assert await scene.items(EventKind.WORKFLOW_CHANGED) == changed == [["after:a", 1]]

    @pytest.mark.parametrize(("child", "parent"), [(A, A), (A, B), (A, C)], ids=["self", "direct", "indirect"])
    async def test_an_edge_that_closes_a_cycle_is_refused(self, scene: Scene, child: JobId, parent: JobId) -> None:
        await depend(scene, B, A)
        await depend(scene, C, B)

        with pytest.raises(CycleDetected):
            await depend(scene, child, parent)

        assert await parents(scene) == {B: [A], C: [B]}

    @pytest.mark.parametrize("edge", [(A, JobId("missing")), (JobId("missing"), A)])
    async def test_a_job_that_does_not_exist_is_refused(self, scene: Scene, edge: tuple[JobId, JobId]) -> None:
        with pytest.raises(NotFound, match="missing"):
            await depend(scene, *edge)

        assert await parents(scene) == {}

    async def test_removing_an_edge_keeps_the_others(self, scene: Scene) -> None:
        await depend(scene, C, A, B)

        for _ in range(2):
            await scene.storage.definitions.remove_dependency(C, B, at=scene.now)

        assert await parents(scene) == {C: [A]}

    async def test_a_deleted_job_takes_its_edges_along(self, scene: Scene) -> None:
        await depend(scene, B, A)
        await depend(scene, C, B)
        await depend(scene, D, A)

        await scene.storage.definitions.delete_jobs([B], at=scene.now)

        assert await parents(scene) == {D: [A]}
        assert (await leads(scene), await steps(scene, "after:a")) == ({A: "after:a"}, [A, D])

    async def test_a_job_that_is_created_again_has_no_edges(self, scene: Scene) -> None:
        await depend(scene, B, A)
        await scene.storage.definitions.delete_jobs([A], at=scene.now)

        await scene.job(A)

        assert (await parents(scene), await leads(scene)) == ({}, {})

    async def test_edges_added_at_the_same_time_are_all_stored(self, scene: Scene, another: Another) -> None:
        storages = [scene.storage, await another()]
        names = [JobId(f"child-{number}") for number in range(12)]
        await scene.storage.definitions.put_jobs([(name, a_job_spec()) for name in names], at=scene.now)

        async def add(storage: Storage, name: JobId) -> None:
            await storage.definitions.add_dependency(name, A, ON_SUCCESS, at=scene.now)

        await asyncio.gather(*(add(storages[number % 2], name) for number, name in enumerate(names)))

        assert await parents(scene) == {name: [A] for name in names}
        assert await steps(scene, "after:a") == sorted([A, *names])

    async def test_of_two_edges_that_close_a_cycle_one_is_added(self, scene: Scene, another: Another) -> None:
        two = await another()
        adding = (
            scene.storage.definitions.add_dependency(A, B, ON_SUCCESS, at=scene.now),
            two.definitions.add_dependency(B, A, ON_SUCCESS, at=scene.now),
        )

        results = await asyncio.gather(*adding, return_exceptions=True)

        assert [type(result) for result in results if result is not None] == [CycleDetected]
        assert len(await parents(scene)) == 1

    # -- units

    async def test_the_root_leads_a_workflow_of_all_that_follows(self, scene: Scene) -> None:
        await depend(scene, B, A)
        await depend(scene, C, B)

        assert (await leads(scene), await steps(scene, "after:a")) == ({A: "after:a"}, [A, B, C])
        assert (await unit(scene, "after:a")).source == "foliot"

    async def test_roots_with_a_common_child_lead_one_workflow(self, scene: Scene) -> None:
        await depend(scene, C, A)
        await depend(scene, D, B)
        assert await leads(scene) == {A: "after:a", B: "after:b"}

        await depend(scene, D, C)

        assert await leads(scene) == {A: "after:a", B: "after:a"}
        assert await steps(scene, "after:a") == [A, B, C, D]

    async def test_a_unit_that_is_divided_leaves_two(self, scene: Scene) -> None:
        await depend(scene, C, A, B)
        await depend(scene, D, B)

        await scene.storage.definitions.remove_dependency(C, B, at=scene.now)

        assert await leads(scene) == {A: "after:a", B: "after:b"}
        assert (await steps(scene, "after:a"), await steps(scene, "after:b")) == ([A, C], [B, D])

    async def test_a_job_without_edges_leads_nothing(self, scene: Scene) -> None:
        await depend(scene, B, A)

        await scene.storage.definitions.remove_dependency(B, A, at=scene.now)

        assert await leads(scene) == {}

    async def test_putting_the_job_again_keeps_what_it_leads(self, scene: Scene) -> None:
        await depend(scene, B, A)

        job = await scene.job(A, priority=7)

        assert (job.leads, await leads(scene)) == ("after:a", {A: "after:a"})

    async def test_a_due_schedule_of_the_root_names_the_workflow(self, scene: Scene) -> None:
        await depend(scene, B, A)
        await scene.schedule(every(60, job_id=A))

        scene.clock.advance(60_000)
        due = await scene.storage.ledger.due(10, at=scene.now)

        assert {job.id: job.leads for job in due.jobs.values()} == {A: "after:a"}

    # -- roots with schedules

    async def test_roots_with_schedules_of_their_own_are_not_joined(self, scene: Scene) -> None:
        for root in (A, B):
            await scene.schedule(every(60, job_id=root), schedule_id=f"{root}:minutely")
        await depend(scene, D, A)

        with pytest.raises(InvalidJob, match='schedules of their own: "a", "b"'):
            await depend(scene, D, B)

        assert (await parents(scene), await leads(scene)) == ({D: [A]}, {A: "after:a"})

    async def test_a_paused_schedule_counts(self, scene: Scene) -> None:
        for root in (A, B):
            schedule = await scene.schedule(every(60, job_id=root), schedule_id=f"{root}:minutely")
            await scene.storage.definitions.pause_schedules([schedule.id], paused=True, at=scene.now)
        await depend(scene, D, A)

        with pytest.raises(InvalidJob):
            await depend(scene, D, B)

    async def test_a_schedule_that_never_fires_does_not_count(self, scene: Scene) -> None:
        await scene.schedule(every(60, job_id=A), schedule_id="a:minutely")
        await scene.schedule(manual(job_id=B), schedule_id="b:manual")
        gone = await scene.schedule(every(60, job_id=B), schedule_id="b:gone")
        await scene.storage.definitions.delete_schedules([gone.id], at=scene.now)

        await depend(scene, D, A, B)

        assert await parents(scene) == {D: [A, B]}

    async def test_a_schedule_of_a_job_that_waits_does_not_count(self, scene: Scene) -> None:
        for name in (A, D):
            await scene.schedule(every(60, job_id=name), schedule_id=f"{name}:minutely")

        await depend(scene, D, A, B)

        assert await leads(scene) == {A: "after:a", B: "after:a"}

    async def test_an_edge_that_exists_may_be_added_after_a_second_root_got_a_schedule(self, scene: Scene) -> None:
        await depend(scene, D, A, B)
        for root in (A, B):
            await scene.schedule(every(60, job_id=root), schedule_id=f"{root}:minutely")

        await depend(scene, D, A, B)

        with pytest.raises(InvalidJob):
            await depend(scene, C, A)
