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
        ("UPDATE workflows SET spec = '{oops'", ["workflows show etl"], "version 1 of workflow 'etl' "),
        ("UPDATE jobs SET spec = CAST(x'ff' AS TEXT)", ["show good", "trigger good"], "job "),
        (f"UPDATE runs SET payload = {OOPS}", ["runs", "show good@last", "retry bad@last"], "run "),
        (f"INSERT INTO outputs SELECT id, {OOPS} FROM runs", ["runs", "top --once", "jobs"], "run "),
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


@pytest.mark.parametrize("damage", ["'{oops'", "CAST(x'ff' AS TEXT)"])
def test_so_does_the_list_of_workflows(call: Call, plant: Path, damage: str) -> None:
    write(f"UPDATE workflows SET spec = {damage} WHERE id = 'etl'")

    code, out, err = call("workflows")
    found = {one["id"]: one for one in call("workflows", "--json").objects}

    assert (code, err) == (0, "")
    [line] = [line for line in out.splitlines() if line.startswith("etl ")]
    assert line.split()[:4] == ["etl", "-", "-", "unreadable"]
    assert (found["etl"]["state"], found["release"]["state"]) == ("unreadable", "on")
    assert found["etl"]["description"].startswith("the row of version 1 of workflow 'etl' cannot be read")


@pytest.mark.parametrize(
    ("sql", "row"),
    [
        ("UPDATE executions SET params = '{oops'", "execution "),
        ("UPDATE executions SET jobs = CAST(x'ff' AS TEXT)", "execution "),
        ("UPDATE workflows SET spec = '{oops'", "version 1 of workflow 'release' "),
    ],
)
def test_an_execution_is_shown_cancelled_and_named_by_verify(call: Call, plant: Path, sql: str, row: str) -> None:
    write(sql)

    [active] = call("workflows", "active", "--json").objects
    code, out, err = call("show", "release@last")
    verified = call("verify")

    assert (active["workflow_id"], code, err) == ("release", 0, "")
    assert f"mends or cancels it: the row of {row}" in out
    assert any(line.startswith(f"unreadable: the row of {row}") for line in verified.out.splitlines())
    assert verified.out.splitlines()[-1].endswith("unreadable")
    assert verified.code == 1
    assert call("cancel", "release@last").code == 0


@pytest.mark.parametrize("command", ["show etl@last", "logs etl@last", "workflows active", "top --once"])
@pytest.mark.parametrize(
    "sql",
    ["UPDATE workflows SET spec = '{oops'", "UPDATE executions SET params = '7'", "UPDATE steps SET blockers = '7'"],
)
def test_whatever_is_gone_of_executions_the_rest_is_shown(call: Call, plant: Path, command: str, sql: str) -> None:
    write(sql)

    code, out, err = call(*command.split())

    assert code == 0
    assert "error" not in err
    assert out + err


def test_a_workflow_that_cannot_be_read_is_deleted_by_force_alone(call: Call, plant: Path) -> None:
    write("UPDATE workflows SET spec = '{oops' WHERE id = 'etl'")

    assert call("workflows", "delete", "etl").code == 1
    assert call("workflows", "delete", "etl", "--force").code == 0

    assert [one["id"] for one in call("workflows", "--json").objects] == ["later", "release"]


def test_a_schedule_of_which_no_copy_can_be_read_is_listed_and_deleted(call: Call, plant: Path) -> None:
    write("UPDATE schedules SET spec = '{oops'")
    write("UPDATE revisions SET spec = '{oops'")

    [line] = [line for line in call("schedules").out.splitlines() if line.startswith("nightly ")]
    assert "unreadable" in line.split()
    assert call("schedules", "delete", "nightly").code == 0

    assert call("schedules", "--json").objects == []


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
    assert (schedule["paused"], schedule["unreadable"]) == (True, False)


def test_verify_names_it_and_goes_on(call: Call, plant: Path) -> None:
    write("UPDATE schedules SET spec = '{oops'")

    code, out, err = call("verify")
    [report] = call("verify", "--json").objects

    assert (code, err) == (1, "")
    assert "nightly: unreadable, " in out
    assert "the row of schedule 'nightly' cannot be read" in out
    assert out.splitlines()[-1] == "1 schedule, 0 ticks, 1 with faults"
    assert report["findings"][0]["row"].startswith("the row of schedule 'nightly' cannot be read")
