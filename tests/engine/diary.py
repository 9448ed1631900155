"""Steps that record that they ran, and end as the test sets."""

import asyncio
from typing import Any

from foliot import current_run


class Diary:
    """Records what ran, in order, and controls how steps end."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.seen: list[tuple[str, str | None]] = []
        self.failing: set[str] = set()
        self.held: dict[str, asyncio.Event] = {}
        """Steps that wait until `let_go`."""

    def hold(self, name: str) -> None:
        self.held[name] = asyncio.Event()

    async def begun(self, name: str) -> None:
        """Wait until a step has begun, in real time."""
        while name not in self.ran:
            await asyncio.sleep(0.01)

    def let_go(self, name: str) -> None:
        self.held.pop(name).set()

    def step(self, name: str, answer: Any = None) -> Any:
        async def work(**given: Any) -> Any:
            self.ran.append(name)
            self.seen.append((name, current_run().execution_id))
            if name in self.held:
                await self.held[name].wait()
            if name in self.failing:
                raise ValueError(f"{name} fails")
            return given if answer is None else answer

        return work
