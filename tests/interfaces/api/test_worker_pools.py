"""Remote workers with labels, kinds and orders, and what a worker may do after its lease was given away."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from foliot.domain.ids import RunId, WorkerId
from foliot.engine.scheduler.reaper import Reaper
from foliot.errors import InvalidInput, NotFound
from foliot.interfaces.api.access import StoredAccess
from foliot.ports.audit import AuditFilter
from foliot.service.explanation import NoFittingWorker, NoWorker, Unfit
from foliot.service.services import Services
from tests.interfaces.api.remote import Remote, enrolled
from tests.interfaces.api.serving import Client, serving


@pytest.fixture
async def server(services: Services) -> AsyncIterator[Client]:
    jobs: dict[str, dict[str, Any]] = {"any": {}, "gpu": {"labels": ["gpu"]}, "far": {"executor": "worker"}}
    for job_id, options in jobs.items():
        document = {"command": "true", "retries": 0, "max_concurrent": 100, **options}
        await services.job_documents.put(document, job_id=job_id)
    async with serving(services, StoredAccess(services, may_be_development=False)) as client:
        yield client


async def leased(remote: Remote) -> list[str]:
    answer = await remote.post("lease", {"limit": 10})
    return [] if answer.status == 204 else sorted(run["job_id"] for run in answer.json["runs"])


@pytest.mark.proves("L12", "R0-60")
async def test_a_remote_worker_leases_only_runs_whose_labels_it_has(services: Services, server: Client) -> None:
    for job_id in ("any", "gpu", "far"):
        await services.runs.enqueue(job_id)
    plain = await (await enrolled(services, server, "plain")).register()
    labelled = await (await enrolled(services, server, "labelled", labels=["gpu", "linux"])).register()

    assert await leased(plain) == ["any", "far"]
    assert await leased(labelled) == ["gpu"]


async def test_a_worker_leases_only_runs_of_the_kinds_of_its_enrolment(services: Services, server: Client) -> None:
    await services.job_documents.put({"kind": "http", "url": "http://localhost/"}, job_id="web")
    for job_id in ("web", "any"):
        await services.runs.enqueue(job_id)
    remote = await (await enrolled(services, server, kinds=["shell"])).register()

    assert await leased(remote) == ["any"]


async def test_an_explanation_names_what_each_living_worker_lacks(services: Services, server: Client) -> None:
    run_id = await services.runs.enqueue("gpu")
    before = (await services.queries.runs.page(run_id)).why
    await (await enrolled(services, server, "plain")).register()
    await (await enrolled(services, server, "web", labels=["gpu"], kinds=["http"])).register()

    why = (await services.queries.runs.page(run_id)).why

    assert before == NoWorker(queue="default", needs=("gpu",))
    assert why == NoFittingWorker(
        queue="default",
        needs=("gpu",),
        workers=(
            Unfit(worker="plain", pool="plain", missing=("gpu",)),
            Unfit(worker="web", pool="web", missing=("kind=shell",)),
        ),
    )


async def test_a_paused_pool_is_told_and_gets_no_runs_until_it_is_resumed(services: Services, server: Client) -> None:
    pool = await enrolled(services, server, "pool")
    await pool.register(name="a")
    await services.runs.enqueue("any")

    assert await services.enrolments.pause("pool") == 1
    beat = await pool.post("heartbeat", {})
    before = await leased(pool)
    later = await pool.register(name="b")
    while_paused = await leased(later)
    await services.enrolments.resume("pool")

    assert (beat.json["paused"], before, while_paused) == (True, [], [])
    assert await leased(later) == ["any"]


async def test_a_drained_worker_is_told_and_finishes_what_it_runs(services: Services, server: Client) -> None:
    old = await (await enrolled(services, server, "old")).register(version="1.0", environment="test")
    run_id = await services.runs.enqueue("any")
    held = await old.lease()

    assert await services.enrolments.drain(version="1.0") == 1
    beat = await old.post("heartbeat", held)
    finished = await old.post("finish", {**held, "status": "success"})

    assert (beat.status, beat.json["drain"], finished.status) == (200, True, 204)
    assert (await services.queries.runs.get(run_id)).status == "success"
    [shown] = (await services.queries.overview.page()).workers
    assert (shown.order, shown.version, shown.environment, shown.pool) == ("drain", "1.0", "test", "old")


async def test_orders_for_workers_that_do_not_exist_are_refused(services: Services) -> None:
    with pytest.raises(NotFound, match="nobody"):
        await services.enrolments.pause("nobody")
    with pytest.raises(NotFound, match="version"):
        await services.enrolments.drain(version="9")
    with pytest.raises(InvalidInput):
        await services.enrolments.drain()


@pytest.mark.proves("L2")
async def test_a_worker_whose_lease_was_given_away_changes_nothing(services: Services, server: Client) -> None:
    first = await (await enrolled(services, server, "first")).register()
    second = await (await enrolled(services, server, "second")).register()
    run_id = await services.runs.enqueue("any")
    lost = await first.lease()
    await give_away(services, first, run_id)
    held = await second.lease()

    log = await first.post("log", {**lost, "pieces": [{"seq": 0, "text": "from the first\n"}]})
    progress = await first.post("progress", {**lost, "fraction": 0.9})
    beat = await first.post("heartbeat", lost)
    report: dict[str, Any] = {**lost, "status": "success", "exit_code": 0}
    reports = [await first.post("finish", report) for _ in range(3)]
    await second.post("log", {**held, "pieces": [{"seq": 0, "text": "from the second\n"}]})
    finished = await second.post("finish", {**held, "status": "failed", "exit_code": 3})

    assert [answer.error["code"] for answer in (log, progress)] == ["stale_lease"] * 2
    assert beat.error["code"] == "worker_expired"
    assert [(answer.status, answer.error["code"]) for answer in reports] == [(409, "stale_lease")] * 3
    assert finished.status == 204
    run = await services.queries.runs.get(run_id)
    assert (str(run.status), run.attempt, run.exit_code) == ("failed", 2, 3)
    assert "first" not in "".join(piece.text for piece in (await services.logs.tail(run_id)).pieces)
    [entry] = [one for one in await services.storage.audit.page(AuditFilter(id=run_id)) if one.action == "report_late"]
    assert (entry.actor, entry.after) == ("worker:first", {"attempt": 1, "status": "success", "exit_code": 0})


async def give_away(services: Services, remote: Remote, run_id: str) -> None:
    """Let the lease of a worker end, and make its run ready again."""
    await services.storage.upkeep.expire_workers([WorkerId(remote.worker.partition(".")[0])])
    await Reaper(services.storage).round()
    assert (await services.storage.queries.get_runs([RunId(run_id)]))[RunId(run_id)].lost == 1
