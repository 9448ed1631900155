"""A piece of a cron expression with its position, so that errors can point at it."""

from typing import NamedTuple, Self

from foliot.errors import InvalidCron

_SHOWN = 40


class Span(NamedTuple):
    expression: str
    start: int
    text: str

    def cut(self, first: int, last: int | None = None) -> Self:
        """Return the part between two offsets into this span."""
        return self._replace(start=self.start + first, text=self.text[first:last])

    def split(self, separator: str) -> list[Self]:
        pieces, offset = [], 0
        for text in self.text.split(separator):
            pieces.append(self._replace(start=self.start + offset, text=text))
            offset += len(text) + len(separator)
        return pieces

    def partition(self, separator: str) -> tuple[Self, Self | None]:
        """Return the parts before and after the first separator. The second is None if there is no separator."""
        place = self.text.find(separator)
        if place < 0:
            return self, None
        return self.cut(0, place), self.cut(place + len(separator))

    def fault(self, message: str, hint: str) -> InvalidCron:
        return InvalidCron(message, expression=self.expression, position=self.start, hint=hint)

    def __str__(self) -> str:
        """Return the text for a message: shortened, quoted, and without control characters."""
        return ascii(self.text if len(self.text) <= _SHOWN else self.text[:_SHOWN] + "...")
