"""The promises of a storage about renames of jobs that are in use."""

import asyncio
from collections.abc import Mapping

import pytest

from foliot.domain.gate.decision import Decided, Decision
from foliot.domain.gate.spec import Action
from foliot.domain.ids import JobId
from foliot.domain.run.lease import Claim
from foliot.domain.workflow.spec import Step, WorkflowSpec
from foliot.errors import JobInUse
from foliot.ports.pages import RunFilter
from foliot.testing.builders import REPORT, a_job_spec, a_run, succeeded
from foliot.testing.conformance.storage.references import DIGEST, OTHER, deploy, job, looking_at, naming, version
from foliot.testing.conformance.storage.scene import Another, Contract, Scene
from foliot.testing.conformance.storage.tree_builders import (
    ETL,
    a_child,
    an_opening,
    final_settlement,
    opened,
    settle,
    shown,
    stored,
)

ELT = JobId("elt")


async def refused(scene: Scene, renames: Mapping[JobId, JobId] | None = None) -> JobInUse:
    """Return the error of a rename, and check that nothing has changed."""
    wanted = renames or {REPORT: DIGEST}
    ids = [*wanted, *wanted.values()]
    before = await scene.storage.definitions.get_jobs(ids)
    with pytest.raises(JobInUse) as error:
        await scene.storage.definitions.rename_jobs(wanted, at=scene.now)
    assert await scene.storage.definitions.get_jobs(ids) == before
    return error.value


async def rename(scene: Scene, renames: dict[JobId, JobId] | None = None) -> None:
    wanted = renames or {REPORT: DIGEST}
    assert await scene.storage.definitions.rename_jobs(wanted, at=scene.now) == wanted


