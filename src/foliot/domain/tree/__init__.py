"""Trees: runs that start other runs.

A run of some kinds (a workflow, later a fanout or a chain) is not executed by a worker. A coordinator opens it as a
tree: the run stays running without a worker, and its children are runs of their own. What ends a child leaves a note
for its parent; settling the parent's notes decides what follows.

    claim of a run in the queue @trees --open--> trees row, body, first children
    a child ends                       --note--> its parent has something to settle
    notes                            --settle--> next children, and, when nothing is open any more, the end

`kind.TreeKind` is what each kind of tree fills in. Every decision is pure: it gets what was read and returns what to
save.
"""
