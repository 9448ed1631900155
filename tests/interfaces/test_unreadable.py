"""Rows that were not written by Foliot: commands name them, without a traceback."""

from pathlib import Path

import apsw
import pytest

from tests.interfaces.conftest import Call

BOTH_WAYS = True

OOPS = "CAST('{oops' AS BLOB)"


def write(sql: str) -> None:
    connection = apsw.Connection("foliot.db")
    connection.execute(sql)
    connection.close()


@pytest.mark.local
@pytest.mark.parametrize(
    ("sql", "commands", "row"),
    [
        ("UPDATE jobs SET spec = '{oops'", ["show good", "trigger good"], "job "),
        ("UPDATE jobs SET spec = '7'", ["show good", "logs good@last"], "job "),
        ("UPDATE schedules SET spec = '{oops'", ["show nightly"], "schedule 'nightly' "),
        ("UPDATE workflows SET spec = '{oops'", ["workflows show etl"], "version 1 of workflow 'etl' "),
        ("UPDATE jobs SET spec = CAST(x'ff' AS TEXT)", ["show good", "trigger good"], "job "),
        (f"UPDATE runs SET payload = {OOPS}", ["retry bad@last", "mark bad@last"], "run "),
        (f"UPDATE runs SET overrides = {OOPS}", ["retry bad@last"], "run "),
        ("UPDATE runs SET finished_at = 9000000000000000000 WHERE job_id = 'bad'", ["retry bad@last"], "run "),
    ],
)
def test_an_unreadable_row_is_named(call: Call, plant: Path, sql: str, commands: list[str], row: str) -> None:
    write(sql)

    for command in commands:
        code, out, err = call(*command.split())
        assert (code, out) == (1, "")
        assert err.startswith(f"error: the row of {row}")
        assert "Restore this row from a backup" in err


RUNS = [
    f"UPDATE runs SET payload = {OOPS} WHERE %s",
    f"UPDATE runs SET overrides = {OOPS} WHERE %s",
    "UPDATE runs SET limits = '{oops' WHERE %s",
    "UPDATE runs SET created_at = -9000000000000000000 WHERE %s",
    "PRAGMA ignore_check_constraints = 1; UPDATE runs SET status = 'lost' WHERE %s",
    "PRAGMA ignore_check_constraints = 1; UPDATE runs SET status = CAST(x'ff' AS TEXT) WHERE %s",
    "UPDATE runs SET finished_at = 9000000000000000000 WHERE finished_at IS NOT NULL AND %s",
    f"INSERT INTO outputs SELECT id, {OOPS} FROM runs WHERE %s",
]
OPEN = RUNS[:6]
"""Damages to a run that is not over."""


@pytest.mark.parametrize("sql", RUNS)
@pytest.mark.parametrize(
    "command", ["runs", "jobs --all", "top --once", "show good@last", "show etl@last", "show good"]
)
def test_unreadable_runs_stop_no_command(call: Call, plant: Path, command: str, sql: str) -> None:
    write(sql % "true")

    code, out, err = call(*command.split())

    assert (code, err) == (0, "")
    assert "unreadable" in out


@pytest.mark.parametrize("sql", RUNS)
def test_an_unreadable_run_is_listed_and_reported_by_verify(call: Call, plant: Path, sql: str) -> None:
    before = {run["id"]: run for run in call("runs", "--json").objects}
    [bad] = [run["id"] for run in call("runs", "--json", "--job", "bad").objects]
    write(sql % f"id = '{bad}'")

    after = {run["id"]: run for run in call("runs", "--json").objects}
    verified = call("verify")

    told = after.pop(bad)
    assert told["unreadable"]
    assert told["error_message"].startswith(f"the row of run '{bad}' cannot be read: ")
    before.pop(bad)
    assert after == before
    [line] = [line for line in verified.out.splitlines() if line.startswith("unreadable: ")]
    assert line.startswith(f"unreadable: {told['error_message']}; ")
    assert verified.code == 1


def test_show_unreadable_run_says_what_is_wrong_and_what_to_do(call: Call, plant: Path) -> None:
    write(f"UPDATE runs SET payload = {OOPS} WHERE job_id IN ('bad', 'later')")

    over, waiting = call("show", "bad@last").out, call("show", "later@last").out
    document = call("show", "bad@last", "--json").objects[0]

    assert "error         the row of run " in over
    assert "restore the row from a backup, or start a new run with: foliot trigger bad" in over
    assert "cancel it with: foliot cancel " in waiting
    assert (document["status"], document["unreadable"], document["input_payload"]) == ("failed", True, None)


