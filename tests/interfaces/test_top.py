"""foliot top: printed once, or live."""

from pathlib import Path

import pytest

from foliot.domain.ids import WorkerId
from foliot.domain.instant import to_datetime
from foliot.domain.run.lease import Worker, WorkerState
from foliot.interfaces.cli.render.overview import sections
from foliot.service.queries.overview import DepthView, OverviewPage
from foliot.service.queries.worker_view import view_worker
from foliot.testing.clock import START
from tests.interfaces.conftest import Call
from tests.interfaces.terminal import on_terminal

BOTH_WAYS = True


def test_top_once_shows_queued_upcoming_and_failed_runs(call: Call, shop: Path) -> None:
    code, out, err = call("top", "--once")

    titles = [line for line in out.splitlines() if line and " " not in line]
    assert (code, err) == (0, "")
    assert "0 running, 1 queued, 0 scheduled  0 workers" in out.splitlines()[0]
    assert titles == ["Queued", "Next", "Failed"]


@pytest.mark.usefixtures("worker")
def test_top_shows_workers(call: Call) -> None:
    [frame] = call("top", "--json").objects

    assert [(worker["name"], worker["is_alive"]) for worker in frame["workers"]] == [
        ("test", True),
        ("test coordinator", True),
    ]
    assert "  1 worker, 100 slots" in call("top", "--once").out.splitlines()[0]
    assert set(frame) == {"at", "paused", "depth", "executions", "running", "queued", "upcoming", "workers", "failures"}


@pytest.mark.parametrize(
    ("is_alive", "is_draining", "state"), [(True, False, "on"), (True, True, "draining"), (False, True, "lost")]
)
def test_top_shows_the_state_of_a_worker(is_alive: bool, is_draining: bool, state: str) -> None:
    worker = WorkerState(Worker(WorkerId("w"), "north", ("default",), 2), START, START, is_alive, 1, is_draining)
    page = OverviewPage(
        at=to_datetime(START),
        paused=None,
        depth=DepthView(queued=0, running=0, scheduled=0),
        executions=[],
        running=[],
        queued=[],
        upcoming=[],
        workers=[view_worker(worker)],
        failures=[],
    )

    [section] = sections(page)

    assert list(section.rows[0])[:3] == ["north", state, "1 of 2"]


@pytest.mark.usefixtures("worker")
def test_top_lists_a_timeout_among_the_failures(call: Call, elsewhere: Path) -> None:
    (elsewhere / "foliot.toml").write_text('[[jobs]]\nid = "slow"\ncommand = "sleep 600"\ntimeout_sec = "100ms"\n')
    call("reload")
    call("trigger", "slow", "--wait")

    [frame] = call("top", "--json").objects

    assert [(run["job_id"], run["status"]) for run in frame["failures"]] == [("slow", "timeout"), ("broken", "failed")]


def test_top_prints_one_page_into_a_pipe(call: Call, shop: Path) -> None:
    assert call("top").out.count("Next") == 1


def test_q_ends_top_and_restores_the_screen(shop: Path) -> None:
    screen = on_terminal("top", "--every", "3600", directory=shop, keys=b"q")

    before, _, live = screen.partition("\x1b[?1049h")
    picture, _, after = live.partition("\x1b[?1049l")
    assert ("Next" in before, "Next" in picture, "Next" in after) == (False, True, False)


@pytest.mark.parametrize("wrong", ["0", "nan", "-1", "often"])
def test_top_refuses_an_invalid_interval(call: Call, shop: Path, wrong: str) -> None:
    assert call("top", "--every", wrong).code == 2
