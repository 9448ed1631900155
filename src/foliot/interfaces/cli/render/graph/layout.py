"""The positions of the steps of a drawing.

Each layer is a row. An arrow that passes rows has a lane in each of them; all arrows of one step share their lanes. The
steps of each row are ordered so that few arrows cross (by the mean position of their neighbours), and then moved as
near to their neighbours as the order allows.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from foliot.domain.workflow.layout import Arrow, Layout

GAP: Final = 2
LANE: Final = 3
_ROUNDS: Final = 4


class Spot(NamedTuple):
    """A step in its row, or the lane in which its arrows pass a row."""

    step: str
    row: int


class Size(NamedTuple):
    """`width` is odd, so that there is a middle. `overhang`: columns for the condition beside the last arrow."""

    width: int
    overhang: int = 0

    @property
    def middle(self) -> int:
        return self.width // 2


Rows = Sequence[Sequence[Spot]]
Links = Mapping[Spot, Sequence[Spot]]


class Places(NamedTuple):
    rows: Rows
    lefts: Mapping[Spot, int]
    sizes: Mapping[Spot, Size]
    below: Links
    """Spot -> the spots in the next row that its arrows lead to."""

    @property
    def width(self) -> int:
        return max((self.lefts[spot] + sum(self.sizes[spot]) for row in self.rows for spot in row), default=0)

    def middle(self, spot: Spot) -> int:
        return self.lefts[spot] + self.sizes[spot].middle


def place(drawing: Layout, text_widths: Mapping[str, int]) -> Places:
    """Return the position of each step. `text_widths`: step -> width of its caption."""
    depth = {name: row for row, layer in enumerate(drawing.layers) for name in layer}
    below = _links(drawing, depth)
    above = _turned(below)
    rows = _rows(drawing, depth, below)
    for _ in range(_ROUNDS):
        rows = _ordered(_ordered(rows, above), below, is_upward=True)
    rows = _ordered(rows, above)
    sizes = _sizes(drawing.parents(), rows, depth, text_widths)
    return Places(rows, _columns(rows, sizes, above, below), sizes, below)


def port_offsets(width: int, words: Sequence[str]) -> list[int]:
    """Return where lines with these conditions enter a box: around its middle, with room for the conditions."""
    offsets: list[int] = []
    reach = 0
    for text in words:
        offsets.append(reach)
        reach += _room(text)
    first = (width - 1 - (offsets[-1] if offsets else 0)) // 2
    return [first + offset for offset in offsets]


def _room(words: str) -> int:
    return len(words) + 4 if words else 2


def _links(drawing: Layout, depth: Mapping[str, int]) -> dict[Spot, list[Spot]]:
    links: dict[Spot, list[Spot]] = defaultdict(list)
    reach: dict[str, int] = {}
    for parent, child, _ in drawing.arrows:
        links[Spot(parent, depth[child] - 1)].append(Spot(child, depth[child]))
        reach[parent] = max(reach.get(parent, 0), depth[child] - 1)
    for step, last in reach.items():
        for row in range(depth[step], last):
            links[Spot(step, row)].append(Spot(step, row + 1))
    return links


def _turned(links: Links) -> dict[Spot, list[Spot]]:
    turned: dict[Spot, list[Spot]] = defaultdict(list)
    for start, ends in links.items():
        for end in ends:
            turned[end].append(start)
    return turned


def _rows(drawing: Layout, depth: Mapping[str, int], links: Links) -> list[list[Spot]]:
    rows = [[Spot(name, row) for name in layer] for row, layer in enumerate(drawing.layers)]
    for spot in links:
        if spot.row > depth[spot.step]:
            rows[spot.row].append(spot)
    return rows


def _ordered(rows: Rows, neighbours: Links, *, is_upward: bool = False) -> list[list[Spot]]:
    """Order each row by the mean position of the neighbours in the row before. Spots without neighbours stay."""
    place: dict[Spot, float] = {}
    done: list[list[Spot]] = []
    for row in reversed(rows) if is_upward else rows:
        wish = {
            spot: _mean([place[near] for near in neighbours[spot]]) if neighbours.get(spot) else index / len(row)
            for index, spot in enumerate(row)
        }
        done.append(sorted(row, key=wish.__getitem__))
        place = {spot: (index + 0.5) / len(row) for index, spot in enumerate(done[-1])}
    return done[::-1] if is_upward else done


def _sizes(
    parents: Mapping[str, Sequence[Arrow]], rows: Rows, depth: Mapping[str, int], texts: Mapping[str, int]
) -> dict[Spot, Size]:
    return {
        spot: _box(parents[spot.step], texts[spot.step]) if spot.row == depth[spot.step] else Size(LANE)
        for row in rows
        for spot in row
    }


def _box(arrows: Sequence[Arrow], text: int) -> Size:
    """Return a size for the caption and the arrows; the condition of the rightmost arrow may extend beyond the box.

    The width has a spare column for one arrow in three, which may have to avoid a line that starts above it.
    """
    rooms = [_room(arrow.words) for arrow in arrows]
    reaches = [sum(rooms) - room for room in rooms]
    width = max(text + 4, max(reaches, default=0) + len(arrows) // 3 + 5) | 1
    overhangs = [
        (width - 1 - reach) // 2 + reach + 2 + len(arrow.words) - width
        for arrow, reach in zip(arrows, reaches, strict=True)
        if arrow.words
    ]
    return Size(width, max([0, *overhangs]))


def _columns(rows: Rows, sizes: Mapping[Spot, Size], above: Links, below: Links) -> dict[Spot, int]:
    """Return the left edge of each spot: first side by side, then moved near the neighbours in several passes."""
    lefts: dict[Spot, int] = {}
    for row in rows:
        lefts.update(_spread(row, sizes, dict.fromkeys(row, 0.0)))
    for _ in range(_ROUNDS):
        for row in reversed(rows):
            lefts.update(_spread(row, sizes, _wishes(row, sizes, lefts, below)))
        for row in rows:
            lefts.update(_spread(row, sizes, _wishes(row, sizes, lefts, above)))
    edge = min(lefts.values(), default=0)
    return {spot: left - edge for spot, left in lefts.items()}


def _wishes(
    row: Sequence[Spot], sizes: Mapping[Spot, Size], lefts: Mapping[Spot, int], neighbours: Links
) -> dict[Spot, float]:
    return {
        spot: _mean([lefts[near] + sizes[near].middle for near in neighbours[spot]]) - sizes[spot].middle
        if neighbours.get(spot)
        else lefts[spot]
        for spot in row
    }


def _spread(row: Sequence[Spot], sizes: Mapping[Spot, Size], wishes: Mapping[Spot, float]) -> dict[Spot, int]:
    """Return left edges as near to the wishes as the order and the widths allow.

    Spots whose wishes overlap form a block, which is placed at the mean of their wishes.
    """
    starts = _starts(row, sizes)
    blocks: list[tuple[float, int]] = []
    for spot in row:
        total, many = wishes[spot] - starts[spot], 1
        while blocks and blocks[-1][0] / blocks[-1][1] > total / many:
            before, count = blocks.pop()
            total, many = total + before, many + count
        blocks.append((total, many))
    shifts = [round(total / many) for total, many in blocks for _ in range(many)]
    return {spot: starts[spot] + shift for spot, shift in zip(row, shifts, strict=True)}


def _starts(row: Sequence[Spot], sizes: Mapping[Spot, Size]) -> dict[Spot, int]:
    """Return the left edges of a row without free space."""
    starts: dict[Spot, int] = {}
    left = 0
    for spot in row:
        starts[spot] = left
        left += sizes[spot].width + sizes[spot].overhang + GAP
    return starts


def _mean(values: Iterable[float]) -> float:
    known = [*values]
    return sum(known) / len(known)
