"""One isolated interpreter: a process that waits for a call.

It has its process tag from the start, and so have its children. The run's id arrives with the call: see
`stub.set_visible_variables`.
"""

import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

from foliot.adapters.runners.isolated.channel import Channel
from foliot.adapters.runners.process.children.exit_watch import ExitWatch, watch_exit
from foliot.adapters.runners.process.children.subreaper import Head, subreaper
from foliot.adapters.runners.process.limits.control_groups import make_control_group
from foliot.adapters.runners.process.limits.rlimits import set_limits
from foliot.adapters.runners.process.spawn.environment import ATTEMPT_VARIABLE, RUN_VARIABLE, AttemptKey
from foliot.adapters.runners.process.spawn.program import SpawnRequest, Streams
from foliot.domain.job.kinds.process import ProcessLimits

_STUB: Final = str(Path(__file__).with_name("stub.py"))

LONGEST_RUN_ID: Final = 64
PLACEHOLDERS: Final = {RUN_VARIABLE: "-" * LONGEST_RUN_ID, ATTEMPT_VARIABLE: "-" * 10}
"""Variables with space for a run id and an attempt number that are not known yet."""


def command() -> tuple[str, ...]:
    """Return the command line. -P: modules must not be imported from the directory of the stub."""
    return (sys.executable, "-P", _STUB, str(os.getpid()))


class Interpreter:
    """A process that runs the stub, and the socket to it."""

    def __init__(self, head: Head, exit_watch: ExitWatch, channel: Channel) -> None:
        self.head = head
        self.exit_watch = exit_watch
        self._channel = channel

    @classmethod
    def start(cls, request: SpawnRequest, key: AttemptKey, stdout: int, stderr: int) -> "Interpreter":
        """Start an interpreter. Raises the errors of `program.spawn`."""
        channel = Channel()
        try:
            head = subreaper().spawn(request, key, Streams(channel.other_end, stdout, stderr))
        except BaseException:
            channel.close()
            raise
        channel.hand_over()
        try:
            return cls(head, watch_exit(head.pid), channel)
        except BaseException:
            channel.close()
            os.kill(head.pid, signal.SIGKILL)
            subreaper().forget(head, was_reaped=False)
            raise

    @property
    def has_ended(self) -> bool:
        return self.exit_watch.has_ended

    def assign(self, key: AttemptKey, message: bytes, limits: ProcessLimits, stdout: int, stderr: int) -> None:
        """Assign it to an attempt and send the call. Raises OSError if it has died.

        It does nothing but wait, so limits can be set from outside without a race.
        """
        group = make_control_group(limits)
        try:
            if group is not None:
                group.add(self.head.pid)
            set_limits(self.head.pid, limits, but=group.controllers if group else ())
            self._channel.send(message, (stdout, stderr))
        except BaseException:
            if group is not None:
                group.remove()
            raise
        self.head = subreaper().assign(self.head, key, group)

    def answer(self) -> bytes:
        """Return its answer. Only after it has ended."""
        return self._channel.finish()

    def close(self) -> None:
        """Close the socket to it."""
        self._channel.close()

    def kill(self) -> None:
        """Kill it. Only before a call: then it has started no other process."""
        self._channel.close()
        if not self.has_ended:
            with suppress(ProcessLookupError):
                os.kill(self.head.pid, signal.SIGKILL)

    def forget(self) -> None:
        """Kill and reap it; if it does not die, the subreaper reaps it later."""
        self.kill()
        self.exit_watch.close()
        if self.has_ended:
            self.exit_watch.collect()
        subreaper().forget(self.head, was_reaped=self.has_ended)
