"""The layout of a workflow."""

from typing import Any

from foliot import Workflow
from foliot.domain.workflow.layout import Arrow, layout_of
from tests.cases import for_each


def drawn(**parents: list[str]) -> Any:
    """Return the layout of steps with their parents. A step whose name begins with an underscore is final."""
    flow = Workflow("flow")
    for name, before in parents.items():
        step = flow.step(name, shell="true")
        for parent in before:
            step.after(parent)
        if name.startswith("_"):
            step.final()
    return layout_of(flow.spec.steps)


def test_a_step_is_one_layer_below_the_lowest_of_its_parents() -> None:
    assert drawn(d=["a", "c"], c=["b"], b=["a"], a=[], e=["a"]).layers == [["a"], ["b", "e"], ["c"], ["d"]]


def test_the_final_step_has_arrows_only_from_steps_that_no_other_step_follows() -> None:
    drawing = drawn(a=[], b=["a"], c=["a"], _end=[])

    assert drawing.layers[-1] == ["_end"]
    assert drawing.final == "_end"
    assert [arrow for arrow in drawing.arrows if arrow.child == "_end"] == [
        Arrow("b", "_end", "complete"),
        Arrow("c", "_end", "complete"),
    ]


def test_a_final_step_alone_has_no_arrow() -> None:
    assert drawn(_end=[]) == ([["_end"]], [], "_end", frozenset())


@for_each(
    ("conditions", "test", "words"),
    [
        ([], {}, ""),
        (["failure"], {}, "failure"),
        (["skipped", "success"], {}, "success, skipped"),
        ([], {"exit_code": [0, 3]}, "success, exit code 0 or 3"),
        (["complete"], {"contains": 'a"\n'}, r'complete, contains "a\"\n"'),
        ([], {"path": "a.b"}, "success, has a.b"),
        ([], {"path": "a.b", "equals": None}, "success, a.b = null"),
        ([], {"equals": {"n": 1}}, 'success, output = {"n":1}'),
    ],
)
def test_arrows_have_their_conditions_in_words(conditions: list[str], test: dict[str, Any], words: str) -> None:
    flow = Workflow("flow")
    flow.step("a", shell="true")
    flow.step("b", shell="true").after("a", *conditions, **test)

    assert layout_of(flow.spec.steps).arrows == [Arrow("a", "b", words)]


def test_the_layout_lists_approvals() -> None:
    flow = Workflow("flow")
    flow.step("ask", approve=True)

    assert layout_of(flow.spec.steps).questions == {"ask"}


def test_a_thousand_parallel_steps_have_two_thousand_arrows() -> None:
    wide = [f"m{number}" for number in range(1_000)]
    drawing = drawn(a=[], **{name: ["a"] for name in wide}, z=wide)

    assert [len(layer) for layer in drawing.layers] == [1, 1_000, 1]
    assert len(drawing.arrows) == 2_000
