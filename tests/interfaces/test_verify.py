"""foliot verify: exit code and words."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw
import pytest

from foliot.adapters.storage.sqlite import SqliteStorage
from foliot.domain.instant import HOUR, MINUTE, from_datetime
from foliot.interfaces.cli import main
from foliot.testing.builders import every
from foliot.testing.clock import VirtualClock
from foliot.testing.conformance.storage.scene import Scene

BEGUN = datetime.now(UTC) - timedelta(hours=5)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A schedule that fired each hour, four times, the first time four hours ago."""
    path = tmp_path / "foliot.db"
    asyncio.run(fill(path))
    return path


async def fill(path: Path) -> None:
    clock = VirtualClock(from_datetime(BEGUN))
    storage = await SqliteStorage.open(path, clock=clock, inline=True, synchronous="NORMAL")
    scene = Scene(storage, clock)
    await scene.schedule(every(3600))
    for _ in range(4):
        await scene.fire_after(HOUR)
    await scene.fire_after(MINUTE)
    await storage.close()


def damage(path: Path) -> None:
    """Remove the oldest tick."""
    connection = apsw.Connection(str(path))
    connection.execute("DELETE FROM ticks WHERE scheduled_for = (SELECT min(scheduled_for) FROM ticks)")
    connection.close()


def run(capsys: pytest.CaptureFixture[str], path: Path, *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["verify", "--storage", f"sqlite:///{path}", *arguments])
    out, err = capsys.readouterr()
    return int(ended.value.code or 0), out, err


def test_a_sound_ledger_ends_with_0(capsys: pytest.CaptureFixture[str], path: Path) -> None:
    assert run(capsys, path) == (0, "1 schedules, 4 ticks, 0 schedules with faults\n", "")


def test_a_fault_is_named_and_ends_with_1(capsys: pytest.CaptureFixture[str], path: Path) -> None:
    damage(path)

    code, out, _ = run(capsys, path)

    assert code == 1
    assert out.startswith("nightly: missing 1 from ")
    assert out.endswith("1 schedules, 3 ticks, 1 schedules with faults\n")


def test_json_is_one_object_for_each_schedule(capsys: pytest.CaptureFixture[str], path: Path) -> None:
    damage(path)

    code, out, _ = run(capsys, path, "--json")

    [answer] = map(json.loads, out.splitlines())
    assert (code, answer["schedule_id"], answer["is_sound"]) == (1, "nightly", False)
    assert [finding["fault"] for finding in answer["findings"]] == ["missing"]


@pytest.mark.parametrize(
    ("since", "ticks"),
    [
        ("1w", 4),
        ("7d", 4),
        ("24h", 4),
        ("150m", 2),
        ("9000s", 2),
        ("999999999d", 4),
        ((BEGUN + timedelta(minutes=150)).isoformat(), 2),
        (f"{BEGUN + timedelta(minutes=150):%Y-%m-%dT%H:%M:%S}", 2),
        ("2001-01-01", 4),
    ],
)
def test_how_far_back_can_be_said_in_many_ways(
    capsys: pytest.CaptureFixture[str], path: Path, since: str, ticks: int
) -> None:
    code, out, _ = run(capsys, path, "--since", since)

    assert (code, out) == (0, f"1 schedules, {ticks} ticks, 0 schedules with faults\n")


@pytest.mark.parametrize("since", ["", "yesterday", "7 parsecs", "2026-13-01", "-1d"])
def test_what_is_no_time_ends_with_2(capsys: pytest.CaptureFixture[str], path: Path, since: str) -> None:
    code, out, err = run(capsys, path, "--since", since)

    assert (code, out) == (2, "")
    assert "is not a time" in err
