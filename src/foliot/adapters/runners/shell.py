"""The shell runner: runs a command line or a list of arguments, as a tree of processes."""

import asyncio
import logging
import os
from collections.abc import Collection, Mapping

from foliot.adapters.runners.process import inherited_environment, run_command, sweep_orphans, sweep_output_files
from foliot.adapters.runners.process.spawn.environment import AttemptKey
from foliot.adapters.runners.refusal import refusal
from foliot.domain.ids import RunId
from foliot.domain.job.kinds import read_spec
from foliot.domain.job.kinds.shell import ShellSpec
from foliot.domain.job.sandbox_policy import ANYTHING, SandboxPolicy
from foliot.domain.run.outcome import Failure, Success
from foliot.errors import InvalidJob
from foliot.ports.runner import Attempt

log = logging.getLogger(__name__)


async def sweep_processes(attempts: Collection[tuple[RunId, int]]) -> None:
    """End processes, and remove output files, that attempts of dead workers left on this machine."""
    keys = [AttemptKey(run_id, number) for run_id, number in attempts]
    left = await sweep_orphans(keys)
    await asyncio.to_thread(sweep_output_files, keys)
    if left:
        log.error("processes_not_ended", extra={"pids": sorted(left)})


class ShellRunner:
    """Runs shell jobs. Reads the worker's environment once, when it is created."""

    abandoned = 0

    def __init__(self, environ: Mapping[str, str] = os.environ, *, sandbox_policy: SandboxPolicy = ANYTHING) -> None:
        self._inherited = inherited_environment(environ)
        self._sandbox_policy = sandbox_policy

    async def run(self, attempt: Attempt) -> Success | Failure:
        try:
            spec = read_spec(ShellSpec, attempt.spec)
            self._sandbox_policy.check(user=spec.user)
        except InvalidJob as error:
            return refusal(error)
        return await run_command(attempt, spec, spec.words, echo=spec.echo, inherited=self._inherited)
