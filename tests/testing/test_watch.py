"""The watch of a simulated cluster finds each injected fault, and none in a sound history."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from foliot.adapters.storage.sqlite import SqliteStorage
from foliot.domain.events import Event, EventKind
from foliot.domain.ids import JobId, RunId, Token
from foliot.domain.instant import MINUTE, SECOND, later
from foliot.domain.run.lease import Claim
from foliot.domain.run.retry import Retry
from foliot.domain.run.run import NewRun, Status
from foliot.domain.schedule.schedule import Overlap
from foliot.domain.tree.tree import Tree
from foliot.domain.workflow.conditions import Condition, Result
from foliot.domain.workflow.execution import StepRecord
from foliot.domain.workflow.progress import StepState
from foliot.domain.workflow.spec import Edge, Step, WorkflowSpec
from foliot.testing.builders import REPORT, a_job_spec, a_run, every, succeeded, to_retry
from foliot.testing.clock import VirtualClock
from foliot.testing.conformance.storage.scene import Scene
from foliot.testing.conformance.storage.tree_builders import (
    ETL,
    a_child,
    a_settlement,
    an_opening,
    child_of,
    claim_child,
    settle,
    unsettled,
)
from foliot.testing.invariants import Violation
from foliot.testing.simulation.execution_watch import faults_of
from foliot.testing.simulation.watch import Watch
from tests.testing.spoiling import Distort

KEYED = JobId("keyed")
JOBS = {
    REPORT: a_job_spec(max_concurrent=2, retry=Retry()),
    KEYED: a_job_spec(concurrency_key="pump", concurrency_limit=1),
    ETL: a_job_spec(),
    JobId("etl.extract"): a_job_spec(),
    JobId("etl.load"): a_job_spec(),
}
OUTPUT = b'{"attempt": 1, "execution": null}'
ETL_SPEC = WorkflowSpec(
    steps=(
        Step(name="extract", definition=a_job_spec()),
        Step(
            name="load", definition=a_job_spec(), after=(Edge(parent="extract", when=frozenset({Condition.SUCCESS})),)
        ),
    )
)


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    clock = VirtualClock()
    storage = await SqliteStorage.open(tmp_path / "foliot.db", clock=clock, synchronous="NORMAL")
    await storage.definitions.put_workflows({ETL: ETL_SPEC})
    yield Scene(storage, clock)
    await storage.close()


@pytest.fixture
def watch(scene: Scene) -> Watch:
    return Watch(scene.storage, JOBS)


async def started(scene: Scene, watch: Watch, run: NewRun | None = None) -> Claim:
    """Return a run that was leased after the last check of the watch."""
    [run_id] = await scene.create(run or a_run())
    await watch.check()
    [claim] = await scene.claim(only=[run_id])
    return claim


async def under_way(scene: Scene, watch: Watch) -> Tree:
    """Return an execution that has just been opened."""
    opening = an_opening(await started(scene, watch, a_run(job_id=ETL)))
    await watch.check()
    assert await scene.storage.trees.open([opening], at=scene.now) == []
    return opening.tree


def each_run(**changes: Any) -> Callable[[Any], Any]:
    return lambda runs: {run_id: run._replace(**changes) for run_id, run in runs.items()}


async def test_the_watch_accepts_a_sound_history(scene: Scene, watch: Watch) -> None:
    await scene.schedule(every(60, overlap=Overlap.QUEUE))
    await watch.check()
    await scene.fire_after(MINUTE)
    await watch.check()
    await scene.finish(*[to_retry(claim) for claim in await scene.claim()])
    await watch.check()
    await scene.finish(*[succeeded(claim, b'{"attempt": 2, "execution": null}') for claim in await scene.claim()])

    await watch.check()
    await watch.check_ledgers()

    assert watch.unfinished == []


async def test_the_watch_finds_an_invalid_move(scene: Scene, watch: Watch, distort: Distort) -> None:
    await scene.create(a_run())
    await watch.check()
    distort("queries.get_runs", each_run(status=Status.CANCELLING))

    with pytest.raises(Violation, match=r"S1 .* went from queued to cancelling"):
        await watch.check()


async def test_the_watch_finds_a_missing_run(scene: Scene, watch: Watch, distort: Distort) -> None:
    await scene.create(a_run())
    distort("queries.get_runs", lambda runs: {})

    with pytest.raises(Violation, match=r"S1 .* is gone"):
        await watch.check()


@pytest.mark.parametrize("attempt", [-1, 3])
async def test_the_watch_finds_attempts_that_jump(scene: Scene, watch: Watch, distort: Distort, attempt: int) -> None:
    await started(scene, watch)
    await watch.check()
    distort("queries.get_runs", each_run(attempt=attempt))

    with pytest.raises(Violation, match=r"S3 .* went from attempt 1"):
        await watch.check()


async def test_the_watch_finds_too_many_attempts(scene: Scene, watch: Watch) -> None:
    await scene.create(a_run())
    for _ in range(5):
        await scene.finish(*[to_retry(claim) for claim in await scene.claim()])
        await watch.check()
    await scene.finish(*[succeeded(claim) for claim in await scene.claim()])

    with pytest.raises(Violation, match=r"S3 .* took 6 attempts"):
        await watch.check()


async def test_the_watch_finds_a_second_end(scene: Scene, watch: Watch, distort: Distort) -> None:
    claim = await scene.start()
    await scene.finish(succeeded(claim))
    await watch.check()
    again = Event(1_000_000, scene.now, EventKind.RUNS_ENDED, [[claim.run_id, "failed", None]])
    distort("queries.events", lambda events: [*events, again])

    with pytest.raises(Violation, match=r"S4 .* ended as success, and then as failed"):
        await watch.check()


async def test_the_watch_finds_an_end_event_with_another_status(scene: Scene, watch: Watch, distort: Distort) -> None:
    await scene.finish(succeeded(await scene.start()))
    distort("queries.get_runs", each_run(status=Status.FAILED))

    with pytest.raises(Violation, match=r"S4 .* is failed, and events say success"):
        await watch.check()


async def test_the_watch_finds_the_output_of_another_attempt(scene: Scene, watch: Watch) -> None:
    await scene.create(a_run())
    await scene.finish(*[to_retry(claim) for claim in await scene.claim()])
    await watch.check()
    await scene.finish(*[succeeded(claim, OUTPUT) for claim in await scene.claim()])

    with pytest.raises(Violation, match=r"S10 .* attempt 2 with the output of 1"):
        await watch.check()


async def test_the_watch_finds_a_lease_of_a_dead_worker(scene: Scene, watch: Watch, distort: Distort) -> None:
    await started(scene, watch)
    distort("admission.workers", lambda states: [state._replace(is_alive=False) for state in states])

    with pytest.raises(Violation, match=r"L1 .* which is not alive"):
        await watch.check()


async def test_the_watch_finds_a_token_that_does_not_rise(scene: Scene, watch: Watch, distort: Distort) -> None:
    first = await started(scene, watch)
    await watch.check()
    await started(scene, watch)
    distort("queries.get_runs", each_run(token=Token(first.token)))

    with pytest.raises(Violation, match=r"L2 tokens"):
        await watch.check()


@pytest.mark.parametrize(("job_id", "most"), [(REPORT, 2), (KEYED, 1)])
async def test_the_watch_finds_more_runs_than_a_limit_allows(
    scene: Scene, watch: Watch, job_id: JobId, most: int
) -> None:
    for _ in range(most):
        await started(scene, watch, a_run(job_id=job_id))
        await watch.check()
    await started(scene, watch, a_run(job_id=job_id))

    with pytest.raises(Violation, match=r"L10"):
        await watch.check()


async def test_the_watch_finds_forbidden_overlap(scene: Scene, watch: Watch, distort: Distort) -> None:
    await scene.schedule(every(60, overlap=Overlap.ALLOW))
    for _ in range(2):
        await scene.fire_after(MINUTE)
    await watch.check()
    await scene.claim()
    distort(
        "definitions.page_schedules",
        lambda page: [replace(one, revision=forbidding(one.revision)) for one in page],
    )

    with pytest.raises(Violation, match=r"T10 2 runs"):
        await watch.check()


def forbidding(revision: Any) -> Any:
    return revision._replace(spec=replace(revision.spec, overlap=Overlap.SKIP))


async def test_the_watch_finds_a_tick_decided_twice(scene: Scene, watch: Watch, distort: Distort) -> None:
    await scene.schedule(every(60))
    await scene.fire_after(MINUTE)
    [told] = [event for event in await watch.check() if event.kind is EventKind.TICKS_SETTLED]
    distort("queries.events", lambda events: [*events, told._replace(seq=1_000_000)])

    with pytest.raises(Violation, match=r"T1 .* has been decided before"):
        await watch.check()


async def test_the_watch_finds_repeated_events(scene: Scene, watch: Watch, distort: Distort) -> None:
    await scene.create(a_run())
    [*_, told] = await watch.check()
    distort("queries.events", lambda events: [told])

    with pytest.raises(Violation, match=r"O2"):
        await watch.check()


@pytest.mark.parametrize(
    ("change", "invariant"),
    [
        (lambda one: replace(one, settled_until=one.settled_until - 1), "T6 .* went back"),
        (lambda one: replace(one, version=one.version - 1), "T6 .* went back"),
        (lambda one: replace(one, next_run_at=one.next_run_at - SECOND), "T6 .* next_run_at fell"),
        (lambda one: replace(one, settled_until=later(one.next_run_at, 1)), "T5"),
    ],
)
async def test_the_watch_finds_an_invalid_watermark(
    scene: Scene, watch: Watch, distort: Distort, change: Callable[[Any], Any], invariant: str
) -> None:
    await scene.schedule(every(60))
    await scene.fire_after(MINUTE)
    await watch.check()
    distort("definitions.page_schedules", lambda page: [change(one) for one in page])

    with pytest.raises(Violation, match=invariant):
        await watch.check()


async def test_the_watch_finds_a_ledger_without_a_row(scene: Scene, watch: Watch, distort: Distort) -> None:
    await scene.schedule(every(60))
    await scene.fire_after(MINUTE)
    await watch.check_ledgers()
    distort("queries.ticks", lambda ticks: ticks[1:])

    with pytest.raises(Violation, match=r"T2"):
        await watch.check_ledgers()


# -- executions


async def test_the_watch_accepts_a_sound_execution(scene: Scene, watch: Watch) -> None:
    execution = await under_way(scene, watch)
    await watch.check()
    extract = await claim_child(scene, execution)
    await watch.check()
    await scene.finish(succeeded(extract))

    await watch.check()


async def test_the_watch_finds_an_ended_step_without_a_note(scene: Scene, watch: Watch, distort: Distort) -> None:
    execution = await under_way(scene, watch)
    await watch.check()
    await scene.finish(succeeded(await claim_child(scene, execution)))
    distort("trees.unsettled", lambda found: found._replace(trees=[]))

    with pytest.raises(Violation, match=r"D6 .* without a note"):
        await watch.check()


async def test_the_watch_finds_a_wrong_count_of_open_steps(scene: Scene, watch: Watch, distort: Distort) -> None:
    await under_way(scene, watch)
    distort(
        "queries.get_executions", lambda found: {run_id: one._replace(unresolved=1) for run_id, one in found.items()}
    )

    with pytest.raises(Violation, match=r"D2 .* 1 unresolved"):
        await watch.check()


async def test_the_watch_finds_a_changed_result(scene: Scene, watch: Watch, distort: Distort) -> None:
    execution = await under_way(scene, watch)
    await watch.check()
    run_id = await child_of(scene, execution)
    await scene.finish(succeeded(await claim_child(scene, execution)))
    await watch.check()
    [waiting] = await unsettled(scene)
    done = {"extract": StepState(0, result=Result.SUCCESS, run_id=run_id)}
    load = a_child(execution.run_id, "load")
    started = {**done, "load": StepState(0, run_id=load.id)}
    await settle(scene, a_settlement(waiting.tree, notes=[run_id], changed=started, runs={"load": load}))
    await watch.check()
    distort(
        "queries.get_executions",
        lambda found: {one: known._replace(state=known.state + 1) for one, known in found.items()},
    )
    distort("trees.steps", lambda steps: [with_result(step, Result.FAILURE) for step in steps])

    with pytest.raises(Violation, match=r"D2 .* was success and is failure"):
        await watch.check()


def with_result(step: StepRecord, result: Result) -> StepRecord:
    return step if step.state.result is None else step._replace(state=step.state._replace(result=result))


async def test_the_watch_finds_an_execution_of_another_version(scene: Scene, watch: Watch, distort: Distort) -> None:
    await under_way(scene, watch)
    distort("queries.get_executions", lambda found: {run_id: one._replace(version=2) for run_id, one in found.items()})

    with pytest.raises(Violation, match=r"D7"):
        await watch.check()


async def test_the_watch_finds_a_second_run_of_a_step(scene: Scene, watch: Watch) -> None:
    execution = await under_way(scene, watch)
    await watch.check()
    await scene.create(a_child(execution.run_id, "extract"))

    with pytest.raises(Violation, match=r"D6 step extract .* has the runs"):
        await watch.check()


async def test_the_watch_finds_a_run_of_another_execution(scene: Scene, watch: Watch) -> None:
    execution = await under_way(scene, watch)
    await watch.check()
    claim = await claim_child(scene, execution)
    await scene.finish(succeeded(claim, b'{"attempt": 1, "execution": "another", "told": {"execution": "another"}}'))

    with pytest.raises(Violation, match=r"D9"):
        await watch.check()


PARENTS = [("extract", frozenset({Condition.SUCCESS}))]
RUN = RunId("run")


@pytest.mark.parametrize(
    ("parent", "state", "status", "invariant"),
    [
        (None, StepState(1, run_id=RUN), Status.QUEUED, "D3"),
        (Result.FAILURE, StepState(0, run_id=RUN), Status.QUEUED, "D3"),
        (Result.SUCCESS, StepState(0), None, "D6"),
        (Result.SUCCESS, StepState(0, result=Result.FAILURE, run_id=RUN), Status.SUCCESS, "D2"),
        (Result.SUCCESS, StepState(0, result=Result.FAILURE, run_id=RUN), Status.RUNNING, "D2"),
        (Result.SUCCESS, StepState(0, result=Result.SUCCESS), None, "D2"),
        (Result.SUCCESS, StepState(0, result=Result.SKIPPED), None, "D3"),
        (None, StepState(1, result=Result.SKIPPED), None, "D3"),
        (None, StepState(1), None, None),
        (Result.SUCCESS, StepState(0, run_id=RUN), Status.QUEUED, None),
        (Result.SUCCESS, StepState(0, result=Result.SUCCESS, run_id=RUN), Status.PARTIAL, None),
        (Result.FAILURE, StepState(0, result=Result.SKIPPED), None, None),
        (Result.SUCCESS, StepState(0, result=Result.SKIPPED, reason="paused"), None, None),
        (None, StepState(1, result=Result.SKIPPED, reason="cancelled"), None, None),
    ],
)
def test_the_watch_finds_a_step_that_does_not_fit_its_parents(
    parent: Result | None, state: StepState, status: Status | None, invariant: str | None
) -> None:
    steps = {"extract": StepRecord("extract", StepState(0, result=parent))}

    faults = [fault for fault, _ in faults_of(StepRecord("load", state, status), PARENTS, steps)]

    assert set(faults) == ({invariant} if invariant else set())
