"""Ends a tree of processes: TERM, a grace period, KILL, and a new search until no process is left."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache, partial
from typing import Final

from foliot.adapters.runners.process.children import process_table
from foliot.adapters.runners.process.children.process_tag import ProcessTag
from foliot.adapters.runners.process.children.subreaper import Head, subreaper
from foliot.adapters.runners.process.spawn.environment import AttemptKey
from foliot.adapters.runners.process.termination.shielded_wait import ShieldedWait
from foliot.domain.job.kinds.process import GRACE

_LAST_WAIT: Final = 1.0
"""Seconds that killed processes have to disappear. One that hangs inside the kernel never does."""

_FIRST_PAUSE: Final = 0.002
_LONGEST_PAUSE: Final = 0.05
_SEARCH_LIMIT: Final = 1.0
"""Seconds without progress after which a search is abandoned."""

_NO_LOOK_YET: Final = -1

Targets = set[int]
"""Arguments for os.kill: pids, or negative ids of process groups."""


async def kill_tree_of(run_id: str, *, attempt: int | None = None, grace: float = GRACE) -> set[int]:
    """End every process on this machine with the run's id in its environment, of one attempt or of all.

    Returns the pids of processes that could not be ended.
    """
    key = AttemptKey(run_id, attempt)
    return await _end_matching(lambda pid: key.is_in(process_table.environ_of(pid)), grace)


async def sweep_orphans(attempts: Collection[AttemptKey], *, grace: float = GRACE) -> set[int]:
    """End all processes that a killed worker left of these attempts. Call this before the runs are retried."""
    wanted = frozenset(attempts)
    return await _end_matching(lambda pid: AttemptKey.read(process_table.environ_of(pid)) in wanted, grace)


async def end_tree(head: Head, *, is_alive: Callable[[], bool], grace: float, shield: ShieldedWait) -> Targets:
    """End all processes of an attempt. Returns those that could not be ended."""
    is_wanted = partial(subreaper().belongs, head=head)

    async def find() -> Targets:
        return _members(head, head_is_alive=is_alive()) or await _search(is_wanted, shield)

    return await _end(find, grace, shield, head)


def is_cleared(head: Head) -> bool:
    """Return whether no process is left of an attempt whose head has exited. Cheap: called after every run."""
    reaper = subreaper()
    return reaper.sees_orphans and not reaper.orphans_of(head) and not reaper.members_of(head)


class _IsLeftOver:
    """Recognizes processes with the variables of certain attempts, and processes with the same tag as one of those.

    `env -i`, sudo and others clear the variables. Tags are remembered, because the process that a tag was read from may
    die first.
    """

    def __init__(self, has_variables: Callable[[int], bool]) -> None:
        self._has_variables = has_variables
        self._tags: set[ProcessTag] = set()

    def __call__(self, pid: int) -> bool:
        tag = subreaper().tag_of_dead_worker(pid)
        if not self._has_variables(pid):
            return tag in self._tags and process_table.is_alive(pid)
        if tag is not None:
            self._tags.add(tag)
        return True


async def _end_matching(has_variables: Callable[[int], bool], grace: float) -> Targets:
    is_wanted = _IsLeftOver(has_variables)
    shield = ShieldedWait()
    left = await _end(lambda: _search(is_wanted, shield), grace, shield)
    shield.raise_if_cancelled()
    return left


async def _end(
    find: Callable[[], Awaitable[Targets]], grace: float, shield: ShieldedWait, head: Head | None = None
) -> Targets:
    grace_left, last_wait = _Limit(grace), _Limit(_LAST_WAIT)
    signalled: Targets = set()
    pause = _FIRST_PAUSE
    while targets := await find():
        if (left := grace_left.left()) > 0:
            # Once only: some programs exit immediately on a second TERM.
            _send(signal.SIGTERM, targets - signalled)
            signalled |= targets
        elif last_wait.left() > 0:
            _kill(targets, head)
        else:
            return targets
        await shield.sleep(min(pause, max(left, _FIRST_PAUSE)))
        pause = min(pause * 2, _LONGEST_PAUSE)
    return set()


class _Limit:
    """A time limit that starts with the first call of `left`.

    On a busy machine the search for processes may take longer than the limit. If the limit started earlier, a process
    could be killed without TERM, or given up without KILL.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end: float | None = None

    def left(self) -> float:
        now = asyncio.get_running_loop().time()
        if self._end is None:
            self._end = now + self._seconds
        return self._end - now


def _kill(targets: Targets, head: Head | None) -> None:
    """Kill targets, and the whole control group at once, so that a fork bomb cannot outrun the search."""
    if head is not None and head.group is not None:
        head.group.kill()
    _send(signal.SIGKILL, targets if head is None else targets | {-head.pid})


def _members(head: Head, *, head_is_alive: bool) -> Targets:
    """Return the known processes of an attempt: its control group, if it has one, and its descendants."""
    return _descendants(head, head_is_alive=head_is_alive) | subreaper().members_of(head)


def _descendants(head: Head, *, head_is_alive: bool) -> Targets:
    """Return the descendants of the head and of its orphans. Without /proc: its process group."""
    reaper = subreaper()
    if reaper.sees_orphans:
        roots = reaper.orphans_of(head)
        return process_table.descendants([head.pid, *roots] if head_is_alive else roots)
    if process_table.is_there():
        return set()
    return {-head.pid} if process_table.has_members(head.pid) else set()


async def _search(is_wanted: Callable[[int], bool], shield: ShieldedWait) -> Targets:
    """Search all processes in a thread: reading the environment of a process that hangs in the kernel can hang too.

    A search that makes progress is waited for, no matter how busy the machine is: a process that it misses lives on.
    """
    searcher, looks = _searcher(os.getpid()), _NO_LOOK_YET
    search = searcher.begin(is_wanted)
    while not search.done() and looks != searcher.looks:
        looks = searcher.looks
        await shield.wait(search, _SEARCH_LIMIT)
    found = search.result() if search.done() else set()
    # A pid may have been reused since.
    return {pid for pid in found if is_wanted(pid)}


class _Searcher:
    """Runs one search after the other in one thread, and counts the processes that all searches looked at."""

    def __init__(self) -> None:
        self.looks = 0
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="foliot-search")

    def begin(self, is_wanted: Callable[[int], bool]) -> "asyncio.Future[Targets]":
        look = partial(self._look, is_wanted)
        return asyncio.get_running_loop().run_in_executor(self._thread, process_table.search, look)

    def _look(self, is_wanted: Callable[[int], bool], pid: int) -> bool:
        self.looks += 1
        return is_wanted(pid)


@cache
def _searcher(_process: int) -> _Searcher:
    """Return the searcher of this process: a forked child has the object of its parent, but not the thread."""
    return _Searcher()


def _send(signum: signal.Signals, targets: Targets) -> None:
    """Signal parents first: a shell whose command ends before the shell gets its signal runs the next command."""
    for target in process_table.parents_first(targets):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(target, signum)
