"""Identities of processes, from /proc: boot id, PID namespace, PID and start time.

A process can judge only processes of the same boot and the same PID namespace: a container may see the same PID as
another process. A PID that is used again belongs to a process with another start time.
"""

import os
from pathlib import Path
from typing import Final

_PROC: Final = Path("/proc")
_START_TIME: Final = 19
"""The index of the start time (field 22) among the fields after the name."""
_ENDED: Final = frozenset({"Z", "X"})


class ProcProcesses:
    """Fills `ports.processes.Processes`. Knows nothing where there is no /proc."""

    def __init__(self, boot_id: str, proc: Path = _PROC) -> None:
        self._proc = proc
        self._place = f"{boot_id} {namespace}" if (namespace := self._namespace()) else None

    @property
    def own(self) -> str:
        fields = self._fields(os.getpid())
        return "" if self._place is None or fields is None else f"{self._place} {os.getpid()} {fields[_START_TIME]}"

    def is_gone(self, process: str) -> bool:
        place, pid, start = [*process.rsplit(" ", 2), "", ""][:3]
        if self._place is None or place != self._place or not pid.isdecimal():
            return False
        fields = self._fields(int(pid))
        if fields is None:
            return not _exists(int(pid))
        return fields[0] in _ENDED or fields[_START_TIME] != start

    def living_pid(self, process: str) -> int | None:
        """Return the PID of a process that runs on this machine. None: it has ended, or runs elsewhere."""
        place, pid, start = [*process.rsplit(" ", 2), "", ""][:3]
        fields = self._fields(int(pid)) if place == self._place and pid.isdecimal() else None
        is_same = fields is not None and fields[0] not in _ENDED and fields[_START_TIME] == start
        return int(pid) if is_same else None

    def _namespace(self) -> int | None:
        """Return the inode of the PID namespace. None: /proc is missing or shows another namespace."""
        try:
            if (self._proc / "self").readlink() != Path(str(os.getpid())):
                return None
            return (self._proc / "self/ns/pid").stat().st_ino
        except OSError:
            return None

    def _fields(self, pid: int) -> list[str] | None:
        """Return the fields of a process after its name, which may contain any character. None: not readable."""
        try:
            return (self._proc / str(pid) / "stat").read_text(errors="replace").rpartition(") ")[2].split()
        except OSError:
            return None


def _exists(pid: int) -> bool:
    """Return whether there is a process with this id. /proc may hide the processes of other users (hidepid)."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
