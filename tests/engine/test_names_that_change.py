"""Jobs get other ids between two looks of somebody who works: nothing is done under a mixture of names."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from foliot.domain.gate.spec import Gate
from foliot.domain.ids import JobId, RunId
from foliot.domain.job import JobSpec
from foliot.domain.run import NewRun, Status
from foliot.domain.workflow.spec import Edge, Step, WorkflowSpec
from foliot.engine.plans import Plans
from foliot.errors import NotFound
from foliot.ports.definitions import Deployment
from foliot.ports.runs import RunFilter
from foliot.ports.storage import Storage
from tests.engine.rig import Rig

A, B, C, GATED, WF = map(JobId, ("a", "b", "c", "gated", "wf"))
HANDED_ON = {A: B, B: C}


class Meanwhile:
    """A part of a storage, in whose next call something else happens, after the look or before it."""

    def __init__(self, part: Any, verb: str, happens: Callable[[], Awaitable[object]], *, before: bool) -> None:
        self._part, self._verb, self._happens, self._before = part, verb, happens, before
        self.is_over = False

    def __getattr__(self, name: str) -> Any:
        verb = getattr(self._part, name)
        return self._with(verb) if name == self._verb and not self.is_over else verb

    def _with(self, verb: Callable[..., Awaitable[object]]) -> Callable[..., Awaitable[object]]:
        async def call(*values: Any, **named: Any) -> object:
            self.is_over = True
            if self._before:
                await self._happens()
            answer = await verb(*values, **named)
            if not self._before:
                await self._happens()
            return answer

        return call


@pytest.fixture(params=[True, False], ids=["before", "after"])
def meanwhile(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, storage: Storage
) -> Callable[..., Meanwhile]:
    """Let jobs be renamed around somebody's look."""

    def arm(part: str, verb: str = "get", renames: dict[JobId, JobId] = HANDED_ON) -> Meanwhile:
        armed = Meanwhile(getattr(storage, part), verb, lambda: storage.jobs.rename(renames), before=request.param)
        monkeypatch.setattr(storage, part, armed)
        return armed

    return arm


async def deploy(rig: Rig, *jobs: JobId) -> None:
    """A workflow whose steps run jobs that say their first name, one after the other."""
    for job_id in {*jobs, A, B}:
        await rig.job(job_id, spec={"word": f"first {job_id}"})
    parents = ((), *((Edge(parent=f"s{nth}"),) for nth, _ in enumerate(jobs)))
    steps = [Step(name=f"s{nth}", job=job_id, after=parents[nth]) for nth, job_id in enumerate(jobs)]
    await rig.storage.workflows.deploy(Deployment({WF: WorkflowSpec(steps=tuple(steps))}, (), ()))


async def go_on(rig: Rig) -> None:
    """Some rounds of all who have to do with executions."""
    for _ in range(6):
        await rig.claim()
        await rig.save()
        await rig.finisher.round()
        await rig.worker.settler.round()


def said(rig: Rig) -> list[tuple[str, str]]:
    return [(attempt.job_id, str(attempt.spec["word"])) for attempt in rig.stage.attempts]


async def status(rig: Rig, run_id: RunId) -> Status:
    return (await rig.storage.runs.get([run_id]))[run_id].status


@pytest.mark.parametrize(("part", "verb"), [("workflows", "get"), ("jobs", "get"), ("executions", "open")])
async def test_an_execution_that_begins_does_what_its_steps_say(
    rig: Rig, meanwhile: Callable[..., Meanwhile], part: str, verb: str
) -> None:
    """And begins at once, without being given back."""
    await deploy(rig, A, B)
    run_id = await rig.enqueue(WF)
    await rig.membership.round()
    armed = meanwhile(part, verb)

    await rig.claim()
    assert armed.is_over
    assert list(await rig.storage.executions.get([run_id])) == [run_id]

    await go_on(rig)

    assert said(rig) == [(B, "first a"), (C, "first b")]
    assert await status(rig, run_id) is Status.SUCCESS


