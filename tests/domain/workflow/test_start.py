"""The start of an execution."""

from typing import Any

import pytest

from foliot.domain.workflow.spec import WorkflowSpec
from foliot.domain.workflow.start import read_params
from foliot.errors import InvalidRun


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        (["monday"], "The parameters are: day, region."),
        ({"dya": 1}, "day"),
        ({"colour": 1}, "The parameters are: day, region."),
    ],
)
def test_the_hint_about_a_wrong_parameter_lists_the_parameters(given: Any, hint: str) -> None:
    with pytest.raises(InvalidRun) as caught:
        read_params(WorkflowSpec(steps=(), params={"day": 1, "region": "eu"}), given)

    assert hint in caught.value.hint


@pytest.mark.parametrize("given", [5, {"colour": 1}])
def test_the_hint_lists_only_some_of_very_many_parameters(given: Any) -> None:
    with pytest.raises(InvalidRun) as caught:
        read_params(WorkflowSpec(steps=(), params={f"{number}-" + "x" * 100: 1 for number in range(1_000)}), given)

    assert len(caught.value.hint) < 500
