"""The examples of the pages about gates and workflows load unchanged."""

import re
from pathlib import Path

import pytest

from tests.config.conftest import Good, Loader

HOWTO = Path(__file__).parents[2] / "docs/howto"
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
