"""From launch to outcome: one attempt as a tree of processes."""

import asyncio
import os
import signal
from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple

from foliot.adapters.runners.capture import Capture
from foliot.adapters.runners.process.children.exit_watch import Watch, outcome_of, watch
from foliot.adapters.runners.process.children.subreaper import Head, subreaper
from foliot.adapters.runners.process.limits.control_groups import ControlGroup, make_control_group
from foliot.adapters.runners.process.limits.rlimits import GO
from foliot.adapters.runners.process.spawn.environment import AttemptKey
from foliot.adapters.runners.process.spawn.program import ProcessNotWatched, SpawnRequest, Streams, spawn_failure
from foliot.adapters.runners.process.spawn.spawn_queue import spawn_queue
from foliot.adapters.runners.process.streams.output import Output
from foliot.adapters.runners.process.streams.stdin import StdinWriter
from foliot.adapters.runners.process.termination.process_tree import end_tree, is_cleared
from foliot.adapters.runners.process.termination.shielded_wait import ShieldedWait
from foliot.domain.job.kinds.process import GRACE, OUTPUT_CAP
from foliot.domain.run.outcome import Failure, Success
from foliot.ports.runner import LogSink

_ROUND_EVERY: Final = 5.0
"""Seconds between two looks for dead orphans of a run that goes on."""

_UNBOUND: Final = "the limit on processes does not bind root: give the job a user, or the worker a control group"


class _Started(NamedTuple):
    head: Head
    ending: Watch
    feed: StdinWriter | None


class _Ended(NamedTuple):
    status: int | None
    is_out_of_memory: bool


Start = Callable[[int, int], tuple[Head, Watch]]
"""Takes the descriptors that shall be stdout and stderr."""


async def run_process(
    request: SpawnRequest,
    key: AttemptKey,
    log: LogSink,
    *,
    grace: float = GRACE,
    output_cap: int = OUTPUT_CAP,
    capture: Capture | None = None,
    start: Start | None = None,
) -> Success | Failure:
    """Run a program until it exits, with all that it starts. Keeps the promises of `Runner.run`.

    The environment of `launch` must contain the variables of `tag`. `capture` is given all of stdout. With `start`,
    that starts the program, or finds one that has been started before, and sets its limits.
    """

    def begin() -> tuple[Output, _Started]:
        output = Output(log, output_cap, capture)
        return output, output.attach(attached)

    def attached(stdout: int, stderr: int) -> _Started:
        return _start(request, key, stdout, stderr) if start is None else _Started(*start(stdout, stderr), None)

    try:
        output, started = await spawn_queue().start(begin, partial(log_wait, log))
    except (OSError, ValueError) as error:
        return spawn_failure(error, request)
    with spawn_queue().running():
        if warning := _warning(request, started.head):
            log.write("meta", f"{warning}\n".encode())
        return await _see_through(request, started, output, grace)


def log_wait(log: LogSink, error: OSError) -> None:
    """Say in the log of a run why it does not begin."""
    log.write("meta", f"waits for another run to end: {(error.strerror or str(error)).lower()}\n".encode())


async def _see_through(request: SpawnRequest, started: _Started, output: Output, grace: float) -> Success | Failure:
    rounds = _Rounds(started.head)
    try:
        await started.ending.ended
    finally:
        rounds.stop()
        ended = await _clear(started, output, grace)
    await output.log.drain()
    return outcome_of(ended.status, request.limits, is_out_of_memory=ended.is_out_of_memory)


def _start(request: SpawnRequest, key: AttemptKey, stdout: int, stderr: int) -> _Started:
    group = make_control_group(request.limits)
    feed = None
    try:
        feed = _feed(request, group)
        head = _spawn(request, key, Streams(None if feed is None else feed.read_end, stdout, stderr), group)
        ending = _watch(head)
    except BaseException:
        if feed is not None:
            feed.close()
        if group is not None:
            group.remove()
        raise
    if feed is not None:
        feed.start()
    return _Started(head, ending, feed)


def _feed(request: SpawnRequest, group: ControlGroup | None) -> StdinWriter | None:
    """What the head reads: its text, and before that, if it waits for its group, the line that lets it go on."""
    if group is None:
        return None if request.stdin is None else StdinWriter(request.stdin)
    return StdinWriter(GO + (request.stdin or b""))


def _spawn(request: SpawnRequest, key: AttemptKey, streams: Streams, group: ControlGroup | None) -> Head:
    try:
        return subreaper().spawn(request, key, streams, group)
    finally:
        if streams.stdin is not None:
            os.close(streams.stdin)


def _watch(head: Head) -> Watch:
    try:
        if head.group is not None:
            head.group.add(head.pid)
        return watch(head.pid)
    except BaseException as error:
        os.killpg(head.pid, signal.SIGKILL)
        subreaper().forget(head, was_reaped=False)
        if head.group is None and isinstance(error, OSError):
            raise ProcessNotWatched(error.errno, error.strerror) from error
        raise  # it still waits for its line to go on


def _warning(request: SpawnRequest, head: Head) -> str | None:
    """What the job should know about its limits: they bind processes of root only by a control group."""
    if request.limits.processes is None or (head.group is not None and "pids" in head.group.controllers):
        return None
    uid = os.geteuid() if request.account is None else request.account.uid
    return _UNBOUND if uid == 0 else None


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


async def _clear(started: _Started, output: Output, grace: float) -> _Ended:
    """Leave nothing of the attempt behind, and only then obey a cancellation."""
    head, ending, feed = started
    shield = ShieldedWait()
    if not (ending.has_ended and is_cleared(head)):
        survivors = await end_tree(head, is_alive=lambda: not ending.has_ended, grace=grace, shield=shield)
        for target in sorted(survivors):
            output.log.write("meta", f"could not end process {target}\n".encode())
    if feed is not None:
        feed.close()
    output.finish()
    ending.close()
    # Reaped only now: as long as the head is there, nobody else can get the number of its group.
    status = ending.collect() if ending.has_ended else None
    subreaper().forget(head, was_reaped=ending.has_ended)
    is_out_of_memory = head.group is not None and _leave(head.group, output.log)
    shield.raise_if_cancelled()
    return _Ended(status, is_out_of_memory)


def _leave(group: ControlGroup, log: LogSink) -> bool:
    """Remove the group of an attempt. Returns whether it ran out of memory."""
    if group.is_out_of_processes:
        log.write("meta", b"the limit on processes was reached\n")
    is_out_of_memory = group.is_out_of_memory
    group.remove()
    return is_out_of_memory
