"""A workflow as a list: layer by layer, each step with its parents. For graphs that are too wide to be drawn."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from foliot.domain.workflow.layout import Arrow, Layout
from foliot.interfaces.cli.render.graph.canvas import Piece
from foliot.interfaces.cli.render.graph.picture import Caption

_MOST_PARENTS: Final = 5


def outline(drawing: Layout, captions: Mapping[str, Caption]) -> Iterator[list[Piece]]:
    parents = drawing.parents()
    for number, layer in enumerate(drawing.layers, start=1):
        yield [Piece(f"layer {number}", "bold")]
        widths = [max(map(len, column)) for column in zip(*(_cells(captions[name]) for name in layer), strict=True)]
        for name in layer:
            title, state = map(str.ljust, _cells(captions[name]), widths)
            after = "after every step" if name == drawing.final else _after(parents[name])
            middle = [Piece(f"  {state}", captions[name].style)] if state else []
            yield _stripped([Piece(f"  {title}", ""), *middle, Piece(f"  {after}", "")])


def _cells(caption: Caption) -> tuple[str, str]:
    title, *rest = caption.lines
    return title, " ".join(rest)


def _after(arrows: Sequence[Arrow]) -> str:
    if not arrows:
        return ""
    named = [f"{arrow.parent} ({arrow.words})" if arrow.words else arrow.parent for arrow in arrows[:_MOST_PARENTS]]
    more = f" and {len(arrows) - _MOST_PARENTS} more" if len(arrows) > _MOST_PARENTS else ""
    return f"after {', '.join(named)}{more}"


def _stripped(pieces: list[Piece]) -> list[Piece]:
    """Remove blanks at the end."""
    while pieces and not pieces[-1].text.strip():
        pieces.pop()
    return [*pieces[:-1], Piece(pieces[-1].text.rstrip(), pieces[-1].style)]
