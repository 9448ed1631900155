"""Whether the file that a process has open is still the file at its path."""

import os
from pathlib import Path

from foliot.errors import StorageGone


class FileIdentity:
    """The file as it was at the first check. A deleted file could be written to for as long as it is open."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._identity: tuple[int, int] | None = None

    def check(self) -> None:
        """Raise `StorageGone` if the file was deleted or replaced by another one."""
        try:
            state = os.stat(self._path)  # noqa: PTH116 - called before every commit, and twice as fast
        except FileNotFoundError:
            raise _gone(self._path, "was deleted") from None
        except OSError:
            return  # the directory cannot be read: that says nothing about the file
        identity = state.st_dev, state.st_ino
        self._identity = self._identity or identity
        if identity != self._identity:
            raise _gone(self._path, "was replaced by another file")


def _gone(path: Path, what: str) -> StorageGone:
    return StorageGone(
        f"the database {path} {what} while it was in use",
        hint="Stop all processes that use it, put the file that they shall use in its place, and start them again.",
    )
