"""foliot ticks: rows of the ledger as a table and as JSON."""

import shutil
from datetime import timedelta
from pathlib import Path

import pytest

from foliot import Foliot
from foliot.testing.inline import InlineEngine
from tests.interfaces.conftest import Call

BOTH_WAYS = True


@pytest.fixture
async def ledger(elsewhere: Path) -> None:
    """A database with the ticks of three hours: `often` was paused for ten minutes, runs of `broken` failed."""
    app = Foliot()

    @app.job(id="report")
    async def report() -> None: ...

    @app.job(id="fail")
    async def fail() -> None:
        raise RuntimeError("broken")

    app.schedule("often", "report", every=60)
    app.schedule("broken", "fail", every=3600)
    async with InlineEngine(app) as engine:
        await engine.advance(timedelta(hours=1, minutes=59, seconds=30))
        await app.schedules.pause("often")
        await engine.advance(timedelta(minutes=10))
        await app.schedules.resume("often")
        await engine.advance(timedelta(minutes=50, seconds=30))
        copy_database(Path(engine._directory.name), elsewhere)


def copy_database(source: Path, target: Path) -> None:
    for file in source.iterdir():
        shutil.copy(file, target / file.name.replace("inline", "foliot"))


@pytest.mark.usefixtures("ledger")
def test_ticks_are_listed_newest_first_with_their_runs(call: Call) -> None:
    code, out, err = call("ticks", "often", "-n", "3")

    head, *lines = out.splitlines()
    assert (code, err) == (0, "")
    assert head.split() == ["PLANNED", "SCHEDULE", "OUTCOME", "COUNT", "RUN", "STATUS"]
    assert [line.split()[:2] for line in lines] == [
        ["2026-01-01", f"0{time}Z"] for time in ("3:00:00", "2:59:00", "2:58:00")
    ]
    assert all("often" in line and "ran (on_time)" in line and line.endswith("success") for line in lines)


@pytest.mark.usefixtures("ledger")
def test_a_range_is_one_row_with_its_count(call: Call) -> None:
    [row] = call("ticks", "report", "--skipped").out.splitlines()[1:]

    assert row.startswith("2026-01-01 02:00:00Z to 2026-01-01 02:09:00Z  often     skipped (paused)  10 ")
    [tick] = call("ticks", "--skipped", "--json").objects
    assert (tick["count"], tick["until"], tick["run_id"]) == (10, "2026-01-01T02:09:00Z", None)


@pytest.mark.usefixtures("ledger")
def test_ticks_whose_runs_failed_are_listed(call: Call) -> None:
    ticks = call("ticks", "--failed", "--json").objects

    assert [(tick["schedule_id"], tick["outcome"], tick["status"]) for tick in ticks] == [
        ("broken", "ran", "failed")
    ] * 3


@pytest.mark.usefixtures("ledger")
def test_ticks_are_filtered_by_time(call: Call) -> None:
    options = ("--since", "2026-01-01T01:00Z", "--until", "2026-01-01T01:04Z", "--json")

    assert len(call("ticks", *options).objects) == 6
    assert len(call("ticks", "report", "--ran", *options).objects) == 5
    assert call("ticks", "--since", "1d", "--json").objects == []


@pytest.mark.usefixtures("ledger")
def test_an_empty_list_of_ticks_prints_a_note_on_standard_error(call: Call) -> None:
    assert call("ticks", "--missed") == (0, "", "no ticks\n")


@pytest.mark.usefixtures("ledger")
def test_a_name_that_does_not_exist_is_refused_with_a_near_one(call: Call) -> None:
    code, out, err = call("ticks", "oftn")

    assert (code, out) == (1, "")
    assert err == "error: no job or schedule is named 'oftn'\n  Did you mean \"often\"?\n"


@pytest.mark.usefixtures("ledger")
def test_the_page_of_a_job_has_its_last_ticks(call: Call) -> None:
    out = call("show", "fail").out

    assert "Last ticks\n" in out
    assert out.count("ran (on_time)") == 3
    assert [tick["schedule_id"] for tick in call("show", "fail", "--json").objects[0]["ticks"]] == ["broken"] * 3
