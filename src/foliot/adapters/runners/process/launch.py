"""Starting a program: the fast way, the way that knows a working directory, and why it could not be done."""

import errno
import os
import shutil
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from foliot.domain.outcome import Failure, Reason

NOT_EXECUTABLE: Final = 126
NOT_FOUND: Final = 127

CAN_POSIX_SPAWN: Final = hasattr(os, "posix_spawn") and hasattr(os, "pidfd_open")
"""posix_spawn with a new session; where pidfds are missing, so may be that."""

_PASSING: Final = frozenset({errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE})
_MISSING: Final = frozenset({errno.ENOENT, errno.ENOTDIR})
_DEFAULTS: Final = tuple(set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP})


@dataclass(frozen=True, slots=True)
class Launch:
    """A program with its arguments, its whole environment, and where it starts."""

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    working_dir: str | None = None


def spawn(launch: Launch, stdout: int, stderr: int) -> int:
    """Start it in a session of its own, stdin empty, and return its pid. Nobody else will reap it.

    OSError and ValueError say why it could not be started; `refusal` puts them into words.
    """
    _check(launch)
    program = _find(launch)
    if launch.working_dir is None and CAN_POSIX_SPAWN:
        return _posix_spawn(launch, program, stdout, stderr)
    return _popen(launch, program, stdout, stderr)


def refusal(error: OSError | ValueError, launch: Launch) -> Failure:
    """How an attempt ends whose program could not be started."""
    if isinstance(error, ValueError):
        return Failure(f"cannot start: {error}", Reason.LAUNCH_FAILED, NOT_EXECUTABLE, retryable=False)
    text = (error.strerror or str(error)).lower()
    if error.errno in _PASSING:
        return Failure(f"could not start a process: {text}", Reason.LAUNCH_FAILED)
    code = NOT_FOUND if error.errno in _MISSING else NOT_EXECUTABLE
    if launch.working_dir is not None and error.filename == launch.working_dir:
        fault = f"could not enter the working directory {launch.working_dir!r}: {text}"
        return Failure(fault, Reason.LAUNCH_FAILED, NOT_FOUND)
    if error.errno == errno.E2BIG:
        fault = "cannot start: arguments, variables and payload together are too long for the system"
        return Failure(fault, Reason.LAUNCH_FAILED, NOT_EXECUTABLE, retryable=False)
    return Failure(f"could not start {launch.argv[0]!r}: {text}", Reason.LAUNCH_FAILED, code)


def _check(launch: Launch) -> None:
    if any("\0" in word for word in (*launch.argv, launch.working_dir or "")):
        raise ValueError("the command or its working directory contains a NUL byte")
    for name, value in launch.environment.items():
        if "\0" in name or "\0" in value:
            raise ValueError(f"the variable {name!a} contains a NUL byte")
        if not name or "=" in name:
            raise ValueError(f"{name!a} cannot be the name of a variable")


def _posix_spawn(launch: Launch, program: str, stdout: int, stderr: int) -> int:
    """The fast way. Other descriptors are not inherited: `seal_descriptors` saw to that."""
    return os.posix_spawn(
        program,
        launch.argv,
        launch.environment,
        file_actions=(
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_DUP2, stdout, 1),
            (os.POSIX_SPAWN_DUP2, stderr, 2),
        ),
        setsid=True,
        setsigmask=(),
        setsigdef=_DEFAULTS,
    )


def _popen(launch: Launch, program: str, stdout: int, stderr: int) -> int:
    """What posix_spawn cannot do. subprocess uses vfork as well, as long as it is given no preexec_fn."""
    process = subprocess.Popen(  # noqa: S603 - running the user's command is what this is for
        launch.argv,
        executable=program,
        env=launch.environment,
        cwd=launch.working_dir,
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=stderr,
        start_new_session=True,
    )
    # We reap it ourselves: a Popen that believes its process is over leaves the pid alone.
    process.returncode = 0
    return process.pid


def _find(launch: Launch) -> str:
    """Search the PATH that the program will see, not ours."""
    program = launch.argv[0]
    if "/" in program:
        return program
    found = shutil.which(program, path=launch.environment.get("PATH", os.defpath))
    if found is None:
        raise FileNotFoundError(errno.ENOENT, "command not found", program)
    return found
