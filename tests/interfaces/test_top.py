"""foliot top: printed once, or live."""

from pathlib import Path

import pytest

from tests.interfaces.conftest import Call
from tests.interfaces.terminal import on_terminal


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
    assert set(frame) == {"at", "depth", "executions", "running", "queued", "upcoming", "workers", "failures"}


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
