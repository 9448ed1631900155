"""Runs a command as a tree of processes, and ends the whole tree with the run.

    SpawnRequest --spawn--> head --fork--> children --fork--> ...      own session, own pipes, one process tag
                              |
                     exit, or a cancellation
                              |
    processes left?  no: done        yes: TERM, grace, KILL, until none is left

How the processes of a run are found, without reading the whole process table each time:

1. The worker is a *child subreaper* (children/subreaper.py). A process whose parent dies becomes a child of the worker,
   not of init. So every living process of a run is a descendant of its head, or of an orphan that is a child of the
   worker. setsid, nohup and double forks change sessions and groups, but not parents.
2. The kernel reparents the children of a dying process before it reports the death. So after the head has exited, one
   small read of the worker's children shows whether processes are left, and for most runs none is. If the list changes
   while it is read, it is read again until it contains nothing new.
3. Each run has a *process tag* that fork and exec inherit, and that remains until a dead process is reaped
   (children/process_tag.py). It assigns orphans to runs, also zombies and processes with a cleared environment. A child
   without a tag was started by other code in this process and is never reaped, because its owner needs the exit status.
   Where the system does not support tags, the session and the environment assign orphans to runs.
4. Only when processes have to be ended, /proc is also searched for the run's id in the environment. This finds
   processes that another daemon started for the run, and processes that a killed worker left behind (`sweep_orphans`; a
   parent-death signal is impossible without running Python between fork and exec). Processes with the same tag as one
   of those are left over as well, even with a cleared environment.
5. A run with a limit on memory or processes has a *control group* where the system allows it
   (limits/control_groups.py). The group lists the whole tree, and no process can leave it.

Processes that escape: one that another daemon started without the run's id in its environment; and one that changes the
limit used as tag *and* clears the id, once its parents are dead. After a worker was killed: a run of which no process
has the id any more. Where the system has no list of children (not Linux), only the process group of the head is ended.
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
