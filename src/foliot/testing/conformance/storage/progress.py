"""The promises of a storage about the progress of runs."""

import asyncio

import pytest
from msgspec.structs import replace

from foliot.domain.ids import Token, WorkerId
from foliot.domain.instant import SECOND
from foliot.domain.run.lease import Claim
from foliot.domain.run.progress import ProgressReport, SavedProgress
from foliot.domain.run.run import Status
from foliot.testing.builders import given_back, lost, some_runs, succeeded, to_retry
from foliot.testing.conformance.storage.scene import Contract, Scene


def a_report(claim: Claim, fraction: float = 0.4, text: str | None = "loading") -> ProgressReport:
    return ProgressReport(claim.run_id, claim.worker_id, claim.token, fraction, text)


class ProgressContract(Contract):
    """Every storage must pass these tests unchanged."""

    async def test_saved_progress_is_shown_with_its_time(self, scene: Scene) -> None:
        claim = await scene.start()
        assert (await scene.run(claim.run_id)).progress is None
        scene.clock.advance(SECOND)

        assert await save(scene, a_report(claim, 0.1234, 'größer, "50 %" \\ ☃')) == []

        run = await scene.run(claim.run_id)
        assert run.progress == SavedProgress(0.1234, 'größer, "50 %" \\ ☃', scene.now)
        assert (run.status, run.unreadable) == (Status.RUNNING, None)

    async def test_later_progress_replaces_the_former_with_its_text(self, scene: Scene) -> None:
        claim = await scene.start()
        await save(scene, a_report(claim, 0.4, "loading"))

        await save(scene, a_report(claim, 0.2, None))

        assert (await scene.run(claim.run_id)).progress == SavedProgress(0.2, None, scene.now)

    async def test_the_progress_of_many_runs_is_saved_together(self, scene: Scene) -> None:
        await scene.create(*some_runs(50))
        claims = await scene.claim()

        stale = await save(scene, *(a_report(claim, number / 64, str(number)) for number, claim in enumerate(claims)))

        found = await scene.storage.queries.get_runs([claim.run_id for claim in claims])
        saved = [found[claim.run_id].progress for claim in claims]
        assert (stale, saved) == ([], [SavedProgress(number / 64, str(number), scene.now) for number in range(50)])

    @pytest.mark.parametrize("fraction", [0.0, 1.0, 0.3333])
    async def test_fractions_are_stored_exactly(self, scene: Scene, fraction: float) -> None:
        claim = await scene.start()

        await save(scene, a_report(claim, fraction))

        assert (await scene.run(claim.run_id)).progress == SavedProgress(fraction, "loading", scene.now)

    async def test_saving_no_progress_is_a_no_op(self, scene: Scene) -> None:
        assert await save(scene) == []

    @pytest.mark.proves("L2", "S10")
    async def test_a_former_lease_holder_cannot_change_the_progress(self, scene: Scene) -> None:
        former = await scene.start()
        await scene.finish(given_back(former))
        [current] = await scene.claim()

        stale = await save(scene, a_report(former, 0.9, "old"), a_report(current, 0.1, "new"))

        assert stale == [former.token]
        assert (await scene.run(former.run_id)).progress == SavedProgress(0.1, "new", scene.now)

    @pytest.mark.proves("L2")
    async def test_a_forged_worker_run_or_token_changes_no_progress(self, scene: Scene) -> None:
        claim, other = await scene.start(), await scene.start()
        forged = [
            replace(claim, worker_id=WorkerId("another")),
            replace(claim, run_id=other.run_id),
            replace(claim, token=Token(claim.token + 1_000)),
        ]

        for one in forged:
            assert await save(scene, a_report(one)) == [one.token]

        runs = await scene.storage.queries.get_runs([claim.run_id, other.run_id])
        assert [run.progress for run in runs.values()] == [None, None]

    async def test_progress_disappears_when_the_attempt_ends(self, scene: Scene) -> None:
        for end in (succeeded, to_retry, lost, given_back):
            claim = await scene.start()
            await save(scene, a_report(claim))

            await scene.finish(end(claim))

            assert (await scene.run(claim.run_id)).progress is None
            assert await save(scene, a_report(claim)) == [claim.token]

    async def test_a_run_that_is_being_cancelled_still_reports_progress(self, scene: Scene) -> None:
        claim = await scene.start()
        await scene.cancel(claim.run_id)

        assert await save(scene, a_report(claim)) == []

        run = await scene.run(claim.run_id)
        assert (run.status, run.progress) == (Status.CANCELLING, SavedProgress(0.4, "loading", scene.now))

    async def test_progress_and_ends_of_the_same_runs_do_not_block_each_other(self, scene: Scene) -> None:
        await scene.create(*some_runs(40))
        claims = await scene.claim()

        await asyncio.gather(
            *(save(scene, *map(a_report, reversed(claims))) for _ in range(5)),
            *(scene.finish(*map(succeeded, claims[start::4])) for start in range(4)),
        )

        assert set(await scene.statuses(*(claim.run_id for claim in claims))) == {Status.SUCCESS}


async def save(scene: Scene, *reports: ProgressReport) -> list[Token]:
    return await scene.storage.work.save_progress(reports, at=scene.now)
