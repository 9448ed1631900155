"""What a step of a chain decided.

A request of the running step counts more than JSON on the last line of its output, and that counts more than its exit
code. A step that decides nothing of this has failed.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from math import isfinite
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from foliot.domain.instant import EARLIEST, LATEST, Instant, from_datetime
from foliot.domain.run.payload import UNREADABLE

_MOST_COUNTED: Final = 10**15


class Decision(StrEnum):
    QUIET = "quiet"
    """The scout found nothing."""
    TRIGGER = "trigger"
    """The scout found something: the chain is armed."""
    DONE = "done"
    """The action was executed."""
    GOOD = "good"
    """The check found the wanted state."""
    MONITOR = "monitor"
    """The check must be repeated later."""
    RETRY = "retry"
    """The action is to be executed again."""
    ESCALATE = "escalate"
    """A person must act."""
    CLOSE = "close"
    """Nothing is left to do."""


_CHECKS: Final = {0: Decision.GOOD, 20: Decision.MONITOR, 30: Decision.RETRY, 40: Decision.ESCALATE}
DEFAULT_CODES: Final[Mapping[str, Mapping[int, Decision]]] = {
    "scout": {0: Decision.QUIET, 10: Decision.TRIGGER},
    "action": {0: Decision.DONE, 15: Decision.CLOSE},
    "verify": _CHECKS,
    "monitor": _CHECKS,
    "escalate": {0: Decision.DONE},
    "": {0: Decision.DONE, 15: Decision.CLOSE},
}
"""Stage -> exit code -> decision. The last entry is for all other stages."""
_OF_CHECKS: Final = frozenset({Decision.GOOD, Decision.MONITOR, Decision.RETRY, Decision.ESCALATE, Decision.CLOSE})
POSSIBLE: Final[Mapping[str, frozenset[Decision]]] = {
    "scout": frozenset({Decision.QUIET, Decision.TRIGGER}),
    "action": frozenset({Decision.DONE, Decision.RETRY, Decision.ESCALATE, Decision.CLOSE}),
    "verify": _OF_CHECKS,
    "monitor": _OF_CHECKS,
    "escalate": frozenset({Decision.DONE}),
    "": frozenset({Decision.DONE, Decision.ESCALATE, Decision.CLOSE}),
}
"""What a step of each stage may decide."""


class Report(Struct, frozen=True, kw_only=True):
    """The JSON object that a step prints as its last line, returns, or answers with. Other keys are allowed."""

    decision: str | None = None
    """A value that is no decision of the stage makes the step a failure."""
    reason: str = ""
    slot: str = ""
    """Which incident a scout found, if there can be several."""
    deadline: int | str | None = None
    """When the incident is over: ISO 8601, or seconds since 1970."""
    data: Any = None
    """What all further steps get in their payload."""
    tokens: int = 0
    usd: float = 0.0


_FENCE: Final = "```"


def read_report(output: bytes | None) -> Report:
    """Return the report in the output of a step. Output that is not an object reports nothing.

    In the result of an agent, the report is the last line of its text. What was spent is what the command says, not
    what the agent says.
    """
    found = _object(output)
    if not _is_agent_result(found):
        return _report(found)
    usage = found.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    tokens = _count(counts.get("input_tokens")) + _count(counts.get("output_tokens"))
    return replace(
        _report(_object(_last_line(found["result"]))), tokens=tokens, usd=_amount(found.get("total_cost_usd"))
    )


def _is_agent_result(found: Mapping[str, Any]) -> bool:
    """Whether the command of an agent has printed it: its text, and what it has spent."""
    has_spending = found.get("usage") is not None or found.get("total_cost_usd") is not None
    return isinstance(found.get("result"), str) and has_spending


def _object(output: bytes | None) -> Mapping[str, Any]:
    try:
        found = None if output is None else msgspec.json.decode(output)
    except UNREADABLE:
        return {}
    return found if isinstance(found, dict) else {}


def _report(found: Mapping[str, Any]) -> Report:
    """Read each field by itself: a wrong one must not hide what the step decided."""
    decision, deadline = found.get("decision"), found.get("deadline")
    return Report(
        decision=None if decision is None else _text(decision),
        reason=_text(found.get("reason")),
        slot=_text(found.get("slot")),
        deadline=deadline if deadline is None or type(deadline) is int else _text(deadline),
        data=found.get("data"),
        tokens=_count(found.get("tokens")),
        usd=_amount(found.get("usd")),
    )


def _text(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return msgspec.json.encode(value).decode()


def _count(value: Any) -> int:
    return int(min(_amount(value), _MOST_COUNTED))


def _amount(value: Any) -> float:
    """Return a number, also if it is written as text. Anything else counts as 0."""
    try:
        amount = float(value) if type(value) in (int, float, str) else 0.0
    except (ValueError, OverflowError):
        return 0.0
    return amount if isfinite(amount) else 0.0


def _last_line(text: str) -> bytes:
    """Return the last line, without the end of a block of code around it."""
    return text.rstrip().removesuffix(_FENCE).rstrip().rpartition("\n")[2].encode(errors="replace")


def read_deadline(value: int | str | None) -> Instant | None:
    """Return the moment that a report names. A text that is no moment counts as none."""
    if value is None:
        return None
    try:
        moment = value * 1_000 if isinstance(value, int) else from_datetime(_with_zone(datetime.fromisoformat(value)))
    except (ValueError, OverflowError):
        return None
    return Instant(moment) if EARLIEST <= moment <= LATEST else None


def _with_zone(moment: datetime) -> datetime:
    """Return a moment without a time zone as one in UTC."""
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
