"""Foliot measured beside its limits and its peers.

    scripts/bench all --quick        a few minutes
    scripts/bench all                the figures of docs/design/performance.md
    scripts/bench drain --rounds 5   one measurement

Everything compared in one table runs interleaved in one run, each contender in a process of its own, at the same
durability. Read the ratios: the absolute figures are those of the machine and the minute.
"""