@pytest.mark.parametrize("sql", OPEN)
def test_an_unreadable_queued_run_can_be_cancelled(call: Call, plant: Path, sql: str) -> None:
    write(sql % "job_id = 'later'")

    code, out, err = call("cancel", "later@last")

    assert (code, err) == (0, "")
    assert out.endswith("cancelled before it started\n")
    assert call("runs", "--job", "later", "--json").objects[0]["status"] == "cancelled"


def test_rerun_fails_if_the_output_of_a_kept_step_cannot_be_read(call: Call, plant: Path) -> None:
    [execution] = call("runs", "--job", "etl", "--json").objects
    write(f"INSERT INTO outputs SELECT id, {OOPS} FROM runs WHERE job_id = 'etl.extract'")

    code, out, err = call("workflows", "rerun", execution["id"], "alarm")

    assert (code, out) == (1, "")
    assert err.startswith("error: the row of run ")


def test_unreadable_ticks_and_attempts_are_shown_as_unreadable(call: Call, shop: Path) -> None:
    write("UPDATE attempts SET finished_at = 9000000000000000000")
    write("INSERT INTO ticks SELECT uid, 1, 1, 1, 'skipped', 'fate', 1, 1, NULL, NULL, '', 1 FROM schedules")

    code, out, err = call("show", "broken@last")
    assert (code, err) == (0, "")
    assert "unreadable" in out

    code, out, err = call("show", "report-often")
    assert (code, err) == (0, "")
    assert "unreadable" in out


def test_an_unreadable_worker_stops_no_command(call: Call, shop: Path) -> None:
    write("INSERT INTO workers VALUES ('w', 'w', '[]', -1, 9000000000000000000, 0, '', '', 0, 0, '{}', '')")

    code, out, err = call("top", "--once")

    assert (code, err) == (0, "")
    assert "unreadable" in out


def test_an_unreadable_setting_is_named(call: Call, shop: Path) -> None:
    write("INSERT INTO meta VALUES ('revision_floor', -1) ON CONFLICT DO NOTHING")
    write("PRAGMA writable_schema = 1; UPDATE sqlite_schema SET sql = replace(sql, ', STRICT', '') WHERE name = 'meta'")
    write("UPDATE meta SET value = 'oops'")
    Path("foliot.toml").write_text('[[jobs]]\nid = "new"\ncommand = "true"\n')

    code, _, err = call("reload")

    assert code == 1
    assert err.startswith("error: the row of setting 'revision_floor' cannot be read: ")


def test_a_warning_about_an_unreadable_row_is_printed_once(call: Call, plant: Path) -> None:
    write("UPDATE jobs SET spec = '{oops' WHERE id = 'good'")
    Path("foliot.toml").write_text('[[jobs]]\nid = "new"\ncommand = "true"\n')

    code, _, err = call("plan")

    assert code == 0
    assert err.splitlines()[0].startswith("warning: the row of job 'good' cannot be read: ")
    assert err.count("good") == 1


def test_lists_show_unreadable_rows_among_the_others(call: Call, plant: Path) -> None:
    write("UPDATE jobs SET spec = '{oops' WHERE id = 'good'")
    write("UPDATE schedules SET spec = '{oops' WHERE id = 'nightly'")

    kinds = {job["id"]: job["kind"] == "unreadable" for job in call("jobs", "--json").objects}
    code, out, err = call("schedules")

    assert (kinds.pop("good"), any(kinds.values())) == (True, False)
    assert (code, err) == (0, "")
    [line] = [line for line in out.splitlines() if line.startswith("nightly ")]
    assert "unreadable" in line.split()


@pytest.mark.parametrize("rule", [("0 9 * * MON", "0 9 * * x"), ("Europe/Berlin", "Mars/Phobos")])
@pytest.mark.parametrize("command", ["schedules", "jobs", "top --once", "show report-weekly", "show report"])
def test_an_invalid_stored_rule_stops_no_command(call: Call, shop: Path, command: str, rule: tuple[str, str]) -> None:
    for table in ("schedules", "revisions"):
        write(f"UPDATE {table} SET spec = replace(spec, '{rule[0]}', '{rule[1]}')")

    code, out, err = call(*command.split())
    [often, weekly] = call("schedules", "--json").objects

    assert (code, err) == (0, "")
    assert "report" in out
    assert (often["unreadable"], often["state"], len(often["preview"])) == (False, "on", 5)
    assert (weekly["unreadable"], weekly["state"], weekly["preview"]) == (True, "unreadable", [])
    assert (weekly["description"], weekly["next_run_at"]) == (None, None)


def test_an_unreadable_schedule_has_no_upcoming_ticks(call: Call, shop: Path) -> None:
    write("UPDATE schedules SET spec = '{oops' WHERE id = 'report-weekly'")

    code, out, err = call("top", "--once")

    assert (code, err) == (0, "")
    assert "every " in out
    assert "0 9 * * MON" not in out


