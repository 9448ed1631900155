"""Finds what a pattern names, as `glob` does; but a directory that cannot be listed is not taken for an empty one.

    jobs.d/**/*.toml --> jobs.d, and every directory below it --> names that match *.toml

Names that begin with a dot are passed over: what editors leave beside a file is not read.
"""

import glob
import os
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

_ANY_DEPTH: Final = "**"


def matches(pattern: str, root: Path) -> list[str]:
    """The names, from the root, in their order. OSError says which directory could not be listed."""
    parts = Path(pattern).parts
    return sorted(set(_follow(root, "", (*parts, "*") if parts[-1:] == (_ANY_DEPTH,) else parts)))


def _follow(root: Path, base: str, parts: tuple[str, ...]) -> Iterator[str]:
    if not parts:
        if os.path.lexists(root / base):
            yield base
        return
    part, rest = parts[0], parts[1:]
    if part == _ANY_DEPTH:
        for place in _descend(root, base, frozenset()):
            yield from _follow(root, place, rest)
    elif glob.has_magic(part):
        for name in _names(root / base):
            if fnmatchcase(name, part) and (part.startswith(".") or not name.startswith(".")):
                yield from _follow(root, os.path.join(base, name), rest)  # noqa: PTH118 - Path takes "" for "."
    else:
        yield from _follow(root, os.path.join(base, part), rest)  # noqa: PTH118 - the same


def _descend(root: Path, base: str, above: frozenset[str]) -> Iterator[str]:
    """A directory and all below it. A link that leads back up is not followed."""
    real = os.path.realpath(root / base)
    if real in above:
        return
    yield base
    for name in _names(root / base):
        below = os.path.join(base, name)  # noqa: PTH118 - the same
        if not name.startswith(".") and (root / below).is_dir():
            yield from _descend(root, below, above | {real})


def _names(place: Path) -> list[str]:
    try:
        return os.listdir(place)  # noqa: PTH208 - names are all that is wanted
    except (FileNotFoundError, NotADirectoryError):
        return []
