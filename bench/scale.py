"""How much is measured."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The full size, or a quick look that shows orders of magnitude."""

    is_quick: bool = False
    rounds: int | None = None
    synchronous: str = "FULL"
    slots: int = 500

    def pick(self, full: int, quick: int) -> int:
        return quick if self.is_quick else full

    def rounds_of(self, full: int, quick: int = 2) -> int:
        return self.rounds or self.pick(full, quick)

    @property
    def durability(self) -> str:
        return f"SQLite synchronous={self.synchronous}, PostgreSQL synchronous_commit=on"
