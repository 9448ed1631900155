"""docs/reference/cron.md is correct: its examples run, and it names all macros and limits."""

from pathlib import Path

from foliot.domain.cron import parser
from tests.architecture.examples import find_examples, run_examples
from tests.cases import for_each

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "cron.md"


def test_every_example_of_the_page_runs(tmp_path: Path) -> None:
    examples = list(find_examples("docs/reference/cron.md", PAGE.read_text()))

    assert len(examples) >= 8
    run_examples(iter(examples), tmp_path)


@for_each("macro", [*parser.MACROS, parser.EVERY, *parser.MANUAL, parser.REBOOT])
def test_every_macro_is_on_the_page(macro: str) -> None:
    assert f"`{macro}" in PAGE.read_text()


def test_the_longest_expression_is_on_the_page() -> None:
    assert f"{parser.LONGEST} characters" in PAGE.read_text()
