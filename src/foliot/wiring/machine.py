"""Describes and prepares the machine of this process."""

import os
import platform
import socket
from typing import NamedTuple

from foliot.adapters.clock import SystemClock
from foliot.adapters.processes import ProcProcesses
from foliot.adapters.runners.host import ThisHost
from foliot.adapters.runners.process.limits.descriptors import (
    DESCRIPTORS_PER_RUN,
    WORKER_DESCRIPTORS,
    raise_limit,
    runs_for,
)
from foliot.ports.host import Host


class Descriptors(NamedTuple):
    """How many files this process may have open, and how many it needs."""

    allowed: int
    wanted: int
    slots: int
    """How many concurrent runs the allowed number is enough for."""


def take_descriptors(slots: int) -> Descriptors:
    """Raise the limit of open files of this process to the system's maximum. Processes of jobs keep the old limit."""
    allowed = raise_limit()
    return Descriptors(
        allowed,
        WORKER_DESCRIPTORS + DESCRIPTORS_PER_RUN * slots,
        runs_for(allowed),
    )


def build_host() -> Host:
    """Build what `foliot doctor` examines this machine with."""
    return ThisHost(ProcProcesses(SystemClock().boot_id))


def environment() -> str:
    """Return where this process runs, for people."""
    python = platform.python_implementation() + " " + platform.python_version()
    return f"{python}, {platform.system()} {platform.machine()}, {socket.gethostname()}"


def node_label() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"
