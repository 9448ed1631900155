"""A remote worker is trusted only about outcomes, and only with the token of a current lease."""

from typing import Any, NamedTuple

import msgspec
import pytest
from msgspec import Struct

from foliot.domain.ids import RunId, ScheduleUid, Token, WorkerId
from foliot.domain.instant import Millis
from foliot.domain.run.lane import TREES_QUEUE
from foliot.domain.run.lease import Claim, Worker
from foliot.domain.run.outcome import Cancelled, Failure, Interrupted, Lost, Outcome, Reason, Success
from foliot.domain.run.run import Status
from foliot.ports.pages import RunFilter
from foliot.ports.work import Claimed
from foliot.testing.builders import a_chunk, a_finish, a_worker, every, succeeded
from foliot.testing.conformance.storage.tree_builders import opened
from tests.scenarios.remote_worker import LEASE, Site
from tests.scenarios.work_relay import AppendLog, ClaimRuns, FinishRuns, RegisterWorker, RenewWorker

FAILURE = Failure("exit code 3", Reason.EXIT_CODE, exit_code=3)


class Surroundings(NamedTuple):
    """Rows that a forged message may try to change, besides the run of its sender."""

    tree: RunId
    schedule: ScheduleUid
    waiting: RunId
    """A run that waits for the only place of its job."""


async def surroundings(site: Site) -> Surroundings:
    await site.job("narrow", max_concurrent=1)
    for _ in range(2):
        waiting = await site.enqueue("narrow")
    schedule = await site.scene.schedule(every(60, job_id="narrow"))
    tree = await opened(site.scene)
    return Surroundings(tree.run_id, schedule.uid, waiting)


async def ask(site: Site, request: Struct, kind: Any = None, **forged: Any) -> Any:
    """Send a request with additional fields in each finish."""
    body = msgspec.to_builtins(request)
    for finish in body.get("finishes", ()):
        finish.update(forged)
    return msgspec.json.decode(await site.endpoint.answer(msgspec.json.encode(body)), type=kind or Any)


async def registered(site: Site) -> Worker:
    worker = a_worker()
    await ask(site, RegisterWorker(worker, LEASE))
    return worker


async def claimed(site: Site, worker: Worker, *run_ids: RunId) -> list[Claim]:
    request = ClaimRuns(worker.id, ["default"], 10, [], list(run_ids))
    found: Claimed = await ask(site, request, Claimed)
    return found.claims


async def started(site: Site, worker: Worker, job_id: str = "plain") -> Claim:
    """Return a run that the worker has claimed."""
    await site.job(job_id)
    [claim] = await claimed(site, worker, await site.enqueue(job_id))
    return claim


async def everything(site: Site, *, without: RunId | None = None) -> dict[str, object]:
    """Return everything stored, optionally without one run and the counters of it."""
    storage = site.storage
    runs = [run for run in await storage.queries.page_runs(RunFilter(limit=1_000)) if run.id != without]
    ready = [*await storage.admission.ready("default", 100), *await storage.admission.ready(TREES_QUEUE, 100)]
    return {
        "runs": runs,
        "attempts": [await storage.queries.attempts(run.id) for run in runs],
        "logs": [await storage.queries.read_log(run.id) for run in runs],
        "steps": [await storage.trees.steps(run.id) for run in runs],
        "notes": await storage.trees.unsettled(100, notes_per_tree=100),
        "ready": [run_id for run_id in ready if run_id != without],
        "workers": None if without else await storage.admission.workers(),
        "events": None if without else await storage.queries.events(after=0, limit=10_000),
    }


# -- fields that a finish does not have


@pytest.mark.proves("L2")
@pytest.mark.parametrize("outcome", [Success(), FAILURE, Interrupted()], ids=["success", "failure", "interrupted"])
async def test_additional_fields_of_a_finish_change_nothing(site: Site, outcome: Outcome) -> None:
    around = await surroundings(site)
    claim = await started(site, await registered(site))
    before, run = await everything(site, without=claim.run_id), await site.run(claim.run_id)

    forged = {
        "root_id": around.tree,
        "parent_id": around.tree,
        "child_key": "extract",
        "limit_keys": ["job:narrow"],
        "queue": TREES_QUEUE,
        "priority": 99,
        "tick": [around.schedule, "nightly", 0, "key"],
        "attempt": 7,
        "lost": 7,
        "definition_id": "job:narrow@1",
        "job_id": "narrow",
        "is_bare": False,
    }
    assert await ask(site, FinishRuns([a_finish(claim, outcome)]), **forged) == []

    after = await site.run(claim.run_id)
    kept = ("job_id", "queue", "priority", "tick", "parent_id", "root_id", "child_key", "lost", "due_at", "trigger")
    assert [getattr(after, name) for name in kept] == [getattr(run, name) for name in kept]
    assert await everything(site, without=claim.run_id) == before


async def test_a_failure_of_a_job_without_retries_cannot_claim_a_retry(site: Site) -> None:
    claim = await started(site, await registered(site))

    await ask(site, FinishRuns([a_finish(claim, FAILURE)]), options={"retry": {"retries": 5}}, delay=0)

    assert await site.scene.status(claim.run_id) is Status.FAILED


# -- leases of others


class Forgery(NamedTuple):
    """How a finish differs from a valid one."""

    token: int = 0
    is_other_run: bool = False
    is_other_worker: bool = False


