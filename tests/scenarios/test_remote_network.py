"""The worker of Foliot over HTTP: a network that fails, servers that restart, and two servers behind one address."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from foliot import Foliot
from foliot.adapters.work_http.server import Server
from foliot.domain.instant import Millis
from foliot.engine.remote_worker import RemoteWorker
from foliot.engine.scheduler.reaper import Reaper
from foliot.engine.settings import Settings
from foliot.interfaces.api.access import StoredAccess
from foliot.service.services import Services
from foliot.wiring.processes import remote_worker
from tests.adapters.storage.postgres.fresh import fresh_database
from tests.interfaces.api.remote import Signer
from tests.interfaces.api.serving import serving
from tests.scenarios.network import Network

LEASE = Millis(1_500)
PATIENCE = 60
JOBS = {
    "mark": {"command": "echo begun; sleep 1; echo over", "max_concurrent": 100, "retries": 0},
    "long": {"command": "echo begun; sleep 300", "max_concurrent": 100, "retries": 0},
    "fast": {"command": "true", "max_concurrent": 100},
}


@pytest.fixture
async def services(tmp_path: Path) -> AsyncIterator[Services]:
    async with opened(f"sqlite:///{tmp_path}/foliot.db") as services:
        yield services


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Services]:
    app = Foliot(url)
    async with app:
        services = await app.open()
        for job_id, document in JOBS.items():
            await services.job_documents.put(document, job_id)
        yield services


@asynccontextmanager
async def working(services: Services, url: str) -> AsyncIterator[RemoteWorker]:
    """Run a worker with signed requests."""
    view, secret = await services.enrolments.register("remote")
    server = Server(url=url, worker_id=view.id, secret=secret)
    settings = Settings(label="remote", slots=8, lease=LEASE, poll=Millis(200), drain=Millis(0))
    async with remote_worker(server, Foliot().runners(settings), settings) as worker:
        await worker.start()
        try:
            yield worker
        finally:
            await worker.stop()


@pytest.fixture
async def network(services: Services) -> AsyncIterator[Network]:
    access = StoredAccess(services, may_be_development=False)
    async with serving(services, access) as client, Network(client.base).running() as network:
        yield network


@pytest.fixture
async def worker(services: Services, network: Network) -> AsyncIterator[RemoteWorker]:
    async with working(services, network.url) as worker:
        yield worker


async def until(is_so: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not await is_so():
            await asyncio.sleep(0.02)


async def output(services: Services, run_id: str) -> str:
    pieces = (await services.logs.tail(run_id)).pieces
    return "".join(piece.text for piece in pieces if piece.stream == "stdout")


async def begun(services: Services, run_id: str) -> None:
    async def has_begun() -> bool:
        return "begun" in await output(services, run_id)

    await until(has_begun)


async def ended(services: Services, run_id: str) -> str:
    async def is_over() -> bool:
        return (await services.queries.runs.get(run_id)).finished_at is not None

    await until(is_over)
    return str((await services.queries.runs.get(run_id)).status)


@pytest.mark.usefixtures("worker")
async def test_an_outage_shorter_than_the_lease_loses_nothing(services: Services, network: Network) -> None:
    run_id = await services.runs.enqueue("mark")
    await begun(services, run_id)

    network.blackhole()
    await asyncio.sleep(LEASE / 1_000 / 5)
    network.restore()

    assert await ended(services, run_id) == "success"
    assert await output(services, run_id) == "begun\nover\n"
    assert (await services.queries.runs.get(run_id)).attempt == 1


@pytest.mark.proves("L5")
async def test_a_worker_that_loses_contact_ends_its_runs_before_the_lease_ends(
    services: Services, network: Network, worker: RemoteWorker, caplog: pytest.LogCaptureFixture
) -> None:
    run_id = await services.runs.enqueue("long")
    await begun(services, run_id)
    network.blackhole()

    async def has_stopped() -> bool:
        assert not await services.storage.upkeep.expired_leases(10), "the lease ended before the run"
        return worker.running_count == 0

    await until(has_stopped)
    network.restore()
    assert "the server did not answer in time" in [vars(record).get("problem") for record in caplog.records]


async def test_a_run_of_a_worker_without_contact_is_given_to_another(services: Services, network: Network) -> None:
    async with working(services, network.url):
        run_id = await services.runs.enqueue("long")
        await begun(services, run_id)
        network.blackhole()

        async def is_reaped() -> bool:
            await Reaper(services.storage).round()
            return (await services.queries.runs.get(run_id)).lost == 1

        await until(is_reaped)
        network.restore()
        await services.runs.cancel(run_id)

        assert await ended(services, run_id) == "cancelled"


async def test_the_end_of_a_run_is_reported_after_an_outage_and_believed_if_its_lease_is_not_given_away(
    services: Services, network: Network, worker: RemoteWorker
) -> None:
    run_id = await services.runs.enqueue("long")
    await begun(services, run_id)
    network.blackhole()

    async def has_stopped() -> bool:
        return worker.running_count == 0

    await until(has_stopped)
    network.restore()

    # No reaper runs here: what ends the attempt is the report of the worker.
    async def is_again() -> bool:
        return (await services.queries.runs.get(run_id)).lost == 1

    await until(is_again)
    await services.runs.cancel(run_id)
    assert await ended(services, run_id) == "cancelled"


@pytest.mark.usefixtures("worker")
async def test_answers_that_are_cut_do_no_harm(services: Services, network: Network) -> None:
    for most in (0, 1, 200, 400):
        network.cut_after = most
        network.cut()
        run_ids = [await services.runs.enqueue("fast") for _ in range(3)]
        await asyncio.sleep(0.3)
        network.cut_after = None
        network.cut()
        assert [await ended(services, run_id) for run_id in run_ids] == ["success"] * 3


@pytest.mark.usefixtures("worker")
async def test_a_slow_network_only_delays(services: Services, network: Network) -> None:
    network.delay = 0.05

    run_ids = [await services.runs.enqueue("fast") for _ in range(10)]

    assert [await ended(services, run_id) for run_id in run_ids] == ["success"] * 10


async def test_a_restarted_server_knows_the_leases_of_its_workers(services: Services) -> None:
    access = StoredAccess(services, may_be_development=False)
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(serving(services, access))
        network = await stack.enter_async_context(Network(first.base).running())
        async with working(services, network.url):
            run_id = await services.runs.enqueue("mark")
            await begun(services, run_id)
            second = await stack.enter_async_context(serving(services, access))
            network.retarget(second.base)

            assert await ended(services, run_id) == "success"
            assert (await services.queries.runs.get(run_id)).attempt == 1


async def test_two_servers_behind_one_address_share_leases_and_nonces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOLIOT_SECRET_KEY", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
    with fresh_database() as (database, name):
        async with opened(database.dsn(name)) as one, opened(database.dsn(name)) as two, AsyncExitStack() as stack:
            clients = [
                await stack.enter_async_context(serving(each, StoredAccess(each, may_be_development=False)))
                for each in (one, two)
            ]
            network = await stack.enter_async_context(Network(*(client.base for client in clients)).running())
            async with working(one, network.url):
                run_ids = [await one.runs.enqueue("fast") for _ in range(20)]
                assert [await ended(one, run_id) for run_id in run_ids] == ["success"] * 20

            view, secret = await one.enrolments.register("replayed")
            headers = Signer(view.id, secret).headers("/api/workers/register", b"{}")
            answers = [await client.send("POST", "/api/workers/register", b"{}", **headers) for client in clients]
            assert [answer.status for answer in answers] == [201, 401]
            assert answers[1].error["code"] == "replay"
