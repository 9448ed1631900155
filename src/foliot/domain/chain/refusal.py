"""Why a chain refuses what a step asks for."""

from enum import StrEnum
from typing import NamedTuple

from foliot.domain.chain.state import SLOT
from foliot.domain.instant import Instant, to_iso


class RefusalCode(StrEnum):
    """The reason as a word, for programs."""

    NO_CHAIN = "no_chain"
    """The run belongs to no chain."""
    CHAIN_CLOSED = "chain_closed"
    """The chain is closed, or is closing."""
    EXPIRED = "expired"
    """The step would begin after the expiry."""
    DUPLICATE = "duplicate"
    """Another chain handles the incident."""
    CLASS_STOPPED = "class_stopped"
    BREAKER_OPEN = "breaker_open"
    BREAKER_HALF_OPEN = "breaker_half_open"
    MAX_CONCURRENT = "max_concurrent"
    MAX_DEPTH = "max_depth"
    MAX_CHILDREN = "max_children"
    SPAWN_RATE = "spawn_rate"
    CLASS_SPAWN_RATE = "class_spawn_rate"
    BUDGET = "budget"
    FORGED = "forged"
    """The request claims what only the scheduler decides."""
    STAGE_NOT_FOUND = "stage_not_found"
    STAGE_NOT_ALLOWED = "stage_not_allowed"
    """A scout starts only the action."""
    JOB_NOT_FOUND = "job_not_found"
    INVALID_SLOT = "invalid_slot"
    INVALID_DEADLINE = "invalid_deadline"
    INVALID_PAYLOAD = "invalid_payload"
    INVALID_SPENDING = "invalid_spending"
    KEY_TOO_LONG = "key_too_long"
    DELAY_TOO_SHORT = "delay_too_short"
    DECISION_NOT_ALLOWED = "decision_not_allowed"
    ALREADY_DECIDED = "already_decided"
    SCOUT_FAILED = "scout_failed"
    """The scout itself failed, so nothing was armed."""


class Refusal(NamedTuple):
    """Why a request is refused. A violation opens the breaker."""

    code: RefusalCode
    message: str
    hint: str
    is_violation: bool = False


def expired(due_at: Instant, expires_at: Instant) -> Refusal:
    message = f"the step would begin at {to_iso(due_at)}, and the chain expires at {to_iso(expires_at)}"
    return Refusal(RefusalCode.EXPIRED, message, "Use a shorter delay.")


def closed(chain_id: str, *, is_closing: bool) -> Refusal:
    message = f"chain {chain_id} is {'closing' if is_closing else 'closed'}"
    return Refusal(RefusalCode.CHAIN_CLOSED, message, "A new incident needs a new chain.")


def slot_refusal(slot: str) -> Refusal | None:
    if SLOT.fullmatch(slot):
        return None
    return Refusal(RefusalCode.INVALID_SLOT, f"{slot[:64]!a} is not a slot", "Use 1 to 64 letters, digits and . _ : -")


def deadline_refusal(given: int | str) -> Refusal:
    message = f"{str(given)[:64]!a} is not a time"
    return Refusal(RefusalCode.INVALID_DEADLINE, message, "Use ISO 8601: 2030-01-31T18:00:00Z")


def violation(code: RefusalCode, message: str) -> Refusal:
    return Refusal(code, message, "The breaker of the class has opened.", is_violation=True)


def rate_violation(code: RefusalCode, who: str, count: int, window: int) -> Refusal:
    return violation(code, f"{who} has created {count} steps within {window / 1_000:g} s")
