"""Benchmarks of Foliot, its theoretical limits and its peers.

    scripts/bench all --quick        a few minutes
    scripts/bench all                the figures of docs/design/performance.md
    scripts/bench drain --rounds 5   one measurement

Everything compared in one table runs interleaved in one run, each contender in a separate process, at the same
durability. Compare the ratios: the absolute figures depend on the machine and its load.
"""
