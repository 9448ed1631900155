"""Keeping our file descriptors to ourselves."""

import os
from contextlib import suppress


def seal_descriptors() -> None:
    """Make sure that 0, 1 and 2 are taken and that nothing above them is inherited by what we start.

    Python opens everything close-on-exec; this is about what was there before Python, such as the lock file
    of a wrapper script. With 0 to 2 taken no pipe of ours can get a number that the child needs for itself.
    """
    while (filler := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(filler)
    for name in _listed("/proc/self/fd") or _listed("/dev/fd"):
        if int(name) > 2:
            with suppress(OSError):  # the descriptor by which the list was read is closed by now
                os.set_inheritable(int(name), False)


def _listed(directory: str) -> list[str]:
    with suppress(OSError), os.scandir(directory) as entries:
        return [entry.name for entry in entries]
    return []
