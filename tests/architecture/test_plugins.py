"""The pytest plug-ins of this suite record proofs, and fail on skips in CI."""

import json
from typing import Any

import pytest

from tests.architecture.promises import CACHE_KEY

PROVES_BOTH = """
import pytest

@pytest.mark.proves("T1")
@pytest.mark.parametrize("number", [1, 2, 3])
def test_many_forms(number): assert number < {limit}

@pytest.mark.proves("T2", "T3")
class TestGroup:
    def test_in_a_class(self): pass
"""

SKIPS = """
import pytest

@pytest.mark.skip(reason="no disk")
def test_disk(): pass

def test_fine(): pass
"""

IN_PARALLEL = ["-n2", "--dist=worksteal"]


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A project that uses the plug-ins, outside CI."""
    monkeypatch.delenv("CI", raising=False)
    pytester.makeini(
        "[pytest]\ntestpaths = tests\nmarkers = proves(*ids): what it proves\n"
        "asyncio_default_fixture_loop_scope = function\n"
    )
    pytester.mkdir("tests")
    return pytester


def test_a_full_run_records_each_test_function_once(suite: pytest.Pytester) -> None:
    write_test(suite, PROVES_BOTH.format(limit=9))

    run(suite).assert_outcomes(passed=4)

    assert recorded(suite) == [
        ["tests/test_it.py::TestGroup::test_in_a_class", ["T2", "T3"], "passed"],
        ["tests/test_it.py::test_many_forms", ["T1"], "passed"],
    ]


def test_one_failing_parameter_fails_the_proof(suite: pytest.Pytester) -> None:
    write_test(suite, PROVES_BOTH.format(limit=2))

    run(suite).assert_outcomes(passed=2, failed=2)

    assert ["tests/test_it.py::test_many_forms", ["T1"], "failed"] in recorded(suite)


@pytest.mark.parametrize("arguments", [["-k", "class"], ["tests/test_it.py"], ["-x"]])
def test_a_partial_run_records_nothing(suite: pytest.Pytester, arguments: list[str]) -> None:
    write_test(suite, PROVES_BOTH.format(limit=2))

    run(suite, *arguments)

    assert recorded(suite) is None


def test_a_file_that_does_not_load_makes_the_run_partial(suite: pytest.Pytester) -> None:
    write_test(suite, PROVES_BOTH.format(limit=9))
    (suite.path / "tests" / "test_broken.py").write_text("import nothing_of_this_name")

    run(suite, "--continue-on-collection-errors")

    assert recorded(suite) is None


@pytest.mark.parametrize("arguments", [[], IN_PARALLEL], ids=["alone", "in parallel"])
def test_an_unknown_requirement_id_stops_the_run(suite: pytest.Pytester, arguments: list[str]) -> None:
    write_test(suite, "import pytest\n@pytest.mark.proves('T1', 'T99')\ndef test_a(): pass")

    result = run(suite, *arguments)

    assert result.ret != pytest.ExitCode.OK
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*proves() names ids that are not in docs/requirements.toml*", "*test_a: T99*"])


def test_several_processes_record_the_same_proofs_as_one(suite: pytest.Pytester) -> None:
    write_test(suite, PROVES_BOTH.format(limit=2))
    run(suite)
    alone = recorded(suite)

    delete_record(suite)
    run(suite, *IN_PARALLEL).assert_outcomes(passed=2, failed=2)

    assert recorded(suite) == alone


@pytest.mark.parametrize("arguments", [["-k", "class"], ["tests/test_it.py"], ["-x"]])
def test_a_partial_run_of_several_processes_records_nothing(suite: pytest.Pytester, arguments: list[str]) -> None:
    write_test(suite, PROVES_BOTH.format(limit=2))

    run(suite, *IN_PARALLEL, *arguments)

    assert recorded(suite) is None


def test_a_process_that_dies_makes_the_run_partial(suite: pytest.Pytester) -> None:
    write_test(suite, "import os, pytest\n@pytest.mark.proves('T1')\ndef test_a(): os._exit(1)")

    run(suite, *IN_PARALLEL).assert_outcomes(failed=1)

    assert recorded(suite) is None


def test_a_file_that_does_not_load_in_several_processes_makes_the_run_partial(suite: pytest.Pytester) -> None:
    write_test(suite, PROVES_BOTH.format(limit=9))
    (suite.path / "tests" / "test_broken.py").write_text("import nothing_of_this_name")

    run(suite, *IN_PARALLEL, "--continue-on-collection-errors")

    assert recorded(suite) is None


def test_a_skip_passes_outside_ci(suite: pytest.Pytester) -> None:
    write_test(suite, SKIPS)

    run(suite).assert_outcomes(passed=1, skipped=1)


def test_a_skip_fails_in_ci(suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    write_test(suite, SKIPS)

    result = run(suite)

    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*skipped in CI without a line in tests/allowed_skips.txt: Skipped: no disk"])


def test_a_skipped_file_fails_in_ci(suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    write_test(suite, "import pytest\npytest.importorskip('nothing_of_this_name')")

    run(suite).assert_outcomes(errors=1)


def test_an_expected_failure_fails_in_ci(suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    write_test(suite, "import pytest\n@pytest.mark.xfail(reason='later')\ndef test_a(): assert False")

    run(suite).assert_outcomes(failed=1)


def test_a_listed_skip_passes_in_ci(suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    write_test(suite, SKIPS)
    (suite.path / "tests" / "allowed_skips.txt").write_text("tests/test_it.py::test_disk  # no disk here\n")

    run(suite).assert_outcomes(passed=1, skipped=1)


def test_a_listed_skip_needs_a_reason(suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    write_test(suite, SKIPS)
    (suite.path / "tests" / "allowed_skips.txt").write_text("tests/test_it.py::test_disk\n")

    result = run(suite)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*gives no reason for tests/test_it.py::test_disk"])


def test_a_skip_in_one_of_several_processes_fails_in_ci(
    suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    write_test(suite, SKIPS)
    (suite.path / "tests" / "test_all.py").write_text("import pytest\npytest.importorskip('nothing_of_this_name')")

    result = run(suite, *IN_PARALLEL, "--continue-on-collection-errors")

    result.assert_outcomes(passed=1, errors=2)
    result.stdout.fnmatch_lines(["*skipped in CI without a line in tests/allowed_skips.txt: Skipped: no disk"])


def write_test(suite: pytest.Pytester, source: str) -> None:
    (suite.path / "tests" / "test_it.py").write_text(source)


def run(suite: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    plugins = ["-p", "tests.architecture.proofs", "-p", "tests.architecture.skips"]
    return suite.runpytest_inprocess(*plugins, "--import-mode=importlib", *arguments)


def delete_record(suite: pytest.Pytester) -> None:
    (suite.path / ".pytest_cache" / "v" / CACHE_KEY).unlink()


def recorded(suite: pytest.Pytester) -> Any:
    path = suite.path / ".pytest_cache" / "v" / CACHE_KEY
    return json.loads(path.read_text()) if path.exists() else None
