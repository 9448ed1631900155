"""The table of proofs matches the results of the tests."""

import json
from pathlib import Path

import pytest

from tests.architecture import promises
from tests.architecture.promises import Proof, render

PROMISES = {"Time": {"T1": "one row per moment", "T2": "no holes"}}


def test_a_promise_names_the_files_and_the_number_of_tests_that_prove_it() -> None:
    page = render(
        PROMISES,
        [
            Proof("tests/domain/test_tick.py::test_a", ("T1",), "passed"),
            Proof("tests/domain/test_tick.py::test_b", ("T1", "T2"), "passed"),
            Proof("tests/engine/test_loop.py::test_c", ("T1",), "passed"),
        ],
    )

    assert "| T1 | one row per moment | domain/test_tick.py (2), engine/test_loop.py (1) |" in page
    assert "| T2 | no holes | domain/test_tick.py (1) |" in page


@pytest.mark.parametrize("outcome", ["failed", "skipped"])
def test_a_test_that_did_not_pass_proves_nothing(outcome: str) -> None:
    page = render(PROMISES, [Proof("tests/test_x.py::test_a", ("T1",), outcome)])

    assert "| T1 | one row per moment | — later |" in page


def test_checking_fails_until_the_page_is_written(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert promises.main(["--check"], project) == 1
    assert "scripts/requirements --write" in capsys.readouterr().err

    assert promises.main(["--write"], project) == 0
    assert promises.main(["--check"], project) == 0


def test_without_arguments_promises_without_tests_are_listed(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    promises.main([], project)

    said = capsys.readouterr().out
    assert "1 of   2  Time" in said
    assert "no test: T2" in said


def test_without_a_full_run_the_command_for_one_is_shown(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / ".pytest_cache" / "v" / promises.CACHE_KEY).unlink()

    assert promises.main(["--check"], project) == 2
    assert "scripts/test" in capsys.readouterr().err


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Two promises, one of them proved by a full run."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "requirements.toml").write_text('[Time]\nT1 = "one row"\nT2 = "no holes"\n')
    record = tmp_path / ".pytest_cache" / "v" / promises.CACHE_KEY
    record.parent.mkdir(parents=True)
    record.write_text(json.dumps([["tests/test_x.py::test_a", ["T1"], "passed"]]))
    return tmp_path
