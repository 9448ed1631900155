"""A workflow is refused with everything that is wrong with it."""

import pytest

from foliot.domain.ids import JobId
from foliot.domain.job import JobSpec, Options
from foliot.domain.workflow.checking import check_workflow
from foliot.domain.workflow.spec import Approval, Edge, Step, WorkflowSpec
from foliot.errors import InvalidWorkflow

REPORT = JobId("report")
JOBS = {REPORT: JobSpec(kind="shell", spec={"command": "true"})}


def shell(name: str, *parents: str, command: str = "true", **fields: object) -> Step:
    edges = tuple(Edge(parent=parent) for parent in parents)
    definition = JobSpec(kind="shell", spec={"command": command})
    return Step(name=name, definition=definition, after=edges, **fields)  # type: ignore[arg-type]  # a test names what it means


def faults(*steps: Step, **fields: object) -> str:
    spec = WorkflowSpec(steps=steps, **fields)  # type: ignore[arg-type]  # a test names what it means
    with pytest.raises(InvalidWorkflow) as caught:
        check_workflow("etl", spec, JOBS)
    return "\n".join(caught.value.faults)


def test_a_good_workflow_passes() -> None:
    steps = (
        shell("extract"),
        Step(name="ask", approval=Approval(), after=(Edge(parent="extract"),)),
        Step(name="load", job=REPORT, after=(Edge(parent="ask"),), payload="{{ steps.extract.output.path }}"),
        shell("cleanup", is_final=True, spec={"env": {"DAY": "{{ params.day }}"}}),
    )

    check_workflow("etl", WorkflowSpec(steps=steps, params={"day": None}), JOBS)


@pytest.mark.proves("D1", "R2-31", "R2-35")
def test_every_fault_is_told_together() -> None:
    found = faults(
        shell("a", "nowhere"),
        Step(name="b", job=JobId("reprot")),
        Step(name="c"),
        Step(name="no way", approval=Approval()),
        options=Options(priority=9_999),
    )

    assert '"nowhere", which does not exist' in found
    assert 'job "reprot" does not exist. Did you mean "report"?' in found
    assert 'step "c": a step is one thing' in found
    assert "is not a usable name" in found
    assert "priority" in found


def test_a_template_that_reads_a_step_that_does_not_come_before_is_refused() -> None:
    found = faults(shell("a"), shell("b", payload={"x": "{{ steps.a.output }}"}))

    assert 'step "b": {{ steps.a.output }}: step "a" does not come before this one' in found


def test_a_template_in_a_command_is_refused_and_shown_the_way() -> None:
    found = faults(shell("a"), shell("b", "a", command="rm {{ steps.a.output }}"))

    assert "a template cannot stand in command; put it into env, stdin" in found


def test_a_step_whose_name_is_taken_by_a_job_is_refused() -> None:
    spec = WorkflowSpec(steps=(shell("a"),))

    with pytest.raises(InvalidWorkflow, match=r'a job "etl\.a" exists already'):
        check_workflow("etl", spec, {JobId("etl.a"): JOBS[REPORT]})


def test_a_definition_that_cannot_run_is_refused() -> None:
    assert "this is no shell job" in faults(Step(name="a", definition=JobSpec(kind="shell", spec={})))


def test_ten_thousand_steps_with_templates_are_checked() -> None:
    first = shell("s0")
    others = (shell(f"s{n}", f"s{n - 1}", payload=f"{{{{ steps.s{n // 2}.output }}}}") for n in range(1, 10_000))

    check_workflow("etl", WorkflowSpec(steps=(first, *others)), JOBS)
