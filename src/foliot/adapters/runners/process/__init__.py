"""Running one command as a tree of processes, all of which are gone afterwards.

    SpawnRequest --spawn--> head --fork--> children --fork--> ...         own session, own pipes, one tag
                        |
               exit, or a cancellation
                        |
    nothing left?  yes: done        no: TERM, grace, KILL, until nothing is left

What belongs to a run, and how that is known without reading the whole process table each time:

1. The worker is a *child subreaper*. A process whose parent dies becomes a child of the worker, not of init. So at
   any moment every living process that the run has started hangs below its head or below an orphan that is a child
   of the worker; setsid, nohup and double forks change sessions and groups, not this.
2. The kernel hands the children of a dying process over before it tells that the process has died. So once the head
   has ended, "has the worker children that it did not start?" answers "is anything left?" by one small read, and for
   most runs the answer is no. A list that changed while it was looked through is read again until nothing is new.
3. Each run has a *mark* that the kernel hands on at fork and exec and keeps until a dead process is reaped (marks.py).
   It tells the orphans of one run from those of another and from the children of anybody else in this process, also
   when they are zombies or have cleared their environment. Nothing without it is ever reaped, so an exit status is
   never taken from its owner. Where marks are not kept, session and environment must do.
4. Only when something has to be ended, /proc is searched for the run's id in the environment as well: that finds
   what another daemon started on the run's behalf, and, when a worker starts, what a killed one has left behind
   (`sweep_orphans`; a parent-death signal cannot be had without running Python between fork and exec). What shares the
   mark of such a process is left behind as well, even with its environment cleared.

5. A run with a limit on memory or processes has a *control group* where one can be had (groups.py). It lists the whole
   tree and cannot be left, so nothing escapes from it.

What escapes otherwise: a process that another daemon started, without the run's id in its environment; and one that
sets a new value for the mark's limit *and* drops the id, once its parents are dead. After a worker was killed: a run of
which no process has the id any more.
Where there is no list of children (other systems than Linux), what is left is the process group of the head.
A process that other code of the worker starts is not ours to reap, nor is an orphan of such a process.
"""

from foliot.adapters.runners.process.command import run_command
from foliot.adapters.runners.process.spawn.environment import child_environment, inherited_environment
from foliot.adapters.runners.process.spawn.program import SpawnRequest
from foliot.adapters.runners.process.streams.output_file import sweep_output_files
from foliot.adapters.runners.process.supervisor import run_process
from foliot.adapters.runners.process.termination.process_tree import kill_tree_of, sweep_orphans

__all__ = [
    "SpawnRequest",
    "child_environment",
    "inherited_environment",
    "kill_tree_of",
    "run_command",
    "run_process",
    "sweep_orphans",
    "sweep_output_files",
]
