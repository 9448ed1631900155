"""What every job that runs as a process can say about it."""

from typing import Annotated, Final

from msgspec import Meta, Struct

from foliot.domain.run.output import OutputMode

GRACE: Final = 2.0
"""Seconds between TERM and KILL, unless the job says otherwise."""
OUTPUT_CAP: Final = 4 << 20
"""Bytes of output that are stored, unless the job says otherwise."""
LARGEST: Final = (1 << 63) - 1
"""What no limit can exceed: the system counts no further."""

Size = Annotated[int, Meta(ge=0, le=LARGEST)]
VariableName = Annotated[str, Meta(pattern="^[^=\\0]+$")]


class ProcessLimits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What the process tree of a run may use. None: what the worker itself may."""

    memory: Annotated[int, Meta(ge=1 << 20, le=LARGEST)] | None = None
    """Bytes of address space of each process; of the whole tree where a control group can be had."""
    cpu_sec: Annotated[int, Meta(ge=1, le=1 << 32)] | None = None
    """Seconds of processor time of each process."""
    files: Annotated[int, Meta(ge=8, le=1 << 30)] | None = None
    """Open files of each process."""
    processes: Annotated[int, Meta(ge=1, le=1 << 22)] | None = None
    """Processes and threads of the job's user; of the whole tree where a control group can be had."""
    file_size: Size | None = None
    """Bytes of each file that is written."""
    core: Size = 0
    """Bytes of a core dump."""


UNLIMITED: Final = ProcessLimits()


class ProcessSpec(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Where, as whom and within which bounds a process runs."""

    env: dict[VariableName, str] = {}
    working_dir: Annotated[str, Meta(min_length=1)] | None = None
    stdin: str | None = None
    """What the process reads; without it, nothing."""
    user: Annotated[str, Meta(min_length=1)] | None = None
    """Whose rights it has; only a worker that runs as root can give others."""
    umask: Annotated[int, Meta(ge=0, le=0o777)] | None = None
    limits: ProcessLimits = UNLIMITED
    grace: Annotated[float, Meta(ge=0, le=300)] = GRACE
    """Seconds between TERM and KILL."""
    output_cap: Size = OUTPUT_CAP
    """Bytes of output to store."""


class CommandSpec(ProcessSpec, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a process can say that is a command, and so has nothing to return."""

    output: OutputMode = "none"
    """What of it becomes the output of the run."""
