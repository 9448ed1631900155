"""The fields of every job that runs as a process."""

from typing import Annotated, Final

from msgspec import Meta, Struct

from foliot.domain.run.output import OutputMode

GRACE: Final = 2.0
"""The default number of seconds between TERM and KILL."""
OUTPUT_CAP: Final = 4 << 20
"""The default number of bytes of output that are stored."""
LARGEST: Final = (1 << 63) - 1
"""The largest limit that the operating system supports."""

Size = Annotated[int, Meta(ge=0, le=LARGEST)]
ExitCode = Annotated[int, Meta(ge=0, le=255)]
VariableName = Annotated[str, Meta(pattern="^[^=\\0]+$")]


class ProcessLimits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Resource limits of the process tree of a run. None: the limit of the worker itself."""

    memory: Annotated[int, Meta(ge=1 << 20, le=LARGEST)] | None = None
    """Bytes of address space of each process, or of the whole tree where a control group is available."""
    cpu_sec: Annotated[int, Meta(ge=1, le=1 << 32)] | None = None
    """Seconds of processor time of each process."""
    files: Annotated[int, Meta(ge=8, le=1 << 30)] | None = None
    """Open files of each process."""
    processes: Annotated[int, Meta(ge=1, le=1 << 22)] | None = None
    """Processes and threads of the job's user, or of the whole tree where a control group is available."""
    file_size: Size | None = None
    """Bytes of each written file."""
    core: Size = 0
    """Bytes of a core dump."""


UNLIMITED: Final = ProcessLimits()


class ProcessSpec(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The environment, user and limits of a process."""

    env: dict[VariableName, str] = {}
    working_dir: Annotated[str, Meta(min_length=1)] | None = None
    stdin: str | None = None
    """The standard input of the process. None: empty."""
    user: Annotated[str, Meta(min_length=1)] | None = None
    """The user it runs as. Only a worker that runs as root can use another user."""
    umask: Annotated[int, Meta(ge=0, le=0o777)] | None = None
    limits: ProcessLimits = UNLIMITED
    grace: Annotated[float, Meta(ge=0, le=300)] = GRACE
    """Seconds between TERM and KILL."""
    output_cap: Size = OUTPUT_CAP
    """Bytes of output to store."""


class CommandSpec(ProcessSpec, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The fields of a process that is a command and has no return value."""

    output: OutputMode = "none"
    """Where the output of the run is read from."""
    success_codes: Annotated[tuple[ExitCode, ...], Meta(min_length=1)] = (0,)
    """The exit codes that count as success."""
