"""A worker that was found dead because the clock of the storage was set forward."""

import logging
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from foliot.domain.ids import RunId
from foliot.domain.instant import SECOND
from foliot.domain.run.outcome import Failure, Reason, Success
from foliot.domain.run.retry import Retry
from foliot.domain.run.run import Status
from foliot.errors import StorageUnavailable
from tests.engine.rig import Rig

BY_SIGTERM = Failure("killed by SIGTERM", Reason.SIGNAL, 143)
IN_SHELL = Failure("exit code 143", Reason.EXIT_CODE, 143)
Declare = Callable[[], None]


@pytest.fixture
def found_dead(tmp_path: Path) -> Declare:
    """Expire the workers, as a reaper with a clock set forward would."""

    def declare() -> None:
        connection = apsw.Connection(str(tmp_path / "engine.db"))
        connection.execute("UPDATE workers SET deadline = 0")
        assert connection.changes()
        connection.close()

    return declare


async def begin(rig: Rig) -> RunId:
    await rig.job("report", retry=Retry(retries=3))
    rig.stage.answer = None
    run_id = await rig.enqueue("report")
    await rig.claim()
    rig.clock.advance(SECOND)
    return run_id


@pytest.mark.parametrize("outcome", [BY_SIGTERM, IN_SHELL])
async def test_an_attempt_killed_by_a_signal_is_not_reported_by_a_worker_found_dead(
    rig: Rig, found_dead: Declare, outcome: Failure
) -> None:
    run_id = await begin(rig)
    found_dead()

    rig.stage.end(run_id, outcome)
    await rig.save()
    await rig.save()
    assert (await rig.run(run_id)).status is Status.RUNNING
    await rig.reaper.round()

    run = await rig.run(run_id)
    assert (run.lost, run.reason) == (1, Reason.LEASE_LOST)


async def test_a_worker_found_dead_registers_under_a_new_id(rig: Rig, found_dead: Declare) -> None:
    run_id = await begin(rig)
    before = rig.heartbeat.worker
    found_dead()

    rig.stage.end(run_id, BY_SIGTERM)
    await rig.save()
    assert rig.heartbeat.wake.is_set()
    await rig.heartbeat.round()

    assert rig.heartbeat.worker not in (None, before)


@pytest.mark.parametrize("outcome", [BY_SIGTERM, Failure("exit code 1", Reason.EXIT_CODE, 1)])
async def test_a_live_worker_saves_its_failures(rig: Rig, outcome: Failure) -> None:
    run_id = await begin(rig)

    rig.stage.end(run_id, outcome)
    await rig.save()
    await rig.save()

    run = await rig.run(run_id)
    assert (run.lost, run.reason, run.exit_code) == (0, outcome.reason, outcome.exit_code)


@pytest.mark.parametrize(
    "outcome", [Success(), Failure("exit code 1", Reason.EXIT_CODE, 1), Failure("500", Reason.HTTP_STATUS, 500)]
)
async def test_only_a_failure_by_signal_checks_the_registration(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, outcome: Success | Failure
) -> None:
    run_id = await begin(rig)
    monkeypatch.setattr(rig.heartbeat, "is_still_registered", None)

    rig.stage.end(run_id, outcome)
    await rig.save()
    await rig.save()

    assert (await rig.run(run_id)).status is not Status.RUNNING


async def test_a_lease_is_still_listed_while_the_registration_is_checked(rig: Rig) -> None:
    run_id = await begin(rig)
    [token] = rig.consumer.held
    listed: list[int] = []
    confirm = rig.heartbeat.is_still_registered

    async def noting() -> bool:
        listed.extend(rig.consumer.held)
        return await confirm()

    rig.heartbeat.is_still_registered = noting  # type: ignore[method-assign]
    rig.stage.end(run_id, BY_SIGTERM)
    await rig.save()

    assert listed == [token]


async def test_the_local_clock_decides_if_the_storage_is_unreachable(
    rig: Rig, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    await begin(rig)

    async def away(*_: object, **__: object) -> None:
        raise StorageUnavailable("the database is away")

    monkeypatch.setattr(rig.storage.work, "renew", away)

    with caplog.at_level(logging.ERROR):
        assert await rig.heartbeat.is_still_registered()
    assert [record.message for record in caplog.records] == ["storage_outage_began"]


async def test_a_worker_whose_check_takes_too_long_is_considered_dead(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    await begin(rig)

    async def silent(*_: object, **__: object) -> None:
        rig.clock.advance(2 * rig.settings.lease)
        raise StorageUnavailable("no answer in all this time")

    monkeypatch.setattr(rig.storage.work, "renew", silent)

    assert not await rig.heartbeat.is_still_registered()


async def test_a_registration_check_counts_as_a_renewal(rig: Rig) -> None:
    await begin(rig)
    rig.clock.advance(rig.settings.lease // 2)
    assert await rig.heartbeat.is_still_registered()

    rig.clock.advance(rig.settings.lease // 2 + SECOND)

    assert not rig.heartbeat.is_expired
