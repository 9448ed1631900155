"""Workflows as Mermaid and Graphviz diagrams."""

import html
import re

import pytest

from foliot import Workflow
from foliot.domain.workflow.layout import Layout, layout_of
from foliot.interfaces.diagrams import dot, mermaid

NASTY = 'a"b\\"; x --> y #quot; <b>|]})`%%\n\r\u2028\\'


@pytest.fixture
def drawing() -> Layout:
    flow = Workflow("flow")
    flow.step("end", shell="true")
    flow.step("ask@x:y.z-1", approve=True).after("end", contains=NASTY)
    flow.step("last", shell="true").final()
    return layout_of(flow.spec.steps)


def test_a_mermaid_diagram_has_each_step_and_each_arrow(drawing: Layout) -> None:
    lines = list(mermaid("flow version 1", drawing, {"end": "success", "last": "skipped (paused)"}))

    assert lines[:4] == ["---", 'title: "flow version 1"', "---", "flowchart TD"]
    assert lines[4:7] == [
        '    s0["end<br/>success"]',
        '    s1{{"ask@x:y.z-1"}}',
        '    s2(["last<br/>skipped #40;paused#41;"])',
    ]
    assert lines[8] == '    s1 -->|"complete"| s2'
    assert lines[-2:] == ["    classDef skipped fill:#dddddd", "    class s2 skipped"]


def test_special_characters_are_escaped_in_mermaid(drawing: Layout) -> None:
    [words] = [arrow.words for arrow in drawing.arrows if arrow.child != "last"]
    [line] = [line for line in mermaid("flow", drawing, {}) if "contains" in line]

    inside = re.fullmatch(r'    s0 -->\|"([^"<>|`\\\n]*)"\| s1', line)
    assert inside is not None
    assert html.unescape(re.sub(r"#(\d+);", r"&#\1;", inside[1])) == words


def test_a_dot_diagram_has_each_step_and_each_arrow(drawing: Layout) -> None:
    lines = list(dot("flow version 1", drawing, {"end": "failure"}))

    assert lines[0] == 'digraph "flow version 1" {'
    assert lines[2:5] == [
        '    s0 [label="end\\nfailure", fillcolor="#f4b6b6"];',
        '    s1 [label="ask@x:y.z-1", shape=hexagon];',
        '    s2 [label="last", peripheries=2];',
    ]
    assert lines[-2:] == ['    s1 -> s2 [label="complete"];', "}"]


def test_special_characters_are_escaped_in_dot(drawing: Layout) -> None:
    [words] = [arrow.words for arrow in drawing.arrows if arrow.child != "last"]
    [line] = [line for line in dot("flow", drawing, {}) if "contains" in line]

    inside = re.fullmatch(r'    s0 -> s1 \[label="((?:[^"\\\n]|\\.)*)"\];', line)
    assert inside is not None
    assert re.sub(r"\\(.)", r"\1", inside[1]) == words
