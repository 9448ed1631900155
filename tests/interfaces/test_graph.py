"""Workflows drawn with characters: the lines of a picture are the arrows of the workflow."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from foliot import Workflow
from foliot.domain.workflow.layout import Layout, layout_of
from foliot.interfaces.cli.render.graph.canvas import Pen
from foliot.interfaces.cli.render.graph.outline import outline
from foliot.interfaces.cli.render.graph.picture import LONGEST_WORDS, MOST_STEPS, Caption, draw
from tests.interfaces.reading import read_arrows

UTF8, ASCII = Pen.for_encoding("utf-8"), Pen.for_encoding("ascii")
Edges = dict[tuple[int, int], str]
CROWDED: Edges = {
    (3, 4): "success", (3, 5): "success", (4, 5): "success", (3, 6): "success", (5, 6): "failure",
    (0, 8): "success", (4, 8): "success", (0, 9): "failure", (1, 9): "failure", (3, 9): "success",
    (7, 9): "failure", (8, 9): "complete", (4, 10): "failure", (5, 10): "failure", (7, 10): "success",
    (1, 11): "success", (6, 11): "success",
}  # fmt: skip
"""An arrow head that avoids a line must stay inside its box."""
WORDY: Edges = {
    (1, 4): "failure", (4, 5): "success", (1, 7): "failure", (0, 8): "success", (2, 8): "complete",
    (4, 8): "complete", (1, 9): "failure", (6, 9): "failure", (8, 9): "success",
}  # fmt: skip
"""The condition of an arrow head that avoids a line must not touch the next line."""


def graph(size: int, edges: Edges) -> Layout:
    flow = Workflow("flow")
    for number in range(size):
        step = flow.step(f"s{number}", shell="true")
        for (parent, child), condition in edges.items():
            if child == number:
                step.after(f"s{parent}", condition)
    return layout_of(flow.spec.steps)


def pictured(drawing: Layout, pen: Pen = UTF8, width: int = 10_000) -> list[str] | None:
    lines = draw(drawing, {name: Caption([name]) for name in drawing.steps}, pen, width)
    return None if lines is None else ["".join(piece.text for piece in line) for line in lines]


def listed(drawing: Layout) -> list[str]:
    lines = outline(drawing, {name: Caption([name]) for name in drawing.steps})
    return ["".join(piece.text for piece in line) for line in lines]


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, Edges]:
    size = draw(st.integers(1, 9))
    pairs = [(parent, child) for child in range(size) for parent in range(child)]
    words = st.sampled_from(["success", "failure", "complete"])
    return size, draw(st.dictionaries(st.sampled_from(pairs), words, max_size=14)) if pairs else {}


@given(graphs())
@example((12, CROWDED))
@example((11, WORDY))
def test_the_lines_of_a_drawing_are_the_arrows_of_the_workflow(given_graph: tuple[int, Edges]) -> None:
    drawing = graph(*given_graph)
    lines = pictured(drawing)

    assert lines is not None
    assert read_arrows(lines, drawing.steps) == set(drawing.arrows)


@given(graphs())
def test_an_ascii_drawing_has_the_same_shape(given_graph: tuple[int, Edges]) -> None:
    drawing = graph(*given_graph)
    lines, plain = pictured(drawing), pictured(drawing, ASCII)

    assert (lines is None) == (plain is None)
    assert all(line.isascii() for line in plain or [])
    blank = str.maketrans(dict.fromkeys("│─┌┐└┘├┤┬┴┼▼|-+v", "#"))
    assert [line.translate(blank) for line in lines or []] == [line.translate(blank) for line in plain or []]


def test_a_branch_and_its_join_are_drawn() -> None:
    drawing = graph(4, {(0, 1): "success", (0, 2): "failure", (1, 3): "success", (2, 3): "success"})

    assert pictured(drawing) == [
        "    ┌─────┐",
        "    │ s0  │",
        "    └──┬──┘",
        "   ┌───┴────┐",
        "   ▼        ▼ failure",
        "┌─────┐  ┌─────┐",
        "│ s1  │  │ s2  │",
        "└──┬──┘  └──┬──┘",
        "   └──┐ ┌───┘",
        "      ▼ ▼",
        "    ┌─────┐",
        "    │ s3  │",
        "    └─────┘",
    ]


@pytest.mark.parametrize("condition", ["success", "failure"])
def test_a_box_is_wide_enough_for_all_its_incoming_arrows(condition: str) -> None:
    drawing = graph(13, {(number, 12): condition for number in range(12)})
    lines = pictured(drawing)

    assert lines is not None
    assert read_arrows(lines, drawing.steps) == set(drawing.arrows)


def test_a_chain_is_drawn_as_a_straight_line() -> None:
    lines = pictured(graph(5, {(number, number + 1): "success" for number in range(4)}), ASCII)

    assert lines is not None
    assert [line for line in lines if "v" in line] == ["   v"] * 4


def test_long_conditions_are_shortened() -> None:
    flow = Workflow("flow")
    flow.step("a", shell="true")
    flow.step("b", shell="true").after("a", contains="x" * 500)

    lines = pictured(layout_of(flow.spec.steps), width=80)

    assert lines is not None
    assert max(map(len, lines)) < LONGEST_WORDS + 12
    assert any(line.endswith("xxx...") for line in lines)


@pytest.mark.parametrize(("width", "fits"), [(17, True), (15, False)])
def test_a_graph_that_is_too_wide_is_not_drawn(width: int, fits: bool) -> None:
    assert (pictured(graph(2, {}), width=width) is not None) == fits


@pytest.mark.parametrize(("count", "fits"), [(MOST_STEPS, True), (MOST_STEPS + 1, False)])
def test_a_graph_with_too_many_steps_is_not_drawn(count: int, fits: bool) -> None:
    assert (pictured(graph(count, {})) is not None) == fits


def test_an_outline_has_the_layers_and_the_parents_of_each_step() -> None:
    assert listed(graph(4, {(0, 1): "success", (0, 2): "failure", (1, 3): "success", (2, 3): "complete"})) == [
        "layer 1",
        "  s0",
        "layer 2",
        "  s1  after s0",
        "  s2  after s0 (failure)",
        "layer 3",
        "  s3  after s1, s2 (complete)",
    ]


def test_an_outline_says_that_the_final_step_runs_after_every_step() -> None:
    flow = Workflow("flow")
    flow.step("a", shell="true")
    flow.step("b", shell="true").after("a")
    flow.step("end", shell="true").final()

    assert listed(layout_of(flow.spec.steps))[-1] == "  end  after every step"


def test_an_outline_of_ten_thousand_layers_is_possible() -> None:
    drawing = graph(0, {})._replace(layers=[[f"s{number}"] for number in range(10_000)])

    assert len(listed(drawing)) == 20_000


def test_an_outline_counts_further_parents() -> None:
    lines = listed(graph(31, {(number, 30): "success" for number in range(30)}))

    assert lines[-1] == "  s30  after s0, s1, s2, s3, s4 and 25 more"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", None, "no-such-encoding"])
def test_lines_are_ascii_if_the_encoding_has_no_box_characters(encoding: str | None) -> None:
    assert Pen.for_encoding(encoding) == ASCII
