"""Applying the configuration again while a server runs: on a signal, or when a file changes.

SIGHUP ----+
           +--> wanted --> read at rest --> apply, as a difference      a wrong file changes nothing
watcher ---+      ^________ later _____________|                        a storage that fails is asked again
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from foliot.config import Configuration, Problem, Severity
from foliot.domain.deploy.deployment import Action, Changes
from foliot.domain.instant import MINUTE, SECOND, Millis
from foliot.errors import FoliotError, InvalidInput, NotFound, OwnedElsewhere
from foliot.interfaces.cli.render.changes import all_changes
from foliot.interfaces.cli.server.stable_read import (
    QUIET,
    Fingerprint,
    directories,
    fingerprint,
    read_stable,
    watched_paths,
)
from foliot.service.services import Services

if TYPE_CHECKING:
    from watchfiles import Change

log = logging.getLogger("foliot")

_STEP_MS: Final = 100
"""Changes that come closer together are told as one."""
_LINKED: Final = "..data"
"""What is exchanged when a mounted directory of a container platform gets new files."""
_LOOK_EVERY: Final = Millis(2 * SECOND)
"""Not every file system tells of its changes, and none tells of those from before it was asked."""
_LONGEST_PAUSE: Final = MINUTE
"""Between two tries to apply what could not be applied."""
_IN_THE_FILES: Final = (InvalidInput, NotFound, OwnedElsewhere)
"""What stays wrong until somebody writes them anew."""
_UNWATCHED: Final = (
    "The files are looked at every 2 seconds instead. Where watches or instances are used up, raise "
    "fs.inotify.max_user_watches and fs.inotify.max_user_instances; where files are, LimitNOFILE= or ulimit -n."
)
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
        self._places = watched_paths(configuration)
        self._seen = seen
        self._told: tuple[Problem, ...] = ()
        """What has been said about the files since somebody asked."""
        self._unwatched = ""
        """Why changes are not told, if that has been said."""
        self._failures = 0
        """How often in succession the files could not be applied, for a reason that may pass."""
        self._wanted = asyncio.Event()
        self._moved = asyncio.Event()

    def request(self) -> None:
        """Ask for a reload. Asking twice before it begins is asking once."""
        self._told = ()
        self._wanted.set()

    def retry(self, error: FoliotError) -> None:
        """Say that the files could not be applied when the server started, and apply them until that succeeds."""
        self._failures = 1
        _log_failure(error, started_with="the definitions that are stored", again_in_ms=_pause(self._failures))

    async def run(self) -> None:
        """Reload whenever it is asked for, and again where it failed for a reason that may pass."""
        while True:
            await self._services.clock.wait(self._wanted, _pause(self._failures) if self._failures else None)
            self._wanted.clear()
            self._failures = 0 if await self._is_done(self._failures + 1) else self._failures + 1

    async def _is_done(self, tries: int) -> bool:
        """Reload. False: it may work next time."""
        later = {"again_in_ms": _pause(tries)}
        try:
            await self.reload()
        except _IN_THE_FILES as error:
            _log_failure(error)
        except FoliotError as error:
            _log_failure(error, **later)
            return False
        except Exception:
            # Nothing that a file or a database does may end a server that runs well on the definitions it has.
            log.exception("configuration_not_applied", extra=later)
            return False
        return True

    async def reload(self) -> None:
        """Read and apply. When something is wrong in the files, all stays as it is."""
        loaded, self._places, seen = await read_stable(self._path, watched_paths(self._configuration), self._rest)
        self._remember(seen)
        if loaded.problems != self._told:
            log_problems(loaded.problems)
            self._told = loaded.problems
        if loaded.configuration is None:
            log.error("configuration_refused", extra={"errors": len(loaded.errors), "hint": "nothing was changed"})
            return
        if emptied := emptied_since(self._configuration, loaded.configuration):
            # Some programs empty a file long before they write it: that must not disable every job.
            hint = 'nothing was changed; write "jobs = []" if it is to have none'
            log.error("configuration_refused", extra={"problem": f"{emptied} is empty", "hint": hint})
            return
        log_changes(await self._services.deployer.apply(loaded.configuration.declared))
        self._replace(loaded.configuration)

    async def _rest(self, seen: Fingerprint) -> None:
        await self._services.clock.wait(asyncio.Event(), QUIET)
        # Whoever has asked by now is answered by what is read from here on.
        self._wanted.clear()

    def _replace(self, configuration: Configuration) -> None:
        before, self._configuration = self._configuration, configuration
        changed = [name for name in _SETTLED if getattr(before, name) != getattr(configuration, name)]
        if changed:
            log.warning("restart_needed", extra={"sections": ", ".join(changed)})

    async def watch(self) -> None:
        """Ask for a reload whenever a file of the configuration changes, appears or goes."""
        logging.getLogger("watchfiles").setLevel(logging.WARNING)
        while True:
            self._moved.clear()
            try:
                await self._look()
                async for _ in self._changes():
                    self._unwatched = ""
                    await self._look()
            except Exception as error:
                # Descriptors or watches are used up, or a directory has just gone. Looking needs no more than a moment
                # in which that is not so.
                self._tell_unwatched(error)
                await self._services.clock.wait(self._moved, _LOOK_EVERY)

    def _changes(self) -> AsyncIterator[Any]:
        """Tells of changes, and every few seconds that there may be some."""
        # Loaded by those who watch, for it is large.
        from watchfiles import awatch

        return awatch(
            *directories(self._seen),
            watch_filter=may_concern,
            step=_STEP_MS,
            stop_event=self._moved,
            recursive=False,
            rust_timeout=_LOOK_EVERY,
            yield_on_timeout=True,
        )

    async def _look(self) -> None:
        places = self._places
        seen = await asyncio.to_thread(fingerprint, places)
        if places is self._places and seen != self._seen:
            self._remember(seen)
            self.request()

    def _remember(self, seen: Fingerprint) -> None:
        if directories(seen) != directories(self._seen):
            self._moved.set()
        self._seen = seen

    def _tell_unwatched(self, error: Exception) -> None:
        if str(error) != self._unwatched:
            self._unwatched = str(error)
            log.warning("files_not_watched", extra={"problem": str(error), "hint": _UNWATCHED})


def _pause(failures: int) -> Millis:
    """Longer from failure to failure."""
    return Millis(min(SECOND * 2 ** min(failures - 1, 16), _LONGEST_PAUSE))


def _log_failure(error: FoliotError, **facts: Any) -> None:
    log.error("configuration_not_applied", extra={"problem": error.message, "hint": error.hint, **facts})


def may_concern(change: "Change", path: str) -> bool:
    """A database beside the file changes all the time, and is none of it."""
    return Path(path).suffix == ".toml" or Path(path).name == _LINKED


def emptied_since(before: Configuration, after: Configuration) -> Path | None:
    """A file that had something in it, or the main one, and has nothing now. What is gone altogether was deleted."""
    filled = set(before.files) - set(before.blank) | set(after.files[:1])
    return next((file for file in after.blank if file in filled), None)


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
