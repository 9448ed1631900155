"""Ending a tree of processes: TERM, a time of grace, KILL, and looking again until nothing is left."""

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
"""Seconds that killed processes have to vanish. One that hangs inside the kernel never does."""

_FIRST_PAUSE: Final = 0.002
_LONGEST_PAUSE: Final = 0.05
_SEARCH_LIMIT: Final = 1.0
"""Seconds in which a search looks at no other process, until it is given up."""

_NONE_YET: Final = -1

Targets = set[int]
"""What os.kill takes: a pid, or the negative number of a group."""


async def kill_tree_of(run_id: str, *, attempt: int | None = None, grace: float = GRACE) -> set[int]:
    """End every process on this machine that carries the run's id, of one attempt or of all.

    Returns the pids of those that could not be ended.
    """
    key = AttemptKey(run_id, attempt)
    return await _end_wanted(lambda pid: key.is_in(process_table.environ_of(pid)), grace)


async def sweep_orphans(attempts: Collection[AttemptKey], *, grace: float = GRACE) -> set[int]:
    """End what a killed worker has left of these attempts, all at once. To be called before they are tried again."""
    wanted = frozenset(attempts)
    return await _end_wanted(lambda pid: AttemptKey.read(process_table.environ_of(pid)) in wanted, grace)


async def end_tree(head: Head, *, is_alive: Callable[[], bool], grace: float, shield: ShieldedWait) -> Targets:
    """End all that is left of an attempt. Returns what could not be ended."""
    is_wanted = partial(subreaper().belongs, head=head)

    async def find() -> Targets:
        return _members(head, head_is_alive=is_alive()) or await _search(is_wanted, shield)

    return await _end(find, grace, shield, head)


def is_cleared(head: Head) -> bool:
    """Whether nothing is left of an attempt whose head has ended: the cheap question, asked after every run."""
    reaper = subreaper()
    return reaper.sees_orphans and not reaper.orphans_of(head) and not reaper.members_of(head)


class _LeftBehind:
    """What carries the variables of certain attempts, and what shares the mark of such a process: `env -i`, sudo and
    others clear the variables. The tag is remembered, as the process that it was learned from may die first."""

    def __init__(self, is_tagged: Callable[[int], bool]) -> None:
        self._is_tagged = is_tagged
        self._tags: set[ProcessTag] = set()

    def __call__(self, pid: int) -> bool:
        tag = subreaper().tag_of_dead_worker(pid)
        if not self._is_tagged(pid):
            return tag in self._tags and process_table.is_alive(pid)
        if tag is not None:
            self._tags.add(tag)
        return True


async def _end_wanted(is_tagged: Callable[[int], bool], grace: float) -> Targets:
    is_wanted = _LeftBehind(is_tagged)
    shield = ShieldedWait()
    left = await _end(lambda: _search(is_wanted, shield), grace, shield)
    shield.raise_if_cancelled()
    return left


async def _end(
    find: Callable[[], Awaitable[Targets]], grace: float, shield: ShieldedWait, head: Head | None = None
) -> Targets:
    mercy, last_wait = _Span(grace), _Span(_LAST_WAIT)
    told: Targets = set()
    pause = _FIRST_PAUSE
    while targets := await find():
        if (left := mercy.left()) > 0:
            # Once is enough: to some programs a second TERM means "now".
            _send(signal.SIGTERM, targets - told)
            told |= targets
        elif last_wait.left() > 0:
            _kill(targets, head)
        else:
            return targets
        await shield.sleep(min(pause, max(left, _FIRST_PAUSE)))
        pause = min(pause * 2, _LONGEST_PAUSE)
    return set()


class _Span:
    """Seconds that begin when it is first asked how many are left. On a busy machine it may take longer than that to
    find whom they are for, who would then be killed without a word, or given up without having been killed."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end: float | None = None

    def left(self) -> float:
        now = asyncio.get_running_loop().time()
        if self._end is None:
            self._end = now + self._seconds
        return self._end - now


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
        return process_table.descendants([head.pid, *roots] if head_is_alive else roots)
    if process_table.is_there():
        return set()
    return {-head.pid} if process_table.has_members(head.pid) else set()


async def _search(is_wanted: Callable[[int], bool], shield: ShieldedWait) -> Targets:
    """In a thread: reading the environment of a process that hangs inside the kernel can hang as well. One that gets on
    is waited for, however busy the machine is and however many wait for their turn: what it misses lives on."""
    searcher, looks = _searcher(os.getpid()), _NONE_YET
    search = searcher.begin(is_wanted)
    while not search.done() and looks != searcher.looks:
        looks = searcher.looks
        await shield.wait(search, _SEARCH_LIMIT)
    found = search.result() if search.done() else set()
    # A pid may have changed hands since.
    return {pid for pid in found if is_wanted(pid)}


class _Searcher:
    """One search after the other, in one thread, and how many processes were looked at by all of them."""

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
    """One for each process: a forked child has the object, but not the thread."""
    return _Searcher()


def _send(signum: signal.Signals, targets: Targets) -> None:
    """The parents first: a shell that sees its command end before it hears of it goes on with the next one."""
    for target in process_table.parents_first(targets):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(target, signum)
