"""The size of the measurements."""

from dataclasses import dataclass
from typing import Final

SLOTS: Final = 4_000
"""The concurrency that gave the best result: Foliot drains PostgreSQL a third faster than with 500."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The full size, or a quick one that shows orders of magnitude."""

    is_quick: bool = False
    rounds: int | None = None
    synchronous: str = "FULL"
    slots: int = SLOTS
    items: int | None = None
    """The items of the largest fanout."""

    def pick(self, full: int, quick: int) -> int:
        return quick if self.is_quick else full

    def rounds_of(self, full: int, quick: int = 2) -> int:
        return self.rounds or self.pick(full, quick)

    @property
    def durability(self) -> str:
        return f"SQLite synchronous={self.synchronous}, PostgreSQL synchronous_commit=on"
