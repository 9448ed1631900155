"""Reading the files of a configuration while nobody writes them: half a file may be sound, and say something else.

places --> what they are like --> quiet --> read --> the same still? --> what was read, and what it was like
  ^___________________________________________________|  other files, or others' times
"""

import asyncio
import glob
import os
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from foliot.config import Configuration, Loaded
from foliot.config.files import find_files
from foliot.domain.instant import MINUTE, Millis
from foliot.errors import FoliotError
from foliot.interfaces.cli.configuration import read_config

QUIET: Final = Millis(200)
"""Files are read when nothing has changed for so long: programs empty a file before they write it, in several steps."""
_LOOKS: Final = 50
"""So often a file may be changing still."""
_OLD: Final = MINUTE * 1_000_000
"""A file that was changed longer ago, in nanoseconds, is at rest. The clock of a file server may differ a little."""
_RESTLESS: Final = "Nothing was changed. Write a new file beside each and rename it, so that it changes at once."


class WatchedPaths(NamedTuple):
    """The files of a configuration, and the directories, as patterns, in which others may appear."""

    files: frozenset[Path]
    patterns: frozenset[str]

    def with_those_of(self, other: "WatchedPaths") -> "WatchedPaths":
        return WatchedPaths(self.files | other.files, self.patterns | other.patterns)


class Identity(NamedTuple):
    """What tells whether a file was written, exchanged or made readable. Of a directory the path is all."""

    path: str
    changed: int = 0
    modified: int = 0
    size: int = 0
    number: int = 0


Fingerprint = frozenset[Identity]


class StableRead(NamedTuple):
    """What was read, where, and what it was like."""

    loaded: Loaded
    places: WatchedPaths
    seen: Fingerprint


async def read_stable(path: Path, known: WatchedPaths, rest: Callable[[Fingerprint], Awaitable[None]]) -> StableRead:
    """What the files say. None of them has changed while they were read, nor while `rest` waited before.

    When something is wrong in them, the places are those that were known, and those that were found. FoliotError if
    they do not stop changing.
    """
    places = known
    for _ in range(_LOOKS):
        before = await asyncio.to_thread(fingerprint, places)
        await rest(before)
        loaded = await asyncio.to_thread(read_config, path)
        places = await asyncio.to_thread(_places_after, path, loaded, known)
        seen = await asyncio.to_thread(fingerprint, places)
        # Which files there are may have changed as well: those that are new were looked at once only.
        if before <= seen and not is_recent(seen - before):
            return StableRead(loaded, places, seen)
    raise FoliotError("the files do not stop changing", hint=_RESTLESS)


def _places_after(path: Path, loaded: Loaded, known: WatchedPaths) -> WatchedPaths:
    if loaded.configuration is not None:
        return watched_paths(loaded.configuration)
    # A file that is wrong may have named others, and one of these may be what is wrong.
    files = find_files(path, os.environ)
    return known.with_those_of(_places(files.paths, files.directories))


def watched_paths(configuration: Configuration) -> WatchedPaths:
    return _places(configuration.files, configuration.watched)


def _places(files: tuple[Path, ...], watched: tuple[Path, ...]) -> WatchedPaths:
    """An editor replaces a file, so its directory belongs to it."""
    absolute = frozenset(file.absolute() for file in files)
    return WatchedPaths(absolute, frozenset(map(str, watched)) | {glob.escape(str(file.parent)) for file in absolute})


def fingerprint(places: WatchedPaths) -> Fingerprint:
    """What tells whether a file was written, exchanged, added, removed or made readable."""
    there = {place for pattern in places.patterns for place in _directories(pattern)}
    found = {_identity(file) for file in places.files.union(*(_listed(place, places) for place in there))}
    return frozenset(found | {Identity(place) for place in there if os.access(place, os.R_OK)})


def _directories(pattern: str) -> Iterator[str]:
    return glob.iglob(f"{pattern}/", recursive=True)  # noqa: PTH207 - a pattern from the root, not below a path


def _listed(place: str, places: WatchedPaths) -> Iterator[Path]:
    """What an include may find there. Editors leave files beside a file whose names begin with a dot."""
    suffixes = {".toml", *(file.suffix for file in places.files)}
    return (file for file in Path(place).glob("[!.]*") if file.suffix in suffixes)


def directories(seen: Fingerprint) -> set[str]:
    """The directories that were there, and could be listed."""
    return {one.path for one in seen if one.path.endswith("/")}


def _identity(file: Path) -> Identity:
    try:
        state = file.stat()
    except OSError:
        return Identity(str(file))
    return Identity(str(file), state.st_ctime_ns, state.st_mtime_ns, state.st_size, state.st_ino)


def is_recent(seen: Fingerprint) -> bool:
    """Whether one of them was changed so lately that somebody may be writing it."""
    return any(one.changed > time.time_ns() - _OLD for one in seen)
