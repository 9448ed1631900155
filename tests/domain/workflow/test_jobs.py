"""The jobs of a workflow."""

from foliot.domain.ids import JobId
from foliot.domain.job.job import JobSpec, Options
from foliot.domain.workflow.jobs import GRAPH, is_part_of_workflow, jobs_of
from foliot.domain.workflow.spec import Approval, Step, WorkflowSpec

WORK = JobSpec(kind="shell", spec={"command": "true"}, source="file")


def test_the_job_of_a_workflow_has_its_options_and_description() -> None:
    spec = WorkflowSpec(
        steps=(Step(name="a", definition=WORK),),
        description="D",
        owner="me",
        tags=("x",),
        params={"day": 1},
        options=Options(priority=5),
        enabled=False,
        source="file",
    )

    job = jobs_of("w", 7, spec)[JobId("w")]

    assert (job.kind, job.spec, job.payload_template) == (GRAPH, {"version": 7}, {"day": 1})
    assert (job.description, job.owner, job.tags) == ("D", "me", ("x",))
    assert (job.options.priority, job.enabled, job.source) == (5, False, "file")


def test_only_a_step_with_its_own_definition_has_a_job() -> None:
    steps = (
        Step(name="a", definition=WORK),
        Step(name="b", job=JobId("report")),
        Step(name="c", approval=Approval()),
    )

    jobs = jobs_of("w", 1, WorkflowSpec(steps=steps))

    assert list(jobs) == ["w", "w.a"]
    assert all(map(is_part_of_workflow, jobs.values()))
