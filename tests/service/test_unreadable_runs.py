"""Unreadable runs: they cannot be retried, and `verify` reports them."""

from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from foliot.domain.ids import RunId
from foliot.domain.instant import DAY, Instant
from foliot.domain.run.lease import CancelAnswer
from foliot.domain.run.mark import MarkAnswer
from foliot.errors import RowUnreadable
from foliot.ports.pages import RunFilter
from foliot.ports.storage import Storage
from foliot.service.commands.run_request import RunRequest
from foliot.service.queries.documents import as_json
from foliot.service.queries.run_view import view_run
from foliot.service.queries.verify import verify_rows
from foliot.service.services import Services
from foliot.testing.builders import REPORT, a_run, failed
from foliot.testing.conformance.storage.scene import Scene

Spoil = Callable[[RunId], None]


@pytest.fixture
def spoil(storage: Storage, tmp_path: Path) -> Spoil:
    """Overwrites the payload of a run directly in the database."""

    def write(run_id: RunId) -> None:
        connection = apsw.Connection(str(tmp_path / "service.db"))
        connection.execute("UPDATE runs SET payload = CAST('{oops' AS BLOB) WHERE id = ?", (run_id,))
        assert connection.changes()
        connection.close()

    return write


async def ended(scene: Scene) -> RunId:
    await scene.job(REPORT)
    claim = await scene.start(a_run(payload=b"[1]"))
    await scene.finish(failed(claim))
    return claim.run_id


async def named(services: Services, since: Instant) -> list[RunId | None]:
    return [report.findings[0].run_id async for report in verify_rows(services.storage, since)]


async def test_retrying_an_unreadable_run_is_refused_with_a_hint(
    services: Services, scene: Scene, spoil: Spoil
) -> None:
    run_id = await ended(scene)
    spoil(run_id)

    with pytest.raises(RowUnreadable, match=f"the row of run '{run_id}' cannot be read") as refused:
        await services.runs.retry(run_id)

    assert refused.value.hint.endswith(f"Or start another one with: foliot trigger {REPORT}")
    assert len(await services.storage.queries.page_runs(RunFilter())) == 1


async def test_an_unreadable_ended_run_cannot_be_marked(services: Services, scene: Scene, spoil: Spoil) -> None:
    run_id = await ended(scene)
    spoil(run_id)

    with pytest.raises(RowUnreadable):
        await services.runs.mark(run_id)

    assert len(await services.storage.queries.page_runs(RunFilter())) == 1


async def test_an_unreadable_waiting_run_can_be_marked_or_cancelled(
    services: Services, scene: Scene, spoil: Spoil
) -> None:
    first, second = await scene.create(a_run(), a_run())
    spoil(first)
    spoil(second)

    assert (await services.runs.mark(first)).answer is MarkAnswer.MARKED
    assert await services.runs.cancel(second) is CancelAnswer.CANCELLED


async def test_the_view_of_an_unreadable_run_has_the_error(services: Services, scene: Scene, spoil: Spoil) -> None:
    run_id = await ended(scene)
    assert not view_run(await services.runs.record(run_id)).unreadable
    spoil(run_id)

    seen = as_json(view_run(await services.runs.record(run_id)))

    assert (seen["unreadable"], seen["status"], seen["input_payload"]) == (True, "failed", None)
    assert seen["error_message"].startswith(f"the row of run '{run_id}' cannot be read")


async def test_a_job_is_listed_with_an_unreadable_latest_run(services: Services, scene: Scene, spoil: Spoil) -> None:
    spoil(await ended(scene))
    await scene.job("other")

    latest = {job.id: job.latest_run for job in await services.jobs.page()}

    bad, nothing = latest[REPORT], latest["other"]
    assert bad is not None
    assert (bad.unreadable, nothing) == (True, None)


async def test_verify_reports_unreadable_open_runs_and_those_created_since(
    services: Services, scene: Scene, spoil: Spoil
) -> None:
    await scene.job(REPORT)
    old, waiting = [await services.runs.enqueue(REPORT, RunRequest()) for _ in range(2)]
    await scene.finish(failed((await scene.claim(1))[0]))
    scene.clock.advance(2 * DAY)
    new = await services.runs.enqueue(REPORT, RunRequest())
    for run_id in (old, waiting, new):
        spoil(run_id)

    assert await named(services, scene.after(-DAY)) == [new, waiting]
    assert await named(services, Instant(0)) == [new, waiting, old]
