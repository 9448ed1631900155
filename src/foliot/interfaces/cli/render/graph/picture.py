"""Boxes and arrows.

out of a box    one line for all arrows of a step
between rows    a track for each line that goes sideways, and the arrow heads with their conditions
into a box      one arrow head for each arrow
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from foliot.domain.workflow.layout import Arrow, Layout
from foliot.interfaces.cli.render.graph.canvas import Canvas, Pen, Piece
from foliot.interfaces.cli.render.graph.layout import Places, Spot, place, port_offsets

MOST_STEPS: Final = 100
"""Larger graphs are listed: a drawing with so many arrows is not readable."""
LONGEST_WORDS: Final = 28
_NEAR: Final = (-1, 1)


class Caption(NamedTuple):
    """The text in a box. The lines below the first have the style."""

    lines: Sequence[str]
    style: str = ""


class Port(NamedTuple):
    """The column at which the line of `source` enters a spot."""

    source: Spot
    column: int
    words: str = ""


def draw(drawing: Layout, captions: Mapping[str, Caption], pen: Pen, width: int) -> list[list[Piece]] | None:
    """Return the graph as lines of pieces, or None if it is wider than `width` or cannot be drawn clearly."""
    if len(captions) > MOST_STEPS:
        return None
    short = drawing._replace(arrows=[_shortened(arrow, drawing.final) for arrow in drawing.arrows])
    places = place(short, {name: max(map(len, caption.lines)) for name, caption in captions.items()})
    if places.width > width:
        return None
    ports = _ports(short, places)
    return None if ports is None else _painted(places, ports, captions, pen)


def _shortened(arrow: Arrow, final: str | None) -> Arrow:
    """Shorten the condition of an arrow. Arrows to the final step have none: its caption says that it is final."""
    words = "" if arrow.child == final else arrow.words
    return arrow._replace(words=words if len(words) <= LONGEST_WORDS else f"{words[: LONGEST_WORDS - 3]}...")


# -- where lines begin and end


def _ports(drawing: Layout, places: Places) -> dict[Spot, list[Port]] | None:
    """Return ports with which no line runs along the line of another step, or None if that is impossible."""
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
    """Return the sources of the lines that enter each spot, from left to right."""
    sources: dict[Spot, list[Spot]] = {}
    for source in sorted(starts, key=starts.__getitem__):
        for spot in places.below[source]:
            sources.setdefault(spot, []).append(source)
    return sources


def _start(spot: Spot, ports: Sequence[Port], places: Places) -> int:
    """Return the column in which a line leaves a spot: for a lane where it enters, for a box its middle."""
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
    """Return columns for the arrow heads of a spot that no other line uses, or None if there is no room.

    A single line goes straight down if it can. Otherwise columns near the wishes are preferred, and columns that are
    not directly beside another line.
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
    """Return the wishes moved by `shift`; where one meets the line of another step, it and later ones move by one."""
    columns: list[int] = []
    for source, wish in wishes.items():
        while owners.get(wish + shift, source) != source:
            shift += 1
        columns.append(wish + shift)
    return columns


def _bounds(spot: Spot, words: Sequence[str], places: Places, *, is_lane: bool) -> tuple[int, int]:
    """Return the first and last column for arrow heads: inside the box, with room for the condition of the last one."""
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
    """The columns in which lines leave the row above."""
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
    """Draw the lines from the row above to the arrow heads of the row below. Return the top of that row."""
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
    """Assign a track to each line that goes sideways; lines that do not meet may share one."""
    tracks: dict[Spot, int] = {}
    ends: list[int] = []
    for source, (left, right) in sorted(spans.items(), key=lambda item: item[1]):
        if left == right:
            continue
        free = next((track for track, end in enumerate(ends) if end + 1 < left), len(ends))
        ends[free : free + 1] = [right]
        tracks[source] = free
    return tracks
