"""The worker as child subreaper: it adopts and reaps the orphans of its runs.

    children of the worker = heads (started for runs) + orphans (adopted, tagged) + others (of other code, not touched)

Orphans are listed under the first thread, because the kernel gives them to the oldest thread of the subreaper.
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
    """The first process of an attempt. Its pid is also the id of its session and its process group."""

    pid: int
    tag: ProcessTag
    key: AttemptKey
    group: ControlGroup | None = None


class Subreaper:
    """Knows the children of this process. There is one for all runners and threads: two would reap each other's."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self._tags = ProcessTags()
        self._heads: dict[int, Head] = {}
        self._orphans: dict[int, ProcessTag] = {}
        self._members: dict[int, ProcessTag] = {}
        """Processes seen in control groups of runs that are being ended: they belong to the run even without a tag."""
        self._bare: set[int] = set()
        """Children without an environment. They are waited for only once, because the wait blocks the loop."""
        self._lock = threading.Lock()
        self._children = _adopt_and_list()
        seal_descriptors()

    @property
    def sees_orphans(self) -> bool:
        """False if the system gives orphans to init, or cannot list them: then `orphans_of` returns none."""
        return self._children is not None

    def spawn(
        self, request: SpawnRequest, key: AttemptKey, streams: Streams, group: ControlGroup | None = None
    ) -> Head:
        """Start a program as the head of an attempt. Raises the errors of `program.spawn`."""
        if request.account is None:
            return self._spawn(request, key, streams, group)
        return without_new_privs(lambda: self._spawn(request, key, streams, group))

    def _spawn(self, request: SpawnRequest, key: AttemptKey, streams: Streams, group: ControlGroup | None) -> Head:
        tag = self._tags.make()
        with self._lock:  # until it is entered, another thread would treat the head as an orphan
            with self._tags.applied(tag), without_core_dumps():
                pid = with_usual_limit(lambda: spawn(request, streams, group), max(filter(None, streams)))
            self._heads[pid] = Head(pid, tag, key, group)
            return self._heads[pid]

    def assign(self, head: Head, key: AttemptKey, group: ControlGroup | None) -> Head:
        """Assign a head that was started in advance to an attempt."""
        with self._lock:
            self._heads[head.pid] = head._replace(key=key, group=group)
            return self._heads[head.pid]

    def forget(self, head: Head, *, was_reaped: bool) -> None:
        """Forget the head of an attempt that is over. One that did not die is kept as an orphan and reaped later."""
        with self._lock:
            del self._heads[head.pid]
            if not was_reaped:
                self._orphans[head.pid] = head.tag
            if self._members:
                self._members = {pid: tag for pid, tag in self._members.items() if tag != head.tag}

    def members_of(self, head: Head) -> set[int]:
        """Return and remember the processes in the control group of an attempt, if it has one."""
        if head.group is None:
            return set()
        members = head.group.members()
        with self._lock:
            self._members.update(dict.fromkeys(members - self._heads.keys(), head.tag))
        return members

    def belongs(self, pid: int, head: Head) -> bool:
        """Return whether a process, child or not, belongs to the attempt, by its tag or its environment.

        Inside exec a process has its tag, but for a moment no environment.
        """
        is_tagged = self._tags.read(pid) == head.tag and process_table.is_alive(pid)
        return is_tagged or head.key.is_in(process_table.environ_of(pid))

    def tag_of_dead_worker(self, pid: int) -> ProcessTag | None:
        """Return the tag of a process that a worker which is dead now has started."""
        return self._tags.of_dead_worker(pid)

    def orphans_of(self, head: Head) -> list[int]:
        """Return the living orphans of a run. Also reaps the dead orphans of all runs."""
        with self._lock:
            self._adopt()
            return [pid for pid, tag in self._orphans.items() if tag == head.tag] if self._orphans else []

    def _adopt(self) -> None:
        """Look at all children but heads. A child that dies leaves its children to us: repeat until none is new."""
        seen: set[int] = set()
        if self._bare:
            self._bare &= self._list_children()
        while fresh := self._list_children().difference(self._heads, seen):
            seen |= fresh
            for pid in fresh:
                self._adopt_one(pid)

    def _adopt_one(self, pid: int) -> None:
        if pid not in self._orphans:
            tag = self._origin_of(pid)
            if tag is None:
                return
            self._orphans[pid] = tag
        if _reap(pid):
            del self._orphans[pid]

    def _origin_of(self, pid: int) -> ProcessTag | None:
        """Return the tag of the run that a child belongs to; None for a child that other code started."""
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
_creation_locks: Final[dict[int, threading.Lock]] = {}
"""One lock for each process: a child may be forked while another thread of the parent holds the lock."""


def subreaper() -> Subreaper:
    """Return the subreaper of this process; a forked child gets a new one."""
    global _current
    owner = os.getpid()
    if _current is None or _current.owner != owner:
        # A worker that starts sweeps orphans in a thread while its first runs start.
        with _creation_locks.setdefault(owner, threading.Lock()):
            if _current is None or _current.owner != owner:
                _current = Subreaper()
    return _current


def _adopt_and_list() -> int | None:
    """Become a subreaper and open the list of our children; None if the system supports neither."""
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
