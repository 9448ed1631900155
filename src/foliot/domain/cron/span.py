"""A piece of a cron expression that remembers where it stands, so that every fault can point at its cause."""

from typing import NamedTuple, Self

from foliot.errors import InvalidCron

_SHOWN = 40


class Span(NamedTuple):
    expression: str
    start: int
    text: str

    def cut(self, first: int, last: int | None = None) -> Self:
        """The part between two offsets into this span."""
        return self._replace(start=self.start + first, text=self.text[first:last])

    def split(self, separator: str) -> list[Self]:
        pieces, offset = [], 0
        for text in self.text.split(separator):
            pieces.append(self._replace(start=self.start + offset, text=text))
            offset += len(text) + len(separator)
        return pieces

    def partition(self, separator: str) -> tuple[Self, Self | None]:
        """What stands before the first separator and what stands after it: None when there is none."""
        place = self.text.find(separator)
        if place < 0:
            return self, None
        return self.cut(0, place), self.cut(place + len(separator))

    def fault(self, message: str, hint: str) -> InvalidCron:
        return InvalidCron(message, expression=self.expression, position=self.start, hint=hint)

    def __str__(self) -> str:
        """The text as a message may show it: cut, quoted, and with nothing in it that a terminal obeys."""
        return ascii(self.text if len(self.text) <= _SHOWN else self.text[:_SHOWN] + "...")
