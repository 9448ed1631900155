"""The examples of the pages about gates and workflows load unchanged."""

import re
from pathlib import Path

import pytest

from foliot.domain.chain.refusal import RefusalCode
from tests.config.conftest import Good, Loader

HOWTO = Path(__file__).parents[2] / "docs/howto"
EXECUTED = re.compile(r"(?ms)^```(?:toml file=|python(?! no-run))[^\n]*\n(?P<text>.*?)^```$")
"""Examples that the tests of the documentation execute."""
EXAMPLE = re.compile(r"(?ms)^```toml(?P<info>[^\n]*)\n(?P<text>.*?)^```$")


@pytest.mark.parametrize("page", ["run-after-other-jobs", "chain-steps-in-a-workflow"])
def test_every_example_of_the_page_loads_with_the_first_one(loaded: Loader, page: str) -> None:
    first, *others = [found["text"] for found in EXAMPLE.finditer((HOWTO / f"{page}.md").read_text())]

    for example in ("", *others):
        assert loaded(f"{first}\n{example}").problems == ()
    assert others


@pytest.mark.proves("R4-52")
def test_the_example_for_several_machines_needs_one_variable(good: Good) -> None:
    [example] = [found["text"] for found in EXAMPLE.finditer((HOWTO / "run-on-several-machines.md").read_text())]

    alone, together = good(example), good(example, DATABASE_URL="postgresql://foliot@db.example.com/foliot")

    assert alone.storage.endswith("/foliot.db")
    assert together.storage == "postgresql://foliot@db.example.com/foliot"
    assert together.declared == alone.declared


@pytest.mark.proves("R0-78")
@pytest.mark.parametrize(
    ("page", "example"),
    [
        ("run-a-command", r"^command *="),
        ("call-a-url", r"app\.http\("),
        ("run-python-functions", r"^@app\.job"),
        ("run-an-agent", r"^kind *= *\"(agent|claude)\""),
        ("run-after-other-jobs", r"^depends_on *="),
        ("fan-out", r"^kind *= *\"fanout\""),
    ],
)
def test_each_kind_of_job_has_a_page_with_an_example_that_is_run(page: str, example: str) -> None:
    executed = [found["text"] for found in EXECUTED.finditer((HOWTO / f"{page}.md").read_text())]

    assert any(re.search(example, text, re.MULTILINE) for text in executed)


@pytest.mark.proves("R0-80")
@pytest.mark.parametrize("product", ["GitHub Actions", "Nomad", "Dagster", "systemd"])
def test_the_page_of_fanouts_compares_them_with_other_products(product: str) -> None:
    assert product in (HOWTO / "fan-out.md").read_text()


def test_the_page_of_commands_lists_why_a_chain_refuses() -> None:
    page = (HOWTO.parent / "reference/cli.md").read_text()
    [listed] = re.findall(r"with `--json` as `refusal`: (.*)\.\n", page)

    assert set(re.findall(r"`(\w+)`", listed)) == set(RefusalCode) - {RefusalCode.SCOUT_FAILED}
