"""Alerts: what people should know at once, without looking for it.

An alert is an event, stored in the transaction of the change that it is about. Notifications deliver every alert,
whatever its kind: a new kind is one line here.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple, Self


class AlertKind(StrEnum):
    CHAIN_ARMED = "chain_armed"
    CHAIN_ESCALATED = "chain_escalated"
    BREAKER_OPENED = "breaker_opened"
    BREAKER_CLOSED = "breaker_closed"
    BUDGET_USED = "budget_used"


class Alert(NamedTuple):
    kind: str
    """An `AlertKind`, or a kind that a newer version has written."""
    subject: str
    """What the alert is about: the id of a chain or of a class of chains."""
    facts: Mapping[str, Any]
    """What people need to act, as JSON values by name: run ids, times, limits, a reason."""

    @property
    def item(self) -> list[Any]:
        """The alert as an item of an event `alert.raised`."""
        return [str(self.kind), self.subject, dict(self.facts)]

    @classmethod
    def of_item(cls, item: list[Any]) -> Self:
        kind, subject, facts = item
        return cls(kind, subject, facts)
