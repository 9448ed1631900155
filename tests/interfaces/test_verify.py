"""foliot verify: exit code and output."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw
import pytest

from foliot.adapters.storage.sqlite import SqliteStorage
from foliot.domain.audit import Fault
from foliot.domain.instant import HOUR, MINUTE, from_datetime
from foliot.interfaces.cli.commands.verify import show_progress
from foliot.interfaces.cli.progress import ProgressLine
from foliot.interfaces.cli.render.verify import FAULTS
from foliot.testing.builders import every
from foliot.testing.clock import VirtualClock
from foliot.testing.conformance.storage.scene import Scene
from tests.cases import for_each
from tests.interfaces.conftest import Call

BOTH_WAYS = True

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
    write(path, "DELETE FROM ticks WHERE scheduled_for = (SELECT min(scheduled_for) FROM ticks)")


def write(path: Path, sql: str) -> None:
    connection = apsw.Connection(str(path))
    connection.execute(sql)
    connection.close()


def test_verify_of_a_correct_ledger_exits_with_0(call: Call, path: Path) -> None:
    assert call("verify") == (0, "1 schedule, 4 ticks, no problems found\n", "")


def test_verify_names_a_fault_and_exits_with_1(call: Call, path: Path) -> None:
    damage(path)

    code, out, _ = call("verify")

    missing, run, _, summary = out.splitlines()
    assert (code, summary) == (1, "1 schedule, 3 ticks, problems in 1 schedule")
    assert missing.startswith("nightly: missing, ")
    assert missing.endswith(
        "planned ticks have no row; check whether the job ran; if not, start it with foliot trigger"
    )
    assert run.startswith("nightly: unrecorded_run, ")
    assert " run 0" in run


def test_verify_reports_a_time_beyond_the_calendar(call: Call, path: Path) -> None:
    write(path, "UPDATE schedules SET wake_at = 9000000000000000000")

    code, out, _ = call("verify")

    assert code == 1
    assert " to 9999-12-31T23:59:59Z: the wake-up time of the schedule is after" in out


def test_every_fault_has_a_text_and_is_in_the_reference() -> None:
    reference = (Path(__file__).parents[2] / "docs" / "reference" / "cli.md").read_text()

    assert set(FAULTS) == set(Fault)
    assert [fault for fault in Fault if f"\n| `{fault}` | " not in reference] == []


def test_verify_prints_each_fault_and_one_summary_as_json(call: Call, path: Path) -> None:
    damage(path)

    called = call("verify", "--json")

    *faults, summary = called.objects
    assert (called.code, called.err) == (1, "")
    assert {(fault["type"], fault["schedule_id"]) for fault in faults} == {("fault", "nightly")}
    missing, run, last = faults
    assert (missing["fault"], missing["count"], missing["run_id"]) == ("missing", 1, None)
    assert (run["fault"], len(run["run_id"]), run["first"]) == ("unrecorded_run", 26, run["last"])
    assert last["fault"] == "wrong_last"
    assert all(fault["what"] and fault["advice"] for fault in faults)
    counts = {"schedules": 1, "ticks": 3, "faults": 3, "unsound_schedules": 1}
    assert summary == {"type": "summary", "is_sound": False, **counts}


def test_verify_of_a_correct_ledger_prints_only_the_summary_as_json(call: Call, path: Path) -> None:
    called = call("verify", "--json")

    [summary] = called.objects
    assert (called.code, called.err, summary["is_sound"], summary["ticks"]) == (0, "", True, 4)


@for_each(
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
def test_since_accepts_lengths_of_time_and_iso_8601(call: Call, path: Path, since: str, ticks: int) -> None:
    code, out, _ = call("verify", "--since", since)

    assert (code, out) == (0, f"1 schedule, {ticks} ticks, no problems found\n")


@pytest.mark.parametrize("since", ["", "yesterday", "7 parsecs", "2026-13-01", "-1d"])
def test_an_invalid_since_exits_with_2(call: Call, path: Path, since: str) -> None:
    code, out, err = call("verify", "--since", since)

    assert (code, out) == (2, "")
    assert "is not a time" in err


def test_verify_shows_its_progress_and_erases_it(capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressLine(is_watched=True, delay=0) as line:
        show_progress(line, 1, 7)

    assert capsys.readouterr().err == f"\r1 schedules, 7 ticks ...\r{' ' * 24}\r"


@pytest.mark.parametrize(("is_watched", "patience"), [(True, 3600), (False, 0)])
def test_a_short_or_piped_verify_shows_no_progress(
    capsys: pytest.CaptureFixture[str], is_watched: bool, patience: float
) -> None:
    with ProgressLine(is_watched=is_watched, delay=patience) as line:
        show_progress(line, 1, 7)

    assert capsys.readouterr().err == ""
