"""The errors that Foliot raises on purpose.

    FoliotError                 code, message, hint
    ├── InvalidInput            the caller can correct it: nothing was stored
    │   ├── InvalidCron         a cron expression, with the position of the fault
    │   ├── InvalidTimezone     a timezone name, with the closest match
    │   ├── InvalidSchedule     a schedule that cannot fire (never matches, ends before it starts ...)
    │   ├── InvalidJob          a job definition that cannot be run
    │   │   └── InvalidJobDocument  a job in a JSON document, with the JSON path of each problem
    │   ├── InvalidRun          a run that cannot be created (payload, dedupe key ...)
    │   ├── Unstorable          a value that the database cannot store
    │   ├── CycleDetected       a dependency that would create a cycle of jobs
    │   └── InvalidWorkflow     a workflow, with all its problems
    │       └── InvalidDocument a workflow in a JSON document, with the JSON path of each problem
    ├── NotFound                a job, schedule, run, workflow or execution does not exist
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
    InvalidDocument,
    InvalidInput,
    InvalidJob,
    InvalidJobDocument,
    InvalidRun,
    InvalidSchedule,
    InvalidTimezone,
    InvalidWorkflow,
    Unstorable,
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

__all__ = [
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
    "InvalidDocument",
    "InvalidInput",
    "InvalidJob",
    "InvalidJobDocument",
    "InvalidRun",
    "InvalidSchedule",
    "InvalidTimezone",
    "InvalidWorkflow",
    "JobInUse",
    "NotFound",
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
    "RateLimited",
    "RequestRefused",
    "ResultsUnavailable",
    "RowUnreadable",
    "SchemaTooNew",
    "SchemaTooOld",
    "SecretError",
    "SecretKeyUnusable",
    "SecretUnreadable",
    "ServerUnavailable",
    "Severity",
    "StaleClaim",
    "StorageCorrupt",
    "StorageError",
    "StorageGone",
    "StorageMissing",
    "StorageUnavailable",
    "Unstorable",
    "WaitTimeout",
    "WrongLoop",
    "shortened",
    "shown",
    "suggest",
]

# Tracebacks and pickles name an error by its public address, not by the file it is defined in.
for _name in __all__:
    globals()[_name].__module__ = __name__
del _name
