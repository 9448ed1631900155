"""A workflow as Python code."""

from typing import Any

import pytest

from foliot.domain.instant import Millis
from foliot.domain.workflow.builder import Workflow
from foliot.domain.workflow.check import check_workflow
from foliot.domain.workflow.conditions import Condition
from foliot.domain.workflow.graph import graph_of
from foliot.domain.workflow.output import OutputTest
from foliot.domain.workflow.spec import Answer, Approval, Edge
from foliot.errors import InvalidJob, InvalidWorkflow
from tests.cases import for_each


def extract() -> None:
    pass


@pytest.mark.proves("R2-25", "R2-28", "R2-34")
def test_the_example_of_the_specification() -> None:
    etl = Workflow("etl")
    etl.step("extract", shell="./extract.sh")
    etl.step("transform", shell="./transform.sh").after("extract", "success")
    etl.step("load", shell="./load.sh").after("transform", "success")
    etl.step("cleanup", shell="./cleanup.sh").final()

    check_workflow("etl", etl.spec, {})
    graph = graph_of(etl.spec.steps)

    assert graph.roots == ["extract"]
    assert [edge.parent for edge in graph.parents["cleanup"]] == ["extract", "transform", "load"]
    assert [child for child, _ in graph.children["extract"]] == ["transform", "cleanup"]


def test_one_chain_of_calls_builds_the_same_graph() -> None:
    apart = Workflow("etl")
    apart.step("a", shell="true")
    apart.step("b", shell="true").after("a", "success")
    apart.step("z", shell="true").final()
    chained = Workflow("etl")
    chained.step("a", shell="true").step("b", shell="true").after("a", "success").step("z", shell="true").final()

    assert chained.spec == apart.spec


@pytest.mark.proves("R2-28")
def test_a_step_comes_after_a_step_object_or_its_name() -> None:
    by_name, by_object = Workflow("etl"), Workflow("etl")
    by_name.step("a", shell="true")
    by_name.step("b", shell="true").after("a", "failure")
    first = by_object.step("a", shell="true")
    by_object.step("b", shell="true").after(first, "failure")

    assert by_object.spec == by_name.spec


def test_a_step_cannot_come_after_a_step_of_another_workflow() -> None:
    other, etl = Workflow("other").step("a", shell="true"), Workflow("etl").step("b", shell="true")

    with pytest.raises(InvalidJob, match='step "a" belongs to workflow "other"'):
        etl.after(other)


@pytest.mark.proves("R2-27")
def test_a_function_can_be_a_step() -> None:
    workflow = Workflow("etl")
    workflow.step("extract", extract, retries=3)

    [step] = workflow.spec.steps
    assert workflow.functions == {"etl.extract": extract}
    assert step.definition is not None
    assert step.definition.spec == {"handler": "etl.extract"}
    assert step.definition.options.retry.retries == 3


@pytest.mark.parametrize(
    ("work", "kind", "spec"),
    [
        ({"shell": "true", "env": {"A": "1"}}, "shell", {"command": "true", "env": {"A": "1"}}),
        ({"argv": ["ls", "-l"]}, "shell", {"argv": ["ls", "-l"]}),
        ({"call": "pkg:fn"}, "python", {"call": "pkg:fn"}),
        ({"http": "POST https://example.org"}, "http", {"method": "POST", "url": "https://example.org"}),
        ({"agent": "Sum up"}, "agent", {"prompt": "Sum up"}),
    ],
)
def test_each_kind_of_work_becomes_a_definition(work: dict[str, Any], kind: str, spec: dict[str, object]) -> None:
    workflow = Workflow("etl")
    workflow.step("only", **work)

    [step] = workflow.spec.steps
    assert step.definition is not None
    assert (step.definition.kind, step.definition.spec) == (kind, spec)
    check_workflow("etl", workflow.spec, {})


