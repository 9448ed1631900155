"""An agent job: a command-line assistant that is given a prompt."""

import shlex
from typing import Annotated, Final

from msgspec import Meta

from foliot.domain.kinds.process import CommandSpec

DEFAULT_CLI: Final = ("claude",)
ARGS: Final = ("model", "permission_mode", "bare", "extra_args")
"""The keys of the `args` table of a job file that speak to the assistant."""


class AgentSpec(CommandSpec, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What an agent job says.

    program  options                                       -p  prompt
    claude   --model M --permission-mode P --bare  extras  -p  "Sum up the week"
    """

    prompt: Annotated[str, Meta(min_length=1)]
    cli: Annotated[tuple[str, ...], Meta(min_length=1)] | None = None
    """The program and its first arguments; without it, those of the worker."""
    model: Annotated[str, Meta(min_length=1)] | None = None
    permission_mode: Annotated[str, Meta(min_length=1)] | None = None
    bare: bool = False
    extra_args: tuple[str, ...] = ()
    prompt_args: tuple[str, ...] = ("-p",)
    """What stands right before the prompt."""

    def words(self, cli: tuple[str, ...]) -> tuple[str, ...]:
        """The program and its arguments, the prompt last; `cli` is what the worker has for jobs that name none."""
        return (*self._before_prompt(cli), self._safe_prompt())

    def echo(self, cli: tuple[str, ...]) -> str:
        """The same for a log, where the prompt does not belong."""
        return f"{shlex.join(self._before_prompt(cli))} <prompt of {len(self.prompt)} characters>"

    def _before_prompt(self, cli: tuple[str, ...]) -> tuple[str, ...]:
        model = () if self.model is None else ("--model", self.model)
        mode = () if self.permission_mode is None else ("--permission-mode", self.permission_mode)
        bare = ("--bare",) if self.bare else ()
        return (*(self.cli or cli), *model, *mode, *bare, *self.extra_args, *self.prompt_args)

    def _safe_prompt(self) -> str:
        """With a space before a dash: it means the same to the reader, and is no option to the program."""
        return f" {self.prompt}" if self.prompt.startswith("-") else self.prompt
