"""One isolated interpreter: a process that waits for an order.

Its mark is on it from birth, and so on all that it will start; the run's id comes with the order, see `stub.wear`.
"""

import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

from foliot.adapters.runners.isolated.channel import Channel
from foliot.adapters.runners.process.children.exit_watch import Watch, watch
from foliot.adapters.runners.process.children.subreaper import Head, subreaper
from foliot.adapters.runners.process.limits.control_groups import make_control_group
from foliot.adapters.runners.process.limits.rlimits import set_limits
from foliot.adapters.runners.process.spawn.environment import ATTEMPT_VARIABLE, RUN_VARIABLE, AttemptKey
from foliot.adapters.runners.process.spawn.program import SpawnRequest, Streams
from foliot.domain.job.kinds.process import ProcessLimits

_STUB: Final = str(Path(__file__).with_name("stub.py"))

LONGEST_ID: Final = 64
PLACEHOLDERS: Final = {RUN_VARIABLE: "-" * LONGEST_ID, ATTEMPT_VARIABLE: "-" * 10}
"""Variables with room for a key that is not yet known."""


def command() -> tuple[str, ...]:
    """-P: the directory of the stub is no place to look for modules."""
    return (sys.executable, "-P", _STUB, str(os.getpid()))


class Interpreter:
    """A process that runs the stub, and the socket to it."""

    def __init__(self, head: Head, ending: Watch, channel: Channel) -> None:
        self.head = head
        self.ending = ending
        self._channel = channel

    @classmethod
    def start(cls, request: SpawnRequest, key: AttemptKey, stdout: int, stderr: int) -> "Interpreter":
        """Start one. Raises what `launch.spawn` raises."""
        channel = Channel()
        try:
            head = subreaper().spawn(request, key, Streams(channel.other_end, stdout, stderr))
        except BaseException:
            channel.close()
            raise
        channel.hand_over()
        try:
            return cls(head, watch(head.pid), channel)
        except BaseException:
            channel.close()
            os.kill(head.pid, signal.SIGKILL)
            subreaper().forget(head, was_reaped=False)
            raise

    @property
    def has_ended(self) -> bool:
        return self.ending.has_ended

    def assign(self, key: AttemptKey, order: bytes, limits: ProcessLimits, stdout: int, stderr: int) -> None:
        """Make it part of an attempt and tell it what to do. OSError means that it is not there any more.

        It does nothing but wait, so limits can be set from outside without a race.
        """
        group = make_control_group(limits)
        try:
            if group is not None:
                group.add(self.head.pid)
            set_limits(self.head.pid, limits, but=group.controllers if group else ())
            self._channel.send(order, (stdout, stderr))
        except BaseException:
            if group is not None:
                group.remove()
            raise
        self.head = subreaper().assign(self.head, key, group)

    def answer(self) -> bytes:
        """What it said. Only after its end."""
        return self._channel.finish()

    def close(self) -> None:
        """Speak no more with it."""
        self._channel.close()

    def kill(self) -> None:
        """End it at once. Only one without an order: such a one has started nothing."""
        self._channel.close()
        if not self.has_ended:
            with suppress(ProcessLookupError):
                os.kill(self.head.pid, signal.SIGKILL)

    def forget(self) -> None:
        """Reap it, or leave that to the subreaper if it would not die."""
        self.kill()
        self.ending.close()
        if self.has_ended:
            self.ending.collect()
        subreaper().forget(self.head, was_reaped=self.has_ended)
