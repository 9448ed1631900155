"""An agent job: a command-line assistant that gets a prompt."""

import shlex
from collections.abc import Mapping
from typing import Annotated, Any, Final

from msgspec import Meta
from msgspec.structs import replace

from foliot.domain.job.kinds.process import CommandSpec
from foliot.domain.secrets import public_text

DEFAULT_CLI: Final = ("claude",)
ARGS: Final = ("model", "permission_mode", "bare", "extra_args")
"""The keys of the `args` table of a job file that are options of the assistant."""
_WORDS: Final = ("cli", "extra_args", "prompt_args")
_TEXTS: Final = ("model", "permission_mode")


class AgentSpec(CommandSpec, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The fields of an agent job.

    program  options                                       -p  prompt
    claude   --model M --permission-mode P --bare  extras  -p  "Sum up the week"
    """

    prompt: Annotated[str, Meta(min_length=1)]
    cli: Annotated[tuple[str, ...], Meta(min_length=1)] | None = None
    """The program and its first arguments. None: those of the worker."""
    model: Annotated[str, Meta(min_length=1)] | None = None
    permission_mode: Annotated[str, Meta(min_length=1)] | None = None
    bare: bool = False
    extra_args: tuple[str, ...] = ()
    prompt_args: tuple[str, ...] = ("-p",)
    """The arguments directly before the prompt."""

    def words(self, cli: tuple[str, ...]) -> tuple[str, ...]:
        """Return the program and its arguments, the prompt last. `cli` is the worker's default program."""
        return (*self._before_prompt(cli), self._safe_prompt())

    def echo(self, cli: tuple[str, ...], written: Mapping[str, Any]) -> str:
        """Return the command as logs show it: without the prompt, with secrets masked, and with the fields in `written`
        as they were written."""
        words = {name: _words(written[name]) for name in _WORDS if name in written}
        texts = {name: str(written[name]) for name in _TEXTS if name in written}
        shown = replace(self, **words, **texts)._before_prompt(cli)
        return f"{shlex.join(map(public_text, shown))} <prompt of {len(self.prompt)} characters>"

    def _before_prompt(self, cli: tuple[str, ...]) -> tuple[str, ...]:
        model = () if self.model is None else ("--model", self.model)
        mode = () if self.permission_mode is None else ("--permission-mode", self.permission_mode)
        bare = ("--bare",) if self.bare else ()
        return (*(self.cli or cli), *model, *mode, *bare, *self.extra_args, *self.prompt_args)

    def _safe_prompt(self) -> str:
        """Return the prompt, with a space before a leading dash, so that the program does not read it as an option."""
        return f" {self.prompt}" if self.prompt.startswith("-") else self.prompt


def _words(written: Any) -> tuple[str, ...]:
    """Return a list of words. It may be written as one text: a variable that holds the whole list."""
    return (written,) if isinstance(written, str) else tuple(map(str, written))
