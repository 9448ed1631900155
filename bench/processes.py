"""What the kernel tells about processes."""

import os
import resource
from pathlib import Path
from typing import Final

_PAGE: Final = resource.getpagesize()
_TICKS: Final = os.sysconf("SC_CLK_TCK")
_PARENT, _USER, _SYSTEM, _USER_OF_ENDED, _SYSTEM_OF_ENDED = 1, 11, 12, 13, 14


def cpu_seconds(pid: int) -> float:
    """Processor time used so far, by all threads."""
    fields = _stat(pid)
    return (int(fields[_USER]) + int(fields[_SYSTEM])) / _TICKS


def memory(pid: int) -> int:
    """Resident bytes."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE


class Family:
    """A process and its children, those that have ended included."""

    def __init__(self, parent: int) -> None:
        self._parent = parent

    def cpu_seconds(self) -> float:
        fields = _stat(self._parent)
        own = sum(int(fields[index]) for index in (_USER, _SYSTEM, _USER_OF_ENDED, _SYSTEM_OF_ENDED)) / _TICKS
        return own + sum(cpu_seconds(pid) for pid in self._children())

    def _children(self) -> list[int]:
        pids = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
        return [pid for pid in pids if _parent_of(pid) == self._parent]


def _parent_of(pid: int) -> int | None:
    try:
        return int(_stat(pid)[_PARENT])
    except OSError:
        return None  # it ended while we looked


def _stat(pid: int) -> list[str]:
    """The fields after the name, which may contain anything."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
