"""Whole clusters in one thread: several schedulers and workers on one virtual clock, driven by one seed.

    World      picks one thing after the other: a round of some duty, time that passes, a crash ...
    Process    one process: its own storage object, its own duties, its own memory
    People     ask for runs, cancel them, change schedules
    Watch      looks at the storage after every step and knows what must not be; ExecutionWatch, at executions
    Faults     kill a process, or make a verb fail, on either side of a commit
    Turnstile  stops rounds in their middle, so that others happen in between
    LossyQueue loses, doubles and delays messages; TroubledNotes does so with what settlers hear
    Actor      a runner whose attempts last virtual time and end as the seed says

The same seed gives the same trace, step by step: what a seed has found can be looked at again.
"""
