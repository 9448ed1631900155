"""The promises of a storage about references to a renamed job."""

from typing import Any

from foliot.domain.events import EventKind
from foliot.domain.gate.spec import Gate
from foliot.domain.ids import JobId
from foliot.domain.job.job import Job
from foliot.domain.workflow.jobs import jobs_of
from foliot.domain.workflow.spec import ON_SUCCESS, Edge, Step, WorkflowSpec
from foliot.ports.definitions import Deployment
from foliot.testing.builders import REPORT, a_job_spec, a_run
from foliot.testing.conformance.storage.scene import Contract, Scene
from foliot.testing.conformance.storage.tree_builders import (
    ETL,
    an_opening,
    opened,
    shown,
)

A, B, C, DIGEST, OTHER = map(JobId, ("a", "b", "c", "digest", "report2"))


def looking_at(*jobs: JobId) -> Gate:
    return Gate(depends_on=jobs)


def naming(*jobs: str, **fields: Any) -> WorkflowSpec:
    """Build a workflow with a step for each of these jobs."""
    steps = [Step(name=f"s{number}", job=JobId(job)) for number, job in enumerate(jobs)]
    return WorkflowSpec(steps=tuple(steps), **fields)


async def deploy(scene: Scene, spec: WorkflowSpec, workflow_id: str = ETL) -> int:
    versions = await scene.storage.definitions.deploy(Deployment({workflow_id: spec}, (), ()), at=scene.now)
    return versions[workflow_id].version


async def version(scene: Scene, number: int | None = None, workflow_id: str = ETL) -> WorkflowSpec:
    return (await scene.storage.definitions.get_workflows([(workflow_id, number)]))[workflow_id, number].spec


async def job(scene: Scene, job_id: str = ETL) -> Job:
    return (await scene.storage.definitions.get_jobs([JobId(job_id)]))[JobId(job_id)]


async def rename(scene: Scene, renames: dict[JobId, JobId] | None = None) -> None:
    wanted = renames or {REPORT: DIGEST}
    assert await scene.storage.definitions.rename_jobs(wanted, at=scene.now) == wanted


async def depend(scene: Scene, child: JobId, parent: JobId) -> None:
    await scene.storage.definitions.add_dependency(child, parent, ON_SUCCESS, at=scene.now)


