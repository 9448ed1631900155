"""Standard streams that are closed, full, or no longer read.

    closed, full (>&-, > /dev/full)   an error like any other, with exit code 1
    no longer read (| head -1)        the process ends by SIGPIPE, which a shell shows as 141

Programs that do not catch SIGPIPE end the same way, so scripts already handle 141; and it cannot be mistaken for 1
("a problem was found") or for 0 ("this was the whole answer"). Python ignores SIGPIPE. The default action is restored
only at the end: earlier it would also end a server whose database has closed a connection.
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

from foliot.interfaces.cli.output import print_error

_STANDARD: Final = {"stdin": os.O_RDONLY, "stdout": os.O_RDONLY, "stderr": os.O_WRONLY}
"""How a closed stream is opened. Standard output stays unwritable, so that writing to it is still an error; standard
error becomes writable, because there is no other place for messages."""
_WRITE_FAILURES: Final = frozenset({errno.EBADF, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.ENOSPC})


def repair_streams() -> None:
    """Open closed streams, so that no file gets their number; escape characters that the locale does not have."""
    for name, flags in _STANDARD.items():
        if getattr(sys, name) is None:
            mode = "r" if name == "stdin" else "w"
            # `open` returns the lowest free number: that of this stream, since those before it are open by now.
            setattr(sys, name, os.fdopen(os.open(os.devnull, flags), mode))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


@contextmanager
def guarded_output() -> Iterator[None]:
    """Flush the output at the end. If it cannot be written, end the process as the table above says."""
    try:
        yield
        sys.stdout.flush()
    except (BrokenPipeError, SystemExit):
        # click turns a broken pipe into an exit code of its own.
        if _has_no_reader():
            _end_by_sigpipe()
        raise
    except OSError as error:
        if not _is_write_failure(error):
            raise
        _discard_output()
        hint = "Check where standard output leads to."
        print_error(f"the answer could not be written: {error.strerror}", hint, code="output_not_written")
        sys.exit(1)


def _has_no_reader() -> bool:
    """Whether an output stream is a pipe whose reading end is closed."""
    poll = select.poll()
    for number in (1, 2):
        poll.register(number, 0)
    return any(event & select.POLLERR for _, event in poll.poll(0))


def _is_write_failure(error: OSError) -> bool:
    """Whether a stream could not be written. An error about a file would name it."""
    return error.filename is None and error.errno in _WRITE_FAILURES


def _discard_output() -> None:
    """Drop what could not be written: the interpreter would try again when it ends."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)


def _end_by_sigpipe() -> NoReturn:
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGPIPE)
    os._exit(128 + signal.SIGPIPE)  # where the signal is blocked
