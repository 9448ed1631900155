"""Fault points that fail once."""

from collections.abc import Callable


class Faults:
    """Called by a storage at each fault point: runs the planted action, and records the point."""

    def __init__(self) -> None:
        self._planted: dict[str, Callable[[], None]] = {}
        self.reached: list[str] = []

    def plant(self, point: str, action: Callable[[], None]) -> None:
        self._planted[point] = action

    def __call__(self, point: str) -> None:
        self.reached.append(point)
        if action := self._planted.pop(point, None):
            action()
