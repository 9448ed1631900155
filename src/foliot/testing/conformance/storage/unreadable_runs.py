"""The promises of a storage about unreadable runs: they are shown and can end, and do not affect other runs."""

from collections.abc import AsyncIterator, Callable
from typing import Final

import pytest

from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import LATEST, MINUTE, Instant
from foliot.domain.job.job import Job
from foliot.domain.run.lease import CancelAnswer
from foliot.domain.run.outcome import Reason
from foliot.domain.run.run import Run, Status
from foliot.errors import RowUnreadable
from foliot.ports.pages import DoubtfulRuns, RunFilter
from foliot.ports.storage import Storage
from foliot.testing.builders import NIGHTLY, REPORT, a_chunk, a_run, cancelled, every, lost, succeeded, to_retry
from foliot.testing.clock import VirtualClock
from foliot.testing.conformance.storage.scene import Contract, Scene
from foliot.testing.conformance.storage.tree_builders import all_notes, claim_child, opened

Spoil = Callable[..., None]

FAR: Final = str(LATEST + 1)
FULL: Final = str(2**31 - 1)
"""The largest value of the smallest integer column."""
UNCLAIMABLE: Final = (
    *(("limits", "{oops"), ("limits", "7")),
    *(("attempt", "-1"), ("attempt", FULL), ("lost", "-1"), ("lost", FULL)),
)
"""Invalid values that a claim reads."""
DAMAGES: Final = (
    *UNCLAIMABLE,
    *(("payload", "{oops"), ("overrides", "{oops"), ("overrides", '{"retry": 7}')),
    *(("status", "lost"), ("created_at", FAR), ("due_at", FAR), ("started_at", f"-{FAR}")),
    *(("scheduled_for", FAR), ("schedule_uid", "nobody")),
)
"""Columns with invalid values."""


