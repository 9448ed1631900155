"""A grid of characters: texts, boxes, and lines that join at corners and cross without touching."""

from collections.abc import Hashable, Iterator
from itertools import groupby
from typing import Final, NamedTuple

UP, RIGHT, DOWN, LEFT = 1, 2, 4, 8
_UNICODE: Final = {
    UP: "│", DOWN: "│", UP | DOWN: "│", LEFT: "─", RIGHT: "─", LEFT | RIGHT: "─",
    DOWN | RIGHT: "┌", DOWN | LEFT: "┐", UP | RIGHT: "└", UP | LEFT: "┘",
    UP | DOWN | RIGHT: "├", UP | DOWN | LEFT: "┤", LEFT | RIGHT | DOWN: "┬", LEFT | RIGHT | UP: "┴",
    UP | DOWN | LEFT | RIGHT: "┼",
}  # fmt: skip
_STRAIGHT: Final = {UP: "|", DOWN: "|", UP | DOWN: "|", LEFT: "-", RIGHT: "-", LEFT | RIGHT: "-"}


class Pen(NamedTuple):
    """The characters to draw with."""

    joints: dict[int, str]
    head: str

    @classmethod
    def for_encoding(cls, encoding: str | None) -> "Pen":
        """Return box-drawing characters if the encoding has them, else ASCII."""
        try:
            "".join((*_UNICODE.values(), "▼")).encode(encoding or "ascii")
        except (UnicodeEncodeError, LookupError):
            return cls({**dict.fromkeys(_UNICODE, "+"), **_STRAIGHT}, "v")
        return cls(_UNICODE, "▼")


class Piece(NamedTuple):
    """Consecutive characters of a line with the same style."""

    text: str
    style: str


class Canvas:
    """A canvas without bounds. Lines of the same net join where they meet."""

    def __init__(self, pen: Pen) -> None:
        self._pen = pen
        self._cells: dict[tuple[int, int], tuple[str, str]] = {}
        self._lines: dict[tuple[int, int], tuple[Hashable, int]] = {}

    def write(self, column: int, row: int, text: str, style: str = "") -> None:
        for offset, char in enumerate(text):
            self._cells[row, column + offset] = (char, style)

    def head(self, column: int, row: int) -> None:
        self.write(column, row, self._pen.head)

    def down(self, column: int, top: int, bottom: int, net: Hashable) -> None:
        """Draw a line from the middle of one row to the middle of another."""
        for row in range(top, bottom):
            self._join(column, row, DOWN, net)
            self._join(column, row + 1, UP, net)

    def across(self, left: int, right: int, row: int, net: Hashable) -> None:
        for column in range(left, right):
            self._join(column, row, RIGHT, net)
            self._join(column + 1, row, LEFT, net)

    def box(self, left: int, top: int, right: int, bottom: int, net: Hashable) -> None:
        for row in (top, bottom):
            self.across(left, right, row, net)
        for column in (left, right):
            self.down(column, top, bottom, net)

    def lines(self) -> Iterator[list[Piece]]:
        """Yield the drawn rows, without blanks at the end."""
        cells = {place: (self._pen.joints[ways], "") for place, (_, ways) in self._lines.items()} | self._cells
        for row, places in groupby(sorted(cells), key=lambda place: place[0]):
            columns = [column for _, column in places]
            chars = [cells.get((row, column), (" ", "")) for column in range(columns[-1] + 1)]
            yield [
                Piece("".join(char for char, _ in run), style)
                for style, run in groupby(chars, key=lambda cell: cell[1])
            ]

    def _join(self, column: int, row: int, way: int, net: Hashable) -> None:
        """Add to a line. Lines of different nets only cross: the vertical one is drawn through."""
        other, ways = self._lines.get((row, column), (net, 0))
        if other == net:
            self._lines[row, column] = (net, ways | way)
        elif way in (UP, DOWN):
            self._lines[row, column] = (net, UP | DOWN)
