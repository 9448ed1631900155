"""Gates: a job with a gate checks recent runs of other jobs before it runs.

The jobs that a gate depends on run on their own schedules and are not affected by it. At the planned moment of the
gated run, the latest terminal run of each dependency that finished inside the window decides:

    that run             counts as
    success              met
    partial              met, unless `partial_counts_as` is "failed"
    failed, timeout,     failed: the action is `on_dep_fail`
    cancelled
    skipped, or no run   missing: the action is `on_missing`

The strongest action wins: fail, then skip, then run. While a dependency is expected and `wait` has not passed, the
gate waits. The window ends at the planned moment, so that a late start does not change the decision; for a gate that
waits it ends at the current time.
"""
