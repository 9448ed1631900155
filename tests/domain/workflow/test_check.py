"""A workflow is refused with all its problems."""

from typing import Any

import pytest

from foliot.domain.gate.spec import Gate
from foliot.domain.ids import JobId
from foliot.domain.job.job import JobSpec, Options
from foliot.domain.workflow.check import check_workflow
from foliot.domain.workflow.spec import Approval, Edge, Step, WorkflowSpec
from foliot.errors import InvalidWorkflow

REPORT = JobId("report")
JOBS = {REPORT: JobSpec(kind="shell", spec={"command": "true"})}


def shell(name: str, *parents: str, command: str = "true", **fields: object) -> Step:
    edges = tuple(Edge(parent=parent) for parent in parents)
    definition = JobSpec(kind="shell", spec={"command": command})
    return Step(name=name, definition=definition, after=edges, **fields)  # type: ignore[arg-type]  # a test names what it means


def problems(*steps: Step, **fields: object) -> str:
    spec = WorkflowSpec(steps=steps, **fields)  # type: ignore[arg-type]  # a test names what it means
    with pytest.raises(InvalidWorkflow) as caught:
        check_workflow("etl", spec, JOBS)
    return "\n".join(problem.in_one_line for problem in caught.value.problems)


def test_a_valid_workflow_passes_the_check() -> None:
    steps = (
        shell("extract"),
        Step(name="ask", approval=Approval(), after=(Edge(parent="extract"),)),
        Step(name="load", job=REPORT, after=(Edge(parent="ask"),), payload="{{ steps.extract.output.path }}"),
        shell("cleanup", is_final=True, spec={"env": {"DAY": "{{ params.day }}"}}),
    )

    check_workflow("etl", WorkflowSpec(steps=steps, params={"day": None}), JOBS)


@pytest.mark.proves("D1")
def test_all_problems_of_a_workflow_are_reported_together() -> None:
    found = problems(
        shell("a", "nowhere"),
        Step(name="b", job=JobId("reprot")),
        Step(name="c"),
        Step(name="no way", approval=Approval()),
        options=Options(priority=9_999),
    )

    assert '"nowhere", which does not exist' in found
    assert 'job "reprot" does not exist. Did you mean "report"?' in found
    assert 'step "c": a step is either' in found
    assert "is not a valid name" in found
    assert "priority" in found


def test_the_job_id_of_a_step_has_at_most_200_characters() -> None:
    check_workflow("etl", WorkflowSpec(steps=(shell("s" * 196),)), JOBS)

    assert "has more than 200 characters" in problems(shell("s" * 197))


def test_templates_are_checked_even_if_the_graph_is_invalid() -> None:
    found = problems(
        shell("a"),
        shell("b", payload="{{ params.dya }} {{ steps.a.output }}"),
        shell("c", "nowhere", payload="{{ steps.a.output }} {{ steps.aa.output }}", command="x {{ params.day }}"),
        shell("d", "e", payload="{{ steps.a.output }} {{ steps.d.result }}"),
        shell("e", "d"),
        params={"day": 1},
    )

    assert "the steps form a cycle: d -> e -> d" in found
    assert 'step "b": {{ params.dya }}: parameter "dya" does not exist. Did you mean "day"?' in found
    assert 'step "b": {{ steps.a.output }}: step "a" does not come before this one' in found
    assert 'step "c": {{ steps.aa.output }}: step "aa" does not exist. Did you mean "a"?' in found
    assert 'step "c": a template is not allowed in command' in found
    assert 'step "d": {{ steps.d.result }}: step "d" does not come before this one' in found
    assert 'step "d": {{ steps.a.output }}' not in found


def test_if_the_order_is_undefined_a_template_may_read_any_step() -> None:
    steps = (shell("a"), shell("b", "nowhere"), shell("c", "b", payload="{{ steps.a.output }}"), shell("c", "c"))

    assert "does not come before" not in problems(*steps)


def test_a_cycle_is_reported_even_if_a_step_is_defined_twice() -> None:
    found = problems(shell("a", "b"), shell("b", "a"), shell("b"))

    assert 'step "b" is defined twice' in found
    assert "the steps form a cycle: a -> b -> a" in found


def test_messages_and_hints_of_problems_are_separate() -> None:
    found = problems(
        Step(name="no way", approval=Approval()), Step(name="b", job=JobId("xyz"), spec={"env": {"A": "1"}})
    )

    assert "is not a valid name. Use 1 to 200" in found
    assert found.endswith(
        'step "b": job "xyz" does not exist. Define it as well, or name an existing job: foliot jobs.'
    )


