"""A gate: a job that looks at recent runs of other jobs before it runs.

It pulls. The jobs it depends on run on their own schedules and know nothing of it; at its planned moment the latest
terminal run of each, finished inside the window, decides:

    that run             counts as
    success              met
    partial              met, unless `partial_counts_as` is "failed"
    failed, timeout,     failed: `on_dep_fail` says what the gate does
    cancelled
    skipped, or no run   missing: `on_missing` says what the gate does

Strongest wins: fail before skip before run. While a dependency is expected and `wait` is not over, the gate waits.
The window ends at the planned moment, so that starting late does not change the answer; a gate that waits looks up to
the moment at which it looks.
"""
