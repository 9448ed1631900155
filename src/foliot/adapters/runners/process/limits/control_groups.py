"""Control groups: limits on a whole tree of processes, and a list of it that nobody can leave.

    <directory given to the worker>/foliot-<worker's pid>-<number>      one for each run that asks for such a limit

Both versions of the kernel's interface will do. Where there is no such directory (delegation.py), limits hold for each
process alone (bounds.py).
"""

import itertools
import logging
import os
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from typing import Final

from foliot.adapters.runners.process.limits.delegation import PREFIX, Places, find_places
from foliot.domain.job.kinds.process import ProcessLimits

log = logging.getLogger(__name__)


class ControlGroup:
    """The group of one attempt."""

    def __init__(self, places: Places) -> None:
        self.controllers: Final = frozenset(places)
        """What they bound needs no other limit."""
        self._directories = sorted(set(places.values()))

    def make(self, limits: ProcessLimits) -> None:
        """Make it, with its limits. OSError says why that could not be done."""
        for directory in self._directories:
            directory.mkdir(mode=0o755)
        if "memory" in self.controllers and limits.memory is not None:
            self._bound_memory(limits.memory)
        if "pids" in self.controllers and limits.processes is not None:
            self._set("pids.max", limits.processes)

    def add(self, pid: int) -> None:
        """Take in a process, and with it all that it will start."""
        self._set("cgroup.procs", pid)

    def members(self) -> set[int]:
        return {int(pid) for pid in self._get("cgroup.procs").split()}

    def kill(self) -> None:
        """Kill all of it at once, where the system can do that."""
        with suppress(OSError):
            self._set("cgroup.kill", 1)

    @property
    def is_out_of_memory(self) -> bool:
        """Whether anything in it was killed for want of memory."""
        return _count("oom_kill", self._get("memory.events") + self._get("memory.oom_control")) > 0

    @property
    def is_out_of_processes(self) -> bool:
        """Whether anything in it could not start a process."""
        return _count("max", self._get("pids.events")) > 0

    def remove(self) -> None:
        """Remove it, if it is empty. One that is not goes when another worker starts here."""
        for directory in self._directories:
            with suppress(OSError):
                directory.rmdir()

    def _bound_memory(self, most: int) -> None:
        if not self._has("memory.max"):
            self._set("memory.limit_in_bytes", most)
            with suppress(OSError):  # only where swap is counted
                self._set("memory.memsw.limit_in_bytes", most)
            return
        self._set("memory.max", most)
        for name, value in (("memory.swap.max", 0), ("memory.oom.group", 1)):
            # The one is not there where swap is not counted, the other is newer than the rest. A tree that has lost one
            # of its processes is of no use.
            with suppress(OSError):
                self._set(name, value)

    def _has(self, name: str) -> bool:
        return any((directory / name).exists() for directory in self._directories)

    def _set(self, name: str, value: int) -> None:
        """Write to all files of that name, at least to one. It is the kernel that makes them: we never do."""
        files = [directory / name for directory in self._directories if (directory / name).exists()]
        if not files:
            raise FileNotFoundError(name)
        for file in files:
            file.write_text(str(value))

    def _get(self, name: str) -> str:
        text = ""
        for directory in self._directories:
            with suppress(OSError):
                text += (directory / name).read_text() + "\n"
        return text


class ControlGroups:
    """The groups that this worker may make."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._serials = itertools.count()

    def make(self, limits: ProcessLimits) -> ControlGroup | None:
        """A group for what can be bounded by one; None if nothing of it is asked for, or there is no way."""
        asked: Mapping[str, int | None] = {"memory": limits.memory, "pids": limits.processes}
        places = {name: place for name, place in self._places.items() if asked[name] is not None}
        if not places:
            return None
        name = f"{PREFIX}{os.getpid()}-{next(self._serials)}"
        group = ControlGroup({controller: place / name for controller, place in places.items()})
        try:
            group.make(limits)
        except OSError as error:
            log.warning("control_group_refused", extra={"group": name, "error": str(error)})
            group.remove()
            return None
        return group


def make_control_group(limits: ProcessLimits) -> ControlGroup | None:
    """The group of an attempt with these limits; None if they need none, or none can be had."""
    if limits.memory is None and limits.processes is None:
        return None
    return _control_groups(os.getpid()).make(limits)


@cache
def _control_groups(_process: int) -> ControlGroups:
    places = find_places(os.environ)
    if places:
        log.info("control_groups_found", extra={"places": {name: str(place) for name, place in places.items()}})
    else:
        log.info("control_groups_not_found", extra={"meaning": "limits hold for each process, not for its tree"})
    return ControlGroups(places)


def _count(name: str, text: str) -> int:
    pairs = (line.split() for line in text.splitlines())
    return sum(int(pair[1]) for pair in pairs if len(pair) == 2 and pair[0] == name)