def test_a_template_that_reads_a_step_that_does_not_come_before_is_refused() -> None:
    found = problems(shell("a"), shell("b", payload={"x": "{{ steps.a.output }}"}))

    assert 'step "b": {{ steps.a.output }}: step "a" does not come before this one' in found


def test_a_template_that_names_an_unknown_step_is_refused_with_the_near_match() -> None:
    found = problems(
        shell("extract"), shell("load", "extract", payload="{{ steps.extrct.output }} {{ steps.fetch.output }}")
    )

    assert 'step "load": {{ steps.extrct.output }}: step "extrct" does not exist. Did you mean "extract"?' in found
    assert 'step "load": {{ steps.fetch.output }}: step "fetch" does not exist. The steps are: extract, load.' in found


def test_the_near_match_may_be_a_step_that_does_not_come_before() -> None:
    found = problems(shell("extract"), shell("load", payload="{{ steps.extrct.output }}"))

    assert 'step "load": {{ steps.extrct.output }}: step "extrct" does not exist. Did you mean "extract"?' in found


def test_a_template_in_a_command_is_refused_with_an_alternative() -> None:
    found = problems(shell("a"), shell("b", "a", command="rm {{ steps.a.output }}"))

    assert "a template is not allowed in command. Put it into env or stdin" in found


def test_a_step_whose_name_is_taken_by_a_job_is_refused() -> None:
    spec = WorkflowSpec(steps=(shell("a"),))

    with pytest.raises(InvalidWorkflow, match=r'a job "etl\.a" already exists'):
        check_workflow("etl", spec, {JobId("etl.a"): JOBS[REPORT]})


def test_a_definition_that_cannot_run_is_refused() -> None:
    assert "not a valid shell job" in problems(Step(name="a", definition=JobSpec(kind="shell", spec={})))


@pytest.mark.parametrize(
    ("named", "problem_text"),
    [
        ("etl", 'step "a": "etl" would start itself without end. Name another workflow or a job.'),
        ("other", 'step "a": "other" is a workflow, not a job. Use workflow = "other".'),
    ],
)
def test_a_workflow_is_not_named_as_a_job(named: str, problem_text: str) -> None:
    jobs = {JobId("other"): JobSpec(kind="graph", spec={"version": 1})}
    spec = WorkflowSpec(steps=(Step(name="a", job=JobId(named)),))

    with pytest.raises(InvalidWorkflow) as caught:
        check_workflow("etl", spec, jobs)

    [problem] = caught.value.problems
    assert problem.in_one_line == problem_text
    assert caught.value.message == f"workflow 'etl' cannot be registered:\n  - {problem.in_one_line}"
    assert caught.value.hint == "Correct the listed problems. Nothing was stored."


def gated(*names: str, **fields: Any) -> Step:
    gate = Gate(depends_on=tuple(map(JobId, names)), **fields)
    return Step(name="a", definition=JobSpec(kind="shell", spec={"command": "true"}, gate=gate))


@pytest.mark.parametrize(
    ("step", "problem"),
    [
        (gated("etl.a"), 'step "a": "etl.a" cannot depend on itself'),
        (gated(), 'step "a": depends_on must name 1 to'),
        (gated("report", wait=-1), 'step "a": wait must be 0 to'),
        (gated("reprot"), 'step "a": job "reprot" does not exist. Did you mean "report"?'),
    ],
)
def test_an_invalid_gate_of_a_step_is_refused(step: Step, problem: str) -> None:
    with pytest.raises(InvalidWorkflow) as caught:
        check_workflow("etl", WorkflowSpec(steps=(step,)), JOBS, watchable=JOBS)

    [found] = caught.value.problems
    assert found.in_one_line.startswith(problem)


def test_a_gate_of_a_step_may_depend_on_its_own_workflow_and_on_other_steps() -> None:
    check_workflow("etl", WorkflowSpec(steps=(gated("etl", "etl.b", "report"), shell("b"))), JOBS, watchable=JOBS)


def test_without_a_list_of_watchable_jobs_gates_are_not_checked() -> None:
    check_workflow("etl", WorkflowSpec(steps=(gated("elsewhere"),)), JOBS)


def test_ten_thousand_steps_with_templates_are_checked() -> None:
    first = shell("s0")
    others = (shell(f"s{n}", f"s{n - 1}", payload=f"{{{{ steps.s{n // 2}.output }}}}") for n in range(1, 10_000))

    check_workflow("etl", WorkflowSpec(steps=(first, *others)), JOBS)