def test_conditions_are_a_set_and_trigger_rules_translate() -> None:
    workflow = Workflow("w")
    workflow.step("a", shell="true")
    step = workflow.step("b", shell="true").after("a", "success", "failure").after("c", "none_failed")
    step.after("d", exit_code=3).after("e", path="rows.0", equals=None)

    assert workflow.spec.steps[1].after == (
        Edge(parent="a", when=frozenset({Condition.SUCCESS, Condition.FAILURE})),
        Edge(parent="c", when=frozenset({Condition.SUCCESS, Condition.SKIPPED})),
        Edge(parent="d", test=OutputTest(exit_code=(3,))),
        Edge(parent="e", test=OutputTest(path="rows.0", equals=None)),
    )


def test_a_step_may_name_a_job_or_ask_a_person() -> None:
    workflow = Workflow("w")
    workflow.step("report", job="report", env={"DAY": "{{ execution.id }}"})
    workflow.step("ask", approve=True)

    report, ask = workflow.spec.steps
    assert (report.job, report.spec) == ("report", {"env": {"DAY": "{{ execution.id }}"}})
    assert ask.approval == Approval()


@for_each(
    "work",
    [
        {},
        {"shell": "true", "call": "a:b"},
        {"job": "report", "shell": "true"},
        {"approve": True, "shell": "true"},
        {"shell": "true", "retrys": 3},
        {"shell": "true", "overlap": "sikp"},
        {"function": extract, "job": "report"},
        {"function": extract, "approve": True},
        {"function": "extract"},
        {"job": 3},
        {"approve": 5},
        {"approve": {"timeot": 5}},
        {"approve": {"timeout_sec": -5}},
        {"approve": {"default": "maybe"}},
    ],
)
def test_an_invalid_step_is_refused_immediately(work: dict[str, Any]) -> None:
    with pytest.raises(InvalidJob):
        Workflow("w").step("a", **work)


def test_an_unknown_condition_is_refused_with_the_one_that_was_meant() -> None:
    with pytest.raises(InvalidJob, match="Did you mean"):
        Workflow("w").step("a", shell="true").after("b", "sucess")


@pytest.mark.proves("R2-67")
def test_a_trigger_rule_that_counts_parents_is_refused() -> None:
    with pytest.raises(InvalidJob, match="one_success"):
        Workflow("w").step("a", shell="true").after("b", "one_success")


def test_an_approval_has_the_same_options_as_in_a_file() -> None:
    workflow = Workflow("w")
    workflow.step("ask", approve={"timeout_sec": 5, "default": "approve"})
    workflow.step("wait", approve={"timeout_sec": 0})

    assert [step.approval for step in workflow.spec.steps] == [
        Approval(timeout=Millis(5_000), default=Answer.APPROVE),
        Approval(),
    ]


@pytest.mark.parametrize("test", [{"exit_code": "3"}, {"exit_code": [True]}, {"contains": 3}, {"path": 0}])
def test_an_edge_that_could_never_hold_is_refused(test: dict[str, Any]) -> None:
    with pytest.raises(InvalidJob):
        Workflow("w").step("a", shell="true").after("b", **test)


@pytest.mark.parametrize(
    "wrong", [{"id": None}, {"id": "w", "params": ["day"]}, {"id": "w", "partial_counts_as": "maybe"}]
)
def test_an_invalid_workflow_is_refused_immediately(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidJob):
        Workflow(**wrong)


def test_names_must_be_text() -> None:
    with pytest.raises(InvalidJob, match="name must be text"):
        Workflow("w").step(3, extract)  # type: ignore[arg-type]  # it is wrong on purpose
    with pytest.raises(InvalidJob, match="parent must be text"):
        Workflow("w").step("a", extract).after(3)  # type: ignore[arg-type]  # it is wrong on purpose


def test_a_payload_that_is_not_json_is_refused_with_its_step() -> None:
    workflow = Workflow("w")
    workflow.step("a", extract, payload=object())

    with pytest.raises(InvalidWorkflow, match='step "a": the payload is not JSON'):
        check_workflow("w", workflow.spec, {})