class JobUseContract(Contract):
    """Every storage must pass these tests unchanged."""

    # -- open executions

    @pytest.mark.proves("D7")
    async def test_a_job_copied_by_an_open_execution_is_not_renamed(self, scene: Scene) -> None:
        await scene.job()
        execution = await opened(scene, jobs={REPORT: a_job_spec()})
        before = await shown(scene, execution.run_id)

        error = await refused(scene)

        assert (error.job_id, error.run_id) == (REPORT, execution.run_id)
        assert error.message == (
            f"job 'report' could not be renamed: execution {execution.run_id} of workflow 'etl' is open"
        )
        assert f"foliot cancel {execution.run_id}" in error.hint
        assert await shown(scene, execution.run_id) == before

    async def test_a_job_is_renamed_when_the_execution_that_uses_it_has_ended(self, scene: Scene) -> None:
        await scene.job()
        jobs = {REPORT: a_job_spec()}
        execution = await opened(scene, jobs=jobs)
        await refused(scene)
        await settle(scene, final_settlement(execution))

        await rename(scene)

        assert (await shown(scene, execution.run_id)).jobs == jobs

    async def test_a_job_used_by_a_copied_gate_is_not_renamed(self, scene: Scene) -> None:
        await scene.job()
        await opened(scene, jobs={OTHER: a_job_spec(gate=looking_at(REPORT))})

        assert (await refused(scene)).job_id == REPORT

    @pytest.mark.parametrize("is_gate", [False, True], ids=["job", "gate"])
    async def test_a_job_used_by_the_version_of_an_open_execution_is_not_renamed(
        self, scene: Scene, is_gate: bool
    ) -> None:
        await scene.job()
        gated = Step(name="load", definition=a_job_spec(gate=looking_at(REPORT)))
        await deploy(scene, WorkflowSpec(steps=(gated,)) if is_gate else naming(REPORT))
        await opened(scene)

        assert (await refused(scene)).job_id == REPORT

    async def test_a_job_used_only_by_another_version_is_renamed(self, scene: Scene) -> None:
        await scene.job()
        await deploy(scene, naming(OTHER))
        await deploy(scene, naming(REPORT))
        execution = await opened(scene, version=1)

        await rename(scene)

        assert await version(scene, 2) == naming(DIGEST)
        assert (await stored(scene, execution.run_id)).state == execution.state

    async def test_a_workflow_with_an_open_execution_is_not_renamed(self, scene: Scene) -> None:
        await deploy(scene, naming(OTHER))
        execution = await opened(scene)

        assert (await refused(scene, {ETL: ELT})).run_id == execution.run_id

    async def test_the_job_of_a_step_is_not_renamed_while_an_execution_of_its_workflow_is_open(
        self, scene: Scene
    ) -> None:
        await deploy(scene, WorkflowSpec(steps=(Step(name="load", definition=a_job_spec()),)))
        await scene.job("etl.other")
        await opened(scene, steps=("load",))

        assert (await refused(scene, {JobId("etl.load"): OTHER})).job_id == "etl.load"
        await rename(scene, {JobId("etl.other"): OTHER})

    @pytest.mark.proves("D7")
    async def test_the_id_of_a_deleted_workflow_with_an_open_execution_is_not_free(self, scene: Scene) -> None:
        await deploy(scene, naming(OTHER), ELT)
        execution = await opened(scene, a_run(job_id=ELT))
        await scene.storage.definitions.delete_workflows([ELT], at=scene.now)
        await deploy(scene, naming(OTHER))

        assert (await refused(scene, {ETL: ELT})).run_id == execution.run_id
        await settle(scene, final_settlement(execution))
        await rename(scene, {ETL: ELT})
        assert (await shown(scene, execution.run_id)).workflow_id.startswith("elt~")

    async def test_one_job_in_use_refuses_all_renames_of_the_call(self, scene: Scene) -> None:
        await scene.job()
        await scene.job(OTHER)
        await opened(scene, jobs={REPORT: a_job_spec()})

        await refused(scene, {OTHER: JobId("free"), REPORT: DIGEST})

    async def test_a_rename_that_was_already_done_is_not_refused(self, scene: Scene) -> None:
        await scene.job(DIGEST)
        await opened(scene, jobs={DIGEST: a_job_spec(), REPORT: a_job_spec()})

        assert await scene.storage.definitions.rename_jobs({REPORT: DIGEST}, at=scene.now) == {}

    # -- executions that are about to be opened

    @pytest.mark.proves("D7")
    @pytest.mark.parametrize("renames", [{REPORT: DIGEST}, {ETL: ELT}], ids=["named job", "workflow"])
    async def test_a_job_is_not_renamed_while_a_run_of_a_workflow_that_uses_it_is_leased(
        self, scene: Scene, renames: dict[JobId, JobId]
    ) -> None:
        await scene.job()
        await deploy(scene, naming(REPORT))
        claim = await scene.start(a_run(job_id=ETL))

        assert (await refused(scene, renames)).run_id == claim.run_id
        await scene.finish(succeeded(claim))
        await rename(scene, renames)

    async def test_a_workflow_is_renamed_while_a_run_of_it_waits(self, scene: Scene) -> None:
        await deploy(scene, naming(OTHER))
        [run_id] = await scene.create(a_run(job_id=ETL))

        await rename(scene, {ETL: ELT})

        assert (await scene.run(run_id)).job_id == ELT

    async def test_a_job_with_the_id_of_a_deleted_workflow_is_renamed_while_it_runs(self, scene: Scene) -> None:
        await deploy(scene, naming(OTHER))
        await scene.storage.definitions.delete_workflows([ETL], at=scene.now)
        await scene.job(ETL)
        await scene.start(a_run(job_id=ETL))

        await rename(scene, {ETL: ELT})

    # -- gates

    @pytest.mark.parametrize("renamed", [REPORT, JobId("gated")])
    async def test_a_job_is_not_renamed_while_a_gate_that_uses_it_waits(self, scene: Scene, renamed: JobId) -> None:
        await scene.job()
        await scene.job("gated", gate=looking_at(REPORT))
        [run_id] = await scene.create(a_run(job_id=JobId("gated"), is_gated=True))

        error = await refused(scene, {renamed: DIGEST})

        assert (error.job_id, error.run_id) == (renamed, run_id)
        assert "waits for its gate" in error.message
        await scene.storage.admission.decide_gates([Decided(run_id, Decision(action=Action.RUN))], [], at=scene.now)
        await rename(scene, {renamed: DIGEST})

    async def test_a_job_is_renamed_while_a_gate_that_uses_another_waits(self, scene: Scene) -> None:
        await scene.job()
        await scene.job("gated", gate=looking_at(OTHER))
        await scene.create(a_run(job_id=JobId("gated"), is_gated=True))

        await rename(scene)

    # -- at the same time

    @pytest.mark.proves("D7")
    async def test_an_execution_opened_during_a_rename_uses_existing_jobs(self, scene: Scene, another: Another) -> None:
        await scene.job()
        await deploy(scene, naming(REPORT))
        other = Scene(await another(), scene.clock)
        runs = await scene.create(*[a_run(job_id=ETL) for _ in range(40)])
        worker = await scene.standby()
        left = set(runs)

        async def work() -> None:
            while left:
                claims = (await other.storage.work.claim(worker.id, ["default"], 1, at=scene.now)).claims
                await asyncio.gather(*(_pass(other, claim) for claim in claims))
                left.difference_update(claim.run_id for claim in claims)

        async def rename_often() -> None:
            names = REPORT, DIGEST
            while left:
                try:
                    await rename(scene, dict([names]))
                except JobInUse:
                    await asyncio.sleep(0)
                else:
                    names = names[1], names[0]

        await asyncio.gather(rename_often(), work(), work())

        [named] = [step.job for step in (await version(scene)).steps]
        assert len(await scene.storage.queries.page_runs(RunFilter(job_id=named))) == len(runs)


async def _pass(scene: Scene, claim: Claim) -> None:
    """Open an execution, again if its workflow has changed, check that its job exists, and end it."""
    while True:
        workflow = await job(scene)
        [step] = (await version(scene)).steps
        assert step.job is not None
        part = a_child(claim.run_id, "s0", job_id=step.job, queue="parts")
        revision = workflow.revision
        copies = {step.job: a_job_spec()}
        opening = an_opening(claim, steps=("s0",), jobs=copies, runs={"s0": part}, revision=revision)
        if not await scene.storage.trees.open([opening], at=scene.now):
            break
    execution = await shown(scene, claim.run_id)
    assert (await scene.storage.definitions.get_jobs(execution.jobs)).keys() == execution.jobs.keys()
    assert await settle(scene, final_settlement(opening.tree, steps=("s0",))) == [claim.run_id]
