"""Whole clusters in one thread: several schedulers and workers on one virtual clock, driven by one seed.

    World       picks one action after the other: a round of a duty, an advance of the clock, a crash ...
    Process     one process: its own storage object, its own duties, its own memory
    People      create and cancel runs, and change schedules and workflows
    Watch       checks invariants of the storage after every step; ExecutionWatch checks those of executions, and
                FanoutWatch those of fanouts, ChainWatch those of chains
    Faults      kills a process, or makes a verb fail, before or after a commit
    Turnstile   stops rounds between two verbs, so that other rounds happen in between
    LossyQueue  loses, duplicates and delays messages; UnreliableNotes does the same with the notes that settlers read
    Actor       a runner whose attempts take virtual time and end as the seed determines

The same seed gives the same trace, so a failure can be reproduced.
"""
