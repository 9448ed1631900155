"""The errors that Foliot raises on purpose.

    FoliotError                 code, message, hint
    ├── InvalidInput            the caller can correct it: nothing was stored
    │   ├── InvalidCron         a cron expression, with the position of the fault
    │   ├── InvalidTimezone     a timezone name, with the closest match
    │   ├── InvalidSchedule     a schedule that cannot fire (never matches, ends before it starts ...)
    │   ├── InvalidJob          a job definition that cannot be run
    │   │   └── InvalidJobDocument  a job in a JSON document, with the JSON path of each problem
    │   ├── InvalidRun          a run that cannot be created (payload, dedupe key ...)
    │   │   └── WrongState      a run or a step in a state in which this is not possible
    │   ├── Unstorable          a value that the database cannot store
    │   ├── CycleDetected       a dependency that would create a cycle of jobs
    │   ├── InvalidDefinitions  definitions in a text, with line and column of each problem
    │   └── InvalidWorkflow     a workflow, with all its problems
    │       └── InvalidDocument a workflow in a JSON document, with the JSON path of each problem
    ├── NotFound                a job, schedule, run, workflow or execution does not exist
    ├── NotWritable             a definition that cannot be written as TOML
    ├── WaitTimeout             a run did not end within the timeout of the wait (also a TimeoutError)
    ├── InUse                   the application cannot be closed while calls are in progress
    ├── JobInUse                the job cannot be renamed while an open execution or a waiting gate names it
    ├── WrongLoop               the application is open on another event loop
    ├── ChangedMeanwhile        the definition has another revision than the one that an edit expected
    ├── OwnedElsewhere          only the owner of the definition (a file, an application) can change it
    ├── OutputUnavailable       the output of an attempt is missing or incomplete
    │   ├── OutputTruncated     the attempt printed more than the limit
    │   ├── OutputLost          the worker disappeared during the attempt
    │   ├── OutputPruned        retention has removed the output
    │   └── OutputUnfinished    the attempt is still running, or has not started
    ├── OutboundError           a request to another host, for a job, a webhook or a list of items
    │   ├── OutboundBlocked     refused by the outbound policy: nothing was sent
    │   └── OutboundFailed      the host could not be reached, or closed the connection: may work next time
    ├── InputsError             the items of a fanout
    │   ├── InputsUnavailable   the source could not be read: may work next time
    │   └── InputsRefused       its content cannot be used, or exceeds a limit
    ├── CredentialsRefused      a password, a session or a token was refused
    ├── RateLimited             too many credentials were refused: may work later
    ├── ServerUnavailable       a server could not be reached by its client: may work next time
    ├── RequestRefused          a server refused a request of its client for another reason
    │   └── Forbidden           the role of the token does not allow it
    ├── WorkerRefused           a request of a remote worker
    │   ├── BadSignature        its signature does not belong to it
    │   ├── StaleTimestamp      its clock differs too much from that of the server
    │   ├── Replayed            its nonce was used before
    │   ├── WorkerDisabled      the enrolment of the worker is disabled
    │   ├── LabelRefused        the worker claims a label or a kind that its enrolment does not have
    │   ├── JoinRefused         a join token was refused
    │   ├── WorkerExpired       the worker has to register again
    │   ├── StaleLease          the worker does not hold the lease
    │   ├── RunCancelled        cancellation of the run was requested
    │   ├── LogRefused          output was sent out of order
    │   │   ├── LogRepeated     output was sent twice
    │   │   └── LogTooLarge     the attempt has too much output
    │   └── ProtocolTooOld      worker and server use different versions of the protocol
    ├── StaleClaim              a claimed run was given to another process, or has ended
    ├── SecretError             secrets in the database
    │   ├── SecretKeyUnusable   there is no key for them, or it is not safe to use
    │   └── SecretUnreadable    encrypted with another key, or changed
    ├── ResultsUnavailable      the run belongs to no fanout, or has ended
    ├── ChannelUnavailable      this process is not part of a job, or cannot reach the worker of its job
    ├── ChainRefused            a chain refused what a step asked for
    ├── ChannelRefused          the worker of the job refused a request, for example because the run has ended
    └── StorageError            the database
        ├── StorageUnavailable  could not be reached: may work next time
        │   └── StorageMissing  does not exist yet
        ├── StorageGone         removed or replaced while in use: only a restart helps
        ├── StorageCorrupt      damaged, or not a Foliot database
        │   └── RowUnreadable   one row that another program has changed
        ├── SchemaTooOld        written by an earlier version of Foliot, and opened only to read
        ├── SchemaTooNew        written by a later version of Foliot
        └── DriverMissing       the Python package for this database is not installed

A message is a short fact in lower case; the hint says in sentences what to do. Codes never change once released:
programs compare them.
"""

