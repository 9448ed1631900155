"""The figures of all measurements, kept in a JSON file: a measurement replaces its own section."""

import json
import os
import platform
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench.samples import Samples
from bench.tables import Table
from foliot.testing.postgres import VERSION


class Section(NamedTuple):
    """The tables of one measurement."""

    command: str
    machine: str
    is_quick: bool
    tables: list[dict[str, Any]]

    def to_markdown(self) -> str:
        parts = [f"`{self.command}` on {self.machine}:"]
        for table in self.tables:
            if len(self.tables) > 1:
                parts.append(f"### {table['title']}")
            parts.append(table["markdown"])
        return "\n\n".join(parts)


class Results:
    """The sections in a file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        content = json.loads(path.read_text()) if path.exists() else {}
        self.sections = {name: Section(**section) for name, section in content.get("sections", {}).items()}

    @property
    def full_size(self) -> dict[str, Section]:
        """The sections that were not measured with --quick."""
        return {name: section for name, section in self.sections.items() if not section.is_quick}

    def save(self, name: str, command: str, tables: Sequence[Table], *, is_quick: bool) -> Section:
        """Replace a section, and return it."""
        section = Section(command, machine(), is_quick, [table.to_json() for table in tables])
        self.sections[name] = section
        self._path.parent.mkdir(parents=True, exist_ok=True)
        content = {"sections": {name: section._asdict() for name, section in self.sections.items()}}
        self._path.write_text(json.dumps(content, indent=1))
        return section

    def samples(self, name: str, title: str) -> Samples:
        """Return the figures of a table at full size, or none if it is not measured."""
        tables = self.full_size[name].tables if name in self.full_size else []
        samples = Samples()
        samples.figures = next((table["figures"] for table in tables if table["title"] == title), {})
        return samples


def machine() -> str:
    day = time.strftime("%Y-%m-%d", time.gmtime())
    cores = len(os.sched_getaffinity(0))
    return f"{cores} cores, Python {platform.python_version()}, PostgreSQL {VERSION}, {day}"
