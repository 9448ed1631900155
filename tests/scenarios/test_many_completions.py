"""A thousand steps of one execution end at the same time and are settled by several processes."""

import asyncio
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final, cast

import pytest

from foliot.adapters.clock import SystemClock
from foliot.adapters.storage.postgres import open_postgres
from foliot.adapters.storage.sqlite import SqliteStorage
from foliot.domain.ids import IdSource, JobId, RunId
from foliot.domain.instant import HOUR, Instant
from foliot.domain.job.job import JobSpec
from foliot.domain.run.lane import TREES_QUEUE
from foliot.domain.run.lease import Finish
from foliot.domain.run.outcome import Failure, Outcome, Reason, Success
from foliot.domain.run.run import NewRun, Status
from foliot.domain.tree.settlement import Settlement
from foliot.domain.workflow.conditions import Condition, Result
from foliot.domain.workflow.jobs import jobs_of
from foliot.domain.workflow.kind import WorkflowKind
from foliot.domain.workflow.spec import Edge, Step, WorkflowSpec
from foliot.engine.coordinator.decider import TreeDecider
from foliot.engine.coordinator.inputs import Inputs
from foliot.engine.coordinator.settler import Settler
from foliot.engine.coordinator.starter import Starter
from foliot.ports.pages import RunFilter
from foliot.ports.storage import Storage
from foliot.ports.topic import Topic
from foliot.ports.trees import TreeStore
from foliot.testing.builders import a_finish, a_worker
from foliot.testing.invariants import check_invariants
from tests.adapters.storage.postgres.fresh import fresh_database

WIDE: Final = 1_000
WORKERS: Final = 8
TOGETHER: Final = 5
"""How many outcomes one worker saves in a call, so that others arrive during a settlement."""
STORAGES: Final = 4
PATIENCE: Final = 60
"""Seconds after which a test stops waiting for a step."""
FLOW: Final = JobId("flow")
_NOTHING: Final = JobSpec(kind="nothing")
_KINDS: Final = {kind.name: kind for kind in (WorkflowKind(),)}
_COMPLETE: Final = frozenset({Condition.COMPLETE})
_ids: Final = IdSource(lambda: secrets.randbits(80))


@pytest.fixture(params=["sqlite", "postgres"])
async def storages(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[list[Storage]]:
    """One database, opened several times like by several processes."""
    async with AsyncExitStack() as stack:
        if request.param == "postgres":
            server, name = stack.enter_context(fresh_database())
            opened = [await _kept(stack, open_postgres(server.dsn(name))) for _ in range(STORAGES)]
        else:
            path, clock = tmp_path / "many.db", SystemClock()
            opened = [
                await _kept(stack, SqliteStorage.open(path, clock=clock, synchronous="NORMAL")) for _ in range(STORAGES)
            ]
        yield opened


@pytest.mark.proves("R2-06", "D2", "D5")
async def test_no_result_is_lost_when_a_thousand_steps_end_together(storages: list[Storage]) -> None:
    endings = {f"s{number}": Result.SUCCESS if number % 3 else Result.FAILURE for number in range(WIDE)}
    execution = await _open(storages[0], list(endings))
    is_over = asyncio.Event()
    settlers = [asyncio.create_task(_settle(storage, is_over)) for storage in storages]

    async with asyncio.timeout(PATIENCE):
        await _end_all(storages, endings)
        await _end_all(storages, {"last": Result.SUCCESS})
        is_over.set()
        settlements = sum(await asyncio.gather(*settlers))

    states = await storages[0].queries.step_states(execution)
    run = (await storages[0].queries.get_runs([execution]))[execution]
    assert {name: state.result for name, state in states.items()} == {**endings, "last": Result.SUCCESS}
    assert run.status is Status.SUCCESS
    children = await storages[0].queries.page_runs(RunFilter(root_id=execution, limit=10 * WIDE))
    assert Counter(run.child_key for run in children if run.parent_id) == Counter(states.keys())
    assert settlements > 1
    assert await check_invariants(storages[0], now=Instant(SystemClock().now() + 1_000)) == []


async def _open(storage: Storage, names: list[str]) -> RunId:
    """Open an execution whose last step waits for all others, which are ready."""
    edges = tuple(Edge(parent=name, when=_COMPLETE) for name in names)
    last = Step(name="last", definition=_NOTHING, after=edges, recovers=True)
    spec = WorkflowSpec(steps=(*(Step(name=name, definition=_NOTHING) for name in names), last))
    await storage.definitions.put_workflows({FLOW: spec})
    jobs = {job.id: job for job in await storage.definitions.put_jobs(list(jobs_of(FLOW, 1, spec).items()))}
    now = SystemClock().now()
    run = NewRun(id=RunId(_ids.make(now)), job_id=FLOW, due_at=now, options=jobs[FLOW].spec.options)
    await storage.orders.create([run])
    worker = a_worker(queues=[TREES_QUEUE])
    await storage.work.register(worker, HOUR)
    [claim], definitions = await storage.work.claim(worker.id, worker.queues, 1)
    starter = Starter(storage.trees, _ids, _KINDS, TreeDecider(storage.trees), Inputs(storage.items, {}, storage.clock))
    assert await starter.open(claim, definitions[claim.definition_id]) is None
    return claim.run_id


async def _end_all(storages: list[Storage], endings: dict[str, Result]) -> None:
    """Claim all these steps, and end them with several workers."""
    worker = a_worker()
    await storages[0].work.register(worker, HOUR)
    finishes: list[Finish] = []
    while len(finishes) < len(endings):
        claimed = await storages[0].work.claim(worker.id, worker.queues, WIDE)
        finishes += [a_finish(claim, _outcome(endings[claim.child_key or ""])) for claim in claimed.claims]
    shares = [finishes[place : place + TOGETHER] for place in range(0, len(finishes), TOGETHER)]
    await asyncio.gather(
        *(_end(storages[number % STORAGES], shares[number::WORKERS]) for number in range(min(WORKERS, len(shares))))
    )


async def _end(storage: Storage, shares: list[list[Finish]]) -> None:
    for share in shares:
        assert await storage.work.finish(share) == []


def _outcome(result: Result) -> Outcome:
    return Success() if result is Result.SUCCESS else Failure("as asked", Reason.EXIT_CODE)


async def _settle(storage: Storage, is_over: asyncio.Event) -> int:
    """Settle until the execution has ended. Return how many settlements this process saved."""
    store, decider, wake = _CountingStore(storage.trees), TreeDecider(storage.trees), storage.signal(Topic.NOTES)
    settler = Settler(cast(TreeStore, store), _ids, _KINDS, decider, wake=wake)
    while not is_over.is_set() or (await storage.trees.unsettled(1, notes_per_tree=1)).trees:
        await settler.round()
        await asyncio.sleep(0)
    return store.saved


class _CountingStore:
    """Counts the settlements that were saved."""

    def __init__(self, store: TreeStore) -> None:
        self.saved = 0
        self.unsettled = store.unsettled
        self._store = store

    async def settle(self, settlements: Sequence[Settlement]) -> list[RunId]:
        saved = await self._store.settle(settlements)
        self.saved += len(saved)
        return saved


async def _kept(stack: AsyncExitStack, opening: Awaitable[object]) -> Storage:
    storage = cast(Storage, await opening)
    stack.push_async_callback(storage.close)
    return storage
