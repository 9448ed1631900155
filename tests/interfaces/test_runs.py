"""foliot runs: the listing, for people and for programs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.interfaces.conftest import Call


@pytest.mark.proves("R4-56")
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


def test_json_is_one_object_for_each_run(call: Call, shop: Path) -> None:
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
    ],
)
def test_only_what_is_asked_for_is_listed(call: Call, shop: Path, only: list[str], count: int) -> None:
    assert len(call("runs", "--json", *only).objects) == count


def test_that_there_is_none_is_said_beside_the_answer(call: Call, shop: Path) -> None:
    assert call("runs", "--status", "timeout") == (0, "", "no runs\n")


@pytest.mark.parametrize(
    ("wrong", "near"), [(["--job", "brokn"], "broken"), (["--schedule", "report-weakly"], "report-weekly")]
)
def test_what_does_not_exist_is_not_an_empty_list(call: Call, shop: Path, wrong: list[str], near: str) -> None:
    code, out, err = call("runs", *wrong)

    assert (code, out) == (1, "")
    assert f'Did you mean "{near}"?' in err


@pytest.mark.parametrize("wrong", [["--status", "finishde"], ["--limit", "0"], ["--limit", "many"], ["--colour"]])
def test_a_wrong_call_ends_with_2(call: Call, shop: Path, wrong: list[str]) -> None:
    code, out, err = call("runs", *wrong)

    assert (code, out) == (2, "")
    assert err.startswith("error: ")


@pytest.mark.parametrize("command", [["runs"], ["verify"], ["jobs"], ["show", "x"], ["trigger", "x"], ["top"]])
def test_a_database_that_does_not_exist_is_not_created(call: Call, tmp_path: Path, command: list[str]) -> None:
    path = tmp_path / "no" / "folio.db"

    code, out, err = call(*command, "--storage", f"sqlite:///{path}")

    assert (code, out) == (1, "")
    assert err.splitlines()[0] == f"error: there is no Foliot database at {path}"
    assert "--storage" in err
    assert list(tmp_path.iterdir()) == []


def test_a_reader_who_has_seen_enough_is_no_fault(shop: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        ended = subprocess.run(
            [sys.executable, "-m", "foliot", "runs"], cwd=shop, stdout=writing, stderr=subprocess.PIPE, check=False
        )
    finally:
        os.close(writing)

    assert ended.stderr == b""
