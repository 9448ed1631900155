"""Reads that are written once for all databases.

A read is a generator: it yields the queries that it needs, one after the other, and receives their rows. Each database
drives it inside one snapshot: SQLite in a thread with a blocking connection, PostgreSQL with an asynchronous one.

    def job_and_newest_run(job_id): -> Read[...]
        rows = yield Query("get_jobs", (project, [job_id]))
        ...

A query is named as in the .sql files of both databases, and has the same parameters in the same order. Lists are
given as lists: each database sends them in its own way.
"""

from collections.abc import Generator, Sequence
from typing import Any, NamedTuple, TypeVar

from foliot.ports.pages import RunFilter

T = TypeVar("T")
Rows = Sequence[Sequence[Any]]


class Query(NamedTuple):
    """One statement by its name."""

    name: str
    values: tuple[object, ...] = ()


class PageOfRuns(NamedTuple):
    """Select the ids of the runs of a filter, newest first. Each database has its own statements for it."""

    only: RunFilter


class AllWorkers(NamedTuple):
    """Select every worker. Each database checks by its own clock whether a worker is alive."""


class Leader(NamedTuple):
    """Select holder and epoch of the leader, and whether it is alive by the clock of the database."""


class SizeOnDisk(NamedTuple):
    """Select one row: the bytes of the database, those of the logs, the free bytes of the disk or None, and the name of
    the database."""


class LongLeases(NamedTuple):
    """Select name and expiry of each worker that was last seen after a moment. No rows if leases do not depend on the
    wall clock."""

    seen_after: int
    limit: int


Request = Query | PageOfRuns | AllWorkers | Leader | SizeOnDisk | LongLeases
Read = Generator[Request, Rows, T]
