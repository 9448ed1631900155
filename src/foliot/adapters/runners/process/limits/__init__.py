"""Limits: on each process, on a whole tree of processes, and on open files."""