class UnreadableRunContract(Contract):
    """Needs the fixture `spoil` in addition to those of all suites. Constraints must not stop it."""

    @pytest.fixture
    async def scene(self, storage: Storage, clock: VirtualClock) -> AsyncIterator[Scene]:
        """A scene without the final check of invariants, which cannot be done with unreadable rows."""
        yield Scene(storage, clock)  # noqa: PT022 - same type as the fixture that it overrides

    # -- shown

    @pytest.mark.parametrize(("column", "value"), DAMAGES)
    async def test_an_unreadable_run_is_listed_among_the_others(
        self, scene: Scene, spoil: Spoil, column: str, value: str
    ) -> None:
        first, bad, last = await scene.create(*(a_run(payload=b'{"week": 7}') for _ in range(3)))
        sound = await self.listed(scene)
        spoil("runs", f"id = '{bad}'", **{column: value})

        runs = await self.listed(scene)

        assert list(runs) == [last, bad, first]
        assert (runs[first], runs[last]) == (sound[first], sound[last])
        self.is_unreadable(runs[bad])
        self.is_unreadable((await scene.storage.queries.get_runs([bad, last]))[bad])

    @pytest.mark.parametrize(("column", "value"), DAMAGES)
    async def test_an_unreadable_run_is_doubtful(self, scene: Scene, spoil: Spoil, column: str, value: str) -> None:
        first, bad, last = await scene.create(a_run(), a_run(), a_run(payload=b'{"week": 7}'))
        spoil("runs", f"id = '{bad}'", **{column: value})

        assert await scene.storage.queries.doubtful_runs(first) == DoubtfulRuns([bad], None)
        assert await scene.storage.queries.doubtful_runs(last) == DoubtfulRuns([], None)

    @pytest.mark.parametrize("limit", [1, 2, 3, 4])
    async def test_doubtful_runs_are_read_page_by_page(self, scene: Scene, spoil: Spoil, limit: int) -> None:
        first, second, third = await scene.create(*(a_run(payload=b"[]") for _ in range(3)))
        spoil("runs", f"id <> '{second}'", payload="{oops")

        pages = [await scene.storage.queries.doubtful_runs(first, limit=limit)]
        while pages[-1].before is not None:
            pages.append(await scene.storage.queries.doubtful_runs(first, before=pages[-1].before, limit=limit))

        assert [run_id for page in pages for run_id in page.run_ids] == [third, first]
        assert [page.before for page in pages] == {
            1: [third, second, first, None],
            2: [second, None],
            3: [first, None],
            4: [None],
        }[limit]

    async def test_a_run_with_unreadable_output_is_listed_as_unreadable(self, scene: Scene, spoil: Spoil) -> None:
        claim = await scene.start()
        await scene.finish(succeeded(claim, b"[1]"))
        sound = await scene.storage.queries.doubtful_runs(claim.run_id)
        spoil("outputs", f"run_id = '{claim.run_id}'", body="{oops")

        run = await scene.run(claim.run_id)

        self.is_unreadable(run)
        assert (run.status, run.output) == (Status.SUCCESS, None)
        assert sound == DoubtfulRuns([], None)
        assert await scene.storage.queries.doubtful_runs(claim.run_id) == DoubtfulRuns([claim.run_id], None)

    async def test_an_unreadable_run_can_be_the_latest_of_its_job(self, scene: Scene, spoil: Spoil) -> None:
        [bad] = await scene.create(a_run())
        [sound] = await scene.create(a_run(job_id=JobId("sound")))
        spoil("runs", f"id = '{bad}'", payload="{oops")

        for job_id in (REPORT, JobId("sound")):
            await scene.job(job_id)

        latest = {one.job.id: one.latest for one in await scene.storage.queries.jobs() if isinstance(one.job, Job)}

        bad_one, sound_one = latest[REPORT], latest[JobId("sound")]
        assert bad_one is not None
        self.is_unreadable(bad_one)
        assert sound_one is not None
        assert sound_one.id == sound

    async def test_an_unreadable_run_has_its_readable_fields(self, scene: Scene, spoil: Spoil) -> None:
        claim = await scene.start(a_run(payload=b'{"week": 7}'))
        before = await scene.run(claim.run_id)
        spoil("runs", f"id = '{claim.run_id}'", created_at=FAR)

        run = await scene.run(claim.run_id)

        assert run == before._replace(created_at=Instant(0), unreadable=run.unreadable)
        assert run.unreadable is not None
        assert "created_at" in run.unreadable.message

    async def test_an_unreadable_run_with_an_end_time_is_terminal(self, scene: Scene, spoil: Spoil) -> None:
        claim = await scene.start()
        await scene.finish(succeeded(claim))
        [waiting] = await scene.create(a_run())
        spoil("runs", "attempt >= 0", status="lost")

        runs = await scene.storage.queries.get_runs([claim.run_id, waiting])

        assert runs[claim.run_id].status.is_terminal
        assert not runs[waiting].status.is_terminal

    async def test_reading_unreadable_options_raises(self, scene: Scene, spoil: Spoil) -> None:
        [run_id] = await scene.create(a_run(overrides=b'{"priority": 3}'))
        assert await scene.storage.queries.overrides(run_id) == b'{"priority": 3}'
        spoil("runs", f"id = '{run_id}'", overrides="{oops")

        with pytest.raises(RowUnreadable, match=f"the row of run '{run_id}' cannot be read"):
            await scene.storage.queries.overrides(run_id)

    async def test_an_unreadable_attempt_is_listed_among_the_others(self, scene: Scene, spoil: Spoil) -> None:
        first = await scene.start()
        await scene.finish(to_retry(first))
        [second] = await scene.claim()
        await scene.finish(succeeded(second))
        spoil("attempts", f"run_id = '{first.run_id}'", finished_at=FAR)

        bad, sound = await scene.storage.queries.attempts(first.run_id)

        assert (bad.number, bad.status, bad.reason) == (1, "unreadable", None)
        assert str(bad.error).startswith(f"the row of attempt '1 of {first.run_id}' cannot be read: finished_at")
        assert (sound.number, sound.status) == (2, Status.SUCCESS)

    async def test_an_unreadable_log_chunk_is_reported_between_the_others(self, scene: Scene, spoil: Spoil) -> None:
        claim = await scene.start()
        await scene.storage.work.append_log([a_chunk(claim, seq) for seq in range(3)])
        spoil("log_chunks", f"run_id = '{claim.run_id}' AND seq = 1", at=FAR)

        chunks = await scene.storage.queries.read_log(claim.run_id)

        assert [(chunk.seq, chunk.stream) for chunk in chunks] == [(0, "stdout"), (1, "meta"), (2, "stdout")]
        assert b"the row of log chunk '1' cannot be read" in chunks[1].data
        assert chunks[1:] == await scene.storage.queries.tail_log(claim.run_id, limit=2)

    async def test_an_unreadable_tick_is_listed_among_the_others(self, scene: Scene, spoil: Spoil) -> None:
        schedule = await scene.schedule(every(60))
        for _ in range(3):
            await scene.fire_after(MINUTE)
        moments = [tick.scheduled_for for tick in await scene.ticks(schedule.uid)]
        spoil("ticks", f"scheduled_for = {moments[1]}", reason="fate")

        seen = await scene.latest_ticks(9)

        assert [tick.record.scheduled_for for tick in seen] == moments[::-1]
        assert [tick.error is None for tick in seen] == [True, False, True]

    # -- ended

    @pytest.mark.parametrize(("column", "value"), [*DAMAGES, ("queue", "elsewhere"), ("priority", "7")])
    async def test_an_unreadable_waiting_run_can_be_cancelled(
        self, scene: Scene, spoil: Spoil, column: str, value: str
    ) -> None:
        bad, later, sound = await scene.create(a_run(), a_run(due_at=scene.after(MINUTE)), a_run())
        spoil("runs", f"id IN ('{bad}', '{later}')", **{column: value})

        assert await scene.cancel(bad, later) == [CancelAnswer.CANCELLED] * 2

        scene.clock.advance(2 * MINUTE)
        await scene.release()
        assert [claim.run_id for claim in await scene.claim()] == [sound]
        assert await scene.statuses(bad, later) == [Status.CANCELLED] * 2

    async def test_a_run_with_a_changed_rank_is_cancelled_with_one_that_holds_a_place(
        self, scene: Scene, spoil: Spoil
    ) -> None:
        limited, moved = await scene.create(a_run(max_concurrent=1), a_run())
        spoil("runs", f"id = '{moved}'", priority="7")

        await scene.cancel(limited, moved)

        assert await scene.ready() == []

    @pytest.mark.parametrize(("column", "value"), DAMAGES)
    async def test_an_unreadable_running_run_can_be_cancelled(
        self, scene: Scene, spoil: Spoil, column: str, value: str
    ) -> None:
        claim = await scene.start()
        spoil("runs", f"id = '{claim.run_id}'", **{column: value})

        assert await scene.cancel(claim.run_id) == [CancelAnswer.REQUESTED]
        assert await scene.cancel(claim.run_id) == [CancelAnswer.PENDING]
        assert await scene.finish(cancelled(claim)) == []

        assert await scene.status(claim.run_id) is Status.CANCELLED

    @pytest.mark.parametrize(("column", "value"), UNCLAIMABLE)
    async def test_an_unreadable_run_fails_at_its_claim_and_others_are_claimed(
        self, scene: Scene, spoil: Spoil, column: str, value: str
    ) -> None:
        bad, sound = await scene.create(a_run(), a_run())
        spoil("runs", f"id = '{bad}'", **{column: value})

        claims = await scene.claim(limit=1)

        assert [claim.run_id for claim in claims] == [sound]
        run = await scene.run(bad)
        assert (run.status, run.reason) == (Status.FAILED, Reason.LAUNCH_FAILED)
        assert str(run.error).startswith(f"the row of run '{bad}' cannot be read")

    async def test_an_unreadable_run_that_is_claimed_by_id_fails(self, scene: Scene, spoil: Spoil) -> None:
        bad, sound = await scene.create(a_run(), a_run())
        spoil("runs", f"id = '{bad}'", attempt=FULL)

        claims = await scene.claim(only=[bad, sound])

        assert [claim.run_id for claim in claims] == [sound]
        assert await scene.status(bad) is Status.FAILED

    async def test_an_unreadable_run_that_is_claimed_by_an_exchange_fails(self, scene: Scene, spoil: Spoil) -> None:
        first = await scene.start()
        bad, sound = await scene.create(a_run(), a_run())
        spoil("runs", f"id = '{bad}'", attempt=FULL)

        found = await scene.storage.work.exchange([succeeded(first)], first.worker_id, ["default"], 1, at=scene.now)

        assert [claim.run_id for claim in found.claims] == [sound]
        assert await scene.statuses(first.run_id, bad) == [Status.SUCCESS, Status.FAILED]

    async def test_an_unreadable_run_that_fails_releases_its_places(self, scene: Scene, spoil: Spoil) -> None:
        bad, sound = await scene.create(*[a_run(max_concurrent=1) for _ in range(2)])
        spoil("runs", f"id = '{bad}'", lost=FULL)

        claims = await scene.claim()

        assert [claim.run_id for claim in claims or await scene.claim()] == [sound]

    @pytest.mark.parametrize("overrides", ["{oops", '{"retry": 7}'])
    async def test_a_run_with_unreadable_options_is_not_retried(
        self, scene: Scene, spoil: Spoil, overrides: str
    ) -> None:
        failing, vanished = await scene.start(), await scene.start()
        spoil("runs", f"id IN ('{failing.run_id}', '{vanished.run_id}')", overrides=overrides)

        assert await scene.finish(to_retry(failing), lost(vanished)) == []

        assert await scene.statuses(failing.run_id, vanished.run_id) == [Status.FAILED] * 2

    async def test_an_unreadable_ended_run_stays_ended(self, scene: Scene, spoil: Spoil) -> None:
        claim = await scene.start()
        await scene.finish(succeeded(claim))
        spoil("runs", f"id = '{claim.run_id}'", status="lost")

        assert await scene.cancel(claim.run_id) == [CancelAnswer.TERMINAL]

    # -- steps

    async def test_a_step_with_an_unreadable_run_is_shown(self, scene: Scene, spoil: Spoil) -> None:
        execution = await opened(scene)
        claim = await claim_child(scene, execution)
        await scene.finish(succeeded(claim))
        spoil("runs", f"id = '{claim.run_id}'", status="lost")

        step = next(step for step in await scene.storage.trees.steps(execution.run_id) if step.status is None)

        assert (step.name, step.state.run_id) == ("extract", claim.run_id)
        assert str(step.error).startswith(f"the row of run '{claim.run_id}' cannot be read")

    async def test_an_execution_continues_as_if_its_unreadable_step_had_failed(
        self, scene: Scene, spoil: Spoil
    ) -> None:
        claims = [await claim_child(scene, await opened(scene)) for _ in range(2)]
        await scene.finish(*map(succeeded, claims))
        spoil("runs", f"id = '{claims[0].run_id}'", status="lost")

        assert sorted(await all_notes(scene)) == [("extract", Status.FAILED), ("extract", Status.SUCCESS)]

    # -- schedules and jobs with invalid numbers

    @pytest.mark.parametrize("column", ["settled_until", "created_at", "opened_at", "behind_since"])
    async def test_a_schedule_with_an_invalid_time_is_reported_as_unreadable(
        self, scene: Scene, spoil: Spoil, column: str
    ) -> None:
        await scene.schedule(every(60))
        await scene.schedule(every(60), schedule_id="other")
        spoil("schedules", f"id = '{NIGHTLY}'", **{column: FAR})
        scene.clock.advance(MINUTE)

        due = await scene.due()

        assert [schedule.id for schedule in due.schedules] == ["other"]
        assert [one.id for one in due.unreadable] == [NIGHTLY]
        shown = {one.id: one.is_unreadable for one in await scene.storage.definitions.page_schedules()}
        assert shown == {NIGHTLY: True, "other": False}

    async def test_a_schedule_with_an_invalid_pause_time_is_reported_as_unreadable(
        self, scene: Scene, spoil: Spoil
    ) -> None:
        for name in (NIGHTLY, "other"):
            schedule = await scene.schedule(every(60), schedule_id=name)
            await scene.pause(paused=True, schedule_id=schedule.id)
            scene.clock.advance(1)
            await scene.pause(paused=False, schedule_id=schedule.id)
        spoil("pauses", f"uid = '{(await scene.stored()).uid}'", until=FAR)
        scene.clock.advance(MINUTE)

        due = await scene.due()

        assert [schedule.id for schedule in due.schedules] == ["other"]
        assert [one.error.schedule_id for one in due.unreadable] == [NIGHTLY]

    async def test_a_schedule_with_an_invalid_time_can_be_replaced(self, scene: Scene, spoil: Spoil) -> None:
        await scene.schedule(every(60))
        spoil("schedules", f"id = '{NIGHTLY}'", settled_until=FAR)

        await scene.schedule(every(60))

        assert len(await scene.fire_after(MINUTE)) == 1

    async def test_putting_a_job_repairs_its_invalid_creation_time(self, scene: Scene, spoil: Spoil) -> None:
        await scene.job("bad")
        spoil("jobs", "id = 'bad'", created_at=FAR)
        with pytest.raises(RowUnreadable, match="the row of job 'bad' cannot be read: created_at"):
            await scene.storage.definitions.page_jobs()

        after = await scene.job("bad")

        assert (await scene.storage.definitions.page_jobs())[0] == after
        assert after.created_at == scene.now

    # -- helpers

    async def listed(self, scene: Scene) -> dict[RunId, Run]:
        """Return all runs, newest first."""
        return {run.id: run for run in await scene.storage.queries.page_runs(RunFilter())}

    def is_unreadable(self, run: Run) -> None:
        assert run.unreadable is not None
        assert run.unreadable.message.startswith(f"the row of run '{run.id}' cannot be read")
