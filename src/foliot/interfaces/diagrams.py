"""Workflows as Mermaid and Graphviz diagrams.

Steps get numbers as ids, because their names may contain syntax of these languages; names and conditions are quoted
and escaped. The state of a step, if known, is written below its name and sets its colour.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from foliot.domain.workflow.layout import Layout

COLOURS: Final = {"success": "#b7e1b0", "failure": "#f4b6b6", "skipped": "#dddddd", "running": "#b0d8f0"}
"""First word of a state -> colour."""
_MERMAID: Final = {ord(char): f"#{ord(char)};" for char in '"#&<>`\\\n\r;{}[]()|'}
_DOT: Final = {ord("\\"): "\\\\", ord('"'): '\\"', ord("\n"): "\\n", ord("\r"): "\\r"}


def mermaid(title: str, drawing: Layout, states: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of a Mermaid flowchart."""
    ids = {name: f"s{number}" for number, name in enumerate(drawing.steps)}
    yield from ("---", f'title: "{title}"', "---", "flowchart TD")
    for name, number in ids.items():
        begin, end = _shape(drawing, name)
        text = "<br/>".join(part.translate(_MERMAID) for part in (name, states.get(name, "")) if part)
        yield f'    {number}{begin}"{text}"{end}'
    for parent, child, words in drawing.arrows:
        label = f'|"{words.translate(_MERMAID)}"|' if words else ""
        yield f"    {ids[parent]} -->{label} {ids[child]}"
    for word, colour in COLOURS.items():
        named = [ids[name] for name in drawing.steps if _word(states, name) == word]
        if named:
            yield f"    classDef {word} fill:{colour}"
            yield f"    class {','.join(named)} {word}"


def dot(title: str, drawing: Layout, states: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of a Graphviz graph."""
    ids = {name: f"s{number}" for number, name in enumerate(drawing.steps)}
    yield f'digraph "{title.translate(_DOT)}" {{'
    yield "    node [shape=box, style=filled, fillcolor=white];"
    for name, number in ids.items():
        text = "\\n".join(part.translate(_DOT) for part in (name, states.get(name, "")) if part)
        yield f'    {number} [label="{text}"{_dot_style(drawing, name, _word(states, name))}];'
    for parent, child, words in drawing.arrows:
        label = f' [label="{words.translate(_DOT)}"]' if words else ""
        yield f"    {ids[parent]} -> {ids[child]}{label};"
    yield "}"


def _word(states: Mapping[str, str], name: str) -> str:
    return states.get(name, "").partition(" ")[0]


def _shape(drawing: Layout, name: str) -> tuple[str, str]:
    if name in drawing.questions:
        return "{{", "}}"
    return ("([", "])") if name == drawing.final else ("[", "]")


def _dot_style(drawing: Layout, name: str, word: str) -> str:
    colour = f', fillcolor="{COLOURS[word]}"' if word in COLOURS else ""
    if name in drawing.questions:
        return f"{colour}, shape=hexagon"
    return f"{colour}, peripheries=2" if name == drawing.final else colour