FORGERIES = {
    "the run of another worker": Forgery(is_other_worker=True),
    "the token of another run": Forgery(is_other_run=True),
    "a token that was never granted": Forgery(token=1_000),
    "a token of the past": Forgery(token=-1),
    "a token beyond all numbers": Forgery(token=2**62),
}


@pytest.mark.proves("L2")
@pytest.mark.parametrize("forgery", FORGERIES.values(), ids=FORGERIES)
async def test_a_finish_without_the_current_lease_changes_nothing(site: Site, forgery: Forgery) -> None:
    owner, sender = await registered(site), await registered(site)
    other, claim = await started(site, owner, "other"), await started(site, owner)
    before = await everything(site)

    for outcome in (Success(b"1"), FAILURE, Cancelled(), Interrupted(), Lost()):
        finish = msgspec.structs.replace(
            a_finish(claim, outcome),
            token=Token(claim.token + forgery.token),
            run_id=other.run_id if forgery.is_other_run else claim.run_id,
            worker_id=sender.id if forgery.is_other_worker else claim.worker_id,
        )
        assert await ask(site, FinishRuns([finish])) == [finish.token], outcome
    assert await everything(site) == before


@pytest.mark.proves("L2", "L4")
async def test_a_finish_after_the_lease_was_taken_over_changes_nothing(site: Site) -> None:
    silent = await registered(site)
    claim = await started(site, silent)
    site.clock.advance(LEASE)
    await site.reap()
    [again] = await claimed(site, await registered(site), claim.run_id)
    before = await everything(site)

    assert await ask(site, FinishRuns([succeeded(claim)])) == [claim.token]

    assert (again.attempt, await everything(site)) == (2, before)


async def test_log_chunks_without_the_current_lease_are_not_saved(site: Site) -> None:
    worker = await registered(site)
    other, claim = await started(site, worker, "other"), await started(site, worker)
    before = await everything(site)

    stale = a_chunk(claim)._replace(token=Token(claim.token + 1_000))
    misplaced = a_chunk(claim)._replace(token=other.token)

    assert await ask(site, AppendLog([stale, misplaced])) == [stale.token, misplaced.token]
    assert await everything(site) == before


# -- answers and requests that are sent again


@pytest.mark.proves("L1")
async def test_a_repeated_claim_leases_nothing_twice(site: Site) -> None:
    worker = await registered(site)
    claim = await started(site, worker)
    before = await everything(site)

    assert await claimed(site, worker, claim.run_id) == []
    assert await everything(site) == before


@pytest.mark.proves("L2")
async def test_the_response_to_a_claim_is_useless_to_another_worker(site: Site) -> None:
    owner, thief = await registered(site), await registered(site)
    claim = await started(site, owner)
    before = await everything(site)

    stolen = msgspec.structs.replace(claim, worker_id=thief.id)
    assert await ask(site, FinishRuns([succeeded(stolen, b'"stolen"')])) == [claim.token]
    assert await everything(site) == before
    renewed = await ask(site, RenewWorker(thief.id, [claim.token], LEASE))

    assert renewed[2] == [claim.token]
    assert await site.scene.status(claim.run_id) is Status.RUNNING


@pytest.mark.proves("L2", "S4")
async def test_the_response_to_a_claim_is_useless_after_its_finish(site: Site) -> None:
    worker = await registered(site)
    claim = await started(site, worker)
    await ask(site, FinishRuns([succeeded(claim, b'"first"')]))
    before = await everything(site)

    assert await ask(site, FinishRuns([succeeded(claim, b'"second"')])) == []
    assert await ask(site, FinishRuns([a_finish(claim, FAILURE)])) == [claim.token]
    assert await ask(site, AppendLog([a_chunk(claim)])) == [claim.token]

    assert await everything(site) == before


# -- workers that are none


@pytest.mark.parametrize("worker_id", ["", "01JQZ8W3F07M4T5V6W8X9YABCD", "\x00", "x" * 10_000])
async def test_an_unregistered_remote_worker_claims_nothing(site: Site, worker_id: str) -> None:
    await site.job("plain")
    run_id = await site.enqueue("plain")
    before = await everything(site)

    assert await claimed(site, a_worker()._replace(id=WorkerId(worker_id)), run_id) == []
    assert await ask(site, RenewWorker(WorkerId(worker_id), [], LEASE)) is None

    assert await everything(site) == before


async def test_an_expired_remote_worker_claims_nothing(site: Site) -> None:
    worker = await registered(site)
    site.clock.advance(LEASE)
    await site.job("plain")
    run_id = await site.enqueue("plain")

    assert await claimed(site, worker, run_id) == []
    assert await ask(site, RenewWorker(worker.id, None, Millis(10 * LEASE))) is None


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b'{"type":"FinishRuns"}',
        b'{"type":"DropEverything"}',
        b'{"type":"FinishRuns","finishes":[{"run_id":"x","worker_id":"y","token":"1","outcome":{"outcome":"success"}}]}',
        b'{"type":"FinishRuns","finishes":[{"run_id":"x","worker_id":"y","token":1,"outcome":{"outcome":"ended"}}]}',
    ],
)
async def test_an_invalid_request_is_refused(site: Site, body: bytes) -> None:
    before = await everything(site)

    with pytest.raises(msgspec.DecodeError):
        await site.endpoint.answer(body)

    assert await everything(site) == before
