"""foliot runs: the list as a table and as JSON."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.interfaces.conftest import Call

BOTH_WAYS = True


def test_runs_are_listed_newest_first(call: Call, shop: Path) -> None:
    code, out, err = call("runs")

    lines = [line.split() for line in out.splitlines()]
    assert (code, err) == (0, "")
    assert [line[1:3] for line in lines] == [
        ["JOB", "STATUS"],
        ["report", "cancelled"],
        ["report", "queued"],
        ["broken", "failed"],
        ["report", "success"],
    ]


def test_runs_prints_one_json_object_per_run(call: Call, shop: Path) -> None:
    runs = call("runs", "--json").objects

    assert [(run["job_id"], run["status"], run["reason"]) for run in runs] == [
        ("report", "cancelled", "cancelled"),
        ("report", "queued", None),
        ("broken", "failed", "exit_code"),
        ("report", "success", None),
    ]
    assert runs[2]["attempt"] == 2
    assert runs[3]["started_at"].endswith("Z")


@pytest.mark.parametrize(
    ("only", "count"),
    [
        (["--job", "broken"], 1),
        (["--status", "canceled"], 1),
        (["--job", "report", "--status", "queued"], 1),
        (["--schedule", "report-often"], 0),
        (["-n", "3"], 3),
        (["--failed"], 1),
        (["--failed", "--job", "report"], 0),
        (["--since", "1h"], 4),
        (["--since", "2999-01-01"], 0),
        (["--kind", "job"], 4),
        (["--kind", "step"], 0),
    ],
)
def test_runs_are_filtered_by_options(call: Call, shop: Path, only: list[str], count: int) -> None:
    assert len(call("runs", "--json", *only).objects) == count


def test_executions_and_steps_are_told_apart(call: Call, plant: Path) -> None:
    kinds = {run["job_id"]: run["kind"] for run in call("runs", "--all", "-n", "100", "--json").objects}
    roots = {run["job_id"] for run in call("runs", "-n", "100", "--json").objects}

    assert roots == {name for name, kind in kinds.items() if kind != "step"}
    assert {kinds["etl"], kinds["release"], kinds["later"]} == {"execution"}
    assert {kinds["etl.extract"], kinds["release.ask"]} == {"step"}
    assert {kinds["good"], kinds["digest"]} == {"job"}
    executions = call("runs", "--kind", "execution").out.splitlines()
    assert executions[0].split()[1:4] == ["JOB", "STATUS", "KIND"]
    assert all(" execution " in line for line in executions[1:])
    assert len(executions) == 1 + len(call("runs", "--kind", "execution", "--json").objects) == 4


def test_failed_and_status_are_mutually_exclusive(call: Call, shop: Path) -> None:
    assert call("runs", "--failed", "--status", "success").code == 2


def test_an_empty_list_of_runs_prints_a_note_on_standard_error(call: Call, shop: Path) -> None:
    assert call("runs", "--status", "timeout") == (0, "", "no runs\n")


@pytest.mark.parametrize(
    ("wrong", "near"), [(["--job", "brokn"], "broken"), (["--schedule", "report-weakly"], "report-weekly")]
)
def test_runs_of_a_missing_job_or_schedule_are_an_error(call: Call, shop: Path, wrong: list[str], near: str) -> None:
    code, out, err = call("runs", *wrong)

    assert (code, out) == (1, "")
    assert f'Did you mean "{near}"?' in err


@pytest.mark.parametrize("wrong", [["--status", "finishde"], ["--limit", "0"], ["--limit", "many"], ["--colour"]])
def test_invalid_options_of_runs_exit_with_2(call: Call, shop: Path, wrong: list[str]) -> None:
    code, out, err = call("runs", *wrong)

    assert (code, out) == (2, "")
    assert err.startswith("error: ")


@pytest.mark.local
@pytest.mark.parametrize("command", [["runs"], ["verify"], ["jobs"], ["show", "x"], ["trigger", "x"], ["top"]])
def test_runs_does_not_create_a_missing_database(call: Call, tmp_path: Path, command: list[str]) -> None:
    path = tmp_path / "no" / "folio.db"

    code, out, err = call(*command, "--storage", f"sqlite:///{path}")

    assert (code, out) == (1, "")
    assert err.splitlines()[0] == f"error: there is no Foliot database at {path}"
    assert "--storage" in err
    assert list(tmp_path.iterdir()) == []


def test_a_reader_that_closes_the_pipe_early_causes_no_error_message(shop: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        ended = subprocess.run(
            [sys.executable, "-m", "foliot", "runs"], cwd=shop, stdout=writing, stderr=subprocess.PIPE, check=False
        )
    finally:
        os.close(writing)

    assert ended.stderr == b""
