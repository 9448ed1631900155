"""Everything that Foliot raises on purpose.

    FoliotError                 code, message, hint
    ├── InvalidInput            the caller can fix it: nothing was stored
    │   ├── InvalidCron         an expression, with the position of the fault
    │   ├── InvalidTimezone     a zone name, with a near match
    │   ├── InvalidSchedule     a rule that cannot be kept (never matches, ends before it starts ...)
    │   ├── InvalidJob          a definition that cannot be run
    │   ├── InvalidRun          a run that cannot be created (payload, dedupe key ...)
    │   ├── Unstorable          a value that no row can hold
    │   ├── CycleDetected       a dependency that would make jobs wait for each other
    │   └── InvalidWorkflow     a graph that cannot be walked through, with all its problems
    │       └── InvalidDocument the same of a JSON document, with the JSON path of each
    ├── NotFound                a job, schedule or run that is not there
    ├── WaitTimeout             a run that was waited for has not ended in time (a TimeoutError as well)
    ├── InUse                   an application that somebody still works with is to be closed
    ├── JobInUse                a job that an open execution or a waiting gate names is to be renamed
    ├── WrongLoop               an application is asked from an event loop that it is not open on
    ├── OwnedElsewhere          a definition that only its owner (a file, an application) changes
    ├── OutputUnavailable       what an attempt printed is not there, or not all of it
    │   ├── OutputTruncated     more was printed than is kept
    │   ├── OutputLost          the worker vanished while it ran
    │   ├── OutputPruned        retention has removed it
    │   └── OutputUnfinished    it is still being printed, or has not begun
    ├── OutboundError           something out there that a job, a webhook or a list of items wanted
    │   ├── OutboundBlocked     a target that the outbound guard refuses: nothing was sent to it
    │   └── OutboundFailed      a target that could not be reached, or broke off: may work next time
    └── StorageError            the database
        ├── StorageUnavailable  could not be reached: may work next time
        │   └── StorageMissing  there is no such database yet
        ├── StorageGone         taken away from a process that was using it: only a restart helps
        ├── StorageCorrupt      damaged, or not a Foliot database
        │   └── RowUnreadable   one row that something else has changed
        ├── SchemaTooOld        written by an earlier version of Foliot, and only looked at
        ├── SchemaTooNew        written by a later version of Foliot
        └── DriverMissing       the Python package that speaks to it is not installed

A message is a short fact in lower case; the hint says, in sentences, what to do.
The code never changes once released: programs compare it, people search for it.
"""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from enum import StrEnum
from typing import Any, ClassVar, Final, NamedTuple


class FoliotError(Exception):
    """Base of all errors raised on purpose."""

    code: ClassVar[str] = "error"

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n  {self.hint}" if self.hint else self.message

    def __reduce__(self) -> tuple[Any, ...]:
        # Pools of processes pickle errors, and by default that calls the class with the message alone.
        return _restored, (type(self), self.args), self.__dict__


def _restored(kind: type[FoliotError], facts: tuple[Any, ...]) -> FoliotError:
    return kind.__new__(kind, *facts)


class InvalidInput(FoliotError):
    code = "invalid_input"

    def __init__(self, message: str, *, hint: str = "", field: str = "") -> None:
        super().__init__(message, hint=hint)
        self.field = field

    def add_context(self, what: str) -> None:
        """Say which of many things it is about."""
        self.message = f"{what}: {self.message}"


class InvalidCron(InvalidInput):
    """A cron expression that cannot be understood. `position` is an offset into `expression`."""

    code = "invalid_cron"

    def __init__(self, message: str, *, expression: str, position: int = 0, hint: str = "") -> None:
        super().__init__(message, hint=hint, field="cron")
        self.expression = expression
        self.position = position


class InvalidTimezone(InvalidInput):
    code = "invalid_timezone"

    def __init__(self, name: str, known: Iterable[str]) -> None:
        shown = ascii(name[:64])
        super().__init__(
            f"timezone {shown} does not exist",
            hint=suggest(name, known, otherwise='Use an IANA name such as "Europe/Berlin" or "UTC".'),
            field="timezone",
        )


class InvalidSchedule(InvalidInput):
    code = "invalid_schedule"


class InvalidJob(InvalidInput):
    code = "invalid_job"


class InvalidRun(InvalidInput):
    code = "invalid_run"


