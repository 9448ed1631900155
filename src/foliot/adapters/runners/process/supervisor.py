"""Supervises one attempt: starts its program, forwards its output, waits, and ends its whole tree of processes."""

import asyncio
import os
import signal
from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple

from foliot.adapters.runners.capture import Capture
from foliot.adapters.runners.process.children.exit_watch import ExitWatch, outcome_of, watch_exit
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

_REAP_EVERY: Final = 5.0
"""Seconds between two searches for dead orphans of a run that is still running."""

_NO_EFFECT_FOR_ROOT: Final = (
    "the limit on processes has no effect for root: set a user for the job, or give the worker a control group"
)


class _Started(NamedTuple):
    head: Head
    exit_watch: ExitWatch
    stdin: StdinWriter | None


class _Ended(NamedTuple):
    status: int | None
    is_out_of_memory: bool


Start = Callable[[int, int], tuple[Head, ExitWatch]]
"""Start a process with these descriptors as stdout and stderr."""


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
    """Run a program until it exits, and end all processes that it started. Keeps the promises of `Runner.run`.

    The environment of `request` must contain the variables of `key`. `capture` receives all of stdout. If `start` is
    given, it is called to start the program, or to take one that was started before, and to set its limits.
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
        return await _supervise(request, started, output, grace)


def log_wait(log: LogSink, error: OSError) -> None:
    """Write to the log of a run why it has not started."""
    log.write("meta", f"waiting for another run to end: {(error.strerror or str(error)).lower()}\n".encode())


async def _supervise(request: SpawnRequest, started: _Started, output: Output, grace: float) -> Success | Failure:
    reaper = _PeriodicReaper(started.head)
    try:
        await started.exit_watch.ended
    finally:
        reaper.stop()
        ended = await _clean_up(started, output, grace)
    await output.log.drain()
    return outcome_of(ended.status, request.limits, is_out_of_memory=ended.is_out_of_memory)


def _start(request: SpawnRequest, key: AttemptKey, stdout: int, stderr: int) -> _Started:
    group = make_control_group(request.limits)
    stdin = None
    try:
        stdin = _stdin_writer(request, group)
        head = _spawn(request, key, Streams(None if stdin is None else stdin.read_end, stdout, stderr), group)
        exit_watch = _watch_head(head)
    except BaseException:
        if stdin is not None:
            stdin.close()
        if group is not None:
            group.remove()
        raise
    if stdin is not None:
        stdin.start()
    return _Started(head, exit_watch, stdin)


def _stdin_writer(request: SpawnRequest, group: ControlGroup | None) -> StdinWriter | None:
    """Return the writer for stdin: the job's text, after the GO line if the head waits for its control group."""
    if group is None:
        return None if request.stdin is None else StdinWriter(request.stdin)
    return StdinWriter(GO + (request.stdin or b""))


def _spawn(request: SpawnRequest, key: AttemptKey, streams: Streams, group: ControlGroup | None) -> Head:
    try:
        return subreaper().spawn(request, key, streams, group)
    finally:
        if streams.stdin is not None:
            os.close(streams.stdin)


def _watch_head(head: Head) -> ExitWatch:
    try:
        if head.group is not None:
            head.group.add(head.pid)
        return watch_exit(head.pid)
    except BaseException as error:
        os.killpg(head.pid, signal.SIGKILL)
        subreaper().forget(head, was_reaped=False)
        if head.group is None and isinstance(error, OSError):
            raise ProcessNotWatched(error.errno, error.strerror) from error
        raise  # with a control group the program has not started: it still waits for the GO line


def _warning(request: SpawnRequest, head: Head) -> str | None:
    """Return the warning that a limit on processes has no effect: for root it needs a control group."""
    if request.limits.processes is None or (head.group is not None and "pids" in head.group.controllers):
        return None
    uid = os.geteuid() if request.account is None else request.account.uid
    return _NO_EFFECT_FOR_ROOT if uid == 0 else None


class _PeriodicReaper:
    """Reaps the orphans of a run periodically while it runs: a long run may leave thousands."""

    def __init__(self, head: Head) -> None:
        self._head = head
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(_REAP_EVERY, self._reap)

    def stop(self) -> None:
        self._timer.cancel()

    def _reap(self) -> None:
        subreaper().orphans_of(self._head)
        self._timer = self._loop.call_later(_REAP_EVERY, self._reap)


async def _clean_up(started: _Started, output: Output, grace: float) -> _Ended:
    """End and reap all processes of the attempt, close its files, and only then raise a pending cancellation."""
    head, exit_watch, stdin = started
    shield = ShieldedWait()
    if not (exit_watch.has_ended and is_cleared(head)):
        survivors = await end_tree(head, is_alive=lambda: not exit_watch.has_ended, grace=grace, shield=shield)
        for target in sorted(survivors):
            output.log.write("meta", f"could not end process {target}\n".encode())
    if stdin is not None:
        stdin.close()
    output.finish()
    exit_watch.close()
    # Reap the head last: until then the kernel cannot reuse its process group id.
    status = exit_watch.collect() if exit_watch.has_ended else None
    subreaper().forget(head, was_reaped=exit_watch.has_ended)
    is_out_of_memory = head.group is not None and _remove_group(head.group, output.log)
    shield.raise_if_cancelled()
    return _Ended(status, is_out_of_memory)


def _remove_group(group: ControlGroup, log: LogSink) -> bool:
    """Remove the control group of an attempt. Return whether the attempt ran out of memory."""
    if group.is_out_of_processes:
        log.write("meta", b"the limit on processes was reached\n")
    is_out_of_memory = group.is_out_of_memory
    group.remove()
    return is_out_of_memory
