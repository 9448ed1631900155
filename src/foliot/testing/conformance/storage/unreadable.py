"""Rows that something else has written: what cannot be read harms nobody but itself."""

from collections.abc import AsyncIterator, Callable
from typing import Any, Final

import msgspec
import pytest

from foliot.domain.ids import JobId, RunId, ScheduleId
from foliot.domain.instant import DAY, HOUR, LATEST, MINUTE, Instant
from foliot.domain.run.outcome import Reason
from foliot.domain.run.run import NewRun, Status
from foliot.domain.schedule.schedule import Catchup, Overlap
from foliot.domain.schedule.tick import TickOutcome
from foliot.errors import RowUnreadable, SchemaTooNew
from foliot.ports.storage import Storage
from foliot.testing.builders import LEASE, NIGHTLY, REPORT, a_run, every, lost, retention, succeeded
from foliot.testing.clock import VirtualClock
from foliot.testing.conformance.storage.scene import Contract, Scene
from foliot.testing.invariants import check_invariants

Spoil = Callable[..., None]
"""Writes documents behind the back of the storage: `spoil("schedules", "id = 'nightly'", spec="{oops")`."""

OTHER = ScheduleId("other")
GARBAGE = ("{oops", "[]", '{"type": "never"}', '{"type": "interval", "expr": 60}', "")


def limited(due_at: Instant, **fields: Any) -> NewRun:
    """A run that nobody else of its job may be beside."""
    return a_run(due_at=due_at, max_concurrent=1, **fields)


NO_LIMITS: Final = (
    *("{oops", "[]", "{}", "[1]", '[["job:report", 0]]', '[["job:report", "x"]]'),
    '[["job:report", 1], ["job:report", 1]]',
)
"""What nobody can wait for."""