class Unstorable(InvalidInput):
    """A value that no row can hold: a number out of range, text with a NUL."""

    code = "unstorable"

    def __init__(self, cause: Exception) -> None:
        super().__init__(
            f"a value cannot be stored: {cause}",
            hint="Use text without NUL and lone surrogates, and whole numbers of at most 64 bits.",
        )


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"


class Place(NamedTuple):
    """Where a value was written. Line 0: in no line, such as a variable of the environment or a missing file."""

    file: str = ""
    line: int = 0
    key: str = ""
    """The path of the key: jobs[2].schedule, or $.steps[0].after in a document."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file or self.key


class Problem(NamedTuple):
    """One thing to look at in what somebody wrote. An error keeps all of it from being used, a warning does not."""

    severity: Severity
    place: Place
    message: str
    hint: str

    @classmethod
    def error(cls, message: str, hint: str) -> "Problem":
        """Something wrong that stands nowhere yet."""
        return cls(Severity.ERROR, Place(), message, hint)

    @classmethod
    def warning(cls, message: str, hint: str) -> "Problem":
        """Something doubtful that stands nowhere yet."""
        return cls(Severity.WARNING, Place(), message, hint)

    @property
    def file(self) -> str:
        return self.place.file

    @property
    def line(self) -> int:
        return self.place.line

    @property
    def key(self) -> str:
        return self.place.key

    def __str__(self) -> str:
        key = f"{self.key}: " if self.key else ""
        first = f"{self.place}: {self.severity}: {key}{self.message}"
        return f"{first}\n  {self.hint}" if self.hint else first

    @property
    def in_one_line(self) -> str:
        """Without file and severity: `$.steps[0].after: must be text. Put it in quotes.`"""
        fact = f"{self.key}: {self.message}" if self.key else self.message
        return f"{fact}. {self.hint}" if self.hint else fact


class InvalidWorkflow(InvalidInput):
    """A workflow with problems, all of them. `cannot` says what cannot be done with it."""

    code = "invalid_workflow"

    def __init__(
        self,
        workflow_id: str,
        problems: Sequence[Problem],
        *,
        cannot: str = "be registered",
        hint: str = "Correct what is listed. Nothing was stored.",
    ) -> None:
        shown = "".join(f"\n  - {problem.in_one_line}" for problem in problems)
        super().__init__(f"workflow {workflow_id[:64]!a} cannot {cannot}:{shown}", hint=hint, field="steps")
        self.problems = tuple(problems)


class InvalidDocument(InvalidWorkflow):
    """The same of a document: the key of each problem is its JSON path."""

    code = "invalid_document"


class CycleDetected(InvalidInput):
    """An edge that would make jobs wait for each other."""

    code = "cycle_detected"

    def __init__(self, cycle: Sequence[str]) -> None:
        super().__init__(
            f"the dependency would create a cycle: {' -> '.join(cycle)}", hint="Remove one of these edges first."
        )
        self.cycle = tuple(cycle)


class NotFound(FoliotError):
    code = "not_found"

    def __init__(self, kind: str, name: str, *, known: Iterable[str] = (), hint: str = "") -> None:
        name = str(name)  # a library hands on whatever it was asked for
        listed = _LISTED.get(kind, "")
        near = suggest(name, known, otherwise=hint or listed)
        super().__init__(f"{kind} {name[:128]!a} does not exist", hint=near)
        self.kind = kind
        self.name = name


class WaitTimeout(FoliotError, TimeoutError):
    """Runs that were waited for have not ended in time. They go on: only the waiting is over."""

    code = "wait_timeout"

    def __init__(self, run_ids: Sequence[str], seconds: float) -> None:
        first, *others = run_ids
        more = f" and {len(others)} more" if others else ""
        super().__init__(
            f"run {first}{more} did not end within {seconds:g}s",
            hint=f"It goes on. Wait longer, or look at it with: foliot show {first}",
        )
        self.run_ids = tuple(run_ids)


class InUse(FoliotError):
    """An application cannot be closed, or opened elsewhere, under those who use it."""

    code = "in_use"


class JobInUse(FoliotError):
    """A job cannot be renamed while an execution or a run names it. `run_id` is the run that must end first."""

    code = "job_in_use"

    def __init__(self, job_id: str, use: str, run_id: str) -> None:
        super().__init__(
            f"job {job_id[:128]!a} could not be renamed: {use}",
            hint=f"Nothing was renamed. Wait for it to end or cancel it with: foliot cancel {run_id}. Then try again.",
        )
        self.job_id = job_id
        self.run_id = run_id


class WrongLoop(FoliotError):
    """An application is open on one event loop, and was asked from another one."""

    code = "wrong_loop"


class OwnedElsewhere(FoliotError):
    """Names every definition that was to be changed and has another owner."""

    code = "owned_elsewhere"


class OutputUnavailable(FoliotError):
    code = "output_unavailable"


class OutputTruncated(OutputUnavailable):
    code = "output_truncated"


class OutputLost(OutputUnavailable):
    code = "output_lost"


class OutputPruned(OutputUnavailable):
    code = "output_pruned"


class OutputUnfinished(OutputUnavailable):
    code = "output_unfinished"


class OutboundError(FoliotError):
    code = "outbound"


class OutboundBlocked(OutboundError):
    """Names the kind of place, never its address: who asked must not learn from it what a name stands for."""

    code = "ssrf_blocked"


class OutboundFailed(OutboundError):
    """`status` is that of the answer, if one had begun to arrive."""

    code = "connection"

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


_LISTED: Final[Mapping[str, str]] = {
    "run": "List them with: foliot runs",
    "job": "List them with: foliot jobs",
    "schedule": "List them with: foliot schedules",
    "workflow": "List them with: foliot workflows",
    "execution": "List those that are under way with: foliot workflows active",
}


class StorageError(FoliotError):
    code = "storage"


class StorageUnavailable(StorageError):
    code = "storage_unavailable"


class StorageMissing(StorageUnavailable):
    code = "storage_missing"

    def __init__(self, place: str) -> None:
        super().__init__(
            f"there is no Foliot database {place}",
            hint="Create it with: foliot migrate, or start foliot serve, or name another one with --storage.",
        )


class StorageGone(StorageError):
    code = "storage_gone"


class StorageCorrupt(StorageError):
    code = "storage_corrupt"


class RowUnreadable(StorageCorrupt):
    """Says which row: a job, a run, a revision of a schedule. Whoever reads on knows where by the schedule's `uid`."""

    code = "row_unreadable"

    def __init__(self, kind: str, name: object, cause: Exception) -> None:
        self.kind = kind
        self.name = str(name)
        self.schedule_id = self.uid = ""
        super().__init__(
            f"the row of {kind} {self.name[:128]!a} cannot be read: {cause}",
            hint="Something other than Foliot has written it. Restore this row from a backup.",
        )

    def place_in(self, uid: str, schedule_id: str) -> "RowUnreadable":
        """Say in the ledger of which schedule it was found."""
        self.uid, self.schedule_id = uid, schedule_id
        if self.kind != "schedule":
            self.message = f"schedule {schedule_id[:128]!a}: {self.message}"
        return self


