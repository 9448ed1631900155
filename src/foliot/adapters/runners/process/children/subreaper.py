"""The worker as the parent of last resort: it adopts what its runs leave behind, and reaps it.

    our children  =  heads (we spawned them for runs)  +  orphans (adopted, marked)  +  others (not ours to touch)

Orphans arrive in the list of the first thread, because the kernel gives them to the oldest thread of the subreaper.
"""

import ctypes
import os
import sys
import threading
from typing import Final, NamedTuple

from foliot.adapters.runners.process.children import process_table
from foliot.adapters.runners.process.children.process_tag import ProcessTag, ProcessTags
from foliot.adapters.runners.process.limits.control_groups import ControlGroup
from foliot.adapters.runners.process.limits.descriptors import seal_descriptors, with_usual_limit
from foliot.adapters.runners.process.limits.rlimits import without_core_dumps
from foliot.adapters.runners.process.spawn.environment import AttemptKey
from foliot.adapters.runners.process.spawn.no_new_privs import without_new_privs
from foliot.adapters.runners.process.spawn.program import SpawnRequest, Streams, spawn

_PR_SET_CHILD_SUBREAPER: Final = 36


class Head(NamedTuple):
    """The first process of an attempt. Its pid is the number of its session and group as well."""

    pid: int
    tag: ProcessTag
    key: AttemptKey
    group: ControlGroup | None = None


class Subreaper:
    """Knows the children of this process. One for all runners and threads, or they would reap each other's."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self._tags = ProcessTags()
        self._heads: dict[int, Head] = {}
        self._orphans: dict[int, ProcessTag] = {}
        self._members: dict[int, ProcessTag] = {}
        """What was seen in the control groups of runs that are being ended: it needs no mark of its own."""
        self._bare: set[int] = set()
        """Children that have no environment. They are waited for only once, for we stand still meanwhile."""
        self._lock = threading.Lock()
        self._children = _adopt_and_list()
        seal_descriptors()

    @property
    def sees_orphans(self) -> bool:
        """False where orphans go to init, or cannot be listed: then `orphans_of` knows of none."""
        return self._children is not None

    def spawn(
        self, request: SpawnRequest, key: AttemptKey, streams: Streams, group: ControlGroup | None = None
    ) -> Head:
        """Start a program as the head of an attempt. Raises what `launch.spawn` raises."""
        if request.account is None:
            return self._spawn(request, key, streams, group)
        return without_new_privs(lambda: self._spawn(request, key, streams, group))

    def _spawn(self, request: SpawnRequest, key: AttemptKey, streams: Streams, group: ControlGroup | None) -> Head:
        tag = self._tags.make()
        with self._lock:  # between the spawn and the entry another thread would take it for an orphan
            with self._tags.applied(tag), without_core_dumps():
                pid = with_usual_limit(lambda: spawn(request, streams, group), max(filter(None, streams)))
            self._heads[pid] = Head(pid, tag, key, group)
            return self._heads[pid]

    def assign(self, head: Head, key: AttemptKey, group: ControlGroup | None) -> Head:
        """A head that was started ahead becomes that of an attempt."""
        with self._lock:
            self._heads[head.pid] = head._replace(key=key, group=group)
            return self._heads[head.pid]

    def forget(self, head: Head, *, was_reaped: bool) -> None:
        """The attempt is over. A head that would not die is kept as an orphan, to be reaped when it does."""
        with self._lock:
            del self._heads[head.pid]
            if not was_reaped:
                self._orphans[head.pid] = head.tag
            if self._members:
                self._members = {pid: tag for pid, tag in self._members.items() if tag != head.tag}

    def members_of(self, head: Head) -> set[int]:
        """What lives in the control group of an attempt, if it has one; from now on it is known to be of the run."""
        if head.group is None:
            return set()
        members = head.group.members()
        with self._lock:
            self._members.update(dict.fromkeys(members - self._heads.keys(), head.tag))
        return members

    def belongs(self, pid: int, head: Head) -> bool:
        """Whether any process, child or not, is part of the attempt. One that has just begun to become another program
        has its tag, but for a moment no environment."""
        is_tagged = self._tags.read(pid) == head.tag and process_table.is_alive(pid)
        return is_tagged or head.key.is_in(process_table.environ_of(pid))

    def tag_of_dead_worker(self, pid: int) -> ProcessTag | None:
        """The mark that a worker which is dead by now has put on any process."""
        return self._tags.of_dead_worker(pid)

    def orphans_of(self, head: Head) -> list[int]:
        """Living children of ours that the run has left behind. Reaps on the way what has died, of any run."""
        with self._lock:
            self._take_in()
            return [pid for pid, tag in self._orphans.items() if tag == head.tag] if self._orphans else []

    def _take_in(self) -> None:
        """Look at every child that is no head. One that dies meanwhile hands us its own: look until none is new."""
        seen: set[int] = set()
        if self._bare:
            self._bare &= self._list_children()
        while fresh := self._list_children().difference(self._heads, seen):
            seen |= fresh
            for pid in fresh:
                self._take_in_one(pid)

    def _take_in_one(self, pid: int) -> None:
        if pid not in self._orphans:
            tag = self._origin_of(pid)
            if tag is None:
                return
            self._orphans[pid] = tag
        if _reap(pid):
            del self._orphans[pid]

    def _origin_of(self, pid: int) -> ProcessTag | None:
        """The mark of the run that a child comes from; None for what this process has started otherwise."""
        if pid in self._members:
            return self._members[pid]
        if self._tags.are_supported:
            return self._tags.read(pid)
        session = process_table.session_of(pid)
        if session in self._heads:
            return self._heads[session].tag
        environ = process_table.environ_of(pid) if pid in self._bare else process_table.settled_environ_of(pid)
        if not environ:
            self._bare.add(pid)
        return next((head.tag for head in self._heads.values() if head.key.is_in(environ)), None)

    def _list_children(self) -> set[int]:
        if self._children is None:
            return set()
        text, place = b"", 0
        while piece := os.pread(self._children, 65_536, place):
            text += piece
            place += len(piece)
        return set(map(int, text.split()))


_current: Subreaper | None = None
_making: Final[dict[int, threading.Lock]] = {}
"""One for each process: a child may be forked while another thread of its parent holds it."""


def subreaper() -> Subreaper:
    """The one of this process; a forked child gets a new one."""
    global _current
    owner = os.getpid()
    if _current is None or _current.owner != owner:
        # A worker that starts searches for what another has left, in a thread, while its first runs begin.
        with _making.setdefault(owner, threading.Lock()):
            if _current is None or _current.owner != owner:
                _current = Subreaper()
    return _current


def _adopt_and_list() -> int | None:
    """Become a subreaper and open the list of our children; None if this system has no such thing."""
    if sys.platform != "linux":
        return None
    pid = os.getpid()
    try:
        children = os.open(f"/proc/{pid}/task/{pid}/children", os.O_RDONLY)
    except OSError:
        return None
    if ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0:
        return children
    os.close(children)
    return None


def _reap(pid: int) -> bool:
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        return True
