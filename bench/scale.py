"""The size of the measurements."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The full size, or a quick one that shows orders of magnitude."""

    is_quick: bool = False
    rounds: int | None = None
    synchronous: str = "FULL"
    items: int | None = None
    """The items of the largest fanout."""

    def pick(self, full: int, quick: int) -> int:
        return quick if self.is_quick else full

    def rounds_of(self, full: int, quick: int = 1) -> int:
        return self.rounds or self.pick(full, quick)

    @property
    def durability(self) -> str:
        return f"SQLite synchronous={self.synchronous}, PostgreSQL synchronous_commit=on"
