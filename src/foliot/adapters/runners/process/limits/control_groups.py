"""Control groups: limits on a whole tree of processes, and a list of its members that no process can leave.

    <directory delegated to the worker>/foliot-<worker's pid>-<number>      one for each run that needs such a limit

Both versions of the kernel's interface are supported. Without a delegated directory (delegation.py), limits apply to
each process alone (rlimits.py).
"""

import itertools
import logging
import os
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from typing import Final

from foliot.adapters.runners.process.limits.delegation import PREFIX, Directories, find_directories
from foliot.domain.job.kinds.process import ProcessLimits

log = logging.getLogger(__name__)


class ControlGroup:
    """The control group of one attempt."""

    def __init__(self, directories: Directories) -> None:
        self.controllers: Final = frozenset(directories)
        """Limits that the group enforces, so that no rlimit is needed for them."""
        self._directories = sorted(set(directories.values()))

    def make(self, limits: ProcessLimits) -> None:
        """Create the group with its limits. Raises OSError."""
        for directory in self._directories:
            directory.mkdir(mode=0o755)
        if "memory" in self.controllers and limits.memory is not None:
            self._limit_memory(limits.memory)
        if "pids" in self.controllers and limits.processes is not None:
            self._set("pids.max", limits.processes)

    def add(self, pid: int) -> None:
        """Add a process. Its future children are members as well."""
        self._set("cgroup.procs", pid)

    def members(self) -> set[int]:
        return {int(pid) for pid in self._get("cgroup.procs").split()}

    def kill(self) -> None:
        """Kill all members at once, where the kernel supports that."""
        with suppress(OSError):
            self._set("cgroup.kill", 1)

    @property
    def is_out_of_memory(self) -> bool:
        """Whether the kernel killed a member because of the memory limit."""
        return _count("oom_kill", self._get("memory.events") + self._get("memory.oom_control")) > 0

    @property
    def is_out_of_processes(self) -> bool:
        """Whether a member could not start a process because of the limit."""
        return _count("max", self._get("pids.events")) > 0

    def remove(self) -> None:
        """Remove the group if it is empty. A group that is not is removed when the next worker starts."""
        for directory in self._directories:
            with suppress(OSError):
                directory.rmdir()

    def _limit_memory(self, limit: int) -> None:
        if not self._has("memory.max"):
            self._set("memory.limit_in_bytes", limit)
            with suppress(OSError):  # exists only if the kernel counts swap
                self._set("memory.memsw.limit_in_bytes", limit)
            return
        self._set("memory.max", limit)
        for name, value in (("memory.swap.max", 0), ("memory.oom.group", 1)):
            # The first file exists only if the kernel counts swap, the second only in newer kernels. It makes the
            # kernel kill the whole group, because a tree that has lost one process is of no use.
            with suppress(OSError):
                self._set(name, value)

    def _has(self, name: str) -> bool:
        return any((directory / name).exists() for directory in self._directories)

    def _set(self, name: str, value: int) -> None:
        """Write to all files of that name, at least one. The kernel creates them; this must not."""
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
    """Creates the control groups of this worker."""

    def __init__(self, directories: Directories) -> None:
        self._delegated = directories
        self._serials = itertools.count()

    def make(self, limits: ProcessLimits) -> ControlGroup | None:
        """Return a new group for these limits; None if they need none, or it cannot be created."""
        asked: Mapping[str, int | None] = {"memory": limits.memory, "pids": limits.processes}
        directories = {name: directory for name, directory in self._delegated.items() if asked[name] is not None}
        if not directories:
            return None
        name = f"{PREFIX}{os.getpid()}-{next(self._serials)}"
        group = ControlGroup({controller: directory / name for controller, directory in directories.items()})
        try:
            group.make(limits)
        except OSError as error:
            log.warning("control_group_refused", extra={"group": name, "error": str(error)})
            group.remove()
            return None
        return group


def make_control_group(limits: ProcessLimits) -> ControlGroup | None:
    """Return a new group for an attempt with these limits; None if they need none, or none can be created."""
    if limits.memory is None and limits.processes is None:
        return None
    return _control_groups(os.getpid()).make(limits)


@cache
def _control_groups(_process: int) -> ControlGroups:
    directories = find_directories(os.environ)
    if directories:
        log.info(
            "control_groups_found",
            extra={"directories": {name: str(directory) for name, directory in directories.items()}},
        )
    else:
        log.info("control_groups_not_found", extra={"effect": "limits apply to each process, not to its tree"})
    return ControlGroups(directories)


def _count(name: str, text: str) -> int:
    pairs = (line.split() for line in text.splitlines())
    return sum(int(pair[1]) for pair in pairs if len(pair) == 2 and pair[0] == name)
