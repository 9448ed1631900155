"""The agent runner: a command-line assistant with a prompt, as a tree of processes."""

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
"""Where the worker is told which assistant it has; the first that is set counts."""

_HINT: Final = f"Install it where the worker can find it, or name another one in `cli` or in {VARIABLES[0]}."


class AgentRunner:
    """Runs agent jobs. The worker's own environment is read once, at the start."""

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
    """The worker's assistant, with its first arguments. Text that no shell could read is a name with odd characters."""
    text = next((environ[name] for name in VARIABLES if environ.get(name)), "")
    try:
        return tuple(shlex.split(text)) or DEFAULT_CLI
    except ValueError:
        return (text,)
