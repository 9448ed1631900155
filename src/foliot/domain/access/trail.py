"""The audit trail: one entry for each change, stored in the transaction of the change. It contains no secrets."""

from enum import StrEnum
from typing import Any, Final, NamedTuple

from foliot.domain.access.actor import Actor, ActorKind
from foliot.domain.instant import Instant

Document = dict[str, Any]

_QUIET: Final = frozenset({ActorKind.APP, ActorKind.SYSTEM, ActorKind.SCHEDULE, ActorKind.RUN})


class AuditKind(StrEnum):
    """What was changed."""

    RUN = "run"
    JOB = "job"
    SCHEDULE = "schedule"
    PROJECT = "project"
    """All schedules together. The id is the name of the project."""
    WORKFLOW = "workflow"
    STEP = "step"
    """The id is WORKFLOW/STEP."""
    DEPENDENCY = "dependency"
    """The id is CHILD/PARENT."""
    CHAINS = "chains"
    """A class of chains: it was stopped or resumed, or its breaker was reset. The id is the key of its document."""
    DSN = "dsn"
    TOKEN = "token"  # noqa: S105 - not a password
    USER = "user"
    WORKER = "worker"
    """The enrolment of a remote worker."""


class AuditAction(StrEnum):
    """What was done."""

    CREATE = "create"
    CHANGE = "change"
    RENAME = "rename"
    DELETE = "delete"
    PAUSE = "pause"
    RESUME = "resume"
    TRIGGER = "trigger"
    """A run was created."""
    CANCEL = "cancel"
    MARK = "mark"
    APPROVE = "approve"
    REJECT = "reject"
    REVOKE = "revoke"
    PASSWORD = "password"  # noqa: S105 - the name of an action
    LOGIN = "login"
    LOGOUT = "logout"
    REPORT_LATE = "report_late"
    """A worker reported the end of an attempt after the run was given to another one. It was not believed."""
    REFUSE = "refuse"
    """A credential was refused."""


class ChangeRecord(NamedTuple):
    """A change to record. `before` and `after` contain the fields that differ, with secrets masked."""

    action: AuditAction
    kind: AuditKind
    id: str
    before: Document | None = None
    after: Document | None = None


class AuditEntry(NamedTuple):
    """A recorded change. `seq` identifies it."""

    seq: int
    at: Instant
    actor: str
    detail: str
    action: str
    kind: str
    id: str
    before: Document | None = None
    after: Document | None = None


def are_runs_recorded(actor: Actor) -> bool:
    """Return whether the trail has an entry for each run that the actor creates.

    It has none for programs: an application may create thousands of runs per second, and each run says what created it.
    """
    return actor.kind not in _QUIET
