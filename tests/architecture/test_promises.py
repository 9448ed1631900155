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


def test_the_page_lists_the_planted_faults(project: Path) -> None:
    plant(project)

    assert promises.main(["--write"], project) == 0
    page = (project / "docs" / "requirements.md").read_text()
    assert "| T1 | two rows are saved | ledger.py | test_x.py::test_a |" in page
    assert promises.main(["--check"], project) == 0


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"name": "T9"}, "T9: docs/requirements.toml has no such promise"),
        ({"name": "T2"}, "T2: test_x.py::test_a does not prove it"),
        ({"test": "test_x.py::test_b"}, "T1: no marked test test_x.py::test_b passed"),
        ({"where": "gone.py"}, "T1: src/foliot/gone.py does not exist"),
    ],
    ids=str,
)
def test_a_planted_fault_without_its_promise_code_or_marked_test_is_refused(
    project: Path, capsys: pytest.CaptureFixture[str], wrong: dict[str, str], said: str
) -> None:
    plant(project, **wrong)

    assert [promises.main([option], project) for option in ("--write", "--check")] == [1, 1]
    assert said in capsys.readouterr().err
    assert not (project / "docs" / "requirements.md").exists()


def test_a_planted_fault_needs_a_test_that_passed(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plant(project)
    record(project, outcome="skipped")

    assert promises.main(["--check"], project) == 1
    assert "T1: no marked test test_x.py::test_a passed" in capsys.readouterr().err


def test_an_incomplete_planted_fault_is_refused(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "docs" / "planted-faults.toml").write_text('[[T1]]\nwhere = "ledger.py"\n')

    assert promises.main(["--check"], project) == 2
    assert "[[T1]] needs where, change and test" in capsys.readouterr().err


def plant(project: Path, name: str = "T1", where: str = "ledger.py", test: str = "test_x.py::test_a") -> None:
    """Write one planted fault of `ledger.py`."""
    code = project / "src" / "foliot"
    code.mkdir(parents=True)
    (code / "ledger.py").touch()
    fault = f'[[{name}]]\nwhere = "{where}"\nchange = "two rows are saved"\ntest = "{test}"\n'
    (project / "docs" / "planted-faults.toml").write_text(fault)


def record(project: Path, *, outcome: str) -> None:
    """Write the result of a full run."""
    path = project / ".pytest_cache" / "v" / promises.CACHE_KEY
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([["tests/test_x.py::test_a", ["T1"], outcome]]))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Two promises, one of them proved by a full run."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "requirements.toml").write_text('[Time]\nT1 = "one row"\nT2 = "no holes"\n')
    record(tmp_path, outcome="passed")
    return tmp_path
