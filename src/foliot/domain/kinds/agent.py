"""An agent job: a command-line assistant that is given a prompt."""

from foliot.domain.kinds.process import ProcessSpec


class AgentSpec(ProcessSpec, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What an agent job says."""

    prompt: str
    cli: tuple[str, ...] = ("claude",)
    """The program and its first arguments."""
    args: tuple[str, ...] = ("-p",)
    """What stands between the program and the prompt."""
