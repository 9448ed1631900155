"""All clients of a PostgreSQL database use the server's clock, however wrong their own is."""

import pytest

from foliot.adapters.clock import SystemClock
from foliot.adapters.storage.postgres.database.server_clock import ServerClock
from foliot.adapters.storage.postgres.database.transaction import Database
from foliot.domain.clock import skew_of, step_between
from foliot.domain.ids import JobId, first_id_at
from foliot.domain.instant import DAY, HOUR, MINUTE, SECOND, Instant, Millis
from foliot.domain.job.job import JobSpec
from foliot.domain.run.run import Status
from foliot.ports.health import LongLease
from foliot.service.commands.run_request import RunRequest
from foliot.testing.builders import a_worker
from foliot.testing.clock import VirtualClock
from foliot.wiring.services import open_services

SERVER = Instant(1_000_000_000)


class WrongClock(SystemClock):
    """The wall clock of this machine is wrong by this much."""

    def __init__(self, error: Millis) -> None:
        super().__init__()
        self._error = error

    def now(self) -> Instant:
        return Instant(super().now() + self._error)


def _id_in(span: Millis | int) -> str:
    return first_id_at(Instant(SystemClock().now() + span))


@pytest.mark.parametrize("error", [HOUR, -HOUR, SECOND])
async def test_a_run_created_for_now_is_ready_now(dsn: str, error: Millis) -> None:
    services = await open_services(dsn, WrongClock(error))
    await services.jobs.put({JobId("noop"): JobSpec(kind="shell", spec={"command": "true"})})

    first = await services.runs.enqueue("noop", RunRequest())
    second = await services.runs.enqueue("noop", RunRequest(delay=0, dedupe_key="k"))
    delayed = await services.runs.enqueue("noop", RunRequest(delay=60))
    runs = await services.storage.queries.get_runs([first, second, delayed])
    await services.close()

    assert [runs[one].status for one in (first, second, delayed)] == [
        Status.QUEUED,
        Status.QUEUED,
        Status.SCHEDULED,
    ]
    assert abs(runs[delayed].due_at - SystemClock().now()) < 2 * MINUTE
    assert _id_in(-MINUTE) < first < _id_in(MINUTE)


def test_before_the_first_reply_the_local_clock_is_used() -> None:
    own = VirtualClock()

    assert ServerClock(own).now() == own.now()


def test_the_clock_advances_between_replies_and_is_never_ahead() -> None:
    own = VirtualClock()
    clock = ServerClock(own)

    clock.learn(SERVER, asked=own.elapsed())
    own.advance(MINUTE)

    assert SERVER + MINUTE - 2 <= clock.now() <= SERVER + MINUTE


def test_the_first_reply_replaces_the_local_clock() -> None:
    own = VirtualClock()
    clock = ServerClock(own)
    server = Instant(own.now() - 8)

    asked = own.elapsed()
    own.advance(20)
    clock.learn(Instant(server + 10), asked)

    assert clock.now() <= server + 20


def test_a_slow_reply_does_not_reduce_precision() -> None:
    own = VirtualClock()
    clock = ServerClock(own)
    clock.learn(SERVER, asked=own.elapsed())

    asked = own.elapsed()
    own.advance(HOUR)
    clock.learn(SERVER, asked)

    assert SERVER + HOUR - 2 <= clock.now() <= SERVER + HOUR


@pytest.mark.parametrize("step", [DAY, -DAY])
def test_after_a_step_of_the_servers_clock_the_newest_reply_is_used(step: Millis) -> None:
    own = VirtualClock()
    clock = ServerClock(own)
    clock.learn(SERVER, asked=own.elapsed())

    clock.learn(Instant(SERVER + step), asked=own.elapsed())

    assert SERVER + step - 2 <= clock.now() <= SERVER + step


def test_setting_the_local_wall_clock_has_no_effect() -> None:
    own = VirtualClock()
    clock = ServerClock(own)
    clock.learn(SERVER, asked=own.elapsed())

    own.step(-DAY)

    assert SERVER - 2 <= clock.now() <= SERVER


@pytest.mark.parametrize("error", [HOUR, -MINUTE])
async def test_the_difference_between_the_machine_and_the_server_is_measured(dsn: str, error: Millis) -> None:
    services = await open_services(dsn, WrongClock(error))
    reading = await services.storage.upkeep.read_clocks()
    await services.close()

    skew = skew_of(reading)
    assert skew is not None
    assert abs(skew - error) < 5 * SECOND


async def test_a_server_whose_clock_is_set_back_has_a_step(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    services = await open_services(dsn)
    upkeep = services.storage.upkeep
    first = await upkeep.read_clocks()

    class Earlier(Database):
        async def value(self, name: str, *values: object) -> int:
            return int(await super().value(name, *values)) - HOUR

    monkeypatch.setattr(upkeep._vital, "__class__", Earlier)  # type: ignore[attr-defined]  # nobody may set the clock
    second = await upkeep.read_clocks()
    await services.close()

    step = step_between(first, second)
    assert step is not None
    assert abs(step + HOUR) < 5 * SECOND


async def test_workers_that_were_seen_in_the_future_hold_their_leases_longer(dsn: str) -> None:
    services = await open_services(dsn)
    now = services.clock.now()
    await services.storage.work.register(a_worker("north"), Millis(MINUTE), at=Instant(now + HOUR))
    await services.storage.work.register(a_worker("south"), Millis(MINUTE), at=now)

    effects = await services.storage.queries.clock_effects(now, limit=10)
    await services.close()

    assert effects.leases == [LongLease("north", Instant(now + HOUR + MINUTE))]
