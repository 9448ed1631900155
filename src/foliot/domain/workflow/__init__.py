"""Workflows: versioned graphs of steps. An execution is one passage through one version.

    spec      what people write: steps, edges, conditions
    graph     the same, indexed for asking, with its problems named
    progress  which steps fire and which are skipped when others have resolved; how the whole ended
    template  data from parameters and earlier steps, put where a step asks for it

All of it is pure. An execution is a run of its own: it has a status, a tick, a timeout, an overlap key like any other
run, and its steps are runs that name it as their root.
"""