class SchemaTooOld(StorageError):
    code = "schema_too_old"

    def __init__(self, *, found: int, needed: int) -> None:
        super().__init__(
            f"the database has schema version {found}, this Foliot needs {needed}",
            hint="Make a backup, then bring it up to date with: foliot migrate",
        )
        self.found = found
        self.needed = needed


class SchemaTooNew(StorageError):
    code = "schema_too_new"

    def __init__(self, *, found: int, supported: int) -> None:
        super().__init__(
            f"the database has schema version {found}, this Foliot knows up to {supported}",
            hint="Install the newer Foliot that wrote it, or restore a backup from before the upgrade.",
        )
        self.found = found
        self.supported = supported


class DriverMissing(StorageError):
    code = "driver_missing"

    def __init__(self, scheme: str, package: str, extra: str) -> None:
        super().__init__(
            f"{scheme} needs the Python package {package}, which is not installed",
            hint=f"Install it with: pip install 'foliot[{extra}]'",
        )


def suggest(name: str, known: Iterable[str], *, otherwise: str = "") -> str:
    """Name the known word that was probably meant, or fall back to general advice."""
    by_folded = {word.casefold(): word for word in known}
    close = get_close_matches(name[:64].casefold(), by_folded, n=1)
    return f'Did you mean "{by_folded[close[0]]}"?' if close else otherwise


def shown(value: object) -> str:
    """A value that somebody gave, as it can stand in a message: short and in plain characters, whatever it is."""
    try:
        return shortened(ascii(value), 64)
    except Exception:  # a repr of somebody's own may do anything, and Python writes down no number that is too long
        return f"a value of type {type(value).__name__}"


def shortened(text: str, most: int = 200) -> str:
    """Text without its middle, if that is what makes it long."""
    return text if len(text) <= most else f"{text[: most // 2]}...{text[-most // 2 :]}"
