"""The cache of workflow versions."""

import pytest

from foliot.domain.ids import JobId
from foliot.domain.workflow.spec import Step, WorkflowSpec
from foliot.engine.plans import Plans
from foliot.errors import NotFound
from foliot.ports.definitions import Deployment
from tests.engine.rig import Rig

A, B, WF = map(JobId, ("a", "b", "wf"))


@pytest.fixture
async def revision(rig: Rig) -> int:
    """The revision of a workflow whose step runs job a."""
    await rig.job(A)
    spec = WorkflowSpec(steps=(Step(name="work", job=A),))
    await rig.storage.workflows.deploy(Deployment({WF: spec}, (), ()))
    return (await rig.storage.jobs.get([WF]))[WF].revision


async def test_a_plan_is_read_once_for_each_revision(rig: Rig, revision: int, monkeypatch: pytest.MonkeyPatch) -> None:
    plans = Plans(rig.storage)
    first = await plans.get(WF, 1, revision)
    monkeypatch.delattr(rig.storage, "workflows")

    assert await plans.get(WF, 1, revision) is first


async def test_a_renamed_job_raises_the_revision_and_the_plan_is_read_again(rig: Rig, revision: int) -> None:
    plans = Plans(rig.storage)
    await plans.get(WF, 1, revision)

    await rig.storage.jobs.rename({A: B})

    renamed = (await rig.storage.jobs.get([WF]))[WF].revision
    assert renamed > revision
    assert (await plans.get(WF, 1, renamed)).steps["work"].job == B


async def test_the_plan_of_a_deleted_workflow_is_read_each_time(rig: Rig, revision: int) -> None:
    plans = Plans(rig.storage)
    first = await plans.get(WF, 1, None)

    assert await plans.get(WF, 1, None) is not first


async def test_a_version_that_does_not_exist_is_an_error(rig: Rig, revision: int) -> None:
    with pytest.raises(NotFound, match="wf version 2"):
        await Plans(rig.storage).get(WF, 2, revision)