from foliot.errors.access import CredentialsRefused, RateLimited
from foliot.errors.base import FoliotError, shortened, shown, suggest
from foliot.errors.input import (
    CycleDetected,
    InvalidCron,
    InvalidDefinitions,
    InvalidDocument,
    InvalidInput,
    InvalidJob,
    InvalidJobDocument,
    InvalidRun,
    InvalidSchedule,
    InvalidTimezone,
    InvalidWorkflow,
    Unstorable,
    WrongState,
)
from foliot.errors.operation import (
    ChainRefused,
    ChangedMeanwhile,
    ChannelRefused,
    ChannelUnavailable,
    InputsError,
    InputsRefused,
    InputsUnavailable,
    InUse,
    JobInUse,
    NotFound,
    NotWritable,
    OutboundBlocked,
    OutboundError,
    OutboundFailed,
    OutputLost,
    OutputPruned,
    OutputTruncated,
    OutputUnavailable,
    OutputUnfinished,
    OwnedElsewhere,
    ResultsUnavailable,
    SecretError,
    SecretKeyUnusable,
    SecretUnreadable,
    StaleClaim,
    WaitTimeout,
    WrongLoop,
)
from foliot.errors.problem import Place, Problem, Severity
from foliot.errors.remote import Forbidden, RequestRefused, ServerUnavailable
from foliot.errors.storage import (
    DriverMissing,
    RowUnreadable,
    SchemaTooNew,
    SchemaTooOld,
    StorageCorrupt,
    StorageError,
    StorageGone,
    StorageMissing,
    StorageUnavailable,
)
from foliot.errors.worker import (
    BadSignature,
    JoinRefused,
    LabelRefused,
    LogRefused,
    LogRepeated,
    LogTooLarge,
    ProtocolTooOld,
    Replayed,
    RunCancelled,
    StaleLease,
    StaleTimestamp,
    WorkerDisabled,
    WorkerExpired,
    WorkerRefused,
)

__all__ = [
    "BadSignature",
    "ChainRefused",
    "ChangedMeanwhile",
    "ChannelRefused",
    "ChannelUnavailable",
    "CredentialsRefused",
    "CycleDetected",
    "DriverMissing",
    "FoliotError",
    "Forbidden",
    "InUse",
    "InputsError",
    "InputsRefused",
    "InputsUnavailable",
    "InvalidCron",
    "InvalidDefinitions",
    "InvalidDocument",
    "InvalidInput",
    "InvalidJob",
    "InvalidJobDocument",
    "InvalidRun",
    "InvalidSchedule",
    "InvalidTimezone",
    "InvalidWorkflow",
    "JobInUse",
    "JoinRefused",
    "LabelRefused",
    "LogRefused",
    "LogRepeated",
    "LogTooLarge",
    "NotFound",
    "NotWritable",
    "OutboundBlocked",
    "OutboundError",
    "OutboundFailed",
    "OutputLost",
    "OutputPruned",
    "OutputTruncated",
    "OutputUnavailable",
    "OutputUnfinished",
    "OwnedElsewhere",
    "Place",
    "Problem",
    "ProtocolTooOld",
    "RateLimited",
    "Replayed",
    "RequestRefused",
    "ResultsUnavailable",
    "RowUnreadable",
    "RunCancelled",
    "SchemaTooNew",
    "SchemaTooOld",
    "SecretError",
    "SecretKeyUnusable",
    "SecretUnreadable",
    "ServerUnavailable",
    "Severity",
    "StaleClaim",
    "StaleLease",
    "StaleTimestamp",
    "StorageCorrupt",
    "StorageError",
    "StorageGone",
    "StorageMissing",
    "StorageUnavailable",
    "Unstorable",
    "WaitTimeout",
    "WorkerDisabled",
    "WorkerExpired",
    "WorkerRefused",
    "WrongLoop",
    "WrongState",
    "shortened",
    "shown",
    "suggest",
]

# Tracebacks and pickles name an error by its public address, not by the file it is defined in.
for _name in __all__:
    globals()[_name].__module__ = __name__
del _name
