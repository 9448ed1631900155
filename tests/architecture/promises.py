"""Reports which promises of docs/requirements.toml are proved by tests, on the terminal and as docs/requirements.md.

tests with @pytest.mark.proves --full test run--> .pytest_cache --this module--> docs/requirements.md

The page also has the faults that were planted to test these tests, see `planted_faults`.
"""

import argparse
import json
import re
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.architecture.planted_faults import MarkedTest, PlantedFault, find_mistakes, load_faults, render_faults

ROOT: Final = Path(__file__).resolve().parents[2]
CACHE_KEY: Final = "foliot/proofs"
OUT_OF_DATE: Final = "docs/requirements.md is out of date. Refresh it with: scripts/requirements --write"

Promises = Mapping[str, Mapping[str, str]]
"""Title of a group -> id -> promise."""


@dataclass(frozen=True)
class Proof:
    """One test function of the last full run, with all its parameters."""

    test: str
    ids: tuple[str, ...]
    outcome: str

    @property
    def holds(self) -> bool:
        return self.outcome == "passed"

    @property
    def file(self) -> str:
        return self.test.partition("::")[0]


class Unreadable(Exception):
    """The promises, or the results of the tests, could not be read. The text contains a hint."""


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    options = parse(arguments)
    page = root / "docs" / "requirements.md"
    try:
        promises, proofs, faults = load_promises(root), load_proofs(root), load_faults(root)
    except (Unreadable, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    passed = [MarkedTest(proof.test.removeprefix("tests/"), proof.ids) for proof in proofs if proof.holds]
    if mistakes := list(find_mistakes(faults, known_ids(promises), passed, root)):
        print("docs/planted-faults.toml is out of date:", *mistakes, sep="\n", file=sys.stderr)
        return 1
    rendered = render(promises, proofs, faults)
    if options.write:
        page.write_text(rendered)
    elif options.check and (not page.exists() or page.read_text() != rendered):
        print(OUT_OF_DATE, file=sys.stderr)
        return 1
    sys.stdout.writelines(summary(promises, proofs, brief=options.check or options.write))
    return 0


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/requirements", description=__doc__.partition("\n")[0])
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--write", action="store_true", help="refresh docs/requirements.md")
    action.add_argument("--check", action="store_true", help="fail when docs/requirements.md is out of date")
    return parser.parse_args(arguments)


def load_promises(root: Path) -> Promises:
    return tomllib.loads((root / "docs" / "requirements.toml").read_text())


def load_proofs(root: Path) -> list[Proof]:
    """Return the results of the last full test run; partial runs record nothing."""
    path = root / ".pytest_cache" / "v" / CACHE_KEY
    if not path.exists():
        raise Unreadable("No full test run is on record. Make one with: scripts/test")
    return [Proof(test, tuple(ids), outcome) for test, ids, outcome in json.loads(path.read_text())]


def known_ids(promises: Promises) -> set[str]:
    return {name for group in promises.values() for name in group}


def render(promises: Promises, proofs: Iterable[Proof], faults: Iterable[PlantedFault] = ()) -> str:
    """Return the page. It contains nothing that differs between equal runs, so that it can be compared."""
    proved = files_by_id(proofs)
    groups = (line for title in promises for line in render_group(title, promises, proved))
    return "\n".join([INTRODUCTION, *groups, *render_faults(faults)])


INTRODUCTION: Final = """\
# What is promised, and which tests prove it

Written by `scripts/requirements --write` from `docs/requirements.toml` and the marks
`@pytest.mark.proves(...)` of the tests that passed. The number behind a file counts its test functions.
"""


def render_group(title: str, promises: Promises, proved: Mapping[str, Counter[str]]) -> Iterator[str]:
    yield f"## {title}\n"
    yield "| Id | Promise | Proved by |"
    yield "|---|---|---|"
    for name, promise in promises[title].items():
        tests = ", ".join(f"{file} ({count})" for file, count in sorted(proved.get(name, Counter()).items()))
        yield f"| {name} | {escape(promise)} | {tests or '— later'} |"
    yield ""


def escape(text: str) -> str:
    return text.replace("|", "\\|")


def files_by_id(proofs: Iterable[Proof]) -> Mapping[str, Counter[str]]:
    files: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for proof in proofs:
        for name in proof.ids if proof.holds else ():
            files[name][proof.file.removeprefix("tests/")] += 1
    return files


def summary(promises: Promises, proofs: list[Proof], *, brief: bool) -> Iterator[str]:
    proved = files_by_id(proofs)
    for title, group in promises.items():
        missing = [name for name in group if name not in proved]
        yield f"{len(group) - len(missing):4} of {len(group):3}  {title}\n"
        if not brief:
            yield f"             proved:  {' '.join(name for name in group if name in proved) or '—'}\n"
            yield f"             no test: {' '.join(missing) or '—'}\n"
    broken = [proof.test for proof in proofs if not proof.holds]
    yield from (f"not counted, because it did not pass: {test}\n" for test in broken)


def base_test(nodeid: str) -> str:
    """Return the test function of a node id: all its parameters together are one proof."""
    return re.sub(r"\[.*\]$", "", nodeid, flags=re.DOTALL)


if __name__ == "__main__":
    sys.exit(main())
