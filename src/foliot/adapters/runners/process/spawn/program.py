"""Starts a program, by posix_spawn where that is enough and otherwise by subprocess, and explains failed starts."""

import errno
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from foliot.adapters.runners.process.limits.control_groups import ControlGroup
from foliot.adapters.runners.process.limits.rlimits import limited_command
from foliot.adapters.runners.process.spawn.account import Account
from foliot.domain.job.kinds.process import UNLIMITED, ProcessLimits
from foliot.domain.run.outcome import Failure, Reason

NOT_EXECUTABLE: Final = 126
NOT_FOUND: Final = 127

CAN_POSIX_SPAWN: Final = hasattr(os, "posix_spawn") and hasattr(os, "pidfd_open")
"""Whether posix_spawn supports a new session. It may not on systems that are too old for pidfds."""

_SHORTAGES: Final = frozenset({errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE})
"""Not enough processes, memory or descriptors: they become free when another run ends."""
_MISSING: Final = frozenset({errno.ENOENT, errno.ENOTDIR})
_DEFAULTS: Final = tuple(set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP})

FOUND_FOR: Final = 1.0
"""Seconds that the place of a program is remembered: a search of the whole PATH takes as long as a start itself."""
_MOST_FOUND: Final = 1_000
_FOUND: Final[dict[tuple[str, str], tuple[str, float]]] = {}
"""The place of each program with its PATH, and until when it is used."""


class Streams(NamedTuple):
    """The descriptors of a program. Without stdin it reads from /dev/null."""

    stdin: int | None
    stdout: int
    stderr: int


class SpawnRequest(NamedTuple):
    """A program with its arguments, its whole environment, working directory, user and limits."""

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    working_dir: str | None = None
    stdin: bytes | None = None
    account: Account | None = None
    umask: int | None = None
    limits: ProcessLimits = UNLIMITED
    hint_if_missing: str = ""
    """What to do if the program does not exist, as a sentence."""

    @property
    def is_plain(self) -> bool:
        """Whether posix_spawn can start it."""
        return self.working_dir is None and self.umask is None and (self.account is None or self.account.is_ours)


class ProcessNotWatched(OSError):
    """The program was started, and killed because its end could not be watched."""


def spawn(request: SpawnRequest, streams: Streams, group: ControlGroup | None = None) -> int:
    """Start a program in a new session and return its pid. The caller has to reap it.

    With a control group, a shell waits for the GO line on stdin before it executes the program, so that the caller can
    add it to the group first. Raises OSError or ValueError; `spawn_failure` turns them into an outcome.
    """
    _check(request)
    program, words = _find(request), request.argv
    if request.limits != UNLIMITED:
        _check_program(request, program)
        but = frozenset[str]() if group is None else group.controllers
        words = limited_command(
            (program, *words[1:]), request.environment, request.limits, but=but, waits=group is not None
        )
        program = words[0]
    if request.is_plain and CAN_POSIX_SPAWN:
        return _posix_spawn(program, words, request.environment, streams)
    return _popen(request, program, words, streams)


def is_shortage(error: OSError) -> bool:
    """Return whether a start failed because of a shortage that the end of another process may remove."""
    return error.errno in _SHORTAGES and not isinstance(error, ProcessNotWatched)


def spawn_failure(error: OSError | ValueError, request: SpawnRequest) -> Failure:
    """Return the outcome of an attempt whose program could not be started."""
    if isinstance(error, ValueError):
        return Failure(f"cannot start: {error}", Reason.LAUNCH_FAILED, NOT_EXECUTABLE, retryable=False)
    text = (error.strerror or str(error)).lower()
    if error.errno in _SHORTAGES:
        return Failure(f"could not start a process: {text}", Reason.LAUNCH_FAILED)
    code = NOT_FOUND if error.errno in _MISSING else NOT_EXECUTABLE
    if request.working_dir is not None and error.filename == request.working_dir:
        fault = f"could not enter the working directory {request.working_dir!r}: {text}"
        return Failure(fault, Reason.LAUNCH_FAILED, NOT_FOUND)
    if error.errno == errno.E2BIG:
        fault = "cannot start: arguments, variables and payload together are too long for the system"
        return Failure(fault, Reason.LAUNCH_FAILED, NOT_EXECUTABLE, retryable=False)
    hint = f". {request.hint_if_missing}" if request.hint_if_missing and code == NOT_FOUND else ""
    return Failure(f"could not start {request.argv[0]!r}: {text}{hint}", Reason.LAUNCH_FAILED, code)


