"""Concurrent calls share few statements, and each gets its own answer or error."""

import asyncio
from collections.abc import Sequence

import pytest

from foliot.adapters.storage.postgres import PostgresStorage
from foliot.adapters.storage.postgres.database.batcher import Batcher
from foliot.domain.ids import JobId
from foliot.domain.job.job import JobSpec
from foliot.ports.orders import Created
from foliot.testing.builders import a_run
from tests.adapters.storage.postgres.faults import Faults


class Work:
    """Doubles numbers when it is released, and records the batches."""

    def __init__(self) -> None:
        self.groups: list[list[int]] = []
        self.may_end = asyncio.Event()

    async def __call__(self, numbers: Sequence[int]) -> list[int]:
        self.groups.append(list(numbers))
        await self.may_end.wait()
        if 13 in numbers:
            raise ValueError("thirteen")
        return [2 * number for number in numbers]


@pytest.fixture
def work() -> Work:
    return Work()


async def asked(batcher: Batcher[int, int], *requests: list[int]) -> "list[asyncio.Task[list[int]]]":
    tasks = [asyncio.create_task(batcher.ask(request)) for request in requests]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return tasks


async def test_requests_that_arrive_during_a_call_are_batched(work: Work) -> None:
    batcher = Batcher(work)
    first = await asked(batcher, [1])
    others = await asked(batcher, [2, 3], [4])

    work.may_end.set()

    assert await asyncio.gather(*first, *others) == [[2], [4, 6], [8]]
    assert work.groups == [[1], [2, 3, 4]]


async def test_a_cancelled_request_is_left_out_of_the_batch(work: Work) -> None:
    batcher = Batcher(work)
    first = await asked(batcher, [1])
    gone, stays = await asked(batcher, [2], [3])
    gone.cancel()

    work.may_end.set()

    assert await asyncio.gather(*first, stays) == [[2], [6]]
    assert work.groups == [[1], [3]]


async def test_an_error_fails_its_batch_and_the_next_batch_succeeds(work: Work) -> None:
    batcher = Batcher(work)
    failing = await asked(batcher, [13])
    later = await asked(batcher, [2])

    work.may_end.set()

    with pytest.raises(ValueError, match="thirteen"):
        await failing[0]
    assert await later[0] == [4]


async def test_requests_with_a_common_key_are_not_batched(work: Work) -> None:
    batcher = Batcher(work, key=lambda number: number)
    tasks = await asked(batcher, [1], [2], [3], [2])
    work.may_end.set()

    assert await asyncio.gather(*tasks) == [[2], [4], [6], [4]]
    assert work.groups == [[1, 2, 3], [2]]


async def test_concurrent_creates_share_transactions_and_get_their_own_answers(
    storage: PostgresStorage, faults: Faults
) -> None:
    runs = [a_run() for _ in range(50)]

    answers = await asyncio.gather(*(storage.orders.create([run]) for run in runs))

    assert answers == [[Created(run.id, is_new=True)] for run in runs]
    assert faults.reached.count("create.after_commit") < 10


async def test_an_unstorable_run_does_not_affect_the_other_runs(storage: PostgresStorage) -> None:
    runs = [a_run(dedupe_key="nul \0" if number == 7 else None) for number in range(20)]

    answers = await asyncio.gather(*(storage.orders.create([run]) for run in runs))

    assert [answer.is_new for [answer] in answers] == [number != 7 for number in range(20)]
    assert len(await storage.queries.get_runs([run.id for run in runs])) == 19


async def test_of_two_creates_of_the_same_run_one_is_new(storage: PostgresStorage) -> None:
    run = a_run()

    answers = await asyncio.gather(*(storage.orders.create([run]) for _ in range(3)))

    assert [answer.is_new for [answer] in answers] == [True, False, False]


async def test_concurrent_reads_of_jobs_get_their_own_answers(storage: PostgresStorage) -> None:
    names = [JobId(name) for name in ("a", "b")]
    await storage.definitions.put_jobs([(name, JobSpec(kind="python")) for name in names])

    found = await asyncio.gather(*(storage.definitions.get_jobs([JobId(name)]) for name in ("a", "b", "c", "a")))

    assert [list(jobs) for jobs in found] == [["a"], ["b"], [], ["a"]]
