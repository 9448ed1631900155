"""Reading the files of a configuration while they do not change: half a file may be valid, with another meaning.

paths --> fingerprint --> wait --> read --> fingerprint unchanged? --> configuration and fingerprint
  ^_________________________________________|  no
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
"""The wait before a read: programs empty a file before they write it, in several steps."""
_TRIES: Final = 50
"""Reads until the files are considered unstable."""
_OLD: Final = MINUTE * 1_000_000
"""Age in nanoseconds from which a file counts as stable. The clock of a file server may differ a little."""
_UNSTABLE_HINT: Final = (
    "Nothing was changed. Write to a new file and rename it over the old one, so that it changes at once."
)


class WatchedPaths(NamedTuple):
    """The files of a configuration, and patterns of the directories in which new ones may appear."""

    files: frozenset[Path]
    patterns: frozenset[str]

    def merged(self, other: "WatchedPaths") -> "WatchedPaths":
        return WatchedPaths(self.files | other.files, self.patterns | other.patterns)


class FileIdentity(NamedTuple):
    """Differs when a file was written, replaced or made readable. Of a directory only the path is set."""

    path: str
    changed: int = 0
    modified: int = 0
    size: int = 0
    number: int = 0


Fingerprint = frozenset[FileIdentity]


class StableRead(NamedTuple):
    """A configuration, its paths, and their fingerprint."""

    loaded: Loaded
    places: WatchedPaths
    seen: Fingerprint


async def read_stable(path: Path, known: WatchedPaths, rest: Callable[[Fingerprint], Awaitable[None]]) -> StableRead:
    """Read the files when none of them changes during the read and during `rest` before it.

    If the files have errors, the paths are those known before and those found now. FoliotError if the files keep
    changing.
    """
    places = known
    for _ in range(_TRIES):
        before = await asyncio.to_thread(fingerprint, places)
        await rest(before)
        loaded = await asyncio.to_thread(read_config, path)
        places = await asyncio.to_thread(_places_after, path, loaded, known)
        seen = await asyncio.to_thread(fingerprint, places)
        # New files were checked only once, after the read: they must not be recent.
        if before <= seen and not is_recent(seen - before):
            return StableRead(loaded, places, seen)
    raise FoliotError("the files keep changing", hint=_UNSTABLE_HINT)


def _places_after(path: Path, loaded: Loaded, known: WatchedPaths) -> WatchedPaths:
    if loaded.configuration is not None:
        return watched_paths(loaded.configuration)
    # The error may be in an included file, and fixing that one must be noticed.
    files = find_files(path, os.environ)
    return known.merged(_places(files.paths, files.directories))


def watched_paths(configuration: Configuration) -> WatchedPaths:
    return _places(configuration.files, configuration.watched)


def _places(files: tuple[Path, ...], watched: tuple[Path, ...]) -> WatchedPaths:
    """Return the paths to watch: also the directory of each file, because editors replace files."""
    absolute = frozenset(file.absolute() for file in files)
    return WatchedPaths(absolute, frozenset(map(str, watched)) | {glob.escape(str(file.parent)) for file in absolute})


def fingerprint(places: WatchedPaths) -> Fingerprint:
    """Return a value that differs when a file was written, replaced, added, removed or made readable."""
    there = {place for pattern in places.patterns for place in _directories(pattern)}
    found = {_identity(file) for file in places.files.union(*(_listed(place, places) for place in there))}
    return frozenset(found | {FileIdentity(place) for place in there if os.access(place, os.R_OK)})


def _directories(pattern: str) -> Iterator[str]:
    return glob.iglob(f"{pattern}/", recursive=True)  # noqa: PTH207 - a pattern from the root, not below a path


def _listed(place: str, places: WatchedPaths) -> Iterator[Path]:
    """Yield files that an include may match; not dot files, which editors create for their own use."""
    suffixes = {".toml", *(file.suffix for file in places.files)}
    return (file for file in Path(place).glob("[!.]*") if file.suffix in suffixes)


def directories(seen: Fingerprint) -> set[str]:
    """Return the directories that exist and can be listed."""
    return {one.path for one in seen if one.path.endswith("/")}


def _identity(file: Path) -> FileIdentity:
    try:
        state = file.stat()
    except OSError:
        return FileIdentity(str(file))
    return FileIdentity(str(file), state.st_ctime_ns, state.st_mtime_ns, state.st_size, state.st_ino)


def is_recent(seen: Fingerprint) -> bool:
    """Whether a file was changed so recently that it may still be written."""
    return any(one.changed > time.time_ns() - _OLD for one in seen)
