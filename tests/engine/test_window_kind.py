"""A kind of tree that only the tests define runs inside a workflow."""

from collections import Counter

from foliot.domain.ids import JobId, RunId
from foliot.domain.job.job import JobSpec, Options
from foliot.domain.run.lane import TREES_QUEUE
from foliot.domain.run.run import Run, Status
from foliot.domain.workflow.spec import Edge, Step, WorkflowSpec
from foliot.ports.storage import Storage
from foliot.testing.clock import VirtualClock
from foliot.testing.conformance.storage.scene import Another
from foliot.testing.invariants import check_invariants
from foliot.wiring.services import build_services
from tests.engine.rig import LEASE, Rig
from tests.engine.window_kind import WindowKind

LEAF, MANY = JobId("leaf"), JobId("many")


def a_rig(storage: Storage, clock: VirtualClock) -> Rig:
    """Build a process that supports the kind of tree, with a hundred slots."""
    return Rig(storage, clock, slots=100, lease=LEASE, trees={"window": WindowKind()})


async def start(rig: Rig, *, children: int, window: int) -> RunId:
    """Start a workflow with one step with many children, and one after it."""
    await rig.job(LEAF)
    spec = {"children": children, "window": window, "job": LEAF}
    await rig.storage.definitions.put_jobs(
        [(MANY, JobSpec(kind="window", spec=spec, options=Options(queue=TREES_QUEUE)))]
    )
    steps = (Step(name="many", job=MANY), Step(name="after", job=LEAF, after=(Edge(parent="many"),)))
    services = build_services(rig.storage, rig.clock, rig.ids)
    await services.workflows.put({"outer": WorkflowSpec(steps=steps)})
    return await services.workflows.start("outer")


async def turn(rig: Rig) -> None:
    """Do one round of every duty."""
    await rig.dispatcher.round()
    await rig.work()
    await rig.settle()


async def go_on(rig: Rig, run_id: RunId, *, turns: int = 200) -> Status:
    """Work until the run has ended, for a limited number of turns."""
    for _ in range(turns):
        if (status := await rig.status(run_id)).is_terminal:
            return status
        await turn(rig)
    raise AssertionError(f"run {run_id} is not over after {turns} turns")


async def children_of(rig: Rig, run_id: RunId) -> list[Run]:
    return [run for run in await rig.runs() if run.parent_id == run_id]


async def window_of(rig: Rig, execution: RunId) -> RunId:
    """Return the run of the step with many children."""
    [run] = [run for run in await children_of(rig, execution) if run.child_key == "many"]
    return run.id


async def test_a_tree_with_a_thousand_children_runs_as_a_step_of_a_workflow(
    storage: Storage, clock: VirtualClock
) -> None:
    rig = a_rig(storage, clock)
    execution = await start(rig, children=1_000, window=100)

    assert await go_on(rig, execution) is Status.SUCCESS

    children = await children_of(rig, await window_of(rig, execution))
    assert Counter(run.child_key for run in children) == {str(nth): 1 for nth in range(1_000)}
    assert {(run.status, run.root_id) for run in children} == {(Status.SUCCESS, execution)}
    assert len(rig.stage.attempts) == 1_001
    assert await check_invariants(storage, now=clock.now()) == []


async def test_at_most_the_window_of_children_is_open(storage: Storage, clock: VirtualClock) -> None:
    rig = a_rig(storage, clock)
    rig.stage.answer = None
    execution = await start(rig, children=50, window=7)

    most = 0
    while not (await rig.status(execution)).is_terminal:
        await turn(rig)
        most = max(most, len(rig.stage.under_way))
        for run_id in rig.stage.under_way[:3]:
            rig.stage.end(run_id)

    assert most == 7
    assert len(rig.stage.attempts) == 51


async def test_cancelling_the_workflow_cancels_every_child_of_its_step(storage: Storage, clock: VirtualClock) -> None:
    rig = a_rig(storage, clock)
    rig.stage.answer = None
    execution = await start(rig, children=1_000, window=150)
    for _ in range(3):
        await turn(rig)
    assert len(rig.stage.under_way) == 100

    await rig.storage.orders.cancel([execution])

    assert await go_on(rig, execution) is Status.CANCELLED
    many = await window_of(rig, execution)
    assert await rig.status(many) is Status.CANCELLED
    assert [run.status for run in await children_of(rig, many)] == [Status.CANCELLED] * 150
    assert len(await children_of(rig, execution)) == 1
    assert await check_invariants(storage, now=clock.now()) == []


async def test_another_process_continues_a_tree_after_a_crash(
    storage: Storage, another: Another, clock: VirtualClock
) -> None:
    crashed = a_rig(storage, clock)
    execution = await start(crashed, children=300, window=40)
    for _ in range(3):
        await turn(crashed)
    await crashed.work()
    crashed.stage.answer = None
    await crashed.settle()
    await crashed.claim()
    assert len(crashed.stage.under_way) == 40

    clock.advance(2 * LEASE)
    rig = a_rig(await another(), clock)
    await rig.reaper.round()

    assert await go_on(rig, execution) is Status.SUCCESS
    children = await children_of(rig, await window_of(rig, execution))
    assert Counter(run.child_key for run in children) == {str(nth): 1 for nth in range(300)}
    assert {run.status for run in children} == {Status.SUCCESS}
    assert await check_invariants(storage, now=clock.now()) == []
