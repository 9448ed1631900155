"""Reads figures about processes from the kernel."""

import os
import resource
from pathlib import Path
from typing import Final

_PAGE: Final = resource.getpagesize()
_TICKS: Final = os.sysconf("SC_CLK_TCK")
_PARENT, _USER, _SYSTEM, _USER_OF_ENDED, _SYSTEM_OF_ENDED = 1, 11, 12, 13, 14


def cpu_seconds(pid: int) -> float:
    """Return the processor time used so far, by all threads."""
    fields = _stat(pid)
    return (int(fields[_USER]) + int(fields[_SYSTEM])) / _TICKS


def memory(pid: int) -> int:
    """Return the resident bytes."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE


def peak_memory(pid: int) -> int:
    """Return the most resident bytes so far."""
    return _status(pid, "VmHWM:")


def private_memory(pid: int) -> int:
    """Return the resident bytes that are not pages of files, which processes share."""
    return _status(pid, "RssAnon:")


class Family:
    """A process and its children, including those that have ended."""

    def __init__(self, parent: int) -> None:
        self._parent = parent

    def cpu_seconds(self) -> float:
        # The children first: a child that ends meanwhile is then counted with the parent.
        living = sum(self._seconds_of_child(pid) for pid in _all_pids())
        fields = _stat(self._parent)
        own = sum(int(fields[index]) for index in (_USER, _SYSTEM, _USER_OF_ENDED, _SYSTEM_OF_ENDED)) / _TICKS
        return own + living

    def _seconds_of_child(self, pid: int) -> float:
        try:
            return cpu_seconds(pid) if int(_stat(pid)[_PARENT]) == self._parent else 0.0
        except OSError:
            return 0.0


def _all_pids() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def _status(pid: int, name: str) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


def _stat(pid: int) -> list[str]:
    """Return the fields after the name, which may contain any character."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
