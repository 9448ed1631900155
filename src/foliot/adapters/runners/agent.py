"""The agent runner: runs a command-line assistant with a prompt, as a tree of processes."""

import os
import shlex
from collections.abc import Mapping
from typing import Final

from foliot.adapters.runners.process import inherited_environment, run_command
from foliot.adapters.runners.refusal import refusal
from foliot.domain.job.kinds import read_spec
from foliot.domain.job.kinds.agent import DEFAULT_CLI, AgentSpec
from foliot.domain.job.sandbox_policy import ANYTHING, SandboxPolicy
from foliot.domain.run.outcome import Failure, Success
from foliot.errors import InvalidJob
from foliot.ports.runner import Attempt

VARIABLES: Final = ("FOLIOT_AGENT_CLI", "CRONLORD_CLAUDE_CLI")
"""Variables that name the assistant of the worker; the first that is set is used."""

_HINT: Final = f"Install it in the PATH of the worker, or set another one with `cli` or {VARIABLES[0]}."


class AgentRunner:
    """Runs agent jobs. Reads the worker's environment once, when it is created."""

    abandoned = 0

    def __init__(self, environ: Mapping[str, str] = os.environ, *, sandbox_policy: SandboxPolicy = ANYTHING) -> None:
        self._inherited = inherited_environment(environ)
        self._sandbox_policy = sandbox_policy
        self._cli = _cli_of(environ)

    async def run(self, attempt: Attempt) -> Success | Failure:
        try:
            spec = read_spec(AgentSpec, attempt.spec)
            self._sandbox_policy.check(user=spec.user)
        except InvalidJob as error:
            return refusal(error)
        return await run_command(
            attempt,
            spec,
            spec.words(self._cli),
            echo=spec.echo(self._cli, attempt.written),
            inherited=self._inherited,
            hint_if_missing=_HINT,
        )


def _cli_of(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the worker's assistant with its first arguments. Text with unbalanced quotes is taken as one name."""
    text = next((environ[name] for name in VARIABLES if environ.get(name)), "")
    try:
        return tuple(shlex.split(text)) or DEFAULT_CLI
    except ValueError:
        return (text,)
