"""foliot status: one screen and an exit code that says whether all is well."""

import asyncio
from pathlib import Path

import pytest

from foliot import Foliot
from foliot.domain.ids import WorkerId
from foliot.domain.run.lease import Worker, WorkerState
from foliot.domain.tree.tree import TREES_QUEUE
from foliot.interfaces.cli.render.status import notice_hint, notice_text, size_text
from foliot.ports.queries import Depth, HealthDetails, StorageSize
from foliot.service.queries.status import Notice, SchedulesLate, State, notices_of
from foliot.testing.clock import START
from tests.interfaces.conftest import Call
from tests.interfaces.serving import started


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
    size=StorageSize(1, 1, None),
)


def test_status_is_down_without_a_server(call: Call, shop: Path) -> None:
    code, out, err = call("status")

    assert (code, err) == (2, "")
    assert out.splitlines()[0].endswith("  down")
    assert "down: no scheduler is alive: schedules do not fire\n  Start one with: foliot serve" in out
    assert "attention: 1 job failing: broken" in out
    assert "1 queued" in out


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
    assert "scheduler  up" in out


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
