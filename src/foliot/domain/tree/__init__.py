"""Trees: runs that start other runs.

A run of some kinds (an execution of a workflow, a fanout, a chain) is not executed by a worker. A coordinator opens it
as a tree: the run has the status running without a worker, and its children are separate runs. The end of a child
stores a note for its parent; settling the parent's notes decides what follows.

    claim of a run in the queue @trees --open--> trees row, body, first children
    a child ends                       --note--> its parent is to be settled
    notes                            --settle--> next children, and, when no child is open any more, the end

Each kind of tree implements `kind.TreeKind`. Decisions are pure functions: they get what was read and return what to
save.
"""
