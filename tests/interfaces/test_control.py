"""foliot cancel, retry, mark, pause and resume."""

import json
from pathlib import Path

import pytest

from tests.interfaces.conftest import Call

BOTH_WAYS = True


def run_of(call: Call, status: str) -> str:
    [run] = call("runs", "--status", status, "--json").objects
    return str(run["id"])


def statuses(call: Call) -> list[tuple[str, str]]:
    return [(run["status"], run["trigger"]) for run in call("runs", "--json").objects]


def test_a_queued_run_is_cancelled_immediately(call: Call, shop: Path) -> None:
    run_id = run_of(call, "queued")

    assert call("cancel", run_id) == (0, f"{run_id} cancelled before it started\n", "")
    assert call("runs", "--status", "queued").out == ""


def test_cancel_reports_a_run_that_is_over_and_cancels_the_others(call: Call, shop: Path) -> None:
    ended, waiting = run_of(call, "success"), run_of(call, "queued")

    code, out, err = call("cancel", ended, waiting, "--json")

    assert code == 1
    assert out == f'{{"run_id": "{waiting}", "answer": "cancelled"}}\n'
    assert json.loads(err)["message"] == f"run {ended} has already ended: success"


@pytest.mark.proves("Z55")
def test_all_runs_of_a_job_are_cancelled_after_a_confirmation(call: Call, shop: Path) -> None:
    waiting = run_of(call, "queued")

    asked = call("cancel", "--all", "--job", "report")
    other = call("cancel", "--all", "--job", "broken", "--yes", "--json")
    unchanged = run_of(call, "queued")
    done = call("cancel", "--all", "--job", "report", "--status", "queued", "--yes")

    assert (asked.code, asked.out) == (1, "")
    assert "this cancels 1 run\n" in asked.err
    assert "--yes" in asked.err
    assert other.objects == [{"cancelled": 0, "requested": 0, "is_complete": True}]
    assert unchanged == waiting
    assert done == (0, "1 cancelled before they started, cancellation of 0 requested\n", "")
    assert call("runs", "--status", "queued").out == ""
    [entry] = call("audit", "--id", waiting, "--json").objects
    assert (entry["action"], entry["id"]) == ("cancel", waiting)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--all", "x"],
        ["x", "--yes"],
        ["x", "--job", "report"],
        ["--all", "--job", "reprot"],
        ["--all", "--status", "success"],
    ],
)
def test_a_wrong_request_to_cancel_many_is_refused(call: Call, shop: Path, arguments: list[str]) -> None:
    waiting = run_of(call, "queued")

    code, out, err = call("cancel", *arguments)

    assert (code in (1, 2), out) == (True, "")
    assert "error" in err.lower()
    assert run_of(call, "queued") == waiting


@pytest.mark.parametrize("command", ["cancel", "retry", "mark"])
def test_a_command_on_a_missing_run_fails_with_a_hint(call: Call, shop: Path, command: str) -> None:
    code, out, err = call(command, "01ARZ3NDEKTSV4RRFFQ69G5FAV")

    assert (code, out) == (1, "")
    assert "foliot runs" in err


@pytest.mark.parametrize("command", ["cancel", "retry", "mark", "logs"])
def test_the_name_of_a_job_where_a_run_is_expected_gives_a_hint(call: Call, shop: Path, command: str) -> None:
    code, out, err = call(command, "report")

    assert (code, out) == (1, "")
    assert err == "error: run 'report' does not exist\n  It is a job. Name its newest run: report@last\n"


@pytest.mark.parametrize("command", ["cancel", "retry", "mark", "pause", "resume"])
def test_a_control_command_without_arguments_is_a_usage_error(call: Call, shop: Path, command: str) -> None:
    assert call(command).code == 2


def test_retry_starts_a_new_run_with_the_same_payload(call: Call, shop: Path) -> None:
    failed = run_of(call, "failed")

    code, out, _ = call("retry", failed)

    [run] = call("show", out.strip(), "--json").objects
    assert (code, run["trigger"], run["input_payload"]) == (0, f"retry:{failed}", {"week": 7})
    assert call("show", failed, "--json").objects[0]["status"] == "failed"


def test_an_argument_given_twice_is_handled_once(call: Call, shop: Path) -> None:
    failed = run_of(call, "failed")
    before = statuses(call)

    code, out, _ = call("retry", failed, failed)

    assert (code, len(out.splitlines())) == (0, 1)
    assert len(statuses(call)) == len(before) + 1


def test_retrying_a_run_that_is_not_over_is_refused(call: Call, shop: Path) -> None:
    code, _, err = call("retry", run_of(call, "queued"))

    assert code == 1
    assert "has not ended: it is queued" in err


