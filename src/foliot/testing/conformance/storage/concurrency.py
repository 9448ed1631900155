"""The promises of a storage about concurrent processes."""

import asyncio
from collections import Counter
from itertools import chain

import pytest

from foliot.domain.events import EventKind
from foliot.domain.ids import RunId
from foliot.domain.instant import MINUTE
from foliot.domain.run.lease import CancelAnswer
from foliot.domain.run.run import NewRun, Status
from foliot.domain.schedule.schedule import Overlap
from foliot.testing.builders import LEASE, REPORT, a_run, an_id, every, failed, fire, some_runs, succeeded
from foliot.testing.clock import VirtualClock
from foliot.testing.conformance.storage.scene import Another, Contract, Scene


class ConcurrencyContract(Contract):
    """Every storage must pass these tests unchanged. Each process has its own storage object, and so its own
    connections."""

    @pytest.fixture
    async def scenes(self, scene: Scene, another: Another, clock: VirtualClock) -> list[Scene]:
        return [scene, Scene(await another(), clock), Scene(await another(), clock)]

    async def test_a_second_process_reads_what_the_first_has_saved(self, scenes: list[Scene]) -> None:
        one, two, _ = scenes
        claim = await one.start()

        assert await two.status(claim.run_id) is Status.RUNNING
        assert await two.finish(succeeded(claim)) == []
        assert await one.status(claim.run_id) is Status.SUCCESS

    async def test_a_second_process_reads_a_changed_job(self, scenes: list[Scene]) -> None:
        one, two, _ = scenes
        seen = []
        for priority in (1, 2, 3):
            await one.job(priority=priority)
            seen.append((await two.storage.definitions.get_jobs([REPORT]))[REPORT].spec.options.priority)

        await one.storage.definitions.delete_jobs([REPORT], at=one.now)

        assert (seen, await two.storage.definitions.get_jobs([REPORT])) == ([1, 2, 3], {})

    @pytest.mark.proves("L1", "R1-05", "R1-29")
    async def test_concurrent_workers_never_claim_the_same_run(self, scenes: list[Scene]) -> None:
        runs = await scenes[0].create(*some_runs(300))
        workers = [(scene, await scene.worker(f"worker-{number}")) for scene in scenes for number in range(4)]

        async def work(scene: Scene, worker_number: int) -> list[RunId]:
            claimed: list[RunId] = []
            while claims := await scene.claim(7, worker=workers[worker_number][1]):
                claimed += [claim.run_id for claim in claims]
            return claimed

        shares = await asyncio.gather(*(work(scene, number) for number, (scene, _) in enumerate(workers)))

        assert Counter(chain.from_iterable(shares)) == Counter(runs)

    @pytest.mark.proves("L11")
    async def test_a_hundred_concurrent_claims_of_one_run_grant_one_lease(self, scenes: list[Scene]) -> None:
        [run_id] = await scenes[0].create(a_run())
        for scene in scenes:
            await scene.standby()

        grants = await asyncio.gather(*(scenes[number % 3].claim(only=[run_id]) for number in range(100)))

        assert len(list(chain.from_iterable(grants))) == 1

    @pytest.mark.proves("L2")
    async def test_concurrent_claims_get_different_tokens(self, scenes: list[Scene]) -> None:
        await scenes[0].create(*some_runs(60))
        for scene in scenes:
            await scene.standby()

        grants = await asyncio.gather(*(scenes[number % 3].claim(2) for number in range(30)))

        tokens = [claim.token for claim in chain.from_iterable(grants)]
        assert len(tokens) == len(set(tokens)) == 60

    @pytest.mark.proves("L10")
    async def test_a_limit_holds_across_concurrent_workers(self, scenes: list[Scene]) -> None:
        runs = await scenes[0].create(*some_runs(60, max_concurrent=3))
        under_way: set[RunId] = set()
        most = 0

        async def work(scene: Scene) -> None:
            nonlocal most
            while not await all_over(scene, runs):
                for claim in await scene.claim(2):
                    under_way.add(claim.run_id)
                    most = max(most, len(under_way))
                    await asyncio.sleep(0)
                    under_way.remove(claim.run_id)
                    await scene.finish(succeeded(claim))

        await asyncio.gather(*(work(scene) for scene in scenes))

        assert 1 <= most <= 3

    @pytest.mark.proves("L6", "R4-04", "R4-51", "T1", "T4")
    async def test_one_of_two_schedulers_with_the_same_due_batch_saves_it(self, scenes: list[Scene]) -> None:
        uids = [
            (await scenes[0].schedule(every(60, overlap=Overlap.ALLOW), schedule_id=f"s{number}")).uid
            for number in range(20)
        ]
        scenes[0].clock.advance(MINUTE)
        batch = await scenes[0].due()
        rounds = [[fire(due, batch.now, jobs=batch.jobs) for due in batch.schedules] for _ in scenes]

        saved = await asyncio.gather(*(scene.settle(*firings) for scene, firings in zip(scenes, rounds, strict=True)))

        assert Counter(chain.from_iterable(saved)) == Counter(uids)
        assert [len(await scenes[0].ticks(uid)) for uid in uids] == [1] * 20
        assert len(await scenes[0].ready()) == 20

    @pytest.mark.proves("R1-41")
    async def test_concurrent_runs_with_one_dedupe_key_create_one_run(self, scenes: list[Scene]) -> None:
        answers = await asyncio.gather(
            *(
                scenes[number % 3].storage.orders.create([a_run(dedupe_key=f"key-{number // 6}")], at=scenes[0].now)
                for number in range(30)
            )
        )

        created = list(chain.from_iterable(answers))
        assert sum(answer.is_new for answer in created) == 5
        assert len({answer.run_id for answer in created}) == len(await scenes[0].ready()) == 5

    @pytest.mark.proves("R1-41")
    @pytest.mark.parametrize("scope", ["active", "window"])
    async def test_one_of_several_concurrent_runs_takes_a_freed_dedupe_key(
        self, scenes: list[Scene], scope: str
    ) -> None:
        def keyed(number: int) -> NewRun:
            return a_run(dedupe_key=f"key-{number}", dedupe_scope=scope, dedupe_for=MINUTE)

        await scenes[0].create(*(keyed(number) for number in range(10)))
        await scenes[0].finish(*(succeeded(claim) for claim in await scenes[0].claim()))
        scenes[0].clock.advance(MINUTE)

        answers = await asyncio.gather(*(scenes[number % 3].create(keyed(number // 3)) for number in range(30)))

        taken = [answers[first : first + 3] for first in range(0, 30, 3)]
        assert [len({run_id for [run_id] in group}) for group in taken] == [1] * 10
        assert len(await scenes[0].ready()) == 10

    @pytest.mark.proves("S5")
    async def test_a_run_is_never_both_cancelled_and_claimed(self, scenes: list[Scene]) -> None:
        runs = await scenes[0].create(*some_runs(60))
        await scenes[1].standby()

        cancels = asyncio.gather(*(scenes[0].cancel(run_id) for run_id in reversed(runs)))
        claims = asyncio.gather(*(scenes[1].claim(2) for _ in range(30)))
        answers = dict(zip(reversed(runs), chain.from_iterable(await cancels), strict=True))
        claimed = {claim.run_id for claim in chain.from_iterable(await claims)}

        assert {run_id for run_id, answer in answers.items() if answer is CancelAnswer.CANCELLED} == {*runs} - claimed
        assert {answers[run_id] for run_id in claimed} <= {CancelAnswer.REQUESTED}

    @pytest.mark.proves("L4", "S4")
    async def test_a_run_that_two_workers_finish_ends_once(self, scenes: list[Scene]) -> None:
        await scenes[0].create(*some_runs(20))
        claims = await scenes[0].claim()

        await asyncio.gather(
            *(scenes[0].finish(succeeded(claim)) for claim in claims),
            *(scenes[1].finish(failed(claim)) for claim in claims),
        )

        ended = await scenes[2].items(EventKind.RUNS_ENDED)
        statuses = await scenes[2].statuses(*(claim.run_id for claim in claims))
        assert sorted(ended) == sorted(
            [claim.run_id, status, 1] for claim, status in zip(claims, statuses, strict=True)
        )

    @pytest.mark.proves("L6")
    async def test_one_of_several_candidates_becomes_leader(self, scenes: list[Scene]) -> None:
        epochs = await asyncio.gather(
            *(scenes[number % 3].storage.upkeep.lead(an_id(), LEASE, at=scenes[0].now) for number in range(12))
        )

        assert len([epoch for epoch in epochs if epoch is not None]) == 1

    @pytest.mark.proves("O2")
    async def test_a_reader_of_events_misses_none(self, scenes: list[Scene]) -> None:
        reader, *writers = scenes
        seen: list[RunId] = []
        last = 0

        async def follow() -> None:
            nonlocal last
            for event in await reader.storage.queries.events(after=last, limit=1_000):
                assert event.seq > last
                last = event.seq
                seen.extend(item[0] for item in event.items)

        async def write(scene: Scene) -> list[RunId]:
            return [run_id for _ in range(40) for run_id in await scene.create(a_run())]

        writing = asyncio.gather(*(write(scene) for scene in (*writers, *writers)))
        while not writing.done():
            await follow()
        await follow()

        assert Counter(seen) == Counter(chain.from_iterable(await writing))

    @pytest.mark.proves("T10")
    async def test_queued_ticks_run_one_at_a_time_with_any_number_of_workers(self, scenes: list[Scene]) -> None:
        await scenes[0].schedule(every(60, overlap=Overlap.QUEUE))
        runs = [run_id for _ in range(12) for run_id in await scenes[0].fire_after(MINUTE)]
        served: list[RunId] = []

        async def work(scene: Scene) -> None:
            while not await all_over(scene, runs):
                for claim in await scene.claim():
                    served.append(claim.run_id)
                    await scene.finish(succeeded(claim))

        await asyncio.gather(*(work(scene) for scene in scenes))

        assert served == runs


async def all_over(scene: Scene, runs: list[RunId]) -> bool:
    return all(status.is_terminal for status in await scene.statuses(*runs))
