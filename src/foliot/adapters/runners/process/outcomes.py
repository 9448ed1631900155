"""What the end of a process says about its attempt."""

import os
import signal
from typing import Final

from foliot.domain.job.kinds.process import UNLIMITED, ProcessLimits
from foliot.domain.run.outcome import Failure, Reason, Success

_BY_SIGNAL: Final = 128
"""A shell adds this to the number of the signal that ended its last command."""


def outcome_of(
    status: int | None, limits: ProcessLimits = UNLIMITED, *, is_out_of_memory: bool = False
) -> Success | Failure:
    """What a wait status means for a process with these limits."""
    if status is None:
        return Failure("the exit status was taken by other code in the worker", Reason.EXCEPTION)
    code = os.waitstatus_to_exitcode(status)
    if code == 0:
        return Success(exit_code=0)
    shown = code if code > 0 else _BY_SIGNAL - code
    if is_out_of_memory:
        return Failure(f"used more than its {limits.memory} bytes of memory", Reason.LIMIT_MEMORY, shown)
    if shown == _BY_SIGNAL + signal.SIGXCPU and limits.cpu_sec is not None:
        return Failure(f"used up its {limits.cpu_sec} s of processor time", Reason.LIMIT_CPU, shown)
    if shown == _BY_SIGNAL + signal.SIGXFSZ and limits.file_size is not None:
        fault = f"wrote a file of more than its {limits.file_size} bytes"
        return Failure(fault, Reason.LIMIT_FILE_SIZE, shown)
    if code > 0:
        return Failure(f"exit code {code}", Reason.EXIT_CODE, code)
    return Failure(f"killed by {_signal_name(-code)}", Reason.SIGNAL, shown)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
