"""Parses a picture of a graph by following its lines."""

import re
from typing import Final, NamedTuple

_WAYS: Final = {
    "│": "ud", "─": "lr", "┌": "dr", "┐": "dl", "└": "ur", "┘": "ul",
    "├": "udr", "┤": "udl", "┬": "lrd", "┴": "lru", "┼": "udlr",
}  # fmt: skip
_STEPS: Final = {"u": (-1, 0), "d": (1, 0), "l": (0, -1), "r": (0, 1)}
_BACK: Final = {"u": "d", "d": "u", "l": "r", "r": "l"}


class Box(NamedTuple):
    name: str
    top: int
    bottom: int
    left: int
    right: int


def read_arrows(lines: list[str], names: list[str]) -> set[tuple[str, str, str]]:
    """Return parent, child and condition of every arrow. Boxes hold one line of text: a name."""
    boxes = [_box(lines, name) for name in names]
    return {arrow for box in boxes for arrow in _arrows(lines, box, boxes)}


def _box(lines: list[str], name: str) -> Box:
    [(row, match)] = [
        (row, match) for row, line in enumerate(lines) for match in re.finditer(rf"│ +{re.escape(name)} +│", line)
    ]
    return Box(name, row - 1, row + 1, match.start(), match.end() - 1)


def _arrows(lines: list[str], box: Box, boxes: list[Box]) -> set[tuple[str, str, str]]:
    found: set[tuple[str, str, str]] = set()
    seen: set[tuple[int, int, str]] = set()
    ports = [column for column in range(box.left, box.right) if lines[box.bottom][column] == "┬"]
    going = [(box.bottom + 1, column, "d") for column in ports]
    while going:
        row, column, way = place = going.pop()
        if place in seen:
            continue
        seen.add(place)
        char = lines[row][column]
        if char == "▼":
            [child] = [other.name for other in boxes if other.top == row + 1 and other.left < column < other.right]
            found.add((box.name, child, "".join(re.findall(r"^▼ (\w+)", lines[row][column:]))))
            continue
        # A horizontal line passes below a vertical one.
        onward = way if char == "│" else [other for other in _WAYS[char] if other != _BACK[way]]
        going += [(row + _STEPS[next_way][0], column + _STEPS[next_way][1], next_way) for next_way in onward]
    return found
