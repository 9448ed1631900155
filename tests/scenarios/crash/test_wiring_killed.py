"""A process that dies while it changes dependencies leaves both the edge and what follows from it, or neither."""

import pytest

from foliot.domain.ids import JobId
from foliot.domain.job.job import JobSpec
from foliot.domain.workflow.dependencies import unit_of
from foliot.domain.workflow.spec import ON_SUCCESS
from tests.scenarios.crash.process import KILLED
from tests.scenarios.crash.stage import Stage

ROOT, CHILD, GRANDCHILD = JobId("root"), JobId("child"), JobId("grandchild")


@pytest.fixture(autouse=True)
async def chain(stage: Stage) -> None:
    jobs = [(name, JobSpec(kind="shell", spec={"command": "true"})) for name in (ROOT, CHILD, GRANDCHILD)]
    await stage.storage.definitions.put_jobs(jobs)
    await stage.storage.definitions.add_dependency(CHILD, ROOT, ON_SUCCESS)


@pytest.mark.parametrize(("side", "is_saved"), [("before", False), ("after", True)])
async def test_an_edge_is_added_with_its_unit_or_not_at_all(stage: Stage, side: str, is_saved: bool) -> None:
    await _die(stage, "add", ROOT, GRANDCHILD, f"add_dependency.{side}_commit")

    assert await _units(stage) == ({GRANDCHILD: "after:grandchild"} if is_saved else {ROOT: "after:root"})


@pytest.mark.parametrize(("side", "is_saved"), [("before", False), ("after", True)])
async def test_an_edge_is_removed_with_its_unit_or_not_at_all(stage: Stage, side: str, is_saved: bool) -> None:
    await _die(stage, "remove", CHILD, ROOT, f"remove_dependency.{side}_commit")

    assert await _units(stage) == ({} if is_saved else {ROOT: "after:root"})


async def _die(stage: Stage, verb: str, child: JobId, parent: JobId, point: str) -> None:
    doomed = stage.start("tests.scenarios.crash.wirer", verb, child, parent, fault=point)
    assert await stage.ended(doomed) == KILLED, stage.logs()
    assert stage.fault_log.read_text() == point


async def _units(stage: Stage) -> dict[JobId, str]:
    """The roots with their workflows, each of which has the steps that the edges say."""
    definitions = stage.storage.definitions
    edges = await definitions.dependencies()
    jobs = await definitions.get_jobs([ROOT, CHILD, GRANDCHILD])
    leads = {job_id: job.leads for job_id, job in jobs.items() if job.leads}
    for root, workflow_id in leads.items():
        unit = unit_of(edges, root)
        stored = (await definitions.get_workflows([(workflow_id, None)]))[workflow_id, None]
        assert unit is not None
        assert stored.spec == unit.spec
        assert (await definitions.get_jobs([JobId(workflow_id)]))[JobId(workflow_id)].spec.spec == {
            "version": stored.version
        }
    return leads
