"""What a running step may ask of its chain."""

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct, ValidationError, convert

from foliot.domain.chain.decision import Decision
from foliot.domain.instant import Millis
from foliot.errors import InvalidInput


class Spawn(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="spawn", omit_defaults=True):
    """Create a step. In a chain of a class, `name` is a stage; otherwise it is a job."""

    name: str
    delay: Millis | None = None
    """Milliseconds from now. None: the default of the stage, or one second."""
    payload: Any = None
    dedupe_key: str = ""
    """Names the attempt window: of two open steps with the same name and dedupe key only one is created."""
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


class ReadStatus(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="status"):
    """Read the state of the chain."""


ChainRequest = Spawn | Decide | Spend | ReadStatus
CLAIMING: Final = {"spawn": frozenset(Spawn.__struct_fields__), "decide": frozenset(Decide.__struct_fields__)}
"""The requests that may claim something, with their fields."""
_CLAIMED: Final = frozenset(
    {
        *("chainid", "chainclass", "class", "classid", "stage", "depth", "attempt", "expiresat", "deadline"),
        *("limits", "maxdepth", "maxchildren", "maxretries"),
    }
)
"""What only the scheduler decides, as `claim_name` returns it."""


def claim_name(name: str) -> str:
    """Return the name of a claim without differences in writing: expiresAt, expires_at and expires-at are one."""
    return name.replace("_", "").replace("-", "").lower()


def read_chain_request(given: object, *, field: str = "") -> ChainRequest:
    """Return a request as a job sends it. `field`: the parameter that it was given as, for the error."""
    try:
        request: ChainRequest = convert(split_claims(given) if isinstance(given, Mapping) else given, ChainRequest)
    except ValidationError as error:
        raise InvalidInput(
            f"the request to the chain has a wrong field: {error}",
            hint='Send for example {"type": "decide", "decision": "close"}.',
            field=field,
        ) from None
    return request


def split_claims(request: Mapping[str, Any]) -> dict[str, Any]:
    """Move fields that only the scheduler decides into the claims of a request, which its chain checks.

    Other unknown fields stay, and are refused as wrong.
    """
    known = CLAIMING.get(str(request.get("type")))
    if known is None:
        return {**request}
    names = [name for name in request if name not in known and claim_name(name) in _CLAIMED]
    if not names:
        return {**request}
    given = request.get("claims")
    claims = {**(given if isinstance(given, Mapping) else {}), **{name: request[name] for name in names}}
    return {**{name: value for name, value in request.items() if name not in names}, "claims": claims}
