"""The faults that were planted in the code to see that the tests of a promise notice them.

docs/planted-faults.toml --load_faults--> find_mistakes (each has a promise, code, and a marked test that passed)
                                    `---> render_faults (the table in docs/requirements.md)
"""

import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple


class PlantedFault(NamedTuple):
    id: str
    where: str
    """The file that was changed, below src/foliot."""
    change: str
    """What was wrong then."""
    test: str
    """A test with the mark of the promise that failed then, below tests."""


class MarkedTest(NamedTuple):
    """A test that passed, below tests, and the ids that it proves."""

    name: str
    ids: tuple[str, ...]


def load_faults(root: Path) -> list[PlantedFault]:
    """Return the faults in the order of the file. Raises ValueError if an entry is not complete."""
    path = root / "docs" / "planted-faults.toml"
    if not path.exists():
        return []
    entries = ((name, fault) for name, faults in tomllib.loads(path.read_text()).items() for fault in faults)
    return [_fault(name, fault) for name, fault in entries]


def _fault(name: str, entry: object) -> PlantedFault:
    if not isinstance(entry, dict) or entry.keys() != {"where", "change", "test"}:
        raise ValueError(f"docs/planted-faults.toml: [[{name}]] needs where, change and test, and nothing else.")
    return PlantedFault(name, **entry)


def find_mistakes(
    faults: Iterable[PlantedFault], known: set[str], passed: Iterable[MarkedTest], root: Path
) -> Iterator[str]:
    """Yield what is wrong about each fault, with a hint."""
    proved = {test.name: test.ids for test in passed}
    for fault in faults:
        if fault.id not in known:
            yield f"{fault.id}: docs/requirements.toml has no such promise. Remove the fault, or correct the id."
        if not (root / "src" / "foliot" / fault.where).is_file():
            yield f"{fault.id}: src/foliot/{fault.where} does not exist. Plant the fault again where the code is now."
        if fault.test not in proved:
            yield f"{fault.id}: no marked test {fault.test} passed. Plant the fault again, and name a test that fails."
        elif fault.id not in proved[fault.test]:
            yield f"{fault.id}: {fault.test} does not prove it. Plant the fault again, and name a test that does."


def render_faults(faults: Iterable[PlantedFault]) -> Iterator[str]:
    """Yield the lines of the table; nothing if there are no faults."""
    rows = [f"| {name} | {change} | {where} | {test} |" for name, where, change, test in faults]
    if rows:
        yield _INTRODUCTION
        yield "| Id | Fault | Where | A test that failed |"
        yield "|---|---|---|---|"
        yield from rows
        yield ""


_INTRODUCTION = """\
## Planted faults

Each fault was planted once in the code, alone, and a test that proves the promise failed. They are listed in
`docs/planted-faults.toml`. If the code or the test changes much, plant the fault again.
"""
