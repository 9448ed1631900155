"""Boxes and arrows.

out of a box    one line for all arrows of a step
between rows    a track for each such line that has to go sideways, and the heads with their words
into a box      one head for each arrow
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from foliot.domain.workflow.layout import Arrow, Layout
from foliot.interfaces.cli.graph.canvas import Canvas, Pen, Piece
from foliot.interfaces.cli.graph.placing import Places, Spot, place, port_offsets

MOST_STEPS: Final = 100
"""More are listed: nobody follows so many arrows."""
LONGEST_WORDS: Final = 28
_NEAR: Final = (-1, 1)


class Caption(NamedTuple):
    """What stands in a box. The lines below the first have the style."""

    lines: Sequence[str]
    style: str = ""


class Port(NamedTuple):
    """Where the line of `source` comes into a spot."""

    source: Spot
    column: int
    words: str = ""


def draw(drawing: Layout, captions: Mapping[str, Caption], pen: Pen, width: int) -> list[list[Piece]] | None:
    """The graph in lines of pieces; None when it does not fit into so many columns, or cannot be drawn clearly."""
    if len(captions) > MOST_STEPS:
        return None
    short = drawing._replace(arrows=[_shortened(arrow, drawing.final) for arrow in drawing.arrows])
    places = place(short, {name: max(map(len, caption.lines)) for name, caption in captions.items()})
    if places.width > width:
        return None
    ports = _ports(short, places)
    return None if ports is None else _painted(places, ports, captions, pen)


def _shortened(arrow: Arrow, final: str | None) -> Arrow:
    """Words of a length that can be drawn. That the final step comes after all others is said by its caption."""
    words = "" if arrow.child == final else arrow.words
    return arrow._replace(words=words if len(words) <= LONGEST_WORDS else f"{words[: LONGEST_WORDS - 3]}...")


# -- where lines begin and end


def _ports(drawing: Layout, places: Places) -> dict[Spot, list[Port]] | None:
    """Where lines come into each spot, such that none runs along the line of another step. None: there is no way."""
    arrows = drawing.parents()
    found: dict[Spot, list[Port]] = {}
    starts: dict[Spot, int] = {}
    """The column in which the line of each spot of the row above begins."""
    for row in places.rows:
        sources = _sources(starts, places)
        for spot in row:
            ports = _ports_of(spot, sources.get(spot, []), arrows[spot.step], starts, places)
            if ports is None:
                return None
            found[spot] = ports
        starts = {spot: _start(spot, found[spot], places) for spot in row if places.below.get(spot)}
    return found


def _sources(starts: Mapping[Spot, int], places: Places) -> dict[Spot, list[Spot]]:
    """Whose lines come into each spot, from left to right."""
    sources: dict[Spot, list[Spot]] = {}
    for source in sorted(starts, key=starts.__getitem__):
        for spot in places.below[source]:
            sources.setdefault(spot, []).append(source)
    return sources


def _start(spot: Spot, ports: Sequence[Port], places: Places) -> int:
    """A lane goes on where it comes in, a box sends its line from its middle."""
    is_lane = [port for port in ports if port.source.step == spot.step]
    return ports[0].column if is_lane else places.middle(spot)


def _ports_of(
    spot: Spot, sources: Sequence[Spot], arrows: Sequence[Arrow], starts: Mapping[Spot, int], places: Places
) -> list[Port] | None:
    known = {arrow.parent: arrow.words for arrow in arrows}
    words = ["" if source.step == spot.step else known[source.step] for source in sources]
    wishes = [places.lefts[spot] + offset for offset in port_offsets(places.sizes[spot].width, words)]
    bounds = _bounds(spot, words, places, is_lane=spot.step in {source.step for source in sources})
    columns = _clear(dict(zip(sources, wishes, strict=True)), bounds, starts)
    return None if columns is None else [Port(*port) for port in zip(sources, columns, words, strict=True)]


def _clear(wishes: Mapping[Spot, int], bounds: tuple[int, int], starts: Mapping[Spot, int]) -> list[int] | None:
    """Columns for the heads of a spot in which none is hit by another line. None: there is no room for that.

    A single line goes straight down if it can. Else the nearer to the wishes the better, and better not right beside
    another line.
    """
    owners = {column: source for source, column in starts.items()}

    def cost(columns: Sequence[int]) -> tuple[int, int]:
        heads = [*zip(wishes, columns, strict=True)]
        beside = sum(owners.get(column + way, source) != source for source, column in heads for way in _NEAR)
        is_bent = len(heads) > 1 or any(starts[source] != column for source, column in heads)
        return is_bent + beside, sum(abs(column - wishes[source]) for source, column in heads)

    if not wishes:
        return []
    least, most = bounds
    shifts = range(least - min(wishes.values()), most - max(wishes.values()) + 1)
    moved = [_moved(wishes, shift, owners) for shift in shifts]
    return min((columns for columns in moved if columns[-1] <= most), key=cost, default=None)


def _moved(wishes: Mapping[Spot, int], shift: int, owners: Mapping[int, Spot]) -> list[int]:
    """The wishes moved by so much; where one meets the line of another step, it and those after it go on by one."""
    columns: list[int] = []
    for source, wish in wishes.items():
        while owners.get(wish + shift, source) != source:
            shift += 1
        columns.append(wish + shift)
    return columns


def _bounds(spot: Spot, words: Sequence[str], places: Places, *, is_lane: bool) -> tuple[int, int]:
    """The first and the last column for heads: inside their box, with room for the words of the last one."""
    left, size = places.lefts[spot], places.sizes[spot]
    if is_lane:
        return left, left + size.width - 1
    sticking_out = len(words[-1]) + 1 if words and words[-1] else 0
    end = left + size.width + size.overhang
    return left + 1, min(left + size.width - 2, end - sticking_out)


# -- painting


def _painted(
    places: Places, ports: Mapping[Spot, Sequence[Port]], captions: Mapping[str, Caption], pen: Pen
) -> list[list[Piece]]:
    canvas = Canvas(pen)
    height = max(len(caption.lines) for caption in captions.values()) + 2
    top = 0
    above: dict[Spot, int] = {}
    """The columns in which lines come out of the row above."""
    for row in places.rows:
        if above:
            top = _paint_gap(canvas, top, above, {spot: ports[spot] for spot in row})
        for spot in row:
            if any(port.source.step == spot.step for port in ports[spot]):
                canvas.down(ports[spot][0].column, top - 1, top + height - 1, spot.step)
            else:
                _paint_box(canvas, places, spot, top, height, captions[spot.step])
        above = {spot: _start(spot, ports[spot], places) for spot in row if places.below.get(spot)}
        top += height
    return [*canvas.lines()]


def _paint_box(canvas: Canvas, places: Places, spot: Spot, top: int, height: int, caption: Caption) -> None:
    left, right = places.lefts[spot], places.lefts[spot] + places.sizes[spot].width - 1
    canvas.box(left, top, right, top + height - 1, spot.step)
    for number, text in enumerate(caption.lines):
        begin = (left + right + 1 - len(text)) // 2
        canvas.write(begin, top + 1 + number, text, caption.style if number else "")


def _paint_gap(canvas: Canvas, top: int, above: Mapping[Spot, int], below: Mapping[Spot, Sequence[Port]]) -> int:
    """Lines from the row above to the heads on the row below. Returns where that row begins."""
    ends: dict[Spot, list[int]] = {source: [] for source in above}
    for ports in below.values():
        for port in ports:
            ends[port.source].append(port.column)
    tracks = _tracks({source: (min(above[source], *at), max(above[source], *at)) for source, at in ends.items()})
    heads = top + max(tracks.values(), default=-1) + 1
    for source, columns in ends.items():
        turn = top + tracks.get(source, 0)
        canvas.down(above[source], top - 1, turn, source.step)
        canvas.across(min(above[source], *columns), max(above[source], *columns), turn, source.step)
        for column in columns:
            canvas.down(column, turn, heads, source.step)
    for spot, ports in below.items():
        for port in ports:
            if port.source.step != spot.step:
                canvas.head(port.column, heads)
                canvas.write(port.column + 2, heads, port.words)
    return heads + 1


def _tracks(spans: Mapping[Spot, tuple[int, int]]) -> dict[Spot, int]:
    """A row for each line that goes sideways; lines that do not meet may share one."""
    tracks: dict[Spot, int] = {}
    ends: list[int] = []
    for source, (left, right) in sorted(spans.items(), key=lambda item: item[1]):
        if left == right:
            continue
        free = next((track for track, end in enumerate(ends) if end + 1 < left), len(ends))
        ends[free : free + 1] = [right]
        tracks[source] = free
    return tracks
