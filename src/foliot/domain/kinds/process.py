"""What every job that runs as a process can say about it."""

from typing import Annotated, Final

from msgspec import Meta, Struct

GRACE: Final = 2.0
"""Seconds between TERM and KILL, unless the job says otherwise."""
OUTPUT_CAP: Final = 4 << 20
"""Bytes of output that are stored, unless the job says otherwise."""


class ProcessLimits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What the process tree of a run may use. None: what the worker itself may."""

    memory: Annotated[int, Meta(ge=1 << 20)] | None = None
    """Bytes of address space of each process; of the whole tree where a control group can be had."""
    cpu_sec: Annotated[int, Meta(ge=1)] | None = None
    files: Annotated[int, Meta(ge=8)] | None = None
    """Open files of each process."""
    processes: Annotated[int, Meta(ge=1)] | None = None
    file_size: Annotated[int, Meta(ge=0)] | None = None
    """Bytes of each file that is written."""
    core: Annotated[int, Meta(ge=0)] = 0
    """Bytes of a core dump."""


class ProcessSpec(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Where, as whom and within which bounds a process runs."""

    env: dict[str, str] = {}
    working_dir: Annotated[str, Meta(min_length=1)] | None = None
    stdin: str | None = None
    """What the process reads; without it, nothing."""
    user: str | None = None
    """Whose rights it has; only a worker that runs as root can give others."""
    umask: Annotated[int, Meta(ge=0, le=0o777)] | None = None
    limits: ProcessLimits = ProcessLimits()
    grace: Annotated[float, Meta(ge=0, le=300)] = GRACE
    """Seconds between TERM and KILL."""
    output_cap: Annotated[int, Meta(ge=0)] = OUTPUT_CAP
    """Bytes of output to store."""