def test_marking_a_queued_run_ends_it_as_success(call: Call, shop: Path) -> None:
    run_id = run_of(call, "queued")

    assert call("mark", run_id) == (0, f"{run_id} marked as success, it will not start\n", "")
    assert call("show", run_id, "--json").objects[0]["reason"] == "marked"


def test_marking_a_failed_run_records_a_new_successful_run(call: Call, shop: Path) -> None:
    failed = run_of(call, "failed")

    [first] = call("mark", failed, "--json").objects
    [again] = call("mark", failed, "--json").objects

    assert (first["answer"], again["answer"]) == ("recorded", "success")
    assert first["success_id"] == again["success_id"] != failed
    assert statuses(call)[0] == ("success", f"mark:{failed}")


def test_pause_and_resume_work_on_a_schedule_and_on_all_schedules_of_a_job(call: Call, shop: Path) -> None:
    assert call("pause", "report-weekly").out == "paused report-weekly\n"
    assert call("pause", "report").out == "paused report-often, report-weekly\n"
    assert call("resume", "report", "--json").objects == [
        {"id": "report", "schedules": ["report-often", "report-weekly"], "done": "resumed"}
    ]
    assert {one["state"] for one in call("schedules", "--json").objects} == {"on"}


def test_resume_names_the_pause_of_all_schedules_that_is_still_in_force(call: Call, shop: Path) -> None:
    call("pause", "report")
    call("pause", "--all")

    assert call("resume", "report-often").out == (
        "resumed report-often; all schedules are still paused: foliot resume --all\n"
    )


def test_all_schedules_are_paused_with_a_note_and_resumed(call: Call, shop: Path) -> None:
    [paused] = call("pause", "--all", "--until", "2h", "--note", "new disks", "--json").objects
    banner = next(line for line in call("top", "--once").out.splitlines() if line.startswith("PAUSED"))

    assert (paused["done"], paused["note"], bool(paused["by"])) == ("paused", "new disks", True)
    assert f", note: new disks; until {paused['until'][:10]}" in banner
    assert banner in call("status").out.splitlines()
    assert call("top", "--json").objects[0]["paused"]["note"] == "new disks"
    assert call("status", "--json").objects[0]["paused"]["until"] == paused["until"]
    assert {one["state"] for one in call("schedules", "--json").objects} == {"paused"}
    assert all(one["next_run_at"] > paused["until"] for one in call("schedules", "--json").objects)

    assert call("resume", "--all").out.startswith("resumed all schedules, paused since ")
    assert {one["state"] for one in call("schedules", "--json").objects} == {"on"}
    assert "PAUSED" not in call("top", "--once").out


def test_resuming_all_schedules_that_are_not_paused_fails_with_a_hint(call: Call, shop: Path) -> None:
    code, _, err = call("resume", "--all")

    assert code == 1
    assert err.startswith("error: the schedules were not paused with --all\n  To resume a job or schedule")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["pause"], "no job or schedule is given"),
        (["resume"], "no job or schedule is given"),
        (["pause", "--all", "report"], "ids and --all are mutually exclusive"),
        (["pause", "report", "--note", "why"], "--until and --note need --all"),
        (["pause", "--all", "--until", "2020-01-01T00:00Z"], "until 2020-01-01T00:00:00Z has passed"),
        (["pause", "--all", "--until", "soon"], "'soon' is not a time"),
        (["trigger", "report", "--at", "2030-01-01T00:00Z", "--delay", "5m"], "--at and --delay are mutually"),
    ],
)
def test_a_call_with_contradictory_arguments_is_refused(
    call: Call, shop: Path, arguments: list[str], message: str
) -> None:
    code, out, err = call(*arguments)

    assert (code != 0, out) == (True, "")
    assert message in err


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("release", "error: 'release' has no schedule\n  Pause a schedule of the workflow, or a step"),
        ("etl.load", "error: 'etl.load' has no schedule\n  Pause a schedule of the workflow, or a step"),
        ("ettl", "error: no job or schedule is named 'ettl'\n  Did you mean \"etl\"?"),
    ],
)
def test_pausing_a_workflow_without_schedules_or_a_missing_id_fails(
    call: Call, plant: Path, name: str, message: str
) -> None:
    code, out, err = call("pause", name)

    assert (code, out) == (1, "")
    assert err.startswith(message)


def test_a_job_without_schedules_is_paused_and_resumed(call: Call, shop: Path) -> None:
    for word, state in ("pause", "paused"), ("resume", "on"):
        assert call(word, "broken").out == f"{word}{'d' if word.endswith('e') else 'ed'} broken\n"
        assert {one["id"]: one["state"] for one in call("jobs", "--json").objects}["broken"] == state
