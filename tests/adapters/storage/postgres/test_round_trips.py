"""The number of statements of the coordinator and of a worker does not depend on the number of trees."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from foliot.adapters.storage.postgres.database.transaction import Database, Transaction
from foliot.domain.ids import JobId
from foliot.domain.instant import MINUTE
from foliot.domain.run.lease import Claim
from foliot.domain.run.outcome import DONE
from foliot.domain.tree.kind import Wanted
from foliot.domain.workflow.conditions import Result
from foliot.domain.workflow.progress import StepState
from foliot.ports.job_rows import JobRowFilter
from foliot.ports.trees import UnsettledTree
from foliot.testing.builders import a_finish, a_run, every, failed, some_runs, succeeded
from foliot.testing.conformance.storage.scene import Scene
from foliot.testing.conformance.storage.tree_builders import ETL, NOTES, a_child, a_settlement, an_opening, opened

_FIRST_STEP = StepState(0, result=Result.SUCCESS)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of all statements, in order."""
    names: list[str] = []

    def counted(method: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def send(self: object, name: str, *values: object) -> Any:
            names.append(name)
            return await method(self, name, *values)

        return send

    for name in ("rows", "column", "value", "run"):
        monkeypatch.setattr(Transaction, name, counted(getattr(Transaction, name)))
    monkeypatch.setattr(Database, "_fetch", counted(Database._fetch))
    return names


async def test_a_round_of_many_trees_sends_as_many_statements_as_for_one_tree(scene: Scene, sent: list[str]) -> None:
    counts = [await statements_of_a_round(scene, sent, trees) for trees in (1, 100)]

    assert abs(counts[1] - counts[0]) <= 2


async def statements_of_a_round(scene: Scene, sent: list[str], count: int) -> int:
    """Let the first steps of this many executions end, and settle them."""
    trees = [await opened(scene) for _ in range(count)]
    parents = {tree.run_id for tree in trees}
    await scene.finish(*[succeeded(claim) for claim in await scene.claim(200) if claim.parent_id in parents])
    sent.clear()
    found = await scene.storage.trees.unsettled(count, notes_per_tree=NOTES, at=scene.now)
    wants = [everything(one) for one in found.trees]
    loaded = await scene.storage.trees.load(wants, at=scene.now)
    assert [loaded[one.run_id].error for one in wants] == [None] * count
    settled = [next_step(one) for one in found.trees]
    assert len(await scene.storage.trees.settle(settled, at=scene.now)) == count
    return len(sent)


async def test_a_page_of_many_job_rows_sends_as_many_statements_as_one_job(scene: Scene, sent: list[str]) -> None:
    counts = []
    for number in range(50):
        await scene.schedule(every(60, job_id=f"job{number}"), schedule_id=f"s{number}")
        if number in (0, 49):
            await scene.fire_after(MINUTE)
            sent.clear()
            await scene.storage.queries.job_rows(JobRowFilter())
            counts.append(len(sent))

    assert counts[0] == counts[1]


def everything(one: UnsettledTree) -> Wanted:
    return Wanted(
        run_id=one.tree.run_id,
        all_states=True,
        outputs=frozenset({"extract"}),
        jobs=frozenset({ETL}),
        paused_in=ETL,
        busy=frozenset({JobId("etl.load")}),
        overrides=True,
        body=True,
        definition=one.tree.definition_key,
        parent=one.tree.run_id,
    )


def next_step(one: UnsettledTree) -> Any:
    run = a_child(one.tree.run_id, "load")
    changed = {"extract": _FIRST_STEP, "load": StepState(0, run_id=run.id)}
    notes = [note.run_id for note in one.notes.items]
    return a_settlement(one.tree, notes=notes, changed=changed, runs={"load": run})


async def test_the_definition_of_a_job_is_read_once_and_sent_unless_it_is_known(scene: Scene, sent: list[str]) -> None:
    job = await scene.job()
    await scene.create(*some_runs(3))
    worker = await scene.standby()
    first = await scene.storage.work.claim(worker.id, ["default"], 1, at=scene.now)
    sent.clear()

    second = await scene.storage.work.claim(worker.id, ["default"], 1, at=scene.now)
    third = await scene.storage.work.claim(worker.id, ["default"], 1, known=first.definitions, at=scene.now)

    assert sent == ["claim_runs"] * 2
    assert list(first.definitions) == [f"job:report@{job.revision}"]
    assert (second.definitions, third.definitions) == (first.definitions, {})


async def test_plain_successes_of_bare_runs_and_the_next_claim_are_one_statement(scene: Scene, sent: list[str]) -> None:
    await scene.job()
    await scene.create(*some_runs(4))
    claims = await scene.claim(2)
    sent.clear()

    exchanged = await exchange(scene, claims)

    assert sent == ["exchange_runs"]
    assert (exchanged.stale, len(exchanged.claims)) == ([], 2)


async def test_a_lease_that_is_not_bare_is_not_ended_by_the_short_statement(scene: Scene, sent: list[str]) -> None:
    """The process caches which leases are bare, and may be wrong: the stored row decides."""
    claim = await scene.start(a_run(max_concurrent=1))
    [waiting] = await scene.create(a_run(max_concurrent=1))
    scene.storage.work._bare.add(claim.token)  # type: ignore[attr-defined]
    sent.clear()

    exchanged = await exchange(scene, [claim])

    assert sent[:2] == ["exchange_runs", "end_successes"]
    assert exchanged.stale == []
    assert [one.run_id for one in exchanged.claims] + await scene.ready() == [waiting]


async def exchange(scene: Scene, claims: list[Claim]) -> Any:
    ended = [a_finish(claim, DONE) for claim in claims]
    worker_id = claims[0].worker_id
    return await scene.storage.work.exchange(ended, worker_id, ["default"], 2, at=scene.now)


async def test_a_failure_without_retry_reads_no_definition(scene: Scene, sent: list[str]) -> None:
    claim = await scene.start()
    sent.clear()

    await scene.finish(failed(claim))

    assert sent[0] == "end_leases"
    assert "get_jobs" not in sent


async def test_opening_many_trees_sends_as_many_statements_as_opening_one(scene: Scene, sent: list[str]) -> None:
    counts = []
    for count in (1, 20):
        await scene.create(*some_runs(count, job_id=ETL))
        openings = [an_opening(claim) for claim in await scene.claim() if claim.job_id == ETL]
        sent.clear()
        assert await scene.storage.trees.open(openings, at=scene.now) == []
        counts.append(len(sent))

    assert counts[0] == counts[1]
