"""Whether the file that a process works with is still the one that others find."""

import os
from pathlib import Path

from foliot.errors import StorageGone


class Footing:
    """The file as it was when it was looked at first. One that was deleted can be written to for ever after."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._identity: tuple[int, int] | None = None

    def check(self) -> None:
        """StorageGone if the file was deleted, or another one has taken its place."""
        try:
            state = os.stat(self._path)  # noqa: PTH116 - asked before every commit, and half as dear
        except FileNotFoundError:
            raise _gone(self._path, "was deleted") from None
        except OSError:
            return  # nobody may look: that tells nothing about the file
        identity = state.st_dev, state.st_ino
        self._identity = self._identity or identity
        if identity != self._identity:
            raise _gone(self._path, "was replaced by another file")


def _gone(path: Path, what: str) -> StorageGone:
    return StorageGone(
        f"the database {path} {what} while it was in use",
        hint="Stop all processes that use it, put the file that they shall use in its place, and start them again.",
    )
