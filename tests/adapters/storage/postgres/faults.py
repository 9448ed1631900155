"""Things that go wrong at a named point, once."""

from collections.abc import Callable


class Faults:
    """Given to a storage: does what was planted when its point is reached, and remembers that it was."""

    def __init__(self) -> None:
        self._planted: dict[str, Callable[[], None]] = {}
        self.reached: list[str] = []

    def plant(self, point: str, happen: Callable[[], None]) -> None:
        self._planted[point] = happen

    def __call__(self, point: str) -> None:
        self.reached.append(point)
        if happen := self._planted.pop(point, None):
            happen()
