"""Standard output as it really is: closed, full, or read by somebody who has gone.

    closed, full (>&-, > /dev/full)   an error like others, with exit code 1
    abandoned (| head -1)             the process ends by SIGPIPE, which a shell shows as 141

So does every program that does not catch the signal: a script that allows for it in others allows for it here, and
cannot take it for 1, "something is wrong", nor for 0, "this was the whole answer". Python ignores SIGPIPE, and so do we
until the end: it would also end a server whose database has closed a connection.
"""

import errno
import io
import os
import select
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NoReturn

from foliot.interfaces.cli.speaking import complain

_STANDARD: Final = {"stdin": os.O_RDONLY, "stdout": os.O_RDONLY, "stderr": os.O_WRONLY}
"""How what is closed is opened. Output stays unwritable, as it was; for remarks there is no other place to complain."""
_REFUSALS: Final = frozenset({errno.EBADF, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.ENOSPC})


def make_usable() -> None:
    """Let no file of ours take the number of a closed stream; write escapes where a locale lacks a character."""
    for name, way in _STANDARD.items():
        if getattr(sys, name) is None:
            mode = "r" if name == "stdin" else "w"
            # The lowest free number: that of the stream, since those before it are open by now.
            setattr(sys, name, os.fdopen(os.open(os.devnull, way), mode))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


@contextmanager
def answering() -> Iterator[None]:
    """Whatever is written under this arrives, or the process ends as the table above says."""
    try:
        yield
        sys.stdout.flush()
    except (BrokenPipeError, SystemExit):
        # Click makes an exit code of its own of a broken pipe.
        if _is_abandoned():
            _end_by_pipe()
        raise
    except OSError as error:
        if not _is_refusal(error):
            raise
        _discard_answer()
        complain(f"the answer could not be written: {error.strerror}", "Check where standard output leads to.")
        sys.exit(1)


def _is_abandoned() -> bool:
    """Whether output goes into a pipe that nobody reads any more."""
    poll = select.poll()
    for number in (1, 2):
        poll.register(number, 0)
    return any(event & select.POLLERR for _, event in poll.poll(0))


def _is_refusal(error: OSError) -> bool:
    """Whether an error says that a stream takes no more. One about a file would name it."""
    return error.filename is None and error.errno in _REFUSALS


def _discard_answer() -> None:
    """Let go of what could not be written: the interpreter would try once more when it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _end_by_pipe() -> NoReturn:
    """End as a program does that writes for nobody."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGPIPE)
    os._exit(128 + signal.SIGPIPE)  # where the signal is blocked
