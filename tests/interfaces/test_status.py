"""foliot status: one screen and an exit code that says whether all is well."""

import asyncio
from pathlib import Path

import pytest

from foliot import Foliot
from foliot.adapters.storage.sqlite.storage import SqliteStorage
from foliot.domain.clock import ClockFault, ClockFaultKind
from foliot.domain.ids import WorkerId
from foliot.domain.instant import HOUR, MINUTE, Instant, Millis, to_datetime
from foliot.domain.run.lane import TREES_QUEUE
from foliot.domain.run.lease import Worker, WorkerState
from foliot.interfaces.cli.render.format import moment
from foliot.interfaces.cli.render.status import notice_hint, notice_text, size_text
from foliot.ports.health import ClockEffects, Depth, HealthDetails, LongLease, StorageSize
from foliot.service.queries.clock_notices import ClockSetBack, clock_notices
from foliot.service.queries.notice import State
from foliot.service.queries.status import Notice, SchedulesLate, StatusQuery, notices_of
from foliot.testing.builders import every
from foliot.testing.clock import START, VirtualClock
from foliot.testing.conformance.storage.scene import Scene
from tests.interfaces.conftest import Call
from tests.interfaces.serving import started

BOTH_WAYS = True


def a_worker_of(*queues: str, is_alive: bool = True) -> WorkerState:
    return WorkerState(Worker(WorkerId("w"), "north", queues, 2), START, START, is_alive, 0)


WELL = HealthDetails(
    has_scheduler=True,
    workers=[a_worker_of("default"), a_worker_of(TREES_QUEUE)],
    depth=Depth(0, 0, 0),
    ready_queues=["default", TREES_QUEUE],
    late=[],
    late_count=0,
    failing=[],
    failing_count=0,
    stopped=[],
    size=StorageSize(1, 1, None),
    project_pause=None,
)


def test_status_is_down_without_a_server(call: Call, shop: Path) -> None:
    code, out, err = call("status")

    assert (code, err) == (2, "")
    assert out.splitlines()[0].endswith("  down")
    assert "down: no scheduler is alive: schedules do not fire\n  Start one with: foliot serve" in out
    assert "attention: 1 job failing: broken" in out
    assert "1 queued" in out


@pytest.mark.local
def test_status_is_down_if_the_database_cannot_be_read(call: Call) -> None:
    code, out, err = call("status")
    [document] = call("status", "--json").objects

    assert (code, err) == (2, "")
    assert "down: there is no Foliot database at" in out
    assert (document["state"], document["notices"][0]["code"]) == ("down", "storage_unreachable")


def test_an_invalid_storage_is_a_usage_error(call: Call) -> None:
    code, out, err = call("status", "--storage", "mysql://x")

    assert (code, out) == (2, "")
    assert "is not a supported database" in err


def test_status_of_a_served_database_is_well(call: Call, url: str) -> None:
    async def look() -> tuple[int, str]:
        app = Foliot(url)
        app.shell("report", "true")
        async with app, started(app):
            for _ in range(100):
                called = await asyncio.to_thread(call, "status", "--storage", url)
                if called.code != 2:  # the scheduler leads after its first round
                    break
                await asyncio.sleep(0.1)
            return called.code, called.out

    code, out = asyncio.run(look())

    assert code == 0, out
    assert out.splitlines()[0].endswith("  all is well")
    assert "scheduler       up" in out


def test_nothing_is_noticed_if_all_is_well() -> None:
    assert list(notices_of(WELL)) == []


