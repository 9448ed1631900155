"""Ending a tree of processes: TERM, a time of grace, KILL, and looking again until nothing is left."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache, partial
from typing import Final

from foliot.adapters.runners.process import proctable
from foliot.adapters.runners.process.marks import Mark
from foliot.adapters.runners.process.patience import Patience
from foliot.adapters.runners.process.proctable import Tag
from foliot.adapters.runners.process.subreaper import Head, subreaper
from foliot.domain.kinds.process import GRACE

_LAST_WAIT: Final = 1.0
"""Seconds that killed processes have to vanish. One that hangs inside the kernel never does."""

_FIRST_PAUSE: Final = 0.002
_LONGEST_PAUSE: Final = 0.05
_SEARCH_LIMIT: Final = 1.0

Targets = set[int]
"""What os.kill takes: a pid, or the negative number of a group."""


async def kill_tree_of(run_id: str, *, attempt: int | None = None, grace: float = GRACE) -> set[int]:
    """End every process on this machine that carries the run's id, of one attempt or of all.

    Returns the pids of those that could not be ended.
    """
    tag = Tag(run_id, attempt)
    return await _end_wanted(lambda pid: tag.is_on(proctable.environ_of(pid)), grace)


async def sweep_orphans(attempts: Collection[Tag], *, grace: float = GRACE) -> set[int]:
    """End what a killed worker has left of these attempts, all at once. To be called before they are tried again."""
    wanted = frozenset(attempts)
    return await _end_wanted(lambda pid: Tag.read(proctable.environ_of(pid)) in wanted, grace)


async def end_tree(head: Head, *, is_alive: Callable[[], bool], grace: float, patience: Patience) -> Targets:
    """End all that is left of an attempt. Returns what could not be ended."""
    is_wanted = partial(subreaper().belongs, head=head)

    async def find() -> Targets:
        return _members(head, head_is_alive=is_alive()) or await _search(is_wanted, patience)

    return await _end(find, grace, patience, head)


def is_cleared(head: Head) -> bool:
    """Whether nothing is left of an attempt whose head has ended: the cheap question, asked after every run."""
    reaper = subreaper()
    return reaper.sees_orphans and not reaper.orphans_of(head) and not reaper.members_of(head)


class _LeftBehind:
    """What carries the variables of certain attempts, and what shares the mark of such a process: `env -i`, sudo and
    others clear the variables. The mark is remembered, as the process that it was learned from may die first."""

    def __init__(self, is_tagged: Callable[[int], bool]) -> None:
        self._is_tagged = is_tagged
        self._marks: set[Mark] = set()

    def __call__(self, pid: int) -> bool:
        mark = subreaper().mark_left_on(pid)
        if not self._is_tagged(pid):
            return mark in self._marks and proctable.is_alive(pid)
        if mark is not None:
            self._marks.add(mark)
        return True


async def _end_wanted(is_tagged: Callable[[int], bool], grace: float) -> Targets:
    is_wanted = _LeftBehind(is_tagged)
    patience = Patience()
    left = await _end(lambda: _search(is_wanted, patience), grace, patience)
    patience.give_way()
    return left


async def _end(
    find: Callable[[], Awaitable[Targets]], grace: float, patience: Patience, head: Head | None = None
) -> Targets:
    now = asyncio.get_running_loop().time
    kill_at = now() + grace
    told: Targets = set()
    pause = _FIRST_PAUSE
    while targets := await find():
        if now() >= kill_at + _LAST_WAIT:
            return targets
        if now() >= kill_at:
            _kill(targets, head)
        else:
            # Once is enough: to some programs a second TERM means "now".
            _send(signal.SIGTERM, targets - told)
            told |= targets
        await patience.sleep(min(pause, max(kill_at - now(), _FIRST_PAUSE)))
        pause = min(pause * 2, _LONGEST_PAUSE)
    return set()


def _kill(targets: Targets, head: Head | None) -> None:
    """A whole group dies at once: one that forks faster than we look cannot slip through."""
    if head is not None and head.group is not None:
        head.group.kill()
    _send(signal.SIGKILL, targets if head is None else targets | {-head.pid})


def _members(head: Head, *, head_is_alive: bool) -> Targets:
    """What is known to be part of the attempt: all of its control group, if it has one, and its family."""
    return _family(head, head_is_alive=head_is_alive) | subreaper().members_of(head)


def _family(head: Head, *, head_is_alive: bool) -> Targets:
    """What hangs below the head and below the orphans of its run. Without /proc, its group; else see `_search`."""
    reaper = subreaper()
    if reaper.sees_orphans:
        roots = reaper.orphans_of(head)
        return proctable.descendants([head.pid, *roots] if head_is_alive else roots)
    if proctable.is_there():
        return set()
    return {-head.pid} if proctable.has_members(head.pid) else set()


async def _search(is_wanted: Callable[[int], bool], patience: Patience) -> Targets:
    """In a thread: reading the environment of a process that hangs inside the kernel can hang as well."""
    search = asyncio.get_running_loop().run_in_executor(_searcher(os.getpid()), proctable.search, is_wanted)
    await patience.wait(search, _SEARCH_LIMIT)
    found = search.result() if search.done() else set()
    # A pid may have changed hands since.
    return {pid for pid in found if is_wanted(pid)}


@cache
def _searcher(_process: int) -> ThreadPoolExecutor:
    """One for each process: a forked child has the object, but not the thread."""
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="foliot-search")


def _send(signum: signal.Signals, targets: Targets) -> None:
    for target in targets:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(target, signum)