@pytest.mark.parametrize("damage", ["'{oops'", "CAST(x'ff' AS TEXT)"])
def test_workflows_lists_an_unreadable_workflow(call: Call, plant: Path, damage: str) -> None:
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
        ("UPDATE tree_bodies SET body = x'7b'", "execution "),
        ("UPDATE tree_bodies SET body = x'ff'", "execution "),
        ("UPDATE workflows SET spec = '{oops'", "version 1 of workflow 'release' "),
    ],
)
def test_an_unreadable_execution_can_be_shown_cancelled_and_verified(
    call: Call, plant: Path, sql: str, row: str
) -> None:
    write(sql)

    [active] = call("workflows", "active", "--json").objects
    code, out, err = call("show", "release@last")
    verified = call("verify")

    assert (active["workflow_id"], code, err) == ("release", 0, "")
    assert f"repaired or cancelled: the row of {row}" in out
    assert any(line.startswith(f"unreadable: the row of {row}") for line in verified.out.splitlines())
    assert verified.out.splitlines()[-1].endswith("unreadable")
    assert verified.code == 1
    assert call("cancel", "release@last").code == 0


@pytest.mark.parametrize("command", ["show etl@last", "logs etl@last", "workflows active", "top --once"])
@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE workflows SET spec = '{oops'",
        "UPDATE tree_bodies SET body = CAST('7' AS BLOB)",
        "UPDATE steps SET blockers = '7'",
    ],
)
def test_executions_with_unreadable_rows_are_shown_as_far_as_possible(
    call: Call, plant: Path, command: str, sql: str
) -> None:
    write(sql)

    code, out, err = call(*command.split())

    assert code == 0
    assert "error" not in err
    assert out + err


def test_an_unreadable_workflow_is_deleted_only_with_force(call: Call, plant: Path) -> None:
    write("UPDATE workflows SET spec = '{oops' WHERE id = 'etl'")

    assert call("workflows", "delete", "etl").code == 1
    assert call("workflows", "delete", "etl", "--force").code == 0

    assert [one["id"] for one in call("workflows", "--json").objects] == ["later", "release"]


def test_an_unreadable_schedule_can_be_listed_and_deleted(call: Call, plant: Path) -> None:
    write("UPDATE schedules SET spec = '{oops'")
    write("UPDATE revisions SET spec = '{oops'")

    [line] = [line for line in call("schedules").out.splitlines() if line.startswith("nightly ")]
    assert "unreadable" in line.split()
    assert call("schedules", "delete", "nightly").code == 0

    assert call("schedules", "--json").objects == []


def test_a_run_of_an_unreadable_job_can_be_shown(call: Call, plant: Path) -> None:
    write("UPDATE jobs SET spec = '{oops' WHERE id = 'good'")

    code, out, err = call("show", "good@last")

    assert (code, err) == (0, "")
    assert "good" in out


def test_an_unreadable_job_is_deleted_only_with_force(call: Call, plant: Path) -> None:
    write("UPDATE jobs SET spec = '{oops' WHERE id = 'digest'")

    assert call("jobs", "delete", "digest").code == 1
    assert call("jobs", "delete", "digest", "--force").code == 0

    assert "digest" not in [job["id"] for job in call("jobs", "--json").objects]


def test_the_closest_match_is_suggested_beside_an_unreadable_job(call: Call, plant: Path) -> None:
    write("UPDATE jobs SET spec = '{oops' WHERE id = 'bad'")

    code, _, err = call("trigger", "goood")

    assert code == 1
    assert 'Did you mean "good"?' in err


def test_pausing_an_unreadable_schedule_repairs_it(call: Call, plant: Path) -> None:
    write("UPDATE schedules SET spec = '{oops' WHERE id = 'nightly'")

    assert call("pause", "nightly").code == 0

    [schedule] = call("schedules", "--json").objects
    assert (schedule["paused"], schedule["unreadable"]) == (True, False)


def test_verify_reports_an_unreadable_schedule_and_continues(call: Call, plant: Path) -> None:
    write("UPDATE schedules SET spec = '{oops'")

    code, out, err = call("verify")
    [fault, last] = call("verify", "--json").objects

    assert (code, err) == (1, "")
    assert "nightly: unreadable, " in out
    assert "the row of schedule 'nightly' cannot be read" in out
    assert out.splitlines()[-1] == "1 schedule, 0 ticks, problems in 1 schedule"
    assert (fault["schedule_id"], fault["fault"]) == ("nightly", "unreadable")
    assert fault["row"].startswith("the row of schedule 'nightly' cannot be read")
    assert (last["type"], last["is_sound"]) == ("summary", False)
