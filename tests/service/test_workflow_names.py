"""Workflows and their steps share one namespace: a name that is taken is refused."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from foliot import Foliot
from foliot.domain.deploy.deployment import Declared
from foliot.domain.ids import JobId
from foliot.domain.job.job import JobSpec
from foliot.domain.workflow.jobs import job_names, possible_conflicts
from foliot.domain.workflow.spec import Approval, Step, WorkflowSpec
from foliot.errors import InvalidInput, InvalidWorkflow
from foliot.service.services import Services

TRUE = JobSpec(kind="shell", spec={"command": "true"})


def flow(*steps: str, command: str = "true", **fields: Any) -> WorkflowSpec:
    definition = JobSpec(kind="shell", spec={"command": command})
    return WorkflowSpec(steps=tuple(Step(name=name, definition=definition) for name in steps), **fields)


async def register(services: Services, **workflows: WorkflowSpec) -> None:
    """Register these workflows in one call; `a_b` is the workflow a.b."""
    await services.workflows.put({name.replace("_", "."): spec for name, spec in workflows.items()})


async def command_of(services: Services, name: str) -> object:
    found = await services.storage.definitions.get_jobs([JobId(name)])
    return found[JobId(name)].spec.spec["command"]


@pytest.mark.parametrize(
    ("first", "second"),
    [({"a": flow("b.c")}, {"a_b": flow("c")}), ({"a_b": flow("c")}, {"a": flow("b.c")})],
)
async def test_a_step_name_of_another_workflow_is_refused(
    services: Services, first: dict[str, WorkflowSpec], second: dict[str, WorkflowSpec]
) -> None:
    await register(services, **first)

    with pytest.raises(
        InvalidWorkflow, match=r'has the same name as step "\S+" of workflow "\S+": "a\.b\.c"'
    ) as refused:
        await register(services, **second)

    assert [problem.hint for problem in refused.value.problems] == ["Give one of them another name."]
    assert len(await services.storage.definitions.page_workflows()) == 1


@pytest.mark.parametrize(
    "both",
    [
        {"a": flow("b.c"), "a_b": flow("c")},
        {"a_b": flow("c"), "a": flow("b")},
        {"a": WorkflowSpec(steps=(Step(name="b.c", approval=Approval()),)), "a_b": flow("c")},
    ],
)
async def test_two_workflows_in_one_call_with_a_shared_step_name_are_refused(
    services: Services, both: dict[str, WorkflowSpec]
) -> None:
    with pytest.raises(InvalidWorkflow, match="has the same name as"):
        await register(services, **both)

    assert await services.storage.definitions.page_workflows() == []


async def test_the_name_of_an_approval_step_is_taken(services: Services) -> None:
    await register(services, a=WorkflowSpec(steps=(Step(name="b.c", approval=Approval()),)))

    with pytest.raises(
        InvalidWorkflow, match=r'step "c" of workflow "a.b" has the same name as step "b.c" of workflow "a"'
    ):
        await register(services, a_b=flow("c"))


async def test_the_name_of_a_step_of_a_former_version_is_taken(services: Services) -> None:
    await register(services, a=flow("b.c"))
    await register(services, a=flow("other"))

    with pytest.raises(InvalidWorkflow, match=r'step "b.c" of workflow "a"'):
        await register(services, a_b=flow("c"))


async def test_names_of_a_deleted_workflow_are_free(services: Services) -> None:
    await register(services, a=flow("b.c"))
    await services.workflows.delete("a")

    await register(services, a_b=flow("c", command="other"))

    assert await command_of(services, "a.b.c") == "other"


async def test_a_file_with_the_step_name_of_a_deployed_workflow_is_refused(services: Services) -> None:
    await register(services, a=flow("b.c"))

    with pytest.raises(InvalidInput, match=r'"a\.b\.c"'):
        await services.deployer.apply(Declared(workflows={"a.b": flow("c", source="file")}))


async def test_step_names_with_a_common_prefix_do_not_conflict(services: Services) -> None:
    await register(services, a=flow("b", "c.d"), a_c=flow("e"), ab=flow("c"))

    await register(services, a=flow("b", "c.d", "c.f"))

    assert {version.version for version in await services.storage.definitions.page_workflows()} == {1, 2}


async def test_a_step_that_uses_a_job_takes_no_name(services: Services) -> None:
    await register(services, a=flow("b.c"))

    await register(services, a_b=WorkflowSpec(steps=(Step(name="c", job=JobId("a.b.c")),)))

    assert len(await services.storage.definitions.page_workflows()) == 2


async def test_workflows_that_already_share_a_name_can_be_changed_and_deleted(services: Services) -> None:
    """The database is from before such names were refused."""
    await services.storage.definitions.put_workflows({"a": flow("b.c"), "a.b": flow("c")})

    await register(services, a_b=flow("c", command="other"))
    await register(services, a_b=flow("renamed"))

    assert (await services.workflows.record("a.b")).version == 3


def test_the_names_of_a_workflow_and_its_steps() -> None:
    steps = (Step(name="x", definition=TRUE), Step(name="y.z", approval=Approval()), Step(name="w", job=JobId("job")))

    assert job_names("a.b", WorkflowSpec(steps=steps)) == {
        "a.b": 'workflow "a.b"',
        "a.b.x": 'step "x" of workflow "a.b"',
        "a.b.y.z": 'step "y.z" of workflow "a.b"',
    }
    assert possible_conflicts("a.b", WorkflowSpec(steps=steps)) == {"a", "a.b.y"}
    assert possible_conflicts("a", flow("b")) == set()


@pytest.fixture
async def app(services: Services) -> AsyncIterator[Foliot]:
    app = Foliot()
    await app.open(services)
    yield app
    await app.close()


async def test_a_document_with_a_taken_step_name_is_refused(app: Foliot, services: Services) -> None:
    await app.workflows.deploy({"id": "a.b", "steps": [{"name": "c", "command": "one"}]})

    with pytest.raises(
        InvalidInput, match=r'step "b.c" of workflow "a" has the same name as step "c" of workflow "a.b"'
    ):
        await app.workflows.deploy({"id": "a", "steps": [{"name": "b.c", "command": "two"}]})

    assert await command_of(services, "a.b.c") == "one"