class ReferenceContract(Contract):
    """Every storage must pass these tests unchanged."""

    # -- definitions

    async def test_a_rename_updates_every_version_of_a_workflow(self, scene: Scene) -> None:
        await scene.job()
        for spec in (naming(REPORT), naming(OTHER, REPORT)):
            await deploy(scene, spec)

        await rename(scene)

        assert await version(scene, 1) == naming(DIGEST)
        assert await version(scene, 2) == naming(OTHER, DIGEST)
        assert await deploy(scene, naming(OTHER, DIGEST)) == 2

    async def test_a_rename_updates_gates_of_every_owner(self, scene: Scene) -> None:
        await scene.job()
        before = await scene.job("gated", gate=looking_at(OTHER, REPORT), source="app")

        await rename(scene)

        after = await job(scene, "gated")
        assert after.spec.gate == looking_at(OTHER, DIGEST)
        assert after.revision == before.revision + 1
        assert (await scene.items(EventKind.JOB_CHANGED))[-1] == ["gated", after.revision]

    async def test_a_rename_updates_the_gate_of_a_step(self, scene: Scene) -> None:
        await scene.job()
        step = Step(name="load", definition=a_job_spec(gate=looking_at(REPORT)))
        await deploy(scene, WorkflowSpec(steps=(step,)))

        await rename(scene)

        spec = await version(scene)
        [definition] = [step.definition for step in spec.steps]
        assert definition == a_job_spec(gate=looking_at(DIGEST))
        assert (await job(scene, "etl.load")).spec == jobs_of(ETL, 1, spec)[JobId("etl.load")]

    async def test_a_rename_updates_the_gate_between_two_renamed_jobs(self, scene: Scene) -> None:
        await scene.job("a")
        await scene.job("b", gate=looking_at(A))

        await rename(scene, {A: C, B: REPORT})

        assert (await job(scene, REPORT)).spec == a_job_spec(gate=looking_at(C))

    async def test_a_job_leads_the_same_workflow(self, scene: Scene) -> None:
        for name in (REPORT, A, B):
            await scene.job(name)
        await depend(scene, A, B)
        await depend(scene, A, REPORT)

        await rename(scene, {B: DIGEST, JobId("after:b"): JobId("after:digest")})

        assert [(await job(scene, name)).leads for name in (DIGEST, REPORT, A)] == ["after:digest", "after:digest", ""]
        assert [step.job for step in (await version(scene, None, "after:digest")).steps] == [A, DIGEST, REPORT]

    async def test_dependencies_name_the_new_ids(self, scene: Scene) -> None:
        for name in (REPORT, A, B):
            await scene.job(name)
        await depend(scene, A, REPORT)
        await depend(scene, REPORT, B)

        await rename(scene)

        renamed = {A: (Edge(parent=DIGEST),), DIGEST: (Edge(parent=B),)}
        assert await scene.storage.definitions.dependencies() == renamed

    async def test_chained_renames_update_all_references(self, scene: Scene) -> None:
        await scene.job("a")
        await scene.job("b")
        await scene.job("gated", gate=looking_at(A, B))
        await deploy(scene, naming(A, B, A))

        await rename(scene, {A: B, B: C})

        assert await version(scene) == naming(B, C, B)
        assert (await job(scene, "gated")).spec.gate == looking_at(B, C)

    async def test_a_rename_does_not_change_references_to_other_jobs(self, scene: Scene) -> None:
        """Not even if an id begins with that of the renamed job, or if a text contains it."""
        await scene.job()
        bystanders = [await scene.job("gated", gate=looking_at(OTHER)), await scene.job("told", name=REPORT)]
        await deploy(scene, naming(OTHER, description=REPORT))
        workflow = await job(scene)
        tree = await opened(scene, jobs={OTHER: a_job_spec(name=REPORT)})
        execution = await shown(scene, tree.run_id)

        await rename(scene)

        assert [await job(scene, one.id) for one in bystanders] == bystanders
        assert (await version(scene), await job(scene)) == (naming(OTHER, description=REPORT), workflow)
        assert await shown(scene, execution.run_id) == execution

    async def test_a_rename_that_is_not_possible_changes_no_references(self, scene: Scene) -> None:
        await scene.job()
        await scene.job(DIGEST)
        await deploy(scene, naming(REPORT))
        workflow = await job(scene)

        assert await scene.storage.definitions.rename_jobs({REPORT: DIGEST}, at=scene.now) == {}

        assert (await version(scene), await job(scene)) == (naming(REPORT), workflow)

    # -- revisions

    async def test_a_rename_raises_the_revision_of_jobs_of_workflows(self, scene: Scene) -> None:
        await scene.job()
        await deploy(scene, naming(REPORT))
        before = await job(scene)

        await rename(scene)

        assert (await job(scene)).revision == before.revision + 1

    async def test_a_job_renamed_to_a_former_id_has_an_unused_revision(self, scene: Scene) -> None:
        await scene.job("b", priority=1)
        former = await scene.job("b", priority=2)
        await scene.job("a")

        await rename(scene, {A: B, B: C})
        assert (await job(scene, B)).revision > former.revision

        await rename(scene, {B: A})
        await rename(scene, {C: B})
        assert (await job(scene, B)).revision > former.revision + 1

    async def test_an_execution_of_a_deleted_workflow_has_no_revision(self, scene: Scene) -> None:
        assert (await shown(scene, (await opened(scene)).run_id)).revision is None

    async def test_an_opening_decided_on_another_revision_is_not_saved(self, scene: Scene) -> None:
        await deploy(scene, naming(OTHER))
        claim = await scene.start(a_run(job_id=ETL))
        before = an_opening(claim, revision=(await job(scene)).revision)
        await deploy(scene, naming(OTHER, OTHER))

        assert await scene.storage.trees.open([before], at=scene.now) == [claim.token]
        assert await scene.storage.queries.get_executions([claim.run_id]) == {}
        after = an_opening(claim, revision=(await job(scene)).revision)
        assert await scene.storage.trees.open([after], at=scene.now) == []
        assert await scene.storage.trees.open([after], at=scene.now) == []
