"""The promises of a storage about answers: ending a waiting run with a given result."""

from foliot.domain.events import EventKind
from foliot.domain.instant import MINUTE
from foliot.domain.run.outcome import Reason
from foliot.domain.run.run import Ended, Status
from foliot.testing.builders import a_run, a_run_id, failed
from foliot.testing.conformance.storage.scene import Contract, Scene


class AnswerContract(Contract):
    """Every storage must pass these tests unchanged."""

    async def test_an_answer_ends_a_run_that_has_not_started(self, scene: Scene) -> None:
        queued, later = await scene.create(a_run(), a_run(due_at=scene.after(MINUTE)))
        said = Ended(Status.FAILED, Reason.REJECTED, "not today", output=b"[1]")

        answered = await scene.storage.orders.answer({queued: Ended(Status.SUCCESS), later: said}, at=scene.now)

        assert sorted(answered) == sorted([queued, later])
        run = await scene.run(later)
        assert (run.status, run.reason, run.error, run.output) == (Status.FAILED, "rejected", "not today", [1])
        assert (run.started_at, run.finished_at) == (None, scene.now)
        assert await scene.status(queued) is Status.SUCCESS
        assert await scene.items(EventKind.RUNS_ENDED) == [[queued, "success", 0], [later, "failed", 0]]

    async def test_an_answer_does_not_change_a_started_ended_or_missing_run(self, scene: Scene) -> None:
        running, done = await scene.start(), await scene.start()
        await scene.finish(failed(done))
        asked = dict.fromkeys([running.run_id, done.run_id, a_run_id()], Ended(Status.SUCCESS))

        assert await scene.storage.orders.answer(asked, at=scene.now) == []

        assert await scene.statuses(running.run_id, done.run_id) == [Status.RUNNING, Status.FAILED]

    async def test_an_answered_run_releases_its_places(self, scene: Scene) -> None:
        first, second = await scene.create(a_run(max_concurrent=1), a_run(max_concurrent=1))

        await scene.storage.orders.answer({first: Ended(Status.SKIPPED)}, at=scene.now)

        assert await scene.ready() == [second]
