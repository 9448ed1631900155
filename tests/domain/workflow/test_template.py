"""Templates insert data, never code."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foliot.domain.workflow.template import problems_of, render
from foliot.errors import InvalidRun
from tests.cases import for_each

SOURCES = {
    "params": {"day": "2026-01-31", "limit": 3, "flags": [True, None]},
    "steps": {"extract": {"output": {"path": "/tmp/x y", "rows": [1, 2]}, "result": "success", "exit_code": 0}},
    "execution": {"id": "01J", "workflow": "etl", "version": 2},
}


@for_each(
    ("given_value", "rendered"),
    [
        ("{{ steps.extract.output.path }}", "/tmp/x y"),
        ("{{steps.extract.output.rows}}", [1, 2]),
        ("{{ params.limit }}", 3),
        ("{{ params.flags.1 }}", None),
        ("at most {{ params.limit }} of {{ steps.extract.output.rows }}", "at most 3 of [1,2]"),
        ("{{ params.limit }}{{ params.day }}", "32026-01-31"),
        ("{{ params.limit }} {{ params.limit }}", "3 3"),
        ({"a": ["{{ execution.version }}", 1.5]}, {"a": [2, 1.5]}),
        ("{ params.limit } and {{{{", "{ params.limit } and {{{{"),
        ("nothing", "nothing"),
        (None, None),
    ],
)
def test_a_template_is_replaced_by_its_value(given_value: Any, rendered: Any) -> None:
    assert render(given_value, SOURCES) == rendered


@pytest.mark.parametrize(
    "text", ["{{ steps.load.output }}", "{{ params.limit.x }}", "{{ 7*7 }}", "{{ params }}", "{{}}"]
)
def test_a_template_without_a_value_is_an_error(text: str) -> None:
    with pytest.raises(InvalidRun, match="has no value"):
        render(text, SOURCES)


@given(st.text() | st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists))
def test_inserted_values_are_not_parsed_again(value: Any) -> None:
    """Data that looks like a template is not parsed."""
    hostile = {"params": {"x": value, "y": "{{ params.secret }}", "secret": 1}}

    assert render("{{ params.x }}", hostile) == value
    assert render("<{{ params.y }}>", hostile) == "<{{ params.secret }}>"


@for_each(
    ("text", "problem"),
    [
        ("{{ steps.extrakt.output }}", 'step "extrakt" does not exist. Did you mean "extract"?'),
        ("{{ steps.extract.outputs }}", "a step has output"),
        ("{{ steps.extract }}", "a step has output"),
        ("{{ params.dai }}", 'parameter "dai" does not exist. Did you mean "day"?'),
        ("{{ execution.user }}", "an execution has id"),
        ("{{ env.HOME }}", '"env" is not one of params, steps, execution'),
        ("{{ 7 * 7 }}", "not a valid reference. Write source.name"),
        ("{{ params.day | upper }}", "not a valid reference. Write source.name"),
        ("{{ steps.load.output }}", "Name an earlier step, or let this step come after it."),
        ("{{ params.zone }}", 'parameter "zone" does not exist. The parameters are: day.'),
        ("{{ param.day }}", '"param" is not one of params, steps, execution. Did you mean "params"?'),
        ("{{ params.day }", "{{ params.day }: the template is not closed"),
        ("{{ params.day }} and {{ more", "{{ more: the template is not closed"),
    ],
)
def test_invalid_templates_are_reported(text: str, problem: str) -> None:
    [found] = problems_of(
        {"deep": [text]}, is_before={"extract"}.__contains__, steps=["extract", "load"], params={"day": None}
    )

    assert problem in found.in_one_line
    assert found.hint


DOTTED: dict[str, Any] = {"steps": {"load.eu": {"output": {"file name": "/x"}}}, "params": {"a.b": 1, "it's": 2}}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{{ steps["load.eu"].output }}', {"file name": "/x"}),
        ("{{ steps['load.eu'].output['file name'] }}", "/x"),
        ("{{steps['load.eu'][\"output\"]}}", {"file name": "/x"}),
        ('<{{ params["a.b"] }}>', "<1>"),
        ('{{ params["it\'s"] }}', 2),
    ],
)
def test_a_name_with_dots_can_be_quoted(text: str, value: Any) -> None:
    assert render(text, DOTTED) == value
    assert list(problems_of(text, is_before=lambda name: True, steps=DOTTED["steps"], params=DOTTED["params"])) == []


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("{{ steps.load.eu.output }}", 'Quote a name with dots: steps["load.eu"].'),
        ("{{ steps.other.eu.output }}", "Name an earlier step"),
        ("{{ steps.first.try.output }}", 'Quote a name with dots: steps["first.try"].'),
        ("{{ params.a.b }}", 'Quote a name with dots: params["a.b"].'),
        ('{{ steps["load.eu].output }}', "Write source.name"),
        ("{{ steps[load].output }}", "Write source.name"),
        ("{{ ['steps']['load.eu'].output }}", "Write source.name"),
    ],
)
def test_the_hint_suggests_quotes_for_a_name_with_dots(text: str, hint: str) -> None:
    before = {"load.eu", "first", "first.try"}

    [found] = problems_of(text, is_before=before.__contains__, steps=[*before, "other.eu"], params={"a.b": 1})

    assert hint in found.hint


def test_valid_templates_have_no_problems() -> None:
    good = ["{{ steps.extract.output.path }}", "{{ params.day }}", "{{ execution.id }}", "{{steps.extract.result}}"]

    assert (
        list(problems_of(good, is_before={"extract"}.__contains__, steps=["extract", "load"], params={"day": None}))
        == []
    )
