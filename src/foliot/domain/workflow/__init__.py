"""Workflows: versioned graphs of steps. An execution is one run of one version.

    spec, builder           the definition: steps, edges, conditions
    graph, check, layout    the graph of a definition, its problems, and how to draw it
    start, rerun            the parameters of an execution, and what a rerun keeps
    plan, progress          which steps start or are skipped when others resolve, and the final status
    template, output        data from parameters and earlier steps, inserted where a step refers to it
    kind, lookup,           opening and settling an execution as a tree
      settlement

All functions are pure. An execution is a run like any other, with a status, a tick, a timeout and an overlap key; its
steps are runs whose parent it is.
"""
