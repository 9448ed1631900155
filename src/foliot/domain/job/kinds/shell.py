"""A shell job: a command line, or the arguments of a program without a shell."""

import shlex
from typing import Annotated, Final

from msgspec import Meta

from foliot.domain.job.kinds.process import CommandSpec
from foliot.domain.secrets import public_text

SHELL: Final = "/bin/sh"


class ShellSpec(CommandSpec, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The fields of a shell job: a command for the shell, or the arguments of a program without a shell."""

    command: str | None = None
    argv: Annotated[tuple[str, ...], Meta(min_length=1)] | None = None

    def __post_init__(self) -> None:
        if self.command is None and self.argv is None:
            raise ValueError("give `command` or `argv`")
        if self.command is not None and self.argv is not None:
            raise ValueError("`command` and `argv` are mutually exclusive")
        if self.command is not None and not self.command.strip():
            raise ValueError("`command` is empty")
        if self.argv is not None and not self.argv[0]:
            raise ValueError("the first item of `argv` must be a program")

    @property
    def words(self) -> tuple[str, ...]:
        return self.argv if self.argv is not None else (SHELL, "-c", self.command or "")

    @property
    def echo(self) -> str:
        """The command as logs show it, with secrets masked."""
        if self.argv is not None:
            return shlex.join(map(public_text, self.argv))
        return public_text(self.command or "")