class UnreadableContract(Contract):
    """Besides the fixtures of all suites this one asks for `spoil`."""

    @pytest.fixture
    async def scene(self, storage: Storage, clock: VirtualClock) -> AsyncIterator[Scene]:
        """What must always hold cannot be looked at while rows cannot be read: see `sound`."""
        yield Scene(storage, clock)  # noqa: PT022 - as the one that it stands in for

    # -- schedules

    @pytest.mark.proves("T5")
    @pytest.mark.parametrize("document", GARBAGE)
    async def test_a_schedule_that_cannot_be_read_is_set_apart_and_the_others_are_due(
        self, scene: Scene, spoil: Spoil, document: str
    ) -> None:
        bad = await scene.schedule(every(60))
        await scene.schedule(every(60), schedule_id=OTHER)
        spoil("schedules", f"id = '{NIGHTLY}'", spec=document)
        scene.clock.advance(MINUTE)

        due = await scene.due()

        assert [schedule.id for schedule in due.schedules] == [OTHER]
        assert [(one.uid, one.id) for one in due.unreadable] == [(bad.uid, NIGHTLY)]
        assert due.unreadable[0].error.message.startswith(f"the row of schedule '{NIGHTLY}' cannot be read")
        assert due.size == 2

    async def test_so_is_one_of_which_an_earlier_revision_is_needed_and_cannot_be_read(
        self, scene: Scene, spoil: Spoil
    ) -> None:
        await scene.schedule(every(60))
        await scene.schedule(every(60), schedule_id=OTHER)
        scene.clock.advance(MINUTE)
        edited = await scene.schedule(every(90))
        spoil("revisions", f"uid = '{edited.uid}' AND number = 1", spec="{oops")

        due = await scene.due()

        assert [schedule.id for schedule in due.schedules] == [OTHER]
        assert [one.error.schedule_id for one in due.unreadable] == [NIGHTLY]
        assert "revision '1'" in due.unreadable[0].error.message

    async def test_so_are_all_that_start_a_job_that_cannot_be_read(self, scene: Scene, spoil: Spoil) -> None:
        await scene.schedule(every(60))
        await scene.schedule(every(60), schedule_id="twin")
        await scene.schedule(every(60, job_id=JobId("sound")), schedule_id=OTHER)
        spoil("jobs", f"id = '{REPORT}'", spec="{oops")
        scene.clock.advance(MINUTE)

        due = await scene.due()

        assert [schedule.id for schedule in due.schedules] == [OTHER]
        assert list(due.jobs) == ["sound"]
        assert sorted(one.id for one in due.unreadable) == [NIGHTLY, "twin"]
        assert {one.error.name for one in due.unreadable} == {REPORT}

    async def test_who_is_set_apart_leaves_the_batch_and_the_next_wake_to_others(
        self, scene: Scene, spoil: Spoil
    ) -> None:
        for name in ("a", "b", "c"):
            await scene.schedule(every(60), schedule_id=name)
        await scene.schedule(every(60), schedule_id=OTHER)
        spoil("schedules", "id IN ('a', 'b', 'c')", spec="{oops")
        scene.clock.advance(MINUTE)

        due = await scene.due(4)
        await scene.fire()

        assert (len(due.unreadable), due.size) == (3, 4)
        assert [schedule.id for schedule in due.schedules] == [OTHER]
        apart = [one.uid for one in due.unreadable]
        wakes = [await scene.storage.ledger.next_wake(besides=uids) for uids in ((), apart[:2], apart)]
        assert wakes == [scene.now, scene.now, scene.after(MINUTE)]

    async def test_a_schedule_whose_row_and_revision_cannot_be_read_is_one_trouble(
        self, scene: Scene, spoil: Spoil
    ) -> None:
        await self.edited(scene)
        spoil("schedules", f"id = '{NIGHTLY}'", spec="{oops")
        spoil("revisions", "number > 0", spec="{oops")

        assert [one.id for one in (await scene.due()).unreadable] == [NIGHTLY]

    @pytest.mark.parametrize(
        "spec",
        [
            '{"type": "interval", "expr": "often", "job_id": "report"}',
            '{"type": "interval", "expr": "0", "job_id": "report"}',
            '{"type": "once", "expr": "soon", "job_id": "report"}',
            '{"type": "once", "expr": "999999999999999999", "job_id": "report"}',
            '{"type": "cron", "expr": "@daily", "job_id": "report", "end_at": 999999999999999999}',
        ],
    )
    async def test_a_rule_with_times_that_no_calendar_has_cannot_be_read(
        self, scene: Scene, spoil: Spoil, spec: str
    ) -> None:
        await scene.schedule(every(60))
        spoil("schedules", f"id = '{NIGHTLY}'", spec=spec)
        spoil("revisions", "number > 0", spec=spec)
        scene.clock.advance(MINUTE)

        assert [one.id for one in (await scene.due()).unreadable] == [NIGHTLY]
        assert [one.is_unreadable for one in await scene.storage.definitions.page_schedules()] == [True]

    @pytest.mark.proves("M2")
    async def test_a_process_that_is_too_old_for_what_a_later_one_has_made_is_told_so(
        self, scene: Scene, spoil: Spoil
    ) -> None:
        await scene.storage.upkeep.check()
        spoil("meta", "key = 'min_code'", value="999")

        with pytest.raises(SchemaTooNew, match="999"):
            await scene.storage.upkeep.check()

    async def test_its_own_row_counts_also_where_earlier_revisions_rule(self, scene: Scene, spoil: Spoil) -> None:
        await self.edited(scene)
        spoil("schedules", f"id = '{NIGHTLY}'", spec="{oops")

        due = await scene.due()

        assert ([one.id for one in due.unreadable], list(due.schedules)) == ([NIGHTLY], [])

    @pytest.mark.proves("T2", "T5")
    async def test_mended_by_hand_it_loses_no_moment_and_doubles_none(self, scene: Scene, spoil: Spoil) -> None:
        schedule = await scene.schedule(every(60, catchup=Catchup.ALL))
        await scene.fire_after(MINUTE)
        await self.spoilt_for(scene, spoil, 3)
        spoil("schedules", f"id = '{NIGHTLY}'", spec=msgspec.json.encode(schedule.revision.spec).decode())

        await scene.fire_after(MINUTE)

        assert await self.minutes(scene) == [1, 2, 3, 4, 5]
        assert await self.sound(scene)

    @pytest.mark.proves("T2", "T5")
    @pytest.mark.parametrize("seconds", [60, 120])
    async def test_an_upsert_mends_it_and_what_was_not_decided_follows_the_rule_that_it_had(
        self, scene: Scene, spoil: Spoil, seconds: int
    ) -> None:
        await scene.schedule(every(60, catchup=Catchup.ALL))
        await scene.fire_after(MINUTE)
        await self.spoilt_for(scene, spoil, 3)

        put = await scene.schedule(every(seconds, catchup=Catchup.ALL))
        await scene.fire()

        assert put.revision.number == (1 if seconds == 60 else 2)
        assert await self.minutes(scene) == [1, 2, 3, 4]
        assert await self.sound(scene)

    async def test_what_was_missed_while_it_could_not_be_read_is_for_its_catch_up_policy(
        self, scene: Scene, spoil: Spoil
    ) -> None:
        schedule = await scene.schedule(every(60))
        await self.spoilt_for(scene, spoil, 3)
        await scene.schedule(every(60))

        await scene.fire()

        ticks = await scene.ticks(schedule.uid)
        assert [(tick.outcome, tick.count) for tick in ticks] == [(TickOutcome.MISSED, 2), (TickOutcome.RAN, 1)]
        assert await self.sound(scene)

    async def test_it_can_be_looked_up_paused_and_deleted(self, scene: Scene, spoil: Spoil) -> None:
        await scene.schedule(every(60))
        await scene.schedule(every(60), schedule_id=OTHER)
        spoil("schedules", f"id = '{NIGHTLY}'", spec="{oops")

        assert [one.id for one in await scene.storage.definitions.page_schedules()] == [NIGHTLY, OTHER]
        assert {one.id for one in (await scene.overview()).upcoming} == {NIGHTLY, OTHER}
        assert (await scene.stored()).revision.spec.expr == "60"
        assert (await scene.pause(paused=True)).paused_at is not None
        spoil("schedules", f"id = '{NIGHTLY}'", spec="{oops")
        assert await scene.storage.definitions.delete_schedules([NIGHTLY], at=scene.now) == [NIGHTLY]
        assert [one.id for one in await scene.storage.definitions.page_schedules()] == [OTHER]

    async def test_it_keeps_retention_from_nothing(self, scene: Scene, spoil: Spoil) -> None:
        bad = await scene.schedule(every(60, overlap=Overlap.ALLOW))
        sound = await scene.schedule(every(60, overlap=Overlap.ALLOW), schedule_id=OTHER)
        for _ in range(3):
            await scene.fire_after(MINUTE)
        spoil("schedules", f"id = '{NIGHTLY}'", spec="{oops")

        await scene.fire_after(DAY)
        await scene.prune(retention(ticks_age=HOUR))

        ticks = [*await scene.ticks(bad.uid), *await scene.ticks(sound.uid)]
        assert min(tick.scheduled_for for tick in ticks) >= bad.created_at + 3 * MINUTE

    # -- jobs

    async def test_a_job_that_cannot_be_read_is_the_trouble_of_who_asks_for_it(
        self, scene: Scene, spoil: Spoil
    ) -> None:
        await scene.job("sound")
        await scene.job("bad")
        spoil("jobs", "id = 'bad'", spec="{oops")

        assert [*await scene.storage.definitions.get_jobs([JobId("sound")])] == ["sound"]
        with pytest.raises(RowUnreadable, match="the row of job 'bad' cannot be read"):
            await scene.storage.definitions.get_jobs([JobId("sound"), JobId("bad")])

    async def test_who_puts_another_in_its_place_mends_it(self, scene: Scene, spoil: Spoil) -> None:
        before = await scene.job("bad")
        spoil("jobs", "id = 'bad'", spec="{oops")
        scene.clock.advance(MINUTE)

        after = await scene.job("bad")

        assert (await scene.storage.definitions.get_jobs([after.id]))[after.id] == after
        assert after.revision > before.revision
        assert (after.created_at, after.updated_at) == (before.created_at, scene.now)

    # -- runs

    @pytest.mark.parametrize("document", NO_LIMITS)
    async def test_a_run_whose_limits_cannot_be_read_ends_when_its_turn_comes_and_the_others_are_claimed(
        self, scene: Scene, spoil: Spoil, document: str
    ) -> None:
        await scene.job(REPORT)
        bad, sound = await scene.create(limited(scene.now), a_run(due_at=scene.after(1)))
        spoil("runs", f"id = '{bad}'", limits=document)
        scene.clock.advance(1)
        await scene.release()

        claims = await scene.claim(1)

        assert [claim.run_id for claim in claims] == [sound]
        await self.has_ended(scene, bad)

    async def test_no_more_are_claimed_in_its_place_than_were_asked_for(self, scene: Scene, spoil: Spoil) -> None:
        first, bad, *_ = await scene.create(a_run(), limited(scene.now), a_run(), a_run())
        spoil("runs", f"id = '{bad}'", limits="{oops")

        claims = await scene.claim(2)

        assert [claim.run_id for claim in claims][:1] == [first]
        assert len(claims) == 2

    @pytest.mark.parametrize("document", NO_LIMITS)
    async def test_one_that_is_for_later_keeps_no_other_from_being_released(
        self, scene: Scene, spoil: Spoil, document: str
    ) -> None:
        later = scene.after(MINUTE)
        bad, sound, free = await scene.create(limited(later), limited(later), a_run(due_at=later))
        spoil("runs", f"id = '{bad}'", limits=document)
        scene.clock.advance(MINUTE)

        assert (await scene.release()).count == 3

        assert sorted(claim.run_id for claim in await scene.claim()) == sorted([sound, free])
        await self.has_ended(scene, bad)
        assert await scene.storage.admission.admit(100, at=scene.now) == 0

    async def test_its_places_are_given_back(self, scene: Scene, spoil: Spoil) -> None:
        bad, waiting = await scene.create(limited(scene.now), limited(scene.now))
        spoil("runs", f"id = '{bad}'", limits="{oops")

        assert [claim.run_id for claim in await scene.claim()] == [waiting]

        await self.has_ended(scene, bad)

    async def test_so_it_is_for_who_claims_by_name_or_exchanges(self, scene: Scene, spoil: Spoil) -> None:
        worker = await scene.worker()
        claim = await scene.start(worker=worker)
        bad, worse, sound = await scene.create(limited(scene.now), limited(scene.now, job_id=JobId("x")), a_run())
        spoil("runs", f"id = '{worse}'", limits="{oops")
        spoil("runs", f"id = '{bad}'", limits="{oops")

        assert await scene.claim(only=[bad]) == []
        exchanged = await scene.storage.work.exchange([succeeded(claim)], worker.id, ["default"], 1, at=scene.now)

        assert ([*exchanged.stale], [one.run_id for one in exchanged.claims]) == ([], [sound])
        await self.has_ended(scene, bad)
        await self.has_ended(scene, worse)

    async def test_one_that_is_under_way_can_be_given_back_reaped_and_tried_again(
        self, scene: Scene, spoil: Spoil
    ) -> None:
        worker = await scene.worker()
        claim = await scene.start(limited(scene.now), worker=worker)
        sound = await scene.start(worker=worker)
        spoil("runs", f"id = '{claim.run_id}'", limits="{oops")

        renewal = await scene.storage.work.renew(worker.id, [sound.token], LEASE, at=scene.now)
        assert renewal is not None
        assert renewal.foreign == (claim.token,)

        assert [one.run_id for one in await scene.claim(worker=worker)] == []
        await self.has_ended(scene, claim.run_id)

    async def test_a_lost_one_ends_as_well(self, scene: Scene, spoil: Spoil) -> None:
        worker = await scene.worker()
        claim = await scene.start(limited(scene.now), worker=worker)
        spoil("runs", f"id = '{claim.run_id}'", limits="{oops")
        scene.clock.advance(2 * LEASE)

        assert len(await scene.storage.upkeep.expired_leases(10, at=scene.now)) == 1
        assert await scene.finish(lost(claim)) == []

        assert await scene.claim() == []
        await self.has_ended(scene, claim.run_id)

    # -- looking

    async def has_ended(self, scene: Scene, run_id: RunId) -> None:
        run = await scene.run(run_id)
        assert (run.status, run.reason) == (Status.FAILED, Reason.LAUNCH_FAILED)
        assert run.error
        assert run.error.startswith(f"the row of run '{run_id}' cannot be read")
        assert await self.sound(scene)

    async def spoilt_for(self, scene: Scene, spoil: Spoil, minutes: int) -> None:
        """The scheduler looks each minute, and can do nothing."""
        spoil("schedules", f"id = '{NIGHTLY}'", spec="{oops")
        for _ in range(minutes):
            assert await scene.fire_after(MINUTE) == []

    async def edited(self, scene: Scene) -> None:
        """Moments that are due belong to the rule that it had before."""
        await scene.schedule(every(60))
        scene.clock.advance(MINUTE)
        await scene.schedule(every(90))

    async def minutes(self, scene: Scene) -> list[int]:
        """The planned moments that are in the ledger, each as a row of its own."""
        schedule = await scene.stored()
        return [(tick.scheduled_for - schedule.created_at) // MINUTE for tick in await scene.ticks(schedule.uid)]

    async def sound(self, scene: Scene) -> bool:
        return await check_invariants(scene.storage, now=LATEST) == []
