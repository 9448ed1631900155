"""What `foliot doctor` finds. Everything that `status` notices is a finding too."""

from datetime import datetime

import msgspec

from foliot.errors import Severity
from foliot.service.queries.notice import State
from foliot.service.queries.status import Notice


class _Finding(msgspec.Struct, frozen=True, kw_only=True, tag_field="code"):
    """The tag is the code."""


# -- configuration and machine


class ConfigProblem(_Finding, frozen=True, kw_only=True, tag="config_problem"):
    """One problem that `foliot check` lists."""

    file: str
    line: int | None
    key: str
    message: str
    hint: str
    severity: Severity


class SecretsReadable(_Finding, frozen=True, kw_only=True, tag="secrets_readable"):
    """A configuration file contains secrets, and every user of the machine may read it."""

    file: str
    keys: tuple[str, ...]
    severity: Severity = Severity.WARNING


class DatabaseReadable(_Finding, frozen=True, kw_only=True, tag="database_readable"):
    """Every user of the machine may read the file of the database, with jobs, payloads and output."""

    file: str
    severity: Severity = Severity.WARNING


class GuardOff(_Finding, frozen=True, kw_only=True, tag="guard_off"):
    """In production, requests of http jobs may reach private addresses."""

    severity: Severity = Severity.WARNING


class FewDescriptors(_Finding, frozen=True, kw_only=True, tag="few_descriptors"):
    """The limit of open files is too low for the number of concurrent runs."""

    allowed: int
    enough_for: int
    """Runs."""
    slots: int
    is_server: bool
    severity: Severity = Severity.WARNING


class LimitsPerProcess(_Finding, frozen=True, kw_only=True, tag="limits_per_process"):
    """Jobs have limits on memory or processes, but there is no control group to enforce them for the whole tree."""

    jobs: tuple[str, ...]
    missing: tuple[str, ...]
    is_server: bool
    severity: Severity = Severity.WARNING


class ProgramMissing(_Finding, frozen=True, kw_only=True, tag="program_missing"):
    """The program of agent jobs is not in the PATH."""

    program: str
    jobs: tuple[str, ...]
    severity: Severity = Severity.WARNING


# -- database


class ProbeFailed(_Finding, frozen=True, kw_only=True, tag="probe_failed"):
    """A probe failed with an error."""

    message: str
    hint: str
    severity: Severity = Severity.ERROR


class StorageReadOnly(_Finding, frozen=True, kw_only=True, tag="storage_read_only"):
    """The database can be read, but not written."""

    message: str
    hint: str
    severity: Severity = Severity.ERROR


class StorageDamaged(_Finding, frozen=True, kw_only=True, tag="storage_damaged"):
    """SQLite has found damage in the file of the database."""

    damages: tuple[str, ...]
    severity: Severity = Severity.ERROR


class LogsLarge(_Finding, frozen=True, kw_only=True, tag="logs_large"):
    size: int
    severity: Severity = Severity.WARNING


class WorkersLost(_Finding, frozen=True, kw_only=True, tag="workers_lost"):
    """Workers have not been seen for more than five minutes, but their leases were not freed."""

    workers: tuple[str, ...]
    running: int
    """How many runs they hold."""
    severity: Severity = Severity.WARNING


class LongRun(msgspec.Struct, frozen=True, kw_only=True):
    run_id: str
    job_id: str
    started_at: datetime | None


class RunsLong(_Finding, frozen=True, kw_only=True, tag="runs_long"):
    """Attempts have been running for more than a day."""

    runs: tuple[LongRun, ...]
    severity: Severity = Severity.WARNING


class RowsUnreadable(_Finding, frozen=True, kw_only=True, tag="rows_unreadable"):
    """Stored rows cannot be read: such jobs, schedules and workflows do not run."""

    rows: tuple[str, ...]
    """The first of them, each as a message."""
    count: int
    severity: Severity = Severity.ERROR


class MovedTick(msgspec.Struct, frozen=True, kw_only=True):
    schedule_id: str
    stored: datetime | None
    now: datetime | None
    """The next tick by the installed time zone data."""


class TicksMoved(_Finding, frozen=True, kw_only=True, tag="ticks_moved"):
    """The stored next tick of schedules is not that of the installed time zone data."""

    tzdata: str
    ticks: tuple[MovedTick, ...]
    """The first of them."""
    count: int
    severity: Severity = Severity.WARNING


HostFinding = (
    ConfigProblem | SecretsReadable | DatabaseReadable | GuardOff | FewDescriptors | LimitsPerProcess | ProgramMissing
)
StoredFinding = (
    ProbeFailed
    | StorageReadOnly
    | StorageDamaged
    | LogsLarge
    | WorkersLost
    | RunsLong
    | RowsUnreadable
    | TicksMoved
    | Notice
)
Finding = HostFinding | StoredFinding


def severity_of(finding: Finding) -> Severity:
    """Return the severity. A notice is an error if Foliot is down because of it."""
    if isinstance(finding, Notice):
        return Severity.ERROR if finding.state is State.DOWN else Severity.WARNING
    return finding.severity
