"""foliot show: executions, their steps, and gates."""

from pathlib import Path

import pytest

from tests.interfaces.conftest import Call
from tests.interfaces.terminal import on_terminal
from tests.interfaces.test_show import fields

BOTH_WAYS = True


def run_of(call: Call, job: str) -> str:
    return str(call("runs", "--job", job, "-n", "1", "--json").objects[0]["id"])


def rows(out: str, title: str) -> list[list[str]]:
    """Return the rows of a section as cells."""
    lines = out.partition(f"\n{title}\n")[2].partition("\n\n")[0].splitlines()[1:]
    return [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in lines]


@pytest.mark.proves("R2-11", "R2-14")
def test_show_execution_lists_steps_and_why_they_were_skipped(call: Call, plant: Path) -> None:
    code, out, err = call("show", "etl@last")

    execution, extract = run_of(call, "etl"), run_of(call, "etl.extract")
    said = fields(out)
    assert (code, err, said["run"]) == (0, "", execution)
    assert said["workflow"].startswith("etl, version 1; draw it with: foliot workflows show etl --execution")
    assert said["why"] == "6 steps: 2 success, 1 failure, 3 skipped; failed: extract"
    assert "log" not in said
    assert rows(out, "Steps") == [
        ["extract", "failure", extract, "exit code 3"],
        ["load", "skipped", "-", f"extract failed (run {extract}), required: success"],
        ["report", "skipped", "-", "load was skipped, required: success"],
        ["alarm", "success", run_of(call, "etl.alarm"), "-"],
        [
            "never", "skipped", "-",
            f"extract failed (run {extract}), required: failure, contains \"a \\\"b\\\" <c>\" "
            "(its output does not match)",
        ],
        ["cleanup", "success", run_of(call, "etl.cleanup"), "-"],
    ]  # fmt: skip


def test_show_execution_as_json_names_the_deciding_runs(call: Call, plant: Path) -> None:
    [run] = call("show", "etl@last", "--json").objects

    steps = {step["name"]: step for step in run["execution"]["steps"]}
    assert (run["part_of"], run["gate"], run["execution"]["params"]) == (None, None, {"day": "today", "n": 1})
    assert steps["load"]["deciders"] == {"extract": run_of(call, "etl.extract")}
    assert steps["report"]["deciders"] == {"load": None}


def test_show_running_execution_prints_progress_and_what_it_waits_for(call: Call, plant: Path) -> None:
    _, out, _ = call("show", "release@last")

    execution = run_of(call, "release")
    assert fields(out)["why"] == "0 of 2 steps finished; in progress: ask"
    assert [row[3] for row in rows(out, "Steps")] == [
        f"waiting for approval: foliot workflows approve {execution} ask, or reject",
        "waiting for ask",
    ]


def test_show_execution_says_that_cancellation_was_requested(call: Call, plant: Path) -> None:
    call("cancel", "release@last")

    assert fields(call("show", "release@last").out)["why"] == "cancellation requested, its steps are ending"


def test_show_explains_an_execution_that_has_not_started_like_a_run(call: Call, plant: Path) -> None:
    assert fields(call("show", "later@last").out)["why"].startswith("no coordinator is alive")


def test_an_answered_approval_says_who_answered_it(call: Call, plant: Path, actor: str) -> None:
    call("workflows", "approve", "release@last", "ask")

    assert rows(call("show", "release@last").out, "Steps")[0][1:] == [
        "success",
        run_of(call, "release.ask"),
        f"approved by {actor}",
    ]


@pytest.mark.parametrize(("step", "why"), [("etl.alarm", "attempt 1 succeeded"), ("release.ask", "waiting for")])
def test_show_run_of_a_step_names_its_execution(call: Call, plant: Path, step: str, why: str) -> None:
    workflow, _, name = step.partition(".")
    execution = run_of(call, workflow)

    said = fields(call("show", f"{step}@last").out)
    [run] = call("show", f"{step}@last", "--json").objects

    assert said["step"] == f"{name} of {workflow}, execution {execution}"
    assert said["why"].startswith(why)
    assert run["part_of"] == {"execution_id": execution, "workflow_id": workflow, "step": name}
    assert run["execution"] is None


def test_show_execution_says_that_a_skipped_step_is_paused(call: Call, operator: None) -> None:
    call("workflows", "pause", "later", "only")
    call("workflows", "start", "later", "--wait")

    assert rows(call("show", "later@last").out, "Steps") == [["only", "skipped (paused)", "-", "the step is paused"]]


def test_show_gated_run_lists_verdicts_and_deciding_runs(call: Call, plant: Path) -> None:
    code, out, _ = call("show", "digest@last")
    [run] = call("show", "digest@last", "--json").objects

    good, bad = run_of(call, "good"), run_of(call, "bad")
    assert (code, fields(out)["error"]) == (0, "not met: bad (failed), later (missing)")
    assert rows(out, "Gate") == [["good", "met", good], ["bad", "failed", bad], ["later", "missing", "-"]]
    assert run["gate"]["action"] == "skip"
    assert run["gate"]["verdicts"] == {"good": "met", "bad": "failed", "later": "missing"}
    assert run["gate"]["deciders"] == {"good": good, "bad": bad}


def test_show_run_with_an_undecided_gate_waits_for_it(call: Call, plant: Path) -> None:
    call("trigger", "digest")

    assert fields(call("show", "digest@last").out)["why"].endswith(", waiting for its gate: good, bad, later")


@pytest.mark.proves("R0-70")
def test_show_job_with_a_gate_lists_the_latest_run_of_each_dependency(call: Call, plant: Path) -> None:
    _, out, _ = call("show", "digest")
    [job] = call("show", "digest", "--json").objects

    states = [(row[0], row[1], row[3]) for row in rows(out, "Dependencies")]
    assert fields(out)["gate"] == "in the last 1d00h; missing: skip, failed: skip"
    assert states == [
        ("good", "success", run_of(call, "good")),
        ("bad", "failed (exit_code)", run_of(call, "bad")),
        ("later", "queued", run_of(call, "later")),
    ]
    assert [one["latest_run"]["status"] for one in job["gate"]["depends_on"]] == ["success", "failed", "queued"]


@pytest.mark.proves("R0-70")
def test_the_listed_dependency_changes_with_its_latest_run(call: Call, plant: Path) -> None:
    call("trigger", "bad")

    assert rows(call("show", "digest").out, "Dependencies")[1][1] == "queued"


def test_show_job_of_a_workflow_names_the_drawing_command(call: Call, plant: Path) -> None:
    assert fields(call("show", "etl").out)["drawing"] == "foliot workflows show etl"


@pytest.mark.proves("R0-23")
def test_skipped_and_failed_differ_in_word_and_colour(call: Call, plant: Path) -> None:
    listed = on_terminal("runs", directory=plant)
    drawn = on_terminal("workflows", "show", "etl", directory=plant)

    assert "\x1b[31mfailed (exit_code)" in listed
    assert "\x1b[2mskipped (dep_failed)" in listed
    assert "\x1b[31mfailure" in drawn
    assert "\x1b[2mskipped" in drawn
    mermaid = call("workflows", "show", "etl", "--format", "mermaid").out
    assert len({line for line in mermaid.splitlines() if "classDef" in line}) == 3
