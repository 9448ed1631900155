"""posix_spawn into a working directory: the C library can do that, os.posix_spawn does not offer it.

subprocess could do it too, but not so that the process is born with its mark (marks.py).
"""

import ctypes
import os
import signal
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, partial
from typing import Final

from foliot.adapters.runners.process.marks import Mark, born_marked

# A PyDLL keeps the interpreter lock during a call, which `born_marked` relies on.
_libc: Final = ctypes.PyDLL(None)

IS_THERE: Final = sys.platform == "linux" and hasattr(_libc, "posix_spawn_file_actions_addchdir_np")
"""glibc has it since 2.29, musl since 1.1.24."""

_SETSIGDEF, _SETSIGMASK, _SETSID = 0x04, 0x08, 0x80
_ROOMY: Final = 1024
"""Bytes for a structure of the C library; the largest has 336."""


def spawn_in(
    directory: str,
    program: str,
    argv: Iterable[str],
    environment: Mapping[str, str],
    mark: Mark,
    stdout: int,
    stderr: int,
) -> int:
    """Start a program in a directory, otherwise as `launch.spawn` says. Returns its pid."""
    words = _array(argv)
    variables = _array(f"{name}={value}" for name, value in environment.items())
    pid = ctypes.c_int()
    with _file_actions(directory, stdout, stderr) as actions:
        start = partial(
            _libc.posix_spawn,
            ctypes.byref(pid),
            os.fsencode(program),
            actions,
            _attributes(),
            words,
            variables,
        )
        error = born_marked(start, mark)
    if error:
        # It does not say at which step. A directory that can be entered is not to blame.
        to_blame = program if os.access(f"{directory}/.", os.X_OK) else directory
        raise OSError(error, os.strerror(error), to_blame)
    return pid.value


@contextmanager
def _file_actions(directory: str, stdout: int, stderr: int) -> Iterator[ctypes.Array[ctypes.c_char]]:
    actions = ctypes.create_string_buffer(_ROOMY)
    _call("posix_spawn_file_actions_init", actions)
    try:
        _call("posix_spawn_file_actions_addopen", actions, 0, os.devnull.encode(), os.O_RDONLY, 0)
        _call("posix_spawn_file_actions_adddup2", actions, stdout, 1)
        _call("posix_spawn_file_actions_adddup2", actions, stderr, 2)
        _call("posix_spawn_file_actions_addchdir_np", actions, os.fsencode(directory))
        yield actions
    finally:
        _call("posix_spawn_file_actions_destroy", actions)


@cache
def _attributes() -> ctypes.Array[ctypes.c_char]:
    """A new session, no signal blocked, none ignored."""
    attributes = ctypes.create_string_buffer(_ROOMY)
    none, standard = ctypes.create_string_buffer(_ROOMY), ctypes.create_string_buffer(_ROOMY)
    _libc.sigemptyset(none)
    _libc.sigemptyset(standard)
    for number in signal.Signals:
        _libc.sigaddset(standard, int(number))
    _call("posix_spawnattr_init", attributes)
    _call("posix_spawnattr_setflags", attributes, _SETSIGDEF | _SETSIGMASK | _SETSID)
    _call("posix_spawnattr_setsigmask", attributes, none)
    _call("posix_spawnattr_setsigdefault", attributes, standard)
    return attributes


def _array(words: Iterable[str]) -> ctypes.Array[ctypes.c_char_p]:
    encoded = [os.fsencode(word) for word in words]
    return (ctypes.c_char_p * (len(encoded) + 1))(*encoded, None)


def _call(name: str, *arguments: object) -> None:
    error = getattr(_libc, name)(*arguments)
    if error:
        raise OSError(error, os.strerror(error))
