"""Applying the configuration again while a server runs: on a signal, or when a file changes.

SIGHUP ----+
           +--> wanted --> stable read --> apply the difference      a file with errors changes nothing
watcher ---+      ^________ later ____________|                      a failure of the storage is tried again
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
from foliot.interfaces.cli.login import deploying_actor
from foliot.interfaces.cli.render.changes import all_changes
from foliot.interfaces.cli.render.text import counted
from foliot.interfaces.cli.server.stable_read import (
    QUIET,
    Fingerprint,
    directories,
    fingerprint,
    read_stable,
    watched_paths,
)
from foliot.interfaces.cli.server.systemd import Systemd
from foliot.service.services import Services

if TYPE_CHECKING:
    from watchfiles import Change

log = logging.getLogger("foliot")

_STEP_MS: Final = 100
"""Changes within this time are reported together."""
_LINKED: Final = "..data"
"""The link that Kubernetes replaces when a mounted ConfigMap or Secret changes."""
_LOOK_EVERY: Final = Millis(2 * SECOND)
"""Some file systems report no changes, and none reports changes from before the watch began."""
_LONGEST_PAUSE: Final = MINUTE
"""The longest pause before a failed reload is tried again."""
_FILE_ERRORS: Final = (InvalidInput, NotFound, OwnedElsewhere)
"""Errors that stay until a file is changed."""
_UNWATCHED: Final = (
    "The files are checked every 2 seconds instead. If inotify watches or instances are used up, raise "
    "fs.inotify.max_user_watches and fs.inotify.max_user_instances; if open files are, raise LimitNOFILE= or ulimit -n."
)
_NAMED: Final = 20
"""The number of changes that a log line names."""
_READ_AT_START: Final = ("server", "storage", "queue", "retention", "outbound", "notifications")
"""Sections that a process reads only when it starts."""


class Reloader:
    """Keeps the storage equal to the files of a configuration."""

    def __init__(
        self,
        path: Path,
        services: Services,
        configuration: Configuration,
        seen: Fingerprint,
        systemd: Systemd | None = None,
    ) -> None:
        self._path = path
        self._services = services
        self._configuration = self._started_with = configuration
        self._places = watched_paths(configuration)
        self._seen = seen
        self._systemd = systemd or Systemd({})
        self._problem = ""
        """Why the last reload did not apply the files."""
        self._logged: tuple[Problem, ...] = ()
        """The problems that have been logged since the last request."""
        self._unwatched = ""
        """Why the files are not watched, if that has been logged."""
        self._failures = 0
        """Consecutive failures for a reason that may pass."""
        self._wanted = asyncio.Event()
        self._moved = asyncio.Event()
        self._applied = asyncio.Event()

    def request(self) -> None:
        """Request a reload. Several requests before it begins lead to one reload."""
        self._logged = ()
        self._wanted.set()

    def retry(self, error: FoliotError) -> None:
        """Log that the files could not be applied when the server started, and try again until they can."""
        self._failures = 1
        _log_failure(error, started_with="the stored definitions", again_in_ms=_pause(self._failures))

    async def run(self) -> None:
        """Reload on request, and again after a failure for a reason that may pass."""
        while True:
            await self._services.clock.wait(self._wanted, _pause(self._failures) if self._failures else None)
            self._wanted.clear()
            self._systemd.reloading()
            try:
                self._failures = 0 if await self._is_done(self._failures + 1) else self._failures + 1
            finally:
                self._systemd.reloaded(self._problem)

    async def _is_done(self, tries: int) -> bool:
        """Reload. Return False if it may work next time. An error that persists is logged once, then at level debug."""
        later, before = {"again_in_ms": _pause(tries)}, self._problem if tries > 1 else ""
        try:
            await self.reload()
        except _FILE_ERRORS as error:
            self._problem = error.message
            _log_failure(error)
        except FoliotError as error:
            self._problem = error.message
            _log_failure(error, is_new=self._problem != before, **later)
            return False
        except Exception as error:
            self._problem = repr(error)
            # No error of a file or a database may end a server that works with its stored definitions.
            level = logging.DEBUG if self._problem == before else logging.ERROR
            log.log(level, "configuration_not_applied", extra=later, exc_info=True)
            return False
        return True

    async def reload(self) -> None:
        """Read and apply the files. If they have errors, nothing is changed."""
        loaded, self._places, seen = await read_stable(self._path, watched_paths(self._configuration), self._rest)
        self._remember(seen)
        if loaded.problems != self._logged:
            log_problems(loaded.problems)
            self._logged = loaded.problems
        if loaded.configuration is None:
            self._problem = f"{self._path} has {counted(len(loaded.errors), 'error')}"
            log.error("configuration_refused", extra={"errors": len(loaded.errors), "hint": "nothing was changed"})
            return
        if emptied := emptied_since(self._configuration, loaded.configuration):
            # Some programs empty a file long before they write it. That must not disable every job.
            hint = 'nothing was changed; write "jobs = []" if it should define no jobs'
            self._problem = f"{emptied} is empty"
            log.error("configuration_refused", extra={"problem": self._problem, "hint": hint})
            return
        log_changes(
            await self._services.acting_as(deploying_actor(self._path)).deployer.apply(loaded.configuration.declared)
        )
        layers = self._services.schedules.default_layers
        layers.file, layers.ceilings = loaded.configuration.schedule_defaults, loaded.configuration.ceilings
        self._replace(loaded.configuration)
        self._problem = ""
        self._applied.set()

    async def _rest(self, seen: Fingerprint) -> None:
        await self._services.clock.wait(asyncio.Event(), QUIET)
        # Requests until here are served by the read that follows.
        self._wanted.clear()

    def _replace(self, configuration: Configuration) -> None:
        self._configuration = configuration
        started = self._started_with
        changed = [name for name in _READ_AT_START if getattr(started, name) != getattr(configuration, name)]
        if changed:
            log.warning("restart_needed", extra={"sections": ", ".join(changed)})

    async def watch(self) -> None:
        """Request a reload when a file of the configuration is changed, added or removed."""
        logging.getLogger("watchfiles").setLevel(logging.WARNING)
        while True:
            self._moved.clear()
            try:
                await self._check_files()
                async for _ in self._changes():
                    self._unwatched = ""
                    await self._check_files()
            except Exception as error:
                # Descriptors or watches are used up, or a directory has just been deleted. Checking the files needs
                # only a moment in which that is not so.
                self._log_unwatched(error)
                await self._services.clock.wait(self._moved, _LOOK_EVERY)

    async def watch_until_applied(self) -> None:
        """Watch the files until a reload has applied them: a server that started with errors in them applies the
        corrected files also without `watch`."""
        watching = asyncio.create_task(self.watch())
        try:
            await self._applied.wait()
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)

    def _changes(self) -> AsyncIterator[Any]:
        """Yield when files change, and every few seconds in case a change was not reported."""
        # Imported here because it is large, and only servers that watch files need it.
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

    async def _check_files(self) -> None:
        places = self._places
        seen = await asyncio.to_thread(fingerprint, places)
        if places is self._places and seen != self._seen:
            self._remember(seen)
            self.request()

    def _remember(self, seen: Fingerprint) -> None:
        if directories(seen) != directories(self._seen):
            self._moved.set()
        self._seen = seen

    def _log_unwatched(self, error: Exception) -> None:
        if str(error) != self._unwatched:
            self._unwatched = str(error)
            log.warning("files_not_watched", extra={"problem": str(error), "hint": _UNWATCHED})


def _pause(failures: int) -> Millis:
    """Return the pause after this many failures: it doubles each time."""
    return Millis(min(SECOND * 2 ** min(failures - 1, 16), _LONGEST_PAUSE))


def _log_failure(error: FoliotError, *, is_new: bool = True, **facts: Any) -> None:
    level = logging.ERROR if is_new else logging.DEBUG
    log.log(level, "configuration_not_applied", extra={"problem": error.message, "hint": error.hint, **facts})


def may_concern(change: "Change", path: str) -> bool:
    """Whether a change may concern the configuration: a database in the same directory changes all the time."""
    return Path(path).suffix == ".toml" or Path(path).name == _LINKED


def emptied_since(before: Configuration, after: Configuration) -> Path | None:
    """Return a file that has become empty, or an empty main file. Files that are missing were deleted on purpose."""
    filled = set(before.files) - set(before.blank) | set(after.files[:1])
    return next((file for file in after.blank if file in filled), None)


def log_problems(problems: Iterable[Problem]) -> None:
    for problem in problems:
        level = logging.ERROR if problem.severity is Severity.ERROR else logging.WARNING
        log.log(level, "configuration_problem", extra=problem_facts(problem))


def problem_facts(problem: Problem) -> dict[str, str]:
    """Return a problem of a file as values of an event."""
    where = {"severity": str(problem.severity), "place": str(problem.place), "key": problem.key}
    facts = {**where, "problem": problem.message, "hint": problem.hint}
    return {name: value for name, value in facts.items() if value}


def log_changes(changes: Changes) -> None:
    """Log the first changes by name, or that there were none."""
    done = [change for _, change in all_changes(changes) if change.action is not Action.UNCHANGED]
    if done:
        by_action: dict[Action, list[str]] = {}
        for change in done[:_NAMED]:
            by_action.setdefault(change.action, []).append(change.id)
        rest = [f"{len(done) - _NAMED} more"] if len(done) > _NAMED else []
        named = [f"{action} {', '.join(ids)}" for action, ids in by_action.items()]
        log.info("configuration_applied", extra={"changes": "; ".join([*named, *rest])})
    else:
        log.info("configuration_unchanged")