@pytest.mark.parametrize("part", ["workflows", "executions"])
async def test_the_run_of_a_step_does_what_its_step_says(
    rig: Rig, storage: Storage, meanwhile: Callable[..., Meanwhile], part: str
) -> None:
    """Claimed by a worker that has not seen the execution before."""
    await deploy(rig, B)
    await rig.enqueue(WF)
    await rig.claim()
    newcomer = Rig(storage, rig.clock)
    await newcomer.membership.round()
    armed = meanwhile(part)

    await go_on(newcomer)

    assert armed.is_over
    assert [word for _, word in said(newcomer)] == ["first b"]
    assert [run.status for run in await storage.runs.page(RunFilter(job_id=C))] == [Status.SUCCESS]


@pytest.mark.parametrize(("part", "verb"), [("workflows", "get"), ("jobs", "get"), ("executions", "unsettled")])
async def test_an_execution_that_goes_on_does_what_its_steps_say(
    rig: Rig, storage: Storage, meanwhile: Callable[..., Meanwhile], part: str, verb: str
) -> None:
    """Led on by a worker that has not seen the workflow before."""
    await deploy(rig, A, B)
    run_id = await rig.enqueue(WF)
    await rig.claim()
    await rig.claim()
    await rig.save()
    await rig.finisher.round()
    newcomer = Rig(storage, rig.clock)
    await newcomer.membership.round()
    armed = meanwhile(part, verb)

    await newcomer.worker.settler.round()
    await go_on(newcomer)

    assert armed.is_over
    assert (said(rig), said(newcomer)) == ([(A, "first a")], [(C, "first b")])
    assert await status(rig, run_id) is Status.SUCCESS


@pytest.mark.parametrize("renamed", [A, GATED])
async def test_a_gate_looks_at_what_it_depends_on(
    rig: Rig, meanwhile: Callable[..., Meanwhile], renamed: JobId
) -> None:
    """Whether that has another name, or the job whose gate it is: it has failed, whatever its name."""
    await rig.storage.runs.watch([A])
    await rig.job(A, spec={"word": "a"})
    await rig.storage.jobs.put([(GATED, JobSpec(kind="stage", gate=Gate(depends_on=(A,))))])
    failed = NewRun(id=RunId("0"), job_id=A, due_at=rig.clock.now())
    await rig.storage.runs.create([failed])
    await rig.storage.runs.cancel([failed.id])
    run_id = await rig.enqueue(GATED, is_gated=True)
    armed = meanwhile("jobs", renames={renamed: C})

    await rig.timekeeping.gatekeeper.round()
    await rig.timekeeping.gatekeeper.round()

    assert armed.is_over
    run = (await rig.storage.runs.get([run_id]))[run_id]
    assert (run.status, run.reason) == (Status.SKIPPED, "dep_failed")


class TestPlans:
    async def test_a_plan_is_read_once_for_a_revision(self, rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
        await deploy(rig, A)
        plans, revision = Plans(rig.storage), await self._revision(rig)
        first = await plans.get(WF, 1, revision)
        monkeypatch.delattr(rig.storage, "workflows")

        assert first is not None
        assert await plans.get(WF, 1, revision) is first

    async def test_it_names_what_is_named_at_that_revision(self, rig: Rig) -> None:
        await deploy(rig, A)
        plans = Plans(rig.storage)
        await plans.get(WF, 1, await self._revision(rig))

        await rig.storage.jobs.rename({A: C})

        plan = await plans.get(WF, 1, await self._revision(rig))
        assert plan is not None
        assert plan.steps["s0"].job == C

    async def test_there_is_none_of_a_revision_that_is_over(self, rig: Rig) -> None:
        await deploy(rig, A)
        revision = await self._revision(rig)

        await rig.storage.jobs.rename({A: C})

        assert await Plans(rig.storage).get(WF, 1, revision) is None

    async def test_that_of_a_workflow_whose_job_is_gone_is_read_each_time(self, rig: Rig) -> None:
        await deploy(rig, A)
        await rig.storage.jobs.delete([WF])
        plans = Plans(rig.storage)
        await plans.get(WF, 1, None)

        await rig.storage.jobs.rename({A: C})

        plan = await plans.get(WF, 1, None)
        assert plan is not None
        assert plan.steps["s0"].job == C

    async def test_a_version_that_is_not_there_is_told_of(self, rig: Rig) -> None:
        await deploy(rig, A)

        with pytest.raises(NotFound, match="wf version 2"):
            await Plans(rig.storage).get(WF, 2, await self._revision(rig))

    async def _revision(self, rig: Rig) -> int:
        return (await rig.storage.jobs.get([WF]))[WF].revision
