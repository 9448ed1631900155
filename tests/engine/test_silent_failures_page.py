"""The page about silent failures has a tested example: a swallowed error is a success."""

from pathlib import Path

import pytest

from tests.architecture.examples import find_examples, run_examples

PAGE = Path(__file__).parents[2] / "docs/howto/notice-silent-failures.md"


@pytest.mark.proves("R2-68")
def test_the_page_says_that_a_swallowed_error_is_a_success(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text()
    swallowed = next(example for example in find_examples(PAGE.name, text) if "except ConnectionError" in example.body)

    run_examples(iter([swallowed]), tmp_path)

    assert "**An exception that is swallowed is a success**" in text
    assert 'assert execution.status == "success"' in swallowed.body
