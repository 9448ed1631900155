"""A worker needs only the work port, which can be carried over a wire as JSON."""

import asyncio
from functools import partial

import msgspec
import pytest

from foliot.adapters.queue.storage import StorageQueue
from foliot.domain.fanout.spec import FANOUT
from foliot.domain.ids import IdSource, JobId, RunId, Token
from foliot.domain.instant import SECOND, Millis
from foliot.domain.run.lane import TREES_QUEUE
from foliot.domain.run.logs import LogChunk
from foliot.domain.run.outcome import Cancelled, Failure, Interrupted, Lost, Outcome, Reason, Success, TimedOut
from foliot.domain.run.progress import SavedProgress
from foliot.domain.run.retry import Retry
from foliot.domain.run.run import Status
from foliot.domain.schedule.tick_run import make_run
from foliot.domain.workflow.jobs import jobs_of
from foliot.domain.workflow.spec import Edge, Step, WorkflowSpec
from foliot.engine.coordinator.role import CoordinatorRole
from foliot.engine.settings import Parts, Settings
from foliot.ports.pages import RunFilter
from foliot.ports.topic import Topic
from foliot.testing.builders import a_claim, a_finish, a_job_spec, retries_after
from foliot.testing.clock import VirtualClock
from foliot.wiring.processes import TREES
from tests.scenarios.remote_worker import KIND, LEASE, Site
from tests.scenarios.work_relay import AppendLog, FinishRuns, WorkRelay

OUTCOMES = (
    Success(b'{"rows": 3}', exit_code=0),
    Failure("exit code 3", Reason.EXIT_CODE, exit_code=3),
    Failure("it can never work", Reason.PAYLOAD, retryable=False),
    TimedOut("took longer than 1 s"),
    Cancelled(),
    Interrupted(),
    Lost(),
)


# -- what a remote worker does


async def test_runs_are_executed_and_their_output_and_log_are_saved(site: Site) -> None:
    await site.job("greet")
    site.worker()
    run_ids = [await site.enqueue("greet", payload=str(number).encode()) for number in range(20)]

    runs = await site.over(*run_ids)

    assert [run.status for run in runs] == [Status.SUCCESS] * 20
    assert [run.output for run in runs] == [{"payload": number} for number in range(20)]
    assert [await site.log_of(run_id) for run_id in run_ids] == [b"attempt 1 of greet\n"] * 20
    chunks = await site.storage.queries.read_log(run_ids[0])
    assert (chunks[-1].stream, chunks[-1].data) == ("meta", b"end of log: complete\n")


async def test_a_definition_is_sent_once_and_again_when_the_job_has_changed(site: Site) -> None:
    await site.job("greet")
    worker = site.worker()
    for failures in (0, 0, 1):
        await site.job("greet", spec={"failures": failures})
        await site.over(await site.enqueue("greet"), await site.enqueue("greet"))

    answers = b"".join(answer for _, answer in worker.relay.sent)

    assert answers.count(b'"kind":"perform"') == 2


@pytest.mark.proves("S3")
async def test_a_failed_attempt_is_retried_as_the_stored_job_says(site: Site) -> None:
    await site.job("flaky", spec={"failures": 2}, retry=retries_after(0))
    await site.job("broken", spec={"failures": 9}, retry=Retry(retries=1, base=Millis(0)))
    site.worker()
    flaky, broken = await site.enqueue("flaky"), await site.enqueue("broken")

    succeeded, failed = await site.over(flaky, broken)

    assert (succeeded.status, succeeded.attempt) == (Status.SUCCESS, 3)
    assert (failed.status, failed.attempt, failed.reason, failed.exit_code) == (Status.FAILED, 2, "exit_code", 3)
    assert await site.log_of(flaky) == b"attempt 1 of flaky\nattempt 2 of flaky\nattempt 3 of flaky\n"


async def test_a_run_is_cancelled_while_a_remote_worker_executes_it(site: Site) -> None:
    await site.job("endless", spec={"endless": True}, retry=retries_after(0))
    worker = site.worker()
    run_id = await site.enqueue("endless")
    await site.begun(worker, run_id)

    await site.scene.cancel(run_id)

    [run] = await site.over(run_id)
    assert (run.status, run.attempt) == (Status.CANCELLED, 1)


async def test_a_remote_run_that_takes_too_long_is_ended(site: Site) -> None:
    await site.job("endless", spec={"endless": True}, timeout=Millis(5 * SECOND))
    worker = site.worker()
    run_id = await site.enqueue("endless")
    await site.begun(worker, run_id)

    site.clock.advance(5 * SECOND)

    [run] = await site.over(run_id)
    assert (run.status, run.error) == (Status.TIMEOUT, "took longer than 5 s")


async def test_a_stopping_remote_worker_gives_its_runs_back(site: Site) -> None:
    await site.job("endless", spec={"endless": True})
    worker = site.worker()
    run_id = await site.enqueue("endless")
    await site.begun(worker, run_id)

    await worker.stop()

    run = await site.run(run_id)
    assert (run.status, run.attempt) == (Status.QUEUED, 0)
    assert await site.storage.admission.workers() == []


async def test_runs_of_a_lost_remote_worker_are_executed_by_another(site: Site) -> None:
    await site.job("endless", spec={"endless": True})
    lost = site.worker()
    run_id = await site.enqueue("endless")
    await site.begun(lost, run_id)
    await lost.vanish()
    site.clock.advance(LEASE)
    await site.reap()

    other = site.worker()
    await site.begun(other, run_id, attempt=2)
    await site.scene.cancel(run_id)

    [run] = await site.over(run_id)
    attempts = await site.storage.queries.attempts(run_id)
    assert (run.lost, [attempt.reason for attempt in attempts]) == (1, ["lease_lost", "cancelled"])


