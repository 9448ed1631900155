"""What a running step may ask of its chain."""

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from foliot.domain.chain.decision import Decision
from foliot.domain.instant import Millis


class Spawn(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="spawn", omit_defaults=True):
    """Create a step. In a chain of a class, `name` is a stage; otherwise it is a job."""

    name: str
    after: Millis | None = None
    """Milliseconds from now. None: the default of the stage, or one second."""
    payload: Any = None
    key: str = ""
    """Names the attempt window: of two open steps with the same name and key only one is created."""
    slot: str = ""
    deadline: int | str | None = None
    claims: Mapping[str, Any] = {}
    """What the caller believes about its chain, in the words of the metadata."""


class Decide(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="decide", omit_defaults=True):
    """Tell what the running step has decided. It takes effect when the step ends."""

    decision: Decision
    reason: str = ""
    claims: Mapping[str, Any] = {}


class Spend(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="spend", omit_defaults=True):
    """Report what the running step has spent."""

    tokens: int = 0
    usd: float = 0.0


class Look(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="status"):
    """Read the state of the chain."""


ChainRequest = Spawn | Decide | Spend | Look
CLAIMING: Final = {
    "spawn": frozenset({"type", *Spawn.__struct_fields__}),
    "decide": frozenset({"type", *Decide.__struct_fields__}),
}
"""The requests that may claim something, with their fields. Whatever else one of them has is a claim."""
