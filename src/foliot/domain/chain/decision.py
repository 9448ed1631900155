"""What a step of a chain decided.

A request of the running step counts more than JSON on the last line of its output, and that counts more than its exit
code. A step that decides nothing of this has failed.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from foliot.domain.instant import EARLIEST, LATEST, Instant, from_datetime
from foliot.domain.run.payload import UNREADABLE

T = TypeVar("T")


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
    """A word that is no decision of the stage makes the step a failure."""
    reason: str = ""
    slot: str = ""
    """Which incident a scout found, if there can be several."""
    deadline: int | str | None = None
    """When the incident is over: ISO 8601, or seconds since 1970."""
    data: Any = None
    """What all further steps get in their payload."""
    tokens: int = 0
    usd: float = 0.0


class Usage(Struct, frozen=True, kw_only=True):
    input_tokens: int = 0
    output_tokens: int = 0


class AgentResult(Struct, frozen=True, kw_only=True):
    """What the command of an agent prints as its result. What the agent itself says is the text `result`."""

    result: str
    usage: Usage | None = None
    total_cost_usd: float | None = None

    @property
    def has_spending(self) -> bool:
        return self.usage is not None or self.total_cost_usd is not None


NO_REPORT: Final = Report()
_FENCE: Final = "```"


def read_report(output: bytes | None) -> Report:
    """Return the report in the output of a step. Output that is not such an object reports nothing.

    In the result of an agent, the report is the last line of its text. What was spent is what the command says, not
    what the agent says.
    """
    agent = _read(output, AgentResult)
    if agent is None or not agent.has_spending:
        return _read(output, Report) or NO_REPORT
    said = _read(_last_line(agent.result), Report) or NO_REPORT
    usage = agent.usage or Usage()
    return replace(said, tokens=usage.input_tokens + usage.output_tokens, usd=agent.total_cost_usd or 0.0)


def _read(output: bytes | None, kind: type[T]) -> T | None:
    try:
        return None if output is None else msgspec.json.decode(output, type=kind)
    except UNREADABLE:
        return None


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
