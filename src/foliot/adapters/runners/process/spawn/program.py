"""Starting a program: the fast way, the way that knows directories and users, and why it could not be done."""

import errno
import os
import shutil
import signal
import subprocess
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
"""posix_spawn with a new session; where pidfds are missing, so may be that."""

_SHORTAGES: Final = frozenset({errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE})
"""Processes, memory or descriptors are wanting: they come back."""
_MISSING: Final = frozenset({errno.ENOENT, errno.ENOTDIR})
_DEFAULTS: Final = tuple(set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP})


class Streams(NamedTuple):
    """Descriptors that a program gets as its own. Without stdin, it reads nothing."""

    stdin: int | None
    stdout: int
    stderr: int


class SpawnRequest(NamedTuple):
    """A program with its arguments, its whole environment, and where, as whom and within which limits it starts."""

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    working_dir: str | None = None
    stdin: bytes | None = None
    account: Account | None = None
    umask: int | None = None
    limits: ProcessLimits = UNLIMITED
    hint_if_missing: str = ""
    """What to do when there is no such program, as a sentence."""

    @property
    def is_plain(self) -> bool:
        """Whether posix_spawn can do it."""
        return self.working_dir is None and self.umask is None and (self.account is None or self.account.is_ours)


class ProcessNotWatched(OSError):
    """The program has begun, and was killed because nobody could have waited for it."""


def spawn(request: SpawnRequest, streams: Streams, group: ControlGroup | None = None) -> int:
    """Start it in a session of its own and return its pid. Nobody else will reap it.

    With a control group it waits for the line GO on stdin: so long there is nothing to bound but a shell.
    OSError and ValueError say why it could not be started; `spawn_failure` puts them into words.
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
    """Whether nothing has begun for want of what the end of another process may give back."""
    return error.errno in _SHORTAGES and not isinstance(error, ProcessNotWatched)


def spawn_failure(error: OSError | ValueError, request: SpawnRequest) -> Failure:
    """How an attempt ends whose program could not be started."""
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
    """The fast way. Other descriptors are not inherited: `seal_descriptors` saw to that."""
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
    """What posix_spawn cannot do. subprocess runs no Python between fork and exec, as it is given no preexec_fn."""
    account = None if request.account is None or request.account.is_ours else request.account
    if account is not None:
        _hand_over(streams, account)
    process = subprocess.Popen(  # noqa: S603 - running the user's command is what this is for
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
    # We reap it ourselves: a Popen that believes its process is over leaves the pid alone.
    process.returncode = 0
    return process.pid


def _hand_over(streams: Streams, account: Account) -> None:
    """Make the pipes the user's own: or /dev/stdout could be written to, but not opened."""
    for descriptor in streams:
        if descriptor is not None:
            os.fchown(descriptor, account.uid, account.gid)


def _check_program(request: SpawnRequest, program: str) -> None:
    """Say what exec would: a shell in between says it only to the log. A missing directory is seen by subprocess."""
    directory = Path(request.working_dir or "/")
    place = Path(request.working_dir or "", program)
    if directory.is_dir() and (place.is_dir() or not os.access(place, os.X_OK)):
        place.stat()
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), program)


def _find(request: SpawnRequest) -> str:
    """Search the PATH that the program will see, not ours."""
    program = request.argv[0]
    if "/" in program:
        return program
    found = shutil.which(program, path=request.environment.get("PATH", os.defpath))
    if found is None:
        raise FileNotFoundError(errno.ENOENT, "command not found", program)
    return found
