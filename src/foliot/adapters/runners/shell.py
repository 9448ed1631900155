"""The shell runner: a command line or a list of arguments, as a tree of processes."""

import logging
import os
import shlex
from collections.abc import Collection, Mapping
from typing import Annotated, Final

from msgspec import Meta, Struct, ValidationError, convert

from foliot.adapters.runners.process import (
    GRACE,
    OUTPUT_CAP,
    Launch,
    child_environment,
    inherited_environment,
    run_process,
    sweep_orphans,
)
from foliot.adapters.runners.process.proctable import Tag
from foliot.domain.ids import RunId
from foliot.domain.outcome import Failure, Reason, Success
from foliot.errors import InvalidJob
from foliot.ports.runner import Attempt

log = logging.getLogger(__name__)

SHELL: Final = "/bin/sh"


class ShellSpec(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a shell job says: a command for the shell, or the arguments of a program without one."""

    command: str | None = None
    argv: Annotated[tuple[str, ...], Meta(min_length=1)] | None = None
    env: dict[str, str] = {}
    working_dir: Annotated[str, Meta(min_length=1)] | None = None
    grace: Annotated[float, Meta(ge=0, le=300)] = GRACE
    """Seconds between TERM and KILL."""
    output_cap: Annotated[int, Meta(ge=0)] = OUTPUT_CAP
    """Bytes of output to store."""

    def __post_init__(self) -> None:
        if (self.command is None) == (self.argv is None):
            raise ValueError("give either `command` or `argv`")

    @property
    def words(self) -> tuple[str, ...]:
        return self.argv if self.argv is not None else (SHELL, "-c", self.command or "")

    @property
    def echo(self) -> str:
        return shlex.join(self.argv) if self.argv is not None else self.command or ""


def parse_spec(spec: Mapping[str, object]) -> ShellSpec:
    """Read the definition of a shell job, or refuse it with InvalidJob."""
    try:
        return convert(spec, ShellSpec)
    except ValidationError as error:
        raise InvalidJob(f"this is no shell job: {error}", field="spec") from None


async def sweep_processes(attempts: Collection[tuple[RunId, int]]) -> None:
    """End the processes that attempts of vanished workers have left on this machine."""
    left = await sweep_orphans([Tag(run_id, number) for run_id, number in attempts])
    if left:
        log.error("processes_not_ended", extra={"pids": sorted(left)})


class ShellRunner:
    """Runs shell jobs. The worker's own environment is read once, at the start."""

    abandoned = 0

    def __init__(self, environ: Mapping[str, str] = os.environ) -> None:
        self._inherited = inherited_environment(environ)

    async def run(self, attempt: Attempt) -> Success | Failure:
        try:
            spec = parse_spec(attempt.spec)
            environment = child_environment(self._inherited, spec.env, attempt)
        except InvalidJob as error:
            return Failure(error.message, Reason.LAUNCH_FAILED, retryable=False)
        except (TypeError, ValueError) as error:
            return Failure(f"the payload cannot be written as JSON: {error}", Reason.PAYLOAD, retryable=False)
        attempt.log.write("meta", f"$ {spec.echo}\n".encode(errors="backslashreplace"))
        return await run_process(
            Launch(spec.words, environment, spec.working_dir),
            Tag(attempt.run_id, attempt.number),
            attempt.log,
            grace=spec.grace,
            output_cap=spec.output_cap,
        )
