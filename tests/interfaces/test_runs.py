"""foliot runs: the listing, for people and for programs."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from foliot import Foliot
from foliot.interfaces.cli import main


@pytest.fixture
def storage(tmp_path: Path) -> str:
    """Three runs: report, mail, and another report that was cancelled."""
    url = f"sqlite:///{tmp_path}/foliot.db"
    asyncio.run(fill(url))
    return url


async def fill(url: str) -> None:
    app = Foliot(url)
    app.shell("report", "true")
    app.shell("mail", "true")
    async with app:
        await app.enqueue("report")
        await app.enqueue("mail")
        await app.cancel(await app.enqueue("report"))


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    out, err = capsys.readouterr()
    return int(ended.value.code or 0), out, err


def objects(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[tuple[str, str]]:
    code, out, _ = run(capsys, "runs", "--json", *arguments)
    assert code == 0
    return [(one["job_id"], one["status"]) for one in map(json.loads, out.splitlines())]


@pytest.mark.proves("R4-56")
def test_runs_are_listed_newest_first(capsys: pytest.CaptureFixture[str], storage: str) -> None:
    code, out, err = run(capsys, "runs", "--storage", storage)

    assert (code, err) == (0, "")
    assert [line.split()[-3] for line in out.splitlines()] == ["report", "mail", "report"]


def test_json_is_one_object_for_each_run(capsys: pytest.CaptureFixture[str], storage: str) -> None:
    assert objects(capsys, "--storage", storage) == [
        ("report", "cancelled"),
        ("mail", "queued"),
        ("report", "queued"),
    ]


@pytest.mark.parametrize(
    ("only", "expected"),
    [
        (["--job", "mail"], [("mail", "queued")]),
        (["--status", "cancelled"], [("report", "cancelled")]),
        (["--job", "report", "--status", "queued"], [("report", "queued")]),
        (["--limit", "1"], [("report", "cancelled")]),
        (["--job", "nobody"], []),
    ],
)
def test_only_what_is_asked_for_is_listed(
    capsys: pytest.CaptureFixture[str], storage: str, only: list[str], expected: list[tuple[str, str]]
) -> None:
    assert objects(capsys, "--storage", storage, *only) == expected


def test_the_storage_may_be_named_by_the_environment(
    capsys: pytest.CaptureFixture[str], storage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOLIOT_STORAGE", storage)

    assert len(objects(capsys)) == 3


@pytest.mark.parametrize("wrong", [["--status", "finishde"], ["--limit", "0"], ["--limit", "many"], ["--colour"]])
def test_a_wrong_call_ends_with_2(capsys: pytest.CaptureFixture[str], storage: str, wrong: list[str]) -> None:
    code, out, err = run(capsys, "runs", "--storage", storage, *wrong)

    assert (code, out) == (2, "")
    assert err


@pytest.mark.parametrize("command", ["runs", "verify"])
def test_a_database_that_does_not_exist_is_not_created(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str
) -> None:
    path = tmp_path / "no" / "folio.db"

    code, out, err = run(capsys, command, "--storage", f"sqlite:///{path}")

    assert (code, out) == (1, "")
    assert err.splitlines()[0] == f"foliot: the database {path} does not exist"
    assert list(tmp_path.iterdir()) == []


def test_a_reader_who_has_seen_enough_is_no_fault(storage: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        ended = subprocess.run(
            [sys.executable, "-m", "foliot", "runs", "--storage", storage],
            stdout=writing,
            stderr=subprocess.PIPE,
            check=False,
        )
    finally:
        os.close(writing)

    assert ended.stderr == b""
