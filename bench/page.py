"""Writes the tables of full size into the pages that show them, between their markers.

<!-- bench:drain -->
...
<!-- /bench:drain -->
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from bench.results import Results
from bench.samples import median

ROOT: Final = Path(__file__).parent.parent
PAGES: Final = (ROOT / "docs/design/performance.md", ROOT / "README.md")
SUMMARY: Final = "summary"
_BLOCK: Final = re.compile(r"<!-- bench:(\S+) -->\n(.*?)<!-- /bench:\1 -->", re.DOTALL)


class Highlight(NamedTuple):
    """A ratio of a table in a sentence."""

    section: str
    title: str
    name: str
    over: str
    metric: str
    sentence: str


_HIGHLIGHTS: Final = (
    Highlight(
        "drain",
        "Drain",
        "Foliot PostgreSQL",
        "pgqueuer",
        "drain",
        "A worker on PostgreSQL completes {own:,.0f} runs of an empty function per second, {ratio:.1f} times as many"
        " as pgqueuer.",
    ),
    Highlight(
        "enqueue",
        "Enqueue",
        "Foliot SQLite",
        "huey",
        "single",
        "One awaited `enqueue` after another on SQLite, each on disk: {own:,.0f} per second, {ratio:.2f} times as many"
        " as huey with the same durability.",
    ),
    Highlight(
        "schedules",
        "Schedules",
        "Foliot SQLite",
        "APScheduler memory",
        "last",
        "10,000 schedules due in the same second: the last job starts {own:,.0f} ms later, with APScheduler's memory"
        " store {base:,.0f} ms.",
    ),
)


def blocks(results: Results) -> dict[str, str]:
    """Return the content of each marked block."""
    sections = {name: section.to_markdown() for name, section in results.full_size.items()}
    lines = [line for each in _HIGHLIGHTS if (line := _highlight(results, each))]
    return {**sections, **({SUMMARY: "\n".join(lines)} if lines else {})}


def write(results: Results) -> list[str]:
    """Update all pages, and return the names of blocks that are not measured at full size yet."""
    content, missing = blocks(results), []
    for path in PAGES:
        text = path.read_text()
        missing += [name for name in marked(text) if name not in content]
        path.write_text(_replaced(text, content))
    return missing


def marked(text: str) -> dict[str, str]:
    """Return the marked blocks of a page, with their content."""
    return {name: body.strip() for name, body in _BLOCK.findall(text)}


def _replaced(text: str, content: Mapping[str, str]) -> str:
    def block(match: re.Match[str]) -> str:
        name = match[1]
        if name not in content:
            return match[0]
        return f"<!-- bench:{name} -->\n{content[name]}\n<!-- /bench:{name} -->"

    return _BLOCK.sub(block, text)


def _highlight(results: Results, each: Highlight) -> str | None:
    samples = results.samples(each.section, each.title)
    ratios = samples.ratios(each.name, each.over, each.metric)
    if not ratios:
        return None
    own, base = (median(samples.of(name, each.metric)) for name in (each.name, each.over))
    sentence = each.sentence.format(own=own, base=base, ratio=median(ratios))
    return f"- {sentence} (`scripts/bench {each.section}`)"