def _check(request: SpawnRequest) -> None:
    if any("\0" in word for word in (*request.argv, request.working_dir or "")):
        raise ValueError("the command or its working directory contains a NUL byte")
    for name, value in request.environment.items():
        if "\0" in name or "\0" in value:
            raise ValueError(f"the variable {name!a} contains a NUL byte")
        if not name or "=" in name:
            raise ValueError(f"{name!a} cannot be the name of a variable")


def _posix_spawn(program: str, words: tuple[str, ...], environment: Mapping[str, str], streams: Streams) -> int:
    """Start a program quickly. `seal_descriptors` made sure that it inherits no other descriptors."""
    nothing = (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)
    return os.posix_spawn(
        program,
        words,
        environment,
        file_actions=(
            nothing if streams.stdin is None else (os.POSIX_SPAWN_DUP2, streams.stdin, 0),
            (os.POSIX_SPAWN_DUP2, streams.stdout, 1),
            (os.POSIX_SPAWN_DUP2, streams.stderr, 2),
        ),
        setsid=True,
        setsigmask=(),
        setsigdef=_DEFAULTS,
    )


def _popen(request: SpawnRequest, program: str, words: tuple[str, ...], streams: Streams) -> int:
    """Start a program with subprocess, which without preexec_fn runs no Python between fork and exec."""
    account = None if request.account is None or request.account.is_ours else request.account
    if account is not None:
        _change_owner(streams, account)
    process = subprocess.Popen(  # noqa: S603 - this runs the user's command on purpose
        words,
        executable=program,
        env=request.environment,
        cwd=request.working_dir,
        stdin=subprocess.DEVNULL if streams.stdin is None else streams.stdin,
        stdout=streams.stdout,
        stderr=streams.stderr,
        start_new_session=True,
        umask=-1 if request.umask is None else request.umask,
        user=None if account is None else account.uid,
        group=None if account is None else account.gid,
        extra_groups=None if account is None else account.groups,
    )
    # We reap it ourselves. With a returncode set, Popen does not wait for the pid.
    process.returncode = 0
    return process.pid


def _change_owner(streams: Streams, account: Account) -> None:
    """Change the owner of the pipes to the user. Otherwise the user could not open /dev/stdout."""
    for descriptor in streams:
        if descriptor is not None:
            os.fchown(descriptor, account.uid, account.gid)


def _check_program(request: SpawnRequest, program: str) -> None:
    """Raise the error that exec would raise: with a shell in between, it would only appear in the log.

    subprocess itself reports a missing working directory.
    """
    directory = Path(request.working_dir or "/")
    place = Path(request.working_dir or "", program)
    if directory.is_dir() and (place.is_dir() or not os.access(place, os.X_OK)):
        place.stat()
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), program)


def _find(request: SpawnRequest) -> str:
    """Find the program in the PATH of its own environment, not in ours."""
    program = request.argv[0]
    if "/" in program:
        return program
    path = request.environment.get("PATH", os.defpath)
    found, until = _FOUND.get((program, path), ("", 0.0))
    if time.monotonic() < until and os.access(found, os.X_OK):
        return found
    looked_up = shutil.which(program, path=path)
    if looked_up is None:
        raise FileNotFoundError(errno.ENOENT, "command not found", program)
    if len(_FOUND) >= _MOST_FOUND:
        _FOUND.clear()
    _FOUND[program, path] = looked_up, time.monotonic() + FOUND_FOR
    return looked_up
