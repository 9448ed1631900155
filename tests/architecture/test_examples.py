"""The harness for documentation examples detects wrong examples."""

from pathlib import Path

import pytest

from tests.architecture import examples
from tests.architecture.examples import ExampleFailed, find_examples, matches, run_examples


def run_page(text: str, directory: Path) -> None:
    run_examples(find_examples("page.md", text), directory)


def test_a_failing_example_is_named_by_page_and_line(tmp_path: Path) -> None:
    with pytest.raises(ExampleFailed, match=r"^page.md:4: AssertionError: 2 is not 3$"):
        run_page("# Title\n\n```python\nassert 2 == 3, '2 is not 3'\n```\n", tmp_path)


def test_an_example_may_await(tmp_path: Path) -> None:
    with pytest.raises(ExampleFailed, match="ZeroDivisionError"):
        run_page("```python\nimport asyncio\nawait asyncio.sleep(0)\n1 / 0\n```\n", tmp_path)


def test_examples_are_independent(tmp_path: Path) -> None:
    with pytest.raises(ExampleFailed, match="name 'x' is not defined"):
        run_page("```python\nx = 1\n```\n\n```python\nprint(x)\n```\n", tmp_path)


def test_a_continued_example_shares_the_namespace_of_the_one_before(tmp_path: Path) -> None:
    run_page("```python\nx = 1\n```\n\n```python continued\nassert x == 1\n```\n", tmp_path)


def test_an_example_can_be_saved_for_the_commands(tmp_path: Path) -> None:
    run_page("```python file=app.py\nanswer = 42\n```\n", tmp_path)

    assert (tmp_path / "app.py").read_text() == "answer = 42\n"


def test_any_text_can_be_saved_for_the_commands(tmp_path: Path) -> None:
    run_page("```toml file=foliot.toml\n[server]\n```\n", tmp_path)

    assert (tmp_path / "foliot.toml").read_text() == "[server]\n"


def test_a_command_must_fail_with_the_expected_status(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examples, "call_foliot", lambda *_: (1, "no\n"))

    run_page("```console exit=1\n$ foliot check\nno\n```\n", tmp_path)
    with pytest.raises(ExampleFailed, match="ended with status 1"):
        run_page("```console exit=2\n$ foliot check\nno\n```\n", tmp_path)


def test_commands_can_use_a_running_server(tmp_path: Path) -> None:
    page = '```toml file=foliot.toml\n[[jobs]]\nid = "x"\ncommand = "echo hi"\n```\n'

    run_page(f"{page}```console served\n$ foliot trigger x --follow\n...\nhi\nsuccess\n```\n", tmp_path)


def test_other_code_blocks_are_not_run(tmp_path: Path) -> None:
    run_page("```sh\nrm -rf x\n```\n\n```\n1 / 0\n```\n\n````md\n```python\n1/0\n```\n````\n", tmp_path)


def test_an_example_that_is_not_run_needs_a_reason(tmp_path: Path) -> None:
    run_page("```python no-run: needs a broker\n1 / 0\n```\n", tmp_path)

    with pytest.raises(ExampleFailed, match="needs a reason"):
        run_page("```python no-run\n1 / 0\n```\n", tmp_path)


def test_a_command_must_print_what_the_page_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examples, "call_foliot", lambda words, *_: (0, f"said {words[0]}\n"))

    run_page("```console\n$ foliot hello\nsaid hello\n$ foliot again\nsaid again\n```\n", tmp_path)
    with pytest.raises(ExampleFailed, match=r"^page.md:4: foliot again printed:\nsaid again\ninstead of:\nno"):
        run_page("```console\n$ foliot hello\nsaid hello\n$ foliot again\nno\n```\n", tmp_path)


def test_a_command_that_fails_fails_its_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examples, "call_foliot", lambda *_: (2, "no such command"))

    with pytest.raises(ExampleFailed, match="ended with status 2 and said:\nno such command"):
        run_page("```console\n$ foliot dance\n...\n```\n", tmp_path)


@pytest.mark.parametrize("body", ["$ rm x", "foliot runs", ""])
def test_a_console_example_that_cannot_be_checked_is_refused(body: str, tmp_path: Path) -> None:
    with pytest.raises(ExampleFailed):
        run_page(f"```console\n{body}\n```\n", tmp_path)


@pytest.mark.parametrize(
    ("expected", "output", "fits"),
    [
        ("", "", True),
        ("", "noise", False),
        ("a\nb", "a  \nb\n", True),
        ("a ... c", "a b c", True),
        ("a ... c", "a b\nc", False),
        ("a\n...\nd", "a\nb\nc\nd", True),
        ("a\n...\nd", "a\nd", True),
        ("...", "", True),
        ("...", "any\nthing", True),
        ("a.c", "abc", False),
    ],
)
def test_dots_match_any_text(expected: str, output: str, fits: bool) -> None:
    assert matches(expected, output) is fits