@pytest.mark.parametrize(
    ("change", "code", "state"),
    [
        ({"has_scheduler": False}, "no_scheduler", State.DOWN),
        ({"workers": [a_worker_of(TREES_QUEUE)]}, "no_worker", State.DOWN),
        ({"workers": [a_worker_of("default", is_alive=False)]}, "no_worker", State.DOWN),
        ({"ready_queues": ["gpu"]}, "queues_unserved", State.ATTENTION),
        ({"workers": [a_worker_of("default")]}, "queues_unserved", State.ATTENTION),
        ({"late_count": 3}, "schedules_late", State.ATTENTION),
        ({"failing_count": 1}, "jobs_failing", State.ATTENTION),
        ({"size": StorageSize(1, 1, 1_000)}, "disk_low", State.ATTENTION),
    ],
)
def test_a_problem_is_noticed_with_what_to_do(change: dict[str, object], code: str, state: State) -> None:
    [notice] = notices_of(WELL._replace(**change))  # type: ignore[arg-type]

    assert (code_of(notice), notice.state) == (code, state)
    assert notice_text(notice)
    assert notice_hint(notice)


def code_of(notice: Notice) -> object:
    return type(notice).__struct_config__.tag


def test_many_late_schedules_are_counted_and_some_are_named() -> None:
    notice = SchedulesLate(count=9, since=None, schedules=("a", "b", "c", "d", "e", "f"))

    assert notice_text(notice) == "9 schedules late: a, b, c, d, e and 4 more"


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (1_023, "1023 B"), (1_536, "1.5 KiB"), (3 << 30, "3.0 GiB"), (1 << 60, "1048576.0 TiB")],
)
def test_sizes_are_readable(size: int, text: str) -> None:
    assert size_text(size) == text


def a_fault(kind: ClockFaultKind, size: int, at: int = START) -> ClockFault:
    return ClockFault("north:7", kind, Millis(size), Instant(at))


def test_a_clock_that_was_set_back_is_noticed_with_what_waits_until_when() -> None:
    effects = ClockEffects([], [LongLease("south", Instant(START + HOUR))])
    faults = [a_fault(ClockFaultKind.STEP, -2 * HOUR)]

    [notice] = clock_notices(faults, effects, Instant(START + MINUTE))

    text = notice_text(notice)
    assert text.startswith(f"the clock was set back by 2h00m at {moment(to_datetime(START))}")
    assert text.endswith(f"leases of workers live longer: south until {moment(to_datetime(Instant(START + HOUR)))}")
    assert "not decided again" in notice_hint(notice)
    assert list(clock_notices(faults, None, Instant(START + 3 * HOUR))) == []


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        (a_fault(ClockFaultKind.STEP, 2 * HOUR), "the clock was set forward by 2h00m at "),
        (a_fault(ClockFaultKind.SKEW, 9_000), "clocks differ from that of the database: north:7 by 9.0s (ahead)"),
        (a_fault(ClockFaultKind.SKEW, -9_000), "clocks differ from that of the database: north:7 by 9.0s (behind)"),
    ],
)
def test_a_fault_of_a_clock_is_noticed_with_its_size(fault: ClockFault, text: str) -> None:
    [notice] = clock_notices([fault], None, Instant(START + MINUTE))

    assert notice_text(notice).startswith(text)
    assert notice_hint(notice)


async def test_status_names_the_schedules_that_are_silent_after_the_clock_was_set_back(tmp_path: Path) -> None:
    clock = VirtualClock()
    storage = await SqliteStorage.open(tmp_path / "foliot.db", clock=clock)
    scene = Scene(storage, clock)
    await scene.schedule(every(3_600))
    await scene.fire_after(3 * HOUR)
    clock.step(-2 * HOUR)
    await storage.upkeep.save_clock_fault(a_fault(ClockFaultKind.STEP, -2 * HOUR, clock.now()))

    page = await StatusQuery(storage, clock).page()
    await storage.close()

    [notice] = [one for one in page.notices if isinstance(one, ClockSetBack)]
    assert (notice.by, notice.nodes) == (2 * 3_600, ("north:7",))
    [waiting] = notice.schedules
    assert (waiting.schedule_id, waiting.until) == ("nightly", to_datetime(Instant(START + 4 * HOUR)))
    assert f"; 1 schedule silent: nightly until {moment(waiting.until)}" in notice_text(notice)
