"""A directory in memory, for files that nobody will miss: there, making one and waiting for it to be safe cost nothing.

What a killed process has written is there afterwards as on a disk. Only a power cut would show the difference, and no
test cuts the power.
"""

import os
from pathlib import Path
from typing import Final

MEMORY: Final = Path("/dev/shm")  # noqa: S108 - whoever uses it makes a directory of its own there
ROOM: Final = 2 * 1024**3
"""Bytes that must be free: a database server with its log and its largest tables, and what all tests leave behind."""


def directory_in_memory(memory: Path = MEMORY, room: int = ROOM) -> Path | None:
    """Where it is. None: there is none, it is too small, or nothing in it may be executed, as often in a container."""
    if not memory.is_dir():
        return None
    found = os.statvfs(memory)
    is_fit = found.f_bavail * found.f_frsize >= room and not found.f_flag & os.ST_NOEXEC
    return memory if is_fit else None
