"""The promises of a storage about unreadable schedules, jobs and limits: they do not affect other rows."""

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
"""Writes directly into the database: `spoil("schedules", "id = 'nightly'", spec="{oops")`."""

OTHER = ScheduleId("other")
GARBAGE = ("{oops", "[]", '{"type": "never"}', '{"type": "interval", "expr": 60}', "")


def limited(due_at: Instant, **fields: Any) -> NewRun:
    """Build a run with max_concurrent=1."""
    return a_run(due_at=due_at, max_concurrent=1, **fields)


NO_LIMITS: Final = (
    *("{oops", "[]", "{}", "[1]", '[["job:report", 0]]', '[["job:report", "x"]]'),
    '[["job:report", 1], ["job:report", 1]]',
)
"""Invalid values of the column `limits`."""


class UnreadableContract(Contract):
    """Needs the fixture `spoil` in addition to those of all suites."""

    @pytest.fixture
    async def scene(self, storage: Storage, clock: VirtualClock) -> AsyncIterator[Scene]:
        """A scene without the final check of invariants, which cannot be done with unreadable rows: see `sound`."""
        yield Scene(storage, clock)  # noqa: PT022 - same type as the fixture that it overrides

    # -- schedules

    @pytest.mark.parametrize("document", GARBAGE)
    async def test_an_unreadable_schedule_is_reported_and_the_others_are_due(
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

    async def test_a_due_schedule_with_a_needed_unreadable_revision_is_reported(
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

    async def test_due_schedules_of_an_unreadable_job_are_reported(self, scene: Scene, spoil: Spoil) -> None:
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

    async def test_unreadable_schedules_can_be_excluded_from_the_next_wake(self, scene: Scene, spoil: Spoil) -> None:
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

    async def test_a_schedule_with_unreadable_row_and_revision_is_reported_once(
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
    async def test_a_schedule_with_an_invalid_rule_is_unreadable(self, scene: Scene, spoil: Spoil, spec: str) -> None:
        await scene.schedule(every(60))
        spoil("schedules", f"id = '{NIGHTLY}'", spec=spec)
        spoil("revisions", "number > 0", spec=spec)
        scene.clock.advance(MINUTE)

        assert [one.id for one in (await scene.due()).unreadable] == [NIGHTLY]
        assert [one.is_unreadable for one in await scene.storage.definitions.page_schedules()] == [True]

    @pytest.mark.proves("M2")
    async def test_a_process_too_old_for_the_schema_is_refused(self, scene: Scene, spoil: Spoil) -> None:
        await scene.storage.upkeep.check()
        spoil("meta", "key = 'min_code'", value="999")

        with pytest.raises(SchemaTooNew, match="999"):
            await scene.storage.upkeep.check()

    async def test_a_schedule_with_an_unreadable_row_is_reported_if_earlier_revisions_apply(
        self, scene: Scene, spoil: Spoil
    ) -> None:
        await self.edited(scene)
        spoil("schedules", f"id = '{NIGHTLY}'", spec="{oops")

        due = await scene.due()

        assert ([one.id for one in due.unreadable], list(due.schedules)) == ([NIGHTLY], [])

    @pytest.mark.proves("T2")
    async def test_a_schedule_repaired_by_hand_loses_and_repeats_no_tick(self, scene: Scene, spoil: Spoil) -> None:
        schedule = await scene.schedule(every(60, catchup=Catchup.ALL))
        await scene.fire_after(MINUTE)
        await self.spoilt_for(scene, spoil, 3)
        spoil("schedules", f"id = '{NIGHTLY}'", spec=msgspec.json.encode(schedule.revision.spec).decode())

        await scene.fire_after(MINUTE)

        assert await self.minutes(scene) == [1, 2, 3, 4, 5]
        assert await self.sound(scene)

    @pytest.mark.proves("T2")
    @pytest.mark.parametrize("seconds", [60, 120])
    async def test_an_upsert_repairs_an_unreadable_schedule_and_undecided_ticks_keep_its_rule(
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

    async def test_ticks_missed_while_a_schedule_was_unreadable_follow_its_catch_up_policy(
        self, scene: Scene, spoil: Spoil
    ) -> None:
        schedule = await scene.schedule(every(60))
        await self.spoilt_for(scene, spoil, 3)
        await scene.schedule(every(60))

        await scene.fire()

        ticks = await scene.ticks(schedule.uid)
        assert [(tick.outcome, tick.count) for tick in ticks] == [(TickOutcome.MISSED, 2), (TickOutcome.RAN, 1)]
        assert await self.sound(scene)

    async def test_an_unreadable_schedule_can_be_read_paused_and_deleted(self, scene: Scene, spoil: Spoil) -> None:
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

    async def test_an_unreadable_schedule_does_not_stop_retention(self, scene: Scene, spoil: Spoil) -> None:
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

    async def test_an_unreadable_job_raises_only_where_it_is_requested(self, scene: Scene, spoil: Spoil) -> None:
        await scene.job("sound")
        await scene.job("bad")
        spoil("jobs", "id = 'bad'", spec="{oops")

        assert [*await scene.storage.definitions.get_jobs([JobId("sound")])] == ["sound"]
        with pytest.raises(RowUnreadable, match="the row of job 'bad' cannot be read"):
            await scene.storage.definitions.get_jobs([JobId("sound"), JobId("bad")])

    async def test_putting_a_job_replaces_an_unreadable_one(self, scene: Scene, spoil: Spoil) -> None:
        before = await scene.job("bad")
        spoil("jobs", "id = 'bad'", spec="{oops")
        scene.clock.advance(MINUTE)

        after = await scene.job("bad")

        assert (await scene.storage.definitions.get_jobs([after.id]))[after.id] == after
        assert after.revision > before.revision
        assert (after.created_at, after.updated_at) == (before.created_at, scene.now)

    # -- runs

    @pytest.mark.parametrize("document", NO_LIMITS)
    async def test_a_run_with_unreadable_limits_fails_at_its_claim_and_others_are_claimed(
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

    async def test_a_claim_that_replaces_unreadable_runs_respects_the_limit(self, scene: Scene, spoil: Spoil) -> None:
        first, bad, *_ = await scene.create(a_run(), limited(scene.now), a_run(), a_run())
        spoil("runs", f"id = '{bad}'", limits="{oops")

        claims = await scene.claim(2)

        assert [claim.run_id for claim in claims][:1] == [first]
        assert len(claims) == 2

    @pytest.mark.parametrize("document", NO_LIMITS)
    async def test_a_scheduled_run_with_unreadable_limits_does_not_stop_releases(
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

    async def test_a_run_with_unreadable_limits_releases_its_places(self, scene: Scene, spoil: Spoil) -> None:
        bad, waiting = await scene.create(limited(scene.now), limited(scene.now))
        spoil("runs", f"id = '{bad}'", limits="{oops")

        assert [claim.run_id for claim in await scene.claim()] == [waiting]

        await self.has_ended(scene, bad)

    async def test_a_run_with_unreadable_limits_fails_when_claimed_by_id_or_exchange(
        self, scene: Scene, spoil: Spoil
    ) -> None:
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

    async def test_a_running_run_with_unreadable_limits_is_given_back_reaped_and_retried(
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

    async def test_a_lost_run_with_unreadable_limits_ends(self, scene: Scene, spoil: Spoil) -> None:
        worker = await scene.worker()
        claim = await scene.start(limited(scene.now), worker=worker)
        spoil("runs", f"id = '{claim.run_id}'", limits="{oops")
        scene.clock.advance(2 * LEASE)

        assert len(await scene.storage.upkeep.expired_leases(10, at=scene.now)) == 1
        assert await scene.finish(lost(claim)) == []

        assert await scene.claim() == []
        await self.has_ended(scene, claim.run_id)

    # -- helpers

    async def has_ended(self, scene: Scene, run_id: RunId) -> None:
        run = await scene.run(run_id)
        assert (run.status, run.reason) == (Status.FAILED, Reason.LAUNCH_FAILED)
        assert run.error
        assert run.error.startswith(f"the row of run '{run_id}' cannot be read")
        assert await self.sound(scene)

    async def spoilt_for(self, scene: Scene, spoil: Spoil, minutes: int) -> None:
        """Make the schedule unreadable, and do a round of the scheduler each minute."""
        spoil("schedules", f"id = '{NIGHTLY}'", spec="{oops")
        for _ in range(minutes):
            assert await scene.fire_after(MINUTE) == []

    async def edited(self, scene: Scene) -> None:
        """Edit the schedule while ticks of its former rule are due."""
        await scene.schedule(every(60))
        scene.clock.advance(MINUTE)
        await scene.schedule(every(90))

    async def minutes(self, scene: Scene) -> list[int]:
        """Return the planned times in the ledger, each of which is a row of its own."""
        schedule = await scene.stored()
        return [(tick.scheduled_for - schedule.created_at) // MINUTE for tick in await scene.ticks(schedule.uid)]

    async def sound(self, scene: Scene) -> bool:
        return await check_invariants(scene.storage, now=LATEST) == []
