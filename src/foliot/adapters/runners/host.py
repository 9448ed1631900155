"""Examines what this machine offers to workers, for `foliot doctor`. It changes nothing."""

import os
import resource
import stat
from collections.abc import Sequence
from pathlib import Path
from shutil import which
from typing import Final

from foliot.adapters.processes import ProcProcesses
from foliot.adapters.runners.process.limits.delegation import available_controllers
from foliot.adapters.runners.process.limits.descriptors import highest_limit, runs_for
from foliot.ports.host import HostFacts

_OPEN_FILES: Final = "Max open files"


class ThisHost:
    """Fills `ports.host.Host`."""

    def __init__(self, processes: ProcProcesses) -> None:
        self._processes = processes

    def facts(self, processes: Sequence[str]) -> HostFacts:
        living = (self._processes.living_pid(process) for process in processes)
        pid = next((pid for pid in living if pid is not None), None)
        allowed = None if pid is None else _limit_of(pid)
        open_files = highest_limit(resource.getrlimit(resource.RLIMIT_NOFILE)[1]) if allowed is None else allowed
        return HostFacts(allowed is not None, open_files, runs_for(open_files), available_controllers(os.environ, pid))

    def has_program(self, name: str) -> bool:
        return which(name) is not None

    def is_readable_by_all(self, path: str) -> bool:
        try:
            return bool(Path(path).stat().st_mode & stat.S_IROTH)
        except OSError:
            return False


def _limit_of(pid: int) -> int | None:
    """Return how many files a process may open. None: the process belongs to another user, or has ended."""
    try:
        lines = Path("/proc", str(pid), "limits").read_text().splitlines()
    except OSError:
        return None
    [soft] = [line.removeprefix(_OPEN_FILES).split()[0] for line in lines if line.startswith(_OPEN_FILES)] or [""]
    return int(soft) if soft.isdecimal() else highest_limit(resource.RLIM_INFINITY)
