"""The promises of a storage about reading ticks and ledgers."""

import pytest
from msgspec.structs import replace

from foliot.domain.audit import RecentRows, audit
from foliot.domain.ids import ScheduleId, ScheduleUid
from foliot.domain.instant import HOUR, LATEST, MINUTE, SECOND, Instant, later
from foliot.domain.schedule.schedule import Catchup, Overlap
from foliot.domain.schedule.tick import TickOutcome, tick_key
from foliot.ports.storage import Storage
from foliot.testing.builders import NIGHTLY, every
from foliot.testing.clock import VirtualClock
from foliot.testing.conformance.storage.scene import Contract, Scene


class LedgerContract(Contract):
    """Every storage must pass these tests unchanged."""

    @pytest.mark.proves("R4-24")
    async def test_ticks_are_read_as_they_were_committed(self, scene: Scene) -> None:
        schedule = await scene.schedule(every(60, catchup=Catchup.ONCE))
        scene.clock.advance(10 * MINUTE + 30 * SECOND)
        [firing] = await scene.decide()

        await scene.settle(firing)

        assert {tick.outcome for tick in firing.ticks} == {TickOutcome.COALESCED, TickOutcome.RAN}
        assert await scene.ticks(schedule.uid) == firing.ticks

    async def test_ticks_are_read_in_order_from_a_half_open_range(self, scene: Scene) -> None:
        uid, moments = await six_ticks(scene)

        read = await scene.storage.queries.ticks(uid, after=moments[1], until=moments[4], limit=100)

        assert [tick.scheduled_for for tick in read] == moments[2:5]

    async def test_ticks_are_read_page_by_page(self, scene: Scene) -> None:
        uid, moments = await six_ticks(scene)

        page = await scene.storage.queries.ticks(uid, after=Instant(0), until=LATEST, limit=4)
        rest = await scene.storage.queries.ticks(uid, after=page[-1].scheduled_for, until=LATEST, limit=4)

        assert [tick.scheduled_for for tick in (*page, *rest)] == moments

    async def test_tick_keys_are_read_page_by_page_without_ranges(self, scene: Scene) -> None:
        uid, _ = await a_range(scene)
        for _ in range(3):
            await scene.fire_after(MINUTE)
        moments = [tick.scheduled_for for tick in await scene.ticks(uid) if tick.count == 1]

        page = await scene.storage.queries.tick_keys(uid, after=Instant(0), until=LATEST, limit=2)
        rest = await scene.storage.queries.tick_keys(uid, after=page[-1][0], until=moments[-1], limit=2)
        none = await scene.storage.queries.tick_keys(uid, after=Instant(0), until=Instant(moments[0] - 1), limit=2)

        name = (await scene.stored()).id
        assert len(page) == 2
        assert [*page, *rest, *none] == [(moment, tick_key(name, moment)) for moment in moments]

    async def test_a_run_in_two_ledger_rows_is_found(self, storage: Storage, clock: VirtualClock) -> None:
        scene = Scene(storage, clock)  # without the final check of invariants
        schedule = await scene.schedule(every(60, catchup=Catchup.ALL, overlap=Overlap.ALLOW))
        scene.clock.advance(4 * MINUTE + 30 * SECOND)
        [firing] = await scene.decide()
        first, second, *rest = firing.ticks
        ticks = [first, second._replace(run_id=first.run_id), *rest]
        await scene.settle(replace(firing, ticks=ticks))

        shared = scene.storage.queries.shared_runs

        assert await shared(schedule.uid, after=Instant(0)) == [first.run_id]
        assert await shared(schedule.uid, after=first.scheduled_for) == []
        assert await shared(ScheduleUid("other"), after=Instant(0)) == []

    async def test_recent_rows_of_many_schedules_are_read_together(self, scene: Scene) -> None:
        uid, moments = await six_ticks(scene)
        quiet = await scene.schedule(every(HOUR // SECOND), schedule_id="quiet")
        names = {uid: NIGHTLY, quiet.uid: quiet.id, ScheduleUid("other"): ScheduleId("other")}

        found = await scene.storage.queries.recent_rows(names, since=moments[3], created_since=moments[4], limit=9)

        ticks = await scene.storage.queries.ticks(uid, after=Instant(moments[2] - 1), until=LATEST, limit=9)
        runs = await scene.storage.queries.get_runs([tick.run_id for tick in ticks if tick.run_id is not None])
        assert found[uid].ticks == ticks
        assert found[uid].keys == {moment: tick_key(NIGHTLY, moment) for moment in moments[2:]}
        assert [(run.id, run.job_id, run.tick) for run in found[uid].runs] == [
            (run.id, run.job_id, run.tick) for run in sorted(runs.values(), reverse=True)
        ]
        assert found[quiet.uid] == found[ScheduleUid("other")] == RecentRows([], {}, [])

    async def test_of_older_runs_only_the_last_one_is_read(self, scene: Scene) -> None:
        uid, moments = await six_ticks(scene)

        found = await scene.storage.queries.recent_rows({uid: NIGHTLY}, since=LATEST, created_since=LATEST, limit=1)

        assert [run.tick.scheduled_for for run in found[uid].runs if run.tick] == moments[5:]

    @pytest.mark.parametrize("limit", [0, 1, 5])
    async def test_a_schedule_with_more_recent_rows_is_left_out(self, scene: Scene, limit: int) -> None:
        uid, _ = await six_ticks(scene)

        none = await scene.storage.queries.recent_rows(
            {uid: NIGHTLY}, since=Instant(0), created_since=LATEST, limit=limit
        )
        by_runs = await scene.storage.queries.recent_rows(
            {uid: NIGHTLY}, since=LATEST, created_since=Instant(0), limit=limit
        )

        assert none == by_runs == {}

    async def test_a_range_is_found_by_its_first_tick(self, scene: Scene) -> None:
        uid, first = await a_range(scene)

        found = await scene.storage.queries.ticks(uid, after=Instant(first - 1), until=first, limit=9)

        assert [(tick.scheduled_for, tick.count) for tick in found] == [(first, 10)]

    async def test_a_range_is_found_by_every_tick_in_it(self, scene: Scene) -> None:
        uid, first = await a_range(scene)
        last = later(first, 9 * MINUTE)
        await scene.fire_after(MINUTE)

        second = await scene.storage.queries.ticks(uid, after=Instant(first + 1), until=LATEST, limit=9)
        ninth = await scene.storage.queries.ticks(uid, after=Instant(last - 1), until=last, limit=9)
        beyond = await scene.storage.queries.ticks(uid, after=last, until=LATEST, limit=9)

        assert [tick.scheduled_for for tick in second] == [first, later(last, MINUTE)]
        assert [tick.scheduled_for for tick in ninth] == [first]
        assert [tick.scheduled_for for tick in beyond] == [later(last, MINUTE)]

    async def test_a_range_that_began_earlier_counts_towards_the_limit(self, scene: Scene) -> None:
        uid, first = await a_range(scene)
        await scene.fire_after(MINUTE)

        page = await scene.storage.queries.ticks(uid, after=Instant(first + 1), until=LATEST, limit=1)

        assert [tick.scheduled_for for tick in page] == [first]

    async def test_the_page_after_a_range_does_not_repeat_it(self, scene: Scene) -> None:
        uid, first = await a_range(scene)

        assert await scene.storage.queries.ticks(uid, after=first, until=LATEST, limit=9) == []

    async def test_no_row_is_read_from_a_period_without_ticks(self, scene: Scene) -> None:
        uid, first = await a_range(scene)
        inside = later(first, MINUTE)

        assert await scene.storage.queries.ticks(uid, after=inside, until=inside, limit=9) == []

    @pytest.mark.proves("R4-56")
    async def test_ticks_of_a_schedule_page_are_newest_first(self, scene: Scene) -> None:
        _, moments = await six_ticks(scene)

        latest = [seen.record for seen in await scene.latest_ticks(2)]

        assert [tick.scheduled_for for tick in latest] == [moments[5], moments[4]]

    @pytest.mark.proves("R4-24")
    async def test_ticks_of_a_schedule_page_have_keys_and_decision_times(self, scene: Scene) -> None:
        uid, moments = await six_ticks(scene)
        keys = dict(await scene.storage.queries.tick_keys(uid, after=Instant(0), until=LATEST, limit=9))

        [seen] = await scene.latest_ticks(1)

        assert (seen.key, seen.decided_at) == (keys[moments[5]], scene.clock.now())

    async def test_a_missing_schedule_has_no_ticks(self, scene: Scene) -> None:
        stranger = ScheduleUid("stranger")

        assert await scene.ticks(stranger) == []
        assert await scene.latest_ticks(5, ScheduleId("stranger")) == ()

    async def test_ledgers_are_read_by_uid_page_by_page(self, scene: Scene) -> None:
        uids = sorted([(await scene.schedule(every(60), schedule_id=name)).uid for name in ("c", "a", "b")])

        first = await scene.storage.queries.ledgers(limit=2)
        second = await scene.storage.queries.ledgers(after=first[-1].schedule.uid, limit=2)

        assert [ledger.schedule.uid for ledger in (*first, *second)] == uids

    async def test_ledgers_are_read_by_schedule_id(self, scene: Scene) -> None:
        for name in ("a", "b", "c"):
            await scene.schedule(every(60), schedule_id=name)

        ledgers = await scene.storage.queries.ledgers(ids=[ScheduleId("b"), ScheduleId("x")])

        assert [ledger.schedule.id for ledger in ledgers] == ["b"]
        assert await scene.storage.queries.ledgers(ids=[]) == []

    async def test_an_id_that_was_used_twice_shows_the_current_schedule(self, scene: Scene) -> None:
        await scene.schedule(every(60))
        await scene.storage.definitions.delete_schedules([NIGHTLY], at=scene.now)
        assert await scene.storage.queries.schedule(NIGHTLY) is None

        living = await scene.schedule(every(90))

        shown = await scene.storage.queries.schedule(NIGHTLY)
        assert shown is not None
        assert shown.schedule == living
        [ledger] = (await scene.storage.queries.ledgers())[1:]
        assert (ledger.schedule, ledger.deleted_at) == (living, None)

    async def test_a_ledger_has_its_schedule_as_stored(self, scene: Scene) -> None:
        await scene.schedule(every(60))
        await scene.fire_after(MINUTE)

        [ledger] = await scene.storage.queries.ledgers()

        assert ledger.schedule == await scene.stored()
        assert ledger.deleted_at is None

    @pytest.mark.proves("T2", "T3", "T5", "T11", "T15")
    async def test_a_ledger_with_edits_pauses_and_downtime_has_exactly_the_planned_ticks(self, scene: Scene) -> None:
        await scene.schedule(every(60, catchup=Catchup.ONCE, overlap=Overlap.ALLOW))
        await scene.fire_after(10 * MINUTE + 30 * SECOND)
        await scene.pause(paused=True)
        scene.clock.advance(10 * MINUTE)
        await scene.schedule(every(90, jitter=SECOND, overlap=Overlap.ALLOW))
        scene.clock.advance(10 * MINUTE)
        await scene.pause(paused=False)
        await scene.fire()
        scene.clock.advance(HOUR)
        await scene.schedule(every(30, catchup=Catchup.ALL, overlap=Overlap.ALLOW))
        scene.clock.advance(HOUR)
        await scene.fire()
        await scene.fire_after(SECOND)

        assert await findings(scene) == []


async def a_range(scene: Scene) -> tuple[ScheduleUid, Instant]:
    """Store one row for ten ticks, a minute apart. Return it and the first planned time."""
    schedule = await scene.schedule(every(60))
    await scene.fire_after(10 * MINUTE + 30 * SECOND)
    return schedule.uid, later(schedule.created_at, MINUTE)


async def six_ticks(scene: Scene) -> tuple[ScheduleUid, list[Instant]]:
    schedule = await scene.schedule(every(60, overlap=Overlap.ALLOW))
    moments = []
    for _ in range(6):
        await scene.fire_after(MINUTE)
        moments.append(scene.now)
    return schedule.uid, moments


async def findings(scene: Scene) -> list[object]:
    [ledger] = await scene.storage.queries.ledgers()
    schedule = ledger.schedule
    return list(
        audit(
            ledger.timetable,
            await scene.ticks(schedule.uid),
            ledger.planned,
            after=schedule.created_at,
            until=schedule.settled_until,
        )
    )