async def test_a_renewal_keeps_a_remote_worker_alive(site: Site) -> None:
    await site.job("endless", spec={"endless": True})
    worker = site.worker()
    run_id = await site.enqueue("endless")
    await site.begun(worker, run_id)

    for number in range(1, 7):
        site.clock.advance(LEASE // 3)
        await site.until(partial(has_renewed, worker.relay, number))
        await site.reap()

    assert (await site.run(run_id)).status is Status.RUNNING


async def test_progress_reaches_the_storage_through_the_work_port_only_while_the_lease_is_held(site: Site) -> None:
    await site.job("endless", spec={"endless": True, "progress": 0.4})
    lost = site.worker()
    run_id = await site.enqueue("endless")
    await site.until(partial(has_reported, site, run_id, SavedProgress(0.4, "attempt 1", site.clock.now())))
    await lost.vanish()
    site.clock.advance(LEASE)
    await site.reap()
    assert (await site.run(run_id)).progress is None

    site.worker()
    await site.until(partial(has_reported, site, run_id, SavedProgress(0.4, "attempt 2", site.clock.now())))
    late = next(body for body, _ in lost.relay.sent if body.startswith(b'{"type":"SaveProgress"'))
    stale = msgspec.json.decode(await site.endpoint.answer(late))

    assert len(stale) == 1
    assert await has_reported(site, run_id, SavedProgress(0.4, "attempt 2", site.clock.now()))


async def test_a_remote_worker_executes_the_steps_of_a_workflow(site: Site) -> None:
    await site.job("greet")
    own = Step(name="own", definition=a_job_spec(kind=KIND))
    spec = WorkflowSpec(steps=(own, Step(name="named", job=JobId("greet"), after=(Edge(parent="own"),))))
    await site.storage.definitions.put_workflows({"flow": spec})
    await site.storage.definitions.put_jobs(list(jobs_of("flow", 1, spec).items()))
    worker, coordinator = site.worker(), a_coordinator(site)
    execution = await site.enqueue("flow")

    await site.until(partial(is_over, site, coordinator, execution))

    assert (await site.run(execution)).status is Status.SUCCESS
    assert len(worker.performer.begun) == 2
    assert TREES_QUEUE.encode() not in b"".join(answer for _, answer in worker.relay.sent)


async def test_a_remote_reducer_reads_the_results_of_its_fanout_only_with_its_lease(site: Site) -> None:
    children = {"inner_kind": KIND, "items": ["a", "b", "c", {"d": None}, 5]}
    spec = {**children, "reducer": {"kind": KIND, "spec": {"results": True}}}
    await site.scene.job("digest", kind=FANOUT, spec=spec, queue=TREES_QUEUE, retry=Retry())
    worker, coordinator = site.worker(), a_coordinator(site)
    fanout = await site.enqueue("digest")

    await site.until(partial(is_over, site, coordinator, fanout))

    [reducer] = await site.storage.queries.page_runs(RunFilter(job_id=JobId("digest.reducer")))
    assert reducer.output == [[index, {"payload": item}] for index, item in enumerate(["a", "b", "c", {"d": None}, 5])]
    asked = [body for body, _ in worker.relay.sent if body.startswith(b'{"type":"ReadResults"')]
    assert len(asked) == 4
    assert await site.endpoint.answer(asked[0]) == b"null"


async def test_a_remote_run_starts_a_follow_up_only_with_its_lease(site: Site) -> None:
    await site.job("clean")
    await site.job("greet", spec={"follow_up": "clean"})
    worker = site.worker()

    [run] = await site.over(await site.enqueue("greet"))

    [follow_up] = await site.storage.queries.page_runs(RunFilter(job_id=JobId("clean")))
    assert run.output["run_id"] == follow_up.id
    [asked] = [body for body, _ in worker.relay.sent if body.startswith(b'{"type":"AskChain"')]
    assert await site.endpoint.answer(asked) == b"null"


# -- what the wire carries


@pytest.mark.parametrize("outcome", OUTCOMES, ids=lambda outcome: type(outcome).__name__.lower())
def test_every_outcome_survives_the_wire(outcome: Outcome) -> None:
    sent = FinishRuns([a_finish(a_claim(), outcome)])

    assert msgspec.json.decode(msgspec.json.encode(sent), type=FinishRuns) == sent


def test_log_chunks_survive_the_wire_with_any_bytes() -> None:
    sent = AppendLog([LogChunk(RunId("run"), Token(1), 0, VirtualClock().now(), "stderr", bytes(range(256)))])

    assert msgspec.json.decode(msgspec.json.encode(sent), type=AppendLog) == sent


# -- looking


async def is_over(site: Site, coordinator: CoordinatorRole, run_id: RunId) -> bool:
    for duty in coordinator.duties:
        await duty.round()
    return (await site.run(run_id)).status.is_terminal


def a_coordinator(site: Site) -> CoordinatorRole:
    """Build a coordinator with the whole storage, whose rounds the test runs."""
    parts = Parts(
        storage=site.storage,
        queue=StorageQueue(site.storage),
        tree_queue=StorageQueue(site.storage, Topic.TREES),
        trees=TREES,
        clock=site.clock,
        ids=IdSource(lambda: 0),
        runners={},
        make_run=make_run,
    )
    return CoordinatorRole(parts, Settings(label="coordinator"))


async def has_reported(site: Site, run_id: RunId, progress: SavedProgress) -> bool:
    return (await site.run(run_id)).progress == progress


async def has_renewed(relay: WorkRelay, times: int) -> bool:
    await asyncio.sleep(0)
    return sum(body.startswith(b'{"type":"RenewWorker"') for body, _ in relay.sent) >= times
