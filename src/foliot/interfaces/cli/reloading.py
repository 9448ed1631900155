"""Applying the configuration again while a server runs: on a signal, or when a file changes.

SIGHUP ----+
           +--> wanted --> quiet --> load --> the same still? --> apply, as a difference
watcher ---+         ^_________________________|                  a wrong file changes nothing
"""

import asyncio
import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from watchfiles import Change, awatch

from foliot.config import Configuration, Loaded, Problem, Severity
from foliot.domain.deployment import Action, Changes
from foliot.domain.instant import Millis
from foliot.errors import FoliotError
from foliot.interfaces.cli.configuration import read_config
from foliot.interfaces.cli.deployment_lines import all_changes
from foliot.wiring import Services

log = logging.getLogger("foliot")

Fingerprint = frozenset[tuple[str, int, int, int]]

_STEP_MS: Final = 100
"""Changes that come closer together are told as one."""
_QUIET: Final = Millis(200)
"""Files are read when nothing has changed for so long: programs empty a file before they write it, in several steps."""
_LOOKS: Final = 50
"""So often a file may be changing still; then the server goes on with what it has."""
_LINKED: Final = "..data"
"""What is exchanged when a mounted directory of a container platform gets new files."""
_LOOK_EVERY_MS: Final = 2_000
"""Not every file system tells of its changes, and none tells of those from before it was asked."""
_NAMED: Final = 20
"""So many changes are named in the log."""
_SETTLED: Final = ("server", "storage", "queue", "retention", "outbound")
"""Sections that a process reads when it starts."""


class Reloader:
    """Keeps the storage equal to the files of a configuration."""

    def __init__(self, path: Path, services: Services, configuration: Configuration, seen: Fingerprint) -> None:
        self._path = path
        self._services = services
        self._configuration = configuration
        self._seen = seen
        self._wanted = asyncio.Event()
        self._moved = asyncio.Event()

    def request(self) -> None:
        """Ask for a reload. Asking twice before it begins is asking once."""
        self._wanted.set()

    async def run(self) -> None:
        """Reload whenever it is asked for."""
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            try:
                await self.reload()
            except FoliotError as error:
                log.error("configuration_not_applied", extra={"problem": error.message, "hint": error.hint})
            except Exception:
                # Nothing that a file or a database does may end a server that runs well on the definitions it has.
                log.exception("configuration_not_applied")

    async def reload(self) -> None:
        """Read and apply. When something is wrong in the files, all stays as it is."""
        loaded, seen = await self._read_at_rest()
        log_problems(loaded.problems)
        if loaded.configuration is None:
            log.error("configuration_refused", extra={"errors": len(loaded.errors), "hint": "nothing was changed"})
            return
        if emptied := emptied_since(self._configuration, loaded.configuration):
            # Some programs empty a file long before they write it: that must not disable every job.
            hint = 'nothing was changed; write "jobs = []" if it is to have none'
            log.error("configuration_refused", extra={"problem": f"{emptied} is empty", "hint": hint})
            return
        log_changes(await self._services.deployer.apply(loaded.configuration.declared))
        self._seen = seen
        self._replace(loaded.configuration)

    async def _read_at_rest(self) -> tuple[Loaded, Fingerprint]:
        """What the files say, and what they were like: for a moment before, and while they were read."""
        known = self._configuration
        for _ in range(_LOOKS):
            before = await asyncio.to_thread(fingerprint, known)
            await self._services.clock.wait(asyncio.Event(), _QUIET)
            loaded = await asyncio.to_thread(read_config, self._path)
            # Which files there are may have changed as well: then they are looked at once more, all of them.
            known = loaded.configuration or known
            if await asyncio.to_thread(fingerprint, known) == before:
                return loaded, before
        raise FoliotError("the files do not stop changing", hint="Nothing was changed. The next change is looked at.")

    def _replace(self, configuration: Configuration) -> None:
        before, self._configuration = self._configuration, configuration
        changed = [name for name in _SETTLED if getattr(before, name) != getattr(configuration, name)]
        if changed:
            log.warning("restart_needed", extra={"sections": ", ".join(changed)})
        if directories(before) != directories(configuration):
            self._moved.set()

    async def watch(self) -> None:
        """Ask for a reload whenever a file of the configuration changes, appears or goes."""
        logging.getLogger("watchfiles").setLevel(logging.WARNING)
        while True:
            self._moved.clear()
            places = [place for place in directories(self._configuration) if place.is_dir()]
            changes = awatch(
                *places,
                watch_filter=may_concern,
                step=_STEP_MS,
                stop_event=self._moved,
                recursive=False,
                rust_timeout=_LOOK_EVERY_MS,
                yield_on_timeout=True,
            )
            async for _ in changes:
                await self._look()

    async def _look(self) -> None:
        seen = await asyncio.to_thread(fingerprint, self._configuration)
        if seen != self._seen:
            self._seen = seen
            self.request()


def may_concern(change: Change, path: str) -> bool:
    """A database beside the file changes all the time, and is none of it."""
    return Path(path).suffix == ".toml" or Path(path).name == _LINKED


def emptied_since(before: Configuration, after: Configuration) -> Path | None:
    """A file that had something in it, or the main one, and has nothing now. What is gone altogether was deleted."""
    filled = set(before.files) - set(before.blank) | set(after.files[:1])
    return next((file for file in after.blank if file in filled), None)


def fingerprint(configuration: Configuration) -> Fingerprint:
    """What tells whether a file was written, exchanged, added or removed."""
    listed = {file for place in directories(configuration) for file in place.glob("*.toml")}
    return frozenset(_identity(file) for file in listed | {file.absolute() for file in configuration.files})


def _identity(file: Path) -> tuple[str, int, int, int]:
    try:
        state = file.stat()
    except OSError:
        return str(file), 0, 0, 0
    return str(file), state.st_mtime_ns, state.st_size, state.st_ino


def directories(configuration: Configuration) -> set[Path]:
    """Where the files are, and where others may appear: an editor replaces a file, so its directory is watched."""
    return {file.absolute().parent for file in configuration.files} | set(configuration.watched)


def log_problems(problems: Iterable[Problem]) -> None:
    for problem in problems:
        level = logging.ERROR if problem.severity is Severity.ERROR else logging.WARNING
        details = {"place": str(problem.place), "key": problem.key, "problem": problem.message, "hint": problem.hint}
        log.log(level, "configuration_problem", extra={name: value for name, value in details.items() if value})


def log_changes(changes: Changes) -> None:
    """What was changed, the first of many; that nothing was is worth a line as well."""
    done = [
        f"{change.action} {change.id}" for _, change in all_changes(changes) if change.action is not Action.UNCHANGED
    ]
    if done:
        rest = [f"{len(done) - _NAMED} more"] if len(done) > _NAMED else []
        log.info("configuration_applied", extra={"changes": ", ".join([*done[:_NAMED], *rest])})
    else:
        log.info("configuration_unchanged")
