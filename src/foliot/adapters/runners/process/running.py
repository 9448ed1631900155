"""From launch to outcome: one attempt as a tree of processes."""

import asyncio
import os
import signal
from typing import Final

from foliot.adapters.runners.process.ending import end_tree, is_cleared
from foliot.adapters.runners.process.launch import Launch, refusal
from foliot.adapters.runners.process.output import Output
from foliot.adapters.runners.process.patience import Patience
from foliot.adapters.runners.process.proctable import Tag
from foliot.adapters.runners.process.subreaper import Head, subreaper
from foliot.adapters.runners.process.waiting import Watch, watch
from foliot.domain.kinds.process import GRACE, OUTPUT_CAP
from foliot.domain.outcome import Failure, Reason, Success
from foliot.ports.runner import LogSink

_ROUND_EVERY: Final = 5.0
"""Seconds between two looks for dead orphans of a run that goes on."""


async def run_process(
    launch: Launch, tag: Tag, log: LogSink, *, grace: float = GRACE, output_cap: int = OUTPUT_CAP
) -> Success | Failure:
    """Run a program until it exits, with all that it starts. Keeps the promises of `Runner.run`.

    The environment of `launch` must contain the variables of `tag`.
    """
    output = Output(log, output_cap)
    try:
        head, ending = output.attach(lambda stdout, stderr: _start(launch, tag, stdout, stderr))
    except (OSError, ValueError) as error:
        return refusal(error, launch)
    rounds = _Rounds(head)
    try:
        await ending.ended
    finally:
        rounds.stop()
        status = await _clear(head, ending, output, grace)
    await log.drain()
    return outcome_of(status)


def outcome_of(status: int | None) -> Success | Failure:
    """What a wait status means."""
    if status is None:
        return Failure("the exit status was taken by other code in the worker", Reason.EXCEPTION)
    code = os.waitstatus_to_exitcode(status)
    if code == 0:
        return Success(exit_code=0)
    if code > 0:
        return Failure(f"exit code {code}", Reason.EXIT_CODE, code)
    return Failure(f"killed by {_signal_name(-code)}", Reason.SIGNAL, 128 - code)


def _start(launch: Launch, tag: Tag, stdout: int, stderr: int) -> tuple[Head, Watch]:
    head = subreaper().spawn(launch, tag, stdout, stderr)
    try:
        return head, watch(head.pid)
    except BaseException:
        os.killpg(head.pid, signal.SIGKILL)
        subreaper().forget(head, was_reaped=False)
        raise


class _Rounds:
    """Reaps what a run orphans while it runs: a long one may leave thousands."""

    def __init__(self, head: Head) -> None:
        self._head = head
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(_ROUND_EVERY, self._go)

    def stop(self) -> None:
        self._timer.cancel()

    def _go(self) -> None:
        subreaper().orphans_of(self._head)
        self._timer = self._loop.call_later(_ROUND_EVERY, self._go)


async def _clear(head: Head, ending: Watch, output: Output, grace: float) -> int | None:
    """Leave nothing of the attempt behind, and only then obey a cancellation. Returns the head's wait status."""
    patience = Patience()
    if not (ending.has_ended and is_cleared(head)):
        survivors = await end_tree(head, is_alive=lambda: not ending.has_ended, grace=grace, patience=patience)
        for target in sorted(survivors):
            output.log.write("meta", f"could not end process {target}\n".encode())
    output.finish()
    ending.close()
    # Reaped only now: as long as the head is there, nobody else can get the number of its group.
    status = ending.collect() if ending.has_ended else None
    subreaper().forget(head, was_reaped=ending.has_ended)
    patience.give_way()
    return status


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
