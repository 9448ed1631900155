"""The promises of a storage about marking runs as successes."""

import asyncio

import pytest

from foliot.domain.events import EventKind
from foliot.domain.ids import RunId
from foliot.domain.instant import MINUTE
from foliot.domain.run.mark import MarkAnswer, Marked
from foliot.domain.run.outcome import Reason
from foliot.domain.run.run import Status
from foliot.domain.schedule.schedule import Overlap
from foliot.testing.builders import REPORT, a_run, a_run_id, every, failed, succeeded, to_retry
from foliot.testing.conformance.storage.scene import Another, Contract, Scene


async def mark(scene: Scene, run_id: RunId, stand_in: RunId | None = None) -> Marked:
    answers = await scene.storage.orders.mark({run_id: stand_in or a_run_id()}, at=scene.now)
    return answers[run_id]


class MarkContract(Contract):
    """Every storage must pass these tests unchanged."""

    @pytest.mark.proves("S1")
    async def test_marking_a_waiting_run_makes_it_a_success(self, scene: Scene) -> None:
        queued, later = await scene.create(a_run(), a_run(due_at=scene.after(MINUTE)))

        assert await mark(scene, queued) == Marked(MarkAnswer.MARKED, queued)
        assert await mark(scene, later) == Marked(MarkAnswer.MARKED, later)

        run = await scene.run(queued)
        assert (run.status, run.reason, run.finished_at) == (Status.SUCCESS, Reason.MARKED, scene.now)
        assert (run.started_at, run.attempt, run.worker_id) == (None, 0, None)
        scene.clock.advance(MINUTE)
        assert await scene.release() == (0, None)
        assert await scene.claim() == []

    async def test_marking_a_run_between_attempts_keeps_its_record(self, scene: Scene) -> None:
        claim = await scene.start(a_run(retry_delay=MINUTE))
        await scene.finish(to_retry(claim, "no answer"))

        await mark(scene, claim.run_id)

        run = await scene.run(claim.run_id)
        assert (run.status, run.reason, run.error, run.exit_code) == (Status.SUCCESS, Reason.MARKED, None, None)
        [record] = await scene.storage.queries.attempts(claim.run_id)
        assert (record.status, record.error) == (Status.FAILED, "no answer")

    async def test_marking_a_failed_run_creates_a_substitute(self, scene: Scene) -> None:
        [run_id] = await scene.create(a_run(payload=b'{"a":1}', overrides=b'{"priority":7}', priority=7))
        [claim] = await scene.claim()
        await scene.finish(failed(claim))
        before = await scene.run(run_id)
        stand_in = a_run_id()
        scene.clock.advance(MINUTE)

        assert await mark(scene, run_id, stand_in) == Marked(MarkAnswer.RECORDED, stand_in)

        assert await scene.run(run_id) == before
        run = await scene.run(stand_in)
        assert (run.status, run.reason, run.trigger) == (Status.SUCCESS, Reason.MARKED, f"mark:{run_id}")
        assert (run.job_id, run.payload, run.priority) == (REPORT, {"a": 1}, 7)
        assert run.created_at == run.due_at == run.finished_at == scene.now
        assert (run.started_at, run.attempt) == (None, 0)
        assert await scene.storage.queries.overrides(stand_in) == b'{"priority":7}'
        assert await scene.claim() == []

    async def test_marking_a_cancelled_run_creates_a_substitute(self, scene: Scene) -> None:
        [run_id] = await scene.create(a_run())
        await scene.cancel(run_id)

        assert (await mark(scene, run_id)).answer is MarkAnswer.RECORDED

    async def test_marking_a_run_twice_is_a_no_op(self, scene: Scene) -> None:
        claim = await scene.start()
        await scene.finish(failed(claim))
        first = await mark(scene, claim.run_id)

        second = await mark(scene, claim.run_id)

        assert second == Marked(MarkAnswer.SUCCESS, first.run_id)
        assert await mark(scene, first.run_id) == Marked(MarkAnswer.SUCCESS, first.run_id)

    async def test_two_concurrent_marks_of_a_run_create_one_substitute(self, scene: Scene, another: Another) -> None:
        storages = [scene.storage, await another()]
        for _ in range(10):
            claim = await scene.start()
            await scene.finish(failed(claim))

            answers = await asyncio.gather(
                *(storage.orders.mark({claim.run_id: a_run_id()}, at=scene.now) for storage in storages)
            )

            marked = [answer[claim.run_id] for answer in answers]
            assert sorted(one.answer for one in marked) == [MarkAnswer.RECORDED, MarkAnswer.SUCCESS]
            assert len({one.run_id for one in marked}) == 1

    async def test_marking_a_running_run_changes_nothing(self, scene: Scene) -> None:
        claim, asked = await scene.start(), await scene.start()
        await scene.cancel(asked.run_id)

        answers = [await mark(scene, claim.run_id), await mark(scene, asked.run_id)]

        assert [answer.answer for answer in answers] == [MarkAnswer.RUNNING, MarkAnswer.RUNNING]
        assert await scene.statuses(claim.run_id, asked.run_id) == [Status.RUNNING, Status.CANCELLING]
        assert await scene.finish(succeeded(claim)) == []

    async def test_marking_a_success_changes_nothing(self, scene: Scene) -> None:
        claim = await scene.start()
        await scene.finish(succeeded(claim))
        before = await scene.run(claim.run_id)

        assert await mark(scene, claim.run_id) == Marked(MarkAnswer.SUCCESS, claim.run_id)
        assert await scene.run(claim.run_id) == before

    async def test_marking_a_batch_returns_a_result_for_each_run(self, scene: Scene) -> None:
        running, nobody = await scene.start(), a_run_id()
        [queued] = await scene.create(a_run())

        answers = await scene.storage.orders.mark(
            {queued: a_run_id(), running.run_id: a_run_id(), nobody: a_run_id()}, at=scene.now
        )

        assert answers == {
            queued: Marked(MarkAnswer.MARKED, queued),
            running.run_id: Marked(MarkAnswer.RUNNING, running.run_id),
            nobody: Marked(MarkAnswer.NOT_FOUND, nobody),
        }
        assert await scene.storage.orders.mark({}, at=scene.now) == {}

    async def test_a_marked_run_releases_its_place(self, scene: Scene) -> None:
        first, second = await scene.create(a_run(max_concurrent=1), a_run(max_concurrent=1))

        await mark(scene, first)

        assert [claim.run_id for claim in await scene.claim()] == [second]

    async def test_marking_a_run_releases_the_overlap_key_of_its_schedule(self, scene: Scene) -> None:
        await scene.schedule(every(60, overlap=Overlap.QUEUE))
        [first] = await scene.fire_after(MINUTE)
        [second] = await scene.fire_after(MINUTE)
        assert await scene.ready() == [first]

        await mark(scene, first)

        assert await scene.ready() == [second]

    @pytest.mark.proves("S4")
    async def test_a_mark_writes_an_end_event(self, scene: Scene) -> None:
        claim = await scene.start()
        await scene.finish(failed(claim))
        [queued] = await scene.create(a_run())

        await mark(scene, queued)
        marked = await mark(scene, claim.run_id)
        await mark(scene, claim.run_id)

        assert (await scene.items(EventKind.RUNS_CREATED))[-1] == [marked.run_id, REPORT]
        assert (await scene.items(EventKind.RUNS_ENDED))[-2:] == [
            [queued, Status.SUCCESS, 0],
            [marked.run_id, Status.SUCCESS, 0],
        ]
