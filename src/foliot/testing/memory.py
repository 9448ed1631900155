"""A directory in memory for temporary files of tests, where creating and syncing a file is fast.

Files of a killed process survive as on a disk. Only a power cut would make a difference.
"""

import os
from pathlib import Path
from typing import Final

MEMORY: Final = Path("/dev/shm")  # noqa: S108 - callers create their own directory in it
ROOM: Final = 2 * 1024**3
"""Bytes that must be free: for a database server with its log and largest tables, and for the files of all tests."""


def directory_in_memory(memory: Path = MEMORY, room: int = ROOM) -> Path | None:
    """Return the directory, or None if it is missing, too small, or does not allow execution, as in containers."""
    if not memory.is_dir():
        return None
    found = os.statvfs(memory)
    is_fit = found.f_bavail * found.f_frsize >= room and not found.f_flag & os.ST_NOEXEC
    return memory if is_fit else None
