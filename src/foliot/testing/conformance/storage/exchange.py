"""The promises of a storage about `exchange`: it saves outcomes and claims runs in one transaction."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Collection, Sequence

import pytest

from foliot.domain.events import EventKind
from foliot.domain.ids import RunId, Token
from foliot.domain.instant import LATEST, SECOND
from foliot.domain.run.lease import Claim, Finish, Worker
from foliot.domain.run.run import Status
from foliot.ports.storage import Storage
from foliot.ports.work import Exchanged
from foliot.testing.builders import LEASE, a_claim, a_run, failed, some_runs, succeeded
from foliot.testing.clock import VirtualClock
from foliot.testing.conformance.storage.finish import FinishContract
from foliot.testing.conformance.storage.scene import Another, Scene
from foliot.testing.invariants import check_invariants


class ExchangingScene(Scene):
    """Finishes attempts with an exchange that claims nothing."""

    async def finish(self, *finishes: Finish) -> list[Token]:
        exchanged = await self.exchange(finishes, queues=["deserted"])
        assert exchanged.claims == []
        return exchanged.stale

    async def exchange(
        self,
        finishes: Sequence[Finish],
        limit: int = 100,
        *,
        worker: Worker | None = None,
        queues: Sequence[str] = ("default",),
        only: Collection[RunId] | None = None,
    ) -> Exchanged:
        holder = worker or await self.standby()
        return await self.storage.work.exchange(finishes, holder.id, queues, limit, only=only, at=self.now)


class ExchangeContract(FinishContract):
    """Every storage must pass these tests unchanged, and those of `FinishContract` with exchanges."""

    @pytest.fixture
    async def scene(self, storage: Storage, clock: VirtualClock) -> AsyncIterator[ExchangingScene]:
        yield ExchangingScene(storage, clock)
        assert await check_invariants(storage, now=LATEST) == []

    @pytest.mark.proves("R1-30", "L1")
    async def test_an_exchange_saves_outcomes_and_claims_the_next_runs(self, scene: ExchangingScene) -> None:
        runs = await scene.create(*some_runs(5))
        first = await scene.claim(2)
        scene.clock.advance(SECOND)

        stale, claims, _ = await scene.exchange([succeeded(claim) for claim in first], 2)

        assert (stale, [claim.run_id for claim in claims]) == ([], runs[2:4])
        assert {claim.started_at for claim in claims} == {scene.now}
        assert await scene.statuses(*runs) == [*[Status.SUCCESS] * 2, *[Status.RUNNING] * 2, Status.QUEUED]

    async def test_an_exchange_claims_in_rank_order(self, scene: ExchangingScene) -> None:
        first = await scene.start()
        low, middle, high = [(await scene.create(a_run(priority=priority)))[0] for priority in (1, 5, 9)]

        _, claims, _ = await scene.exchange([succeeded(first)], 2)

        assert [claim.run_id for claim in claims] == [high, middle]
        assert await scene.status(low) is Status.QUEUED

    async def test_runs_claimed_by_an_exchange_can_be_finished(self, scene: ExchangingScene) -> None:
        runs = await scene.create(*some_runs(4))
        claims = await scene.claim(1)
        while claims:
            _, claims, _ = await scene.exchange([succeeded(claim) for claim in claims], 1)

        assert await scene.statuses(*runs) == [Status.SUCCESS] * 4

    @pytest.mark.proves("L2")
    async def test_an_exchange_returns_stale_tokens_and_still_claims(self, scene: ExchangingScene) -> None:
        current, gone = await scene.start(), await scene.start()
        await scene.finish(failed(gone))
        [waiting] = await scene.create(a_run())

        stale, claims, _ = await scene.exchange([succeeded(current), succeeded(gone), succeeded(a_claim())])

        assert gone.token in stale
        assert (current.token in stale, len(stale)) == (False, 2)
        assert [claim.run_id for claim in claims] == [waiting]
        assert await scene.statuses(current.run_id, gone.run_id) == [Status.SUCCESS, Status.FAILED]

    @pytest.mark.proves("S4")
    async def test_a_repeated_exchange_saves_nothing_twice(self, scene: ExchangingScene) -> None:
        claim = await scene.start()
        await scene.exchange([succeeded(claim)])

        stale, *_ = await scene.exchange([succeeded(claim)])

        assert stale == []
        assert await scene.items(EventKind.RUNS_ENDED) == [[claim.run_id, "success", 1]]

    async def test_an_exchange_saves_successes_and_failures(self, scene: ExchangingScene) -> None:
        good, bad = await scene.start(), await scene.start()
        [waiting] = await scene.create(a_run())

        stale, claims, _ = await scene.exchange([succeeded(good), failed(bad)])

        assert (stale, [claim.run_id for claim in claims]) == ([], [waiting])
        assert await scene.statuses(good.run_id, bad.run_id) == [Status.SUCCESS, Status.FAILED]

    @pytest.mark.proves("L10")
    async def test_a_freed_place_is_used_in_the_same_exchange(self, scene: ExchangingScene) -> None:
        first, second = await scene.create(*some_runs(2, max_concurrent=1))
        [claim] = await scene.claim()
        assert claim.run_id == first

        _, claims, _ = await scene.exchange([succeeded(claim)])

        assert [claim.run_id for claim in claims] == [second]

    async def test_an_expired_worker_saves_its_outcomes_and_claims_nothing(self, scene: ExchangingScene) -> None:
        worker = await scene.worker()
        claim = await scene.start(worker=worker)
        await scene.create(a_run())
        scene.clock.advance(LEASE)

        stale, claims, _ = await scene.exchange([succeeded(claim)], worker=worker)

        assert (stale, claims) == ([], [])
        assert await scene.status(claim.run_id) is Status.SUCCESS

    async def test_a_reregistered_worker_saves_outcomes_of_its_former_id(self, scene: ExchangingScene) -> None:
        before, after = await scene.worker("before"), await scene.worker("after")
        claim = await scene.start(worker=before)
        await scene.create(a_run())

        stale, [next_claim], _ = await scene.exchange([succeeded(claim)], worker=after)

        run = await scene.run(claim.run_id)
        assert (stale, run.status, run.worker_id) == ([], Status.SUCCESS, before.id)
        assert next_claim.worker_id == after.id

    async def test_an_exchange_with_only_claims_no_other_run(self, scene: ExchangingScene) -> None:
        first = await scene.start()
        _, named = await scene.create(*some_runs(2))

        _, claims, _ = await scene.exchange([succeeded(first)], only=[named])

        assert [claim.run_id for claim in claims] == [named]

    @pytest.mark.parametrize("limit", [0, -1])
    async def test_an_exchange_with_a_limit_of_zero_claims_nothing(self, scene: ExchangingScene, limit: int) -> None:
        first = await scene.start()
        await scene.create(a_run())

        assert await scene.exchange([succeeded(first)], limit) == ([], [], {})
        assert await scene.status(first.run_id) is Status.SUCCESS

    async def test_an_exchange_claims_from_all_queues_of_the_worker(self, scene: ExchangingScene) -> None:
        first = await scene.start()
        runs = [(await scene.create(a_run(queue=queue)))[0] for queue in ("fast", "slow", "other")]

        _, claims, _ = await scene.exchange([succeeded(first)], queues=["fast", "slow"])

        assert [claim.run_id for claim in claims] == runs[:2]

    async def test_an_exchange_without_outcomes_is_a_claim(self, scene: ExchangingScene) -> None:
        [run_id] = await scene.create(a_run())

        stale, [claim], _ = await scene.exchange([])

        assert (stale, claim.run_id) == ([], run_id)

    @pytest.mark.proves("O2")
    async def test_an_exchange_writes_events_for_ends_and_starts(self, scene: ExchangingScene) -> None:
        first = await scene.start()
        [second] = await scene.create(a_run())

        await scene.exchange([succeeded(first)])

        assert await scene.items(EventKind.RUNS_STARTED) == [[first.run_id, 1], [second, 1]]
        assert await scene.items(EventKind.RUNS_ENDED) == [[first.run_id, "success", 1]]

    @pytest.mark.proves("L1", "L2")
    async def test_concurrent_exchanges_never_claim_the_same_run(
        self, scene: ExchangingScene, another: Another, clock: VirtualClock
    ) -> None:
        runs = await scene.create(*some_runs(200))
        scenes = [scene, ExchangingScene(await another(), clock), ExchangingScene(await another(), clock)]

        async def work(own: ExchangingScene, name: str) -> list[Claim]:
            worker = await own.worker(name)
            done: list[Claim] = []
            _, claims, _ = await own.exchange([], 7, worker=worker)
            while claims:
                done += claims
                stale, claims, _ = await own.exchange([succeeded(claim) for claim in claims], 7, worker=worker)
                assert stale == []
            return done

        shares = await asyncio.gather(*(work(own, f"{own}-{hand}") for own in scenes for hand in range(2)))

        done = [claim for share in shares for claim in share]
        assert Counter(claim.run_id for claim in done) == Counter(runs)
        assert len({claim.token for claim in done}) == len(runs)
        assert set(await scene.statuses(*runs)) == {Status.SUCCESS}
