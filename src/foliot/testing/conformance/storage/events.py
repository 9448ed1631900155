"""The promises of a storage about events."""

import pytest
from msgspec.structs import replace

from foliot.domain.events import EventKind
from foliot.domain.ids import Token
from foliot.domain.instant import MINUTE, SECOND
from foliot.domain.run.run import Status
from foliot.domain.schedule.schedule import Overlap
from foliot.domain.schedule.tick import TickOutcome, TickReason
from foliot.testing.builders import (
    LEASE,
    NIGHTLY,
    REPORT,
    a_run,
    every,
    failed,
    given_back,
    some_runs,
    succeeded,
    to_retry,
)
from foliot.testing.conformance.storage.scene import Contract, Scene


class EventContract(Contract):
    """Every storage must pass these tests unchanged."""

    @pytest.mark.proves("O2")
    async def test_events_are_read_in_order_page_by_page(self, scene: Scene) -> None:
        runs = [run_id for _ in range(5) for run_id in await scene.create(a_run())]

        page = await scene.storage.queries.events(after=0, limit=3)
        rest = await scene.storage.queries.events(after=page[-1].seq, limit=100)

        numbers = [event.seq for event in (*page, *rest)]
        assert len(page) == 3
        assert numbers == sorted(set(numbers))
        assert [item[0] for event in (*page, *rest) for item in event.items] == runs

    @pytest.mark.proves("Z42")
    async def test_a_page_of_events_ends_with_the_one_that_reaches_its_size(self, scene: Scene) -> None:
        await scene.create(a_run())
        for _ in range(3):
            await scene.create(*some_runs(100))

        small = await scene.storage.queries.events(after=0, limit=100, size=1)
        large = await scene.storage.queries.events(after=0, limit=100, size=4_000)
        rest = await scene.storage.queries.events(after=large[-1].seq, limit=1, size=4_000)

        assert [len(event.items) for event in (*small, *large, *rest)] == [1, 1, 100, 100]

    async def test_a_new_storage_has_no_events(self, scene: Scene) -> None:
        assert await scene.storage.queries.events(after=0, limit=100) == []

    async def test_a_batch_of_created_runs_is_one_event(self, scene: Scene) -> None:
        scene.clock.advance(SECOND)
        runs = await scene.create(*some_runs(3))

        [event] = await scene.storage.queries.events(after=0, limit=100)

        assert (event.kind, event.at) == (EventKind.RUNS_CREATED, scene.now)
        assert event.items == [[run_id, REPORT] for run_id in runs]

    async def test_a_deduplicated_run_writes_no_event(self, scene: Scene) -> None:
        await scene.create(a_run(dedupe_key="order-1"))
        await scene.create(a_run(dedupe_key="order-1"))

        assert len(await scene.items(EventKind.RUNS_CREATED)) == 1

    async def test_a_start_writes_an_event(self, scene: Scene) -> None:
        claim = await scene.start()

        assert await scene.items(EventKind.RUNS_STARTED) == [[claim.run_id, 1]]

    @pytest.mark.proves("S4")
    async def test_every_end_of_an_attempt_writes_an_event(self, scene: Scene) -> None:
        first = await scene.start()
        await scene.finish(to_retry(first))
        [second] = await scene.claim()
        await scene.finish(failed(second))

        assert await scene.items(EventKind.RUNS_ENDED) == [
            [first.run_id, Status.SCHEDULED, 1],
            [first.run_id, Status.FAILED, 2],
        ]

    @pytest.mark.proves("S4")
    async def test_a_run_has_one_end_event(self, scene: Scene) -> None:
        claim = await scene.start()
        await scene.finish(succeeded(claim))
        await scene.finish(succeeded(claim))
        await scene.cancel(claim.run_id)

        assert await scene.items(EventKind.RUNS_ENDED) == [[claim.run_id, Status.SUCCESS, 1]]

    async def test_a_stale_finish_writes_no_event(self, scene: Scene) -> None:
        claim = await scene.start()
        await scene.finish(succeeded(replace(claim, token=Token(claim.token + 1_000))))

        assert await scene.items(EventKind.RUNS_ENDED) == []

    @pytest.mark.proves("S4")
    async def test_cancelling_a_waiting_run_writes_an_end_event(self, scene: Scene) -> None:
        [run_id] = await scene.create(a_run())
        await scene.cancel(run_id)

        assert await scene.items(EventKind.RUNS_ENDED) == [[run_id, Status.CANCELLED, 0]]
        assert await scene.items(EventKind.RUNS_CANCEL_REQUESTED) == []

    async def test_a_cancellation_request_writes_one_event(self, scene: Scene) -> None:
        claim = await scene.start()
        await scene.cancel(claim.run_id)
        await scene.cancel(claim.run_id)

        assert await scene.items(EventKind.RUNS_CANCEL_REQUESTED) == [[claim.run_id]]
        assert await scene.items(EventKind.RUNS_ENDED) == []

    @pytest.mark.proves("S4")
    async def test_a_cancelled_retry_writes_a_cancelled_end_event(self, scene: Scene) -> None:
        claim = await scene.start()
        await scene.cancel(claim.run_id)
        await scene.finish(to_retry(claim))

        assert await scene.items(EventKind.RUNS_ENDED) == [[claim.run_id, Status.CANCELLED, 1]]

    @pytest.mark.proves("S4")
    async def test_an_attempt_given_back_writes_no_end_event_of_its_run(self, scene: Scene) -> None:
        claim = await scene.start()
        await scene.finish(given_back(claim))

        assert await scene.items(EventKind.RUNS_ENDED) == [[claim.run_id, Status.SCHEDULED, 1]]

    async def test_a_lease_given_back_by_a_renewal_writes_an_event(self, scene: Scene) -> None:
        worker = await scene.worker()
        claim = await scene.start(worker=worker)
        await scene.storage.work.renew(worker.id, [], LEASE, at=scene.now)

        assert await scene.items(EventKind.RUNS_ENDED) == [[claim.run_id, Status.SCHEDULED, 1]]

    async def test_a_batch_event_has_the_outcome_of_each_attempt(self, scene: Scene) -> None:
        await scene.create(*some_runs(4, retry_delay=SECOND))
        one, two, three, four = await scene.claim()
        await scene.finish(given_back(four), to_retry(three), failed(two), succeeded(one))

        assert sorted(await scene.items(EventKind.RUNS_ENDED)) == sorted(
            [
                [one.run_id, Status.SUCCESS, 1],
                [two.run_id, Status.FAILED, 1],
                [three.run_id, Status.SCHEDULED, 1],
                [four.run_id, Status.SCHEDULED, 1],
            ]
        )

    @pytest.mark.proves("T4")
    async def test_committed_ticks_and_their_runs_write_events(self, scene: Scene) -> None:
        schedule = await scene.schedule(every(60, overlap=Overlap.SKIP))
        [run_id] = await scene.fire_after(MINUTE)
        first = scene.now
        await scene.fire_after(MINUTE)

        assert await scene.items(EventKind.TICKS_SETTLED) == [
            [schedule.uid, first, first, TickOutcome.RAN, TickReason.ON_TIME, run_id, 1],
            [schedule.uid, scene.now, scene.now, TickOutcome.SKIPPED, TickReason.OVERLAP, None, 1],
        ]
        assert await scene.items(EventKind.RUNS_CREATED) == [[run_id, REPORT]]

    async def test_a_firing_that_was_not_saved_writes_no_event(self, scene: Scene) -> None:
        await scene.schedule(every(60))
        scene.clock.advance(MINUTE)
        [firing] = await scene.decide()
        await scene.settle(firing)
        await scene.settle(firing)

        assert len(await scene.items(EventKind.TICKS_SETTLED)) == 1

    async def test_changes_of_jobs_write_events(self, scene: Scene) -> None:
        await scene.job()
        await scene.job()
        await scene.job(priority=3)
        await scene.storage.definitions.delete_jobs([REPORT], at=scene.now)

        assert await scene.items(EventKind.JOB_CHANGED) == [[REPORT, 1], [REPORT, 2]]
        assert await scene.items(EventKind.JOB_DELETED) == [[REPORT, 2]]

    async def test_changes_of_schedules_write_events(self, scene: Scene) -> None:
        uid = (await scene.schedule(every(60))).uid
        await scene.schedule(every(60))
        await scene.pause(paused=True)
        await scene.pause(paused=True)
        await scene.pause(paused=False)
        await scene.storage.definitions.delete_schedules([NIGHTLY], at=scene.now)

        events = await scene.storage.queries.events(after=0, limit=100)

        assert [(event.kind, event.items) for event in events if event.kind.startswith("schedule.")] == [
            (EventKind.SCHEDULE_CHANGED, [[NIGHTLY, uid, 1]]),
            (EventKind.SCHEDULE_PAUSED, [[NIGHTLY, uid, 2]]),
            (EventKind.SCHEDULE_RESUMED, [[NIGHTLY, uid, 3]]),
            (EventKind.SCHEDULE_DELETED, [[NIGHTLY, uid, 3]]),
        ]
