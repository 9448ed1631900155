"""Rows that something else has written: a command that meets one names it, and no traceback is shown."""

from pathlib import Path

import apsw
import pytest

from tests.interfaces.conftest import Call

OOPS = "CAST('{oops' AS BLOB)"


def write(sql: str) -> None:
    connection = apsw.Connection("foliot.db")
    connection.execute(sql)
    connection.close()


@pytest.mark.parametrize(
    ("sql", "commands", "row"),
    [
        ("UPDATE jobs SET spec = '{oops'", ["show good", "trigger good"], "job "),
        ("UPDATE jobs SET spec = '7'", ["show good", "logs good@last"], "job "),
        ("UPDATE schedules SET spec = '{oops'", ["show nightly"], "schedule 'nightly' "),
        ("UPDATE workflows SET spec = '{oops'", ["workflows", "workflows show etl"], "workflow 'etl version 1' "),
        (f"UPDATE runs SET payload = {OOPS}", ["runs", "show good@last", "retry bad@last"], "run "),
        (f"INSERT INTO outputs SELECT id, {OOPS} FROM runs", ["runs", "top --once", "jobs"], "run "),
        ("UPDATE executions SET params = '{oops'", ["workflows active", "show etl@last"], "execution "),
        ("UPDATE executions SET jobs = '7'", ["workflows active", "show etl@last"], "execution "),
    ],
)
def test_a_row_that_cannot_be_read_is_named(call: Call, plant: Path, sql: str, commands: list[str], row: str) -> None:
    write(sql)

    for command in commands:
        code, out, err = call(*command.split())
        assert (code, out) == (1, "")
        assert err.startswith(f"error: the row of {row}")
        assert "Restore this row from a backup" in err


def test_a_list_shows_it_among_the_others(call: Call, plant: Path) -> None:
    write("UPDATE jobs SET spec = '{oops' WHERE id = 'good'")
    write("UPDATE schedules SET spec = '{oops' WHERE id = 'nightly'")

    kinds = {job["id"]: job["kind"] == "unreadable" for job in call("jobs", "--json").objects}
    code, out, err = call("schedules")

    assert (kinds.pop("good"), any(kinds.values())) == (True, False)
    assert (code, err) == (0, "")
    [line] = [line for line in out.splitlines() if line.startswith("nightly ")]
    assert "unreadable" in line.split()


def test_a_run_is_shown_although_its_job_cannot_be_read(call: Call, plant: Path) -> None:
    write("UPDATE jobs SET spec = '{oops' WHERE id = 'good'")

    code, out, err = call("show", "good@last")

    assert (code, err) == (0, "")
    assert "good" in out


def test_a_job_that_cannot_be_read_is_deleted_by_force_alone(call: Call, plant: Path) -> None:
    write("UPDATE jobs SET spec = '{oops' WHERE id = 'digest'")

    assert call("jobs", "delete", "digest").code == 1
    assert call("jobs", "delete", "digest", "--force").code == 0

    assert "digest" not in [job["id"] for job in call("jobs", "--json").objects]


def test_a_near_name_is_told_although_a_job_cannot_be_read(call: Call, plant: Path) -> None:
    write("UPDATE jobs SET spec = '{oops' WHERE id = 'bad'")

    code, _, err = call("trigger", "goood")

    assert code == 1
    assert 'Did you mean "good"?' in err


def test_who_pauses_a_schedule_that_cannot_be_read_mends_it(call: Call, plant: Path) -> None:
    write("UPDATE schedules SET spec = '{oops' WHERE id = 'nightly'")

    assert call("pause", "nightly").code == 0

    [schedule] = call("schedules", "--json").objects
    assert (schedule["paused"], schedule["readable"]) == (True, True)


def test_verify_names_it_and_goes_on(call: Call, plant: Path) -> None:
    write("UPDATE schedules SET spec = '{oops'")

    code, out, err = call("verify")
    [report] = call("verify", "--json").objects

    assert (code, err) == (1, "")
    assert "nightly: unreadable, " in out
    assert "the row of schedule 'nightly' cannot be read" in out
    assert out.splitlines()[-1] == "1 schedule, 0 ticks, 1 with faults"
    assert report["findings"][0]["row"].startswith("the row of schedule 'nightly' cannot be read")
