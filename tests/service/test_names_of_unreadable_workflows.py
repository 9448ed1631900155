"""An unreadable workflow keeps its names, and takes none from others."""

import logging
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import apsw
import pytest

from foliot.adapters.storage.postgres import open_postgres
from foliot.adapters.storage.sqlite import SqliteStorage
from foliot.domain.gate.spec import Gate
from foliot.domain.ids import JobId
from foliot.domain.job.job import Job, JobSpec
from foliot.domain.workflow.spec import Step, WorkflowSpec
from foliot.errors import InvalidJob, InvalidWorkflow, RowUnreadable
from foliot.ports.storage import Storage
from foliot.service.paging import found_with_errors, known_jobs, page_of_jobs
from foliot.service.services import Services
from foliot.testing.clock import VirtualClock
from tests.adapters.storage.postgres.fresh import fresh_database

Spoil = Callable[[str, str], None]
SHELL = JobSpec(kind="shell", spec={"command": "true"}, source="api")


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, Callable[[str], object]]]:
    """The URL of the database, and a function that writes directly into it."""
    if request.param == "sqlite":
        path = str(tmp_path / "service.db")
        yield path, lambda sql: apsw.Connection(path).execute(sql).fetchall()
    else:
        with fresh_database() as (server, name):
            yield server.dsn(name), lambda sql: server.sql(sql.replace("UPDATE ", "UPDATE foliot."), database=name)


@pytest.fixture
async def storage(database: tuple[str, object], clock: VirtualClock) -> AsyncIterator[Storage]:
    where, _ = database
    async with AsyncExitStack() as stack:
        if where.startswith("postgres"):
            yield await stack.enter_async_context(await open_postgres(where))
        else:
            opened = await SqliteStorage.open(Path(where), clock=clock, inline=True, synchronous="NORMAL")
            stack.push_async_callback(opened.close)
            yield opened


@pytest.fixture
def spoil(database: tuple[str, Callable[[str], object]]) -> Spoil:
    def write(table: str, name: str) -> None:
        assert database[1](f"UPDATE {table} SET spec = '{{oops' WHERE id = '{name}' RETURNING id")

    return write


def flow(*steps: str, command: str = "true") -> WorkflowSpec:
    definition = JobSpec(kind="shell", spec={"command": command})
    return WorkflowSpec(steps=tuple(Step(name=name, definition=definition) for name in steps), source="api")


async def names(services: Services) -> set[str]:
    """Return the ids of all stored jobs."""
    page = await page_of_jobs(services.storage, None, 100)
    return {job.name if isinstance(job, RowUnreadable) else job.id for job in page}


async def gate_on(services: Services, name: str) -> None:
    watching = JobSpec(kind="shell", spec={"command": "true"}, gate=Gate(depends_on=(JobId(name),)))
    await services.jobs.put({JobId("x"): watching})


# -- deleted


async def test_an_unreadable_workflow_used_by_a_gate_is_not_deleted(services: Services, spoil: Spoil) -> None:
    await services.workflows.put({"etl": flow("extract")})
    await gate_on(services, "etl.extract")
    spoil("workflows", "etl")

    with pytest.raises(InvalidJob, match=r'job "etl\.extract" is needed by x'):
        await services.workflows.delete("etl", force=True)

    assert await names(services) == {"etl", "etl.extract", "x"}


async def test_a_workflow_with_an_unreadable_version_used_by_a_gate_is_not_deleted(
    services: Services, spoil: Spoil
) -> None:
    await services.workflows.put({"etl": flow("extract")})
    await gate_on(services, "etl.extract")
    spoil("workflows", "etl")
    await services.workflows.put({"etl": flow("load")})

    with pytest.raises(InvalidJob, match=r'job "etl\.extract" is needed by x'):
        await services.workflows.delete("etl")


async def test_deleting_an_unreadable_workflow_deletes_edges_of_its_steps(services: Services, spoil: Spoil) -> None:
    await services.workflows.put({"etl": flow("extract")})
    await services.jobs.put({JobId("after"): SHELL})
    await services.dependencies.add("after", "etl.extract")
    spoil("workflows", "etl")

    await services.workflows.delete("etl", force=True)

    assert "etl.extract" not in await names(services)
    assert await services.dependencies.of("after") == []


async def test_deleting_an_unreadable_workflow_keeps_and_logs_jobs_of_unknown_owner(
    services: Services, spoil: Spoil, caplog: pytest.LogCaptureFixture
) -> None:
    await services.workflows.put({"etl": flow("extract")})
    await services.jobs.put({JobId("etl.mine"): SHELL})
    spoil("workflows", "etl")
    spoil("jobs", "etl")
    spoil("jobs", "etl.mine")

    with caplog.at_level(logging.WARNING):
        await services.workflows.delete("etl", force=True)

    assert await names(services) == {"etl.mine"}
    [left] = [record for record in caplog.records if record.message == "job_kept"]
    assert (vars(left)["job"], vars(left)["workflow"]) == ("etl.mine", "etl")


# -- deployed beside


@pytest.mark.parametrize(("first", "second"), [(("etl", "a.b"), ("etl.a", "b")), (("etl.a", "b"), ("etl", "a.b"))])
async def test_the_name_of_a_step_of_an_unreadable_workflow_is_taken(
    services: Services, spoil: Spoil, first: tuple[str, str], second: tuple[str, str]
) -> None:
    await services.workflows.put({first[0]: flow(first[1])})
    spoil("workflows", first[0])

    of_it = f'has the same name as a step of workflow "{first[0]}", which cannot be read: "etl.a.b"'
    with pytest.raises(InvalidWorkflow, match=of_it):
        await services.workflows.put({second[0]: flow(second[1], command="false")})

    [job] = (await services.storage.definitions.get_jobs([JobId("etl.a.b")])).values()
    assert job.spec.spec["command"] == "true"


async def test_the_name_of_a_step_of_an_unreadable_former_version_is_taken(services: Services, spoil: Spoil) -> None:
    await services.workflows.put({"etl": flow("a.b")})
    spoil("workflows", "etl")
    await services.workflows.put({"etl": flow("other")})

    with pytest.raises(InvalidWorkflow, match="which cannot be read"):
        await services.workflows.put({"etl.a": flow("b")})


async def test_unused_names_are_free_beside_an_unreadable_workflow(services: Services, spoil: Spoil) -> None:
    await services.workflows.put({"etl": flow("a.b")})
    spoil("workflows", "etl")

    await services.workflows.put({"etl.a": flow("c")})

    assert await names(services) == {"etl", "etl.a.b", "etl.a", "etl.a.c"}


async def test_a_workflow_keeps_its_names_beside_an_unreadable_one(services: Services, spoil: Spoil) -> None:
    await services.workflows.put({"etl": flow("x"), "etl.a": flow("b", "c")})
    await services.workflows.put({"etl.a": flow("c")})
    spoil("workflows", "etl")

    again = await services.workflows.put({"etl.a": flow("b", "c", "d")})

    assert again["etl.a"].version == 3


async def test_two_unreadable_workflows_can_be_replaced(services: Services, spoil: Spoil) -> None:
    both = {"etl": flow("x"), "etl.a": flow("b")}
    await services.workflows.put(both)
    spoil("workflows", "etl")
    spoil("workflows", "etl.a")

    versions = [(await services.workflows.put({name: both[name]}))[name].version for name in ("etl.a", "etl")]

    assert versions == [2, 2]


@pytest.mark.parametrize("document", ['{"kind": "shell", "source": "api", "options": 7}', "{oops"])
async def test_an_unreadable_job_of_unknown_owner_is_not_overwritten(
    services: Services, database: tuple[str, Callable[[str], object]], spoil: Spoil, document: str
) -> None:
    await services.workflows.put({"etl": flow("extract")})
    await services.jobs.put({JobId("etl.mine"): SHELL})
    spoil("workflows", "etl")
    database[1](f"UPDATE jobs SET spec = '{document}' WHERE id = 'etl.mine' RETURNING id")

    of_it = r'has the same name as a job that cannot be read: "etl\.mine"'
    with pytest.raises(InvalidWorkflow, match=of_it):
        await services.workflows.put({"etl": flow("mine")})

    with pytest.raises(RowUnreadable):
        await services.storage.definitions.get_jobs([JobId("etl.mine")])


async def test_a_readable_or_new_workflow_does_not_overwrite_an_unreadable_job(
    services: Services, spoil: Spoil
) -> None:
    await services.workflows.put({"etl": flow("extract")})
    await services.jobs.put({JobId("etl.mine"): SHELL, JobId("new"): SHELL})
    spoil("jobs", "etl.mine")
    spoil("jobs", "new")

    for name in ("etl", "new"):
        with pytest.raises(InvalidWorkflow, match="a job that cannot be read"):
            await services.workflows.put({name: flow("mine")})


@pytest.mark.parametrize("document", ['{"kind": "shell", "source": "workflow", "options": 7}', "{oops"])
async def test_an_unreadable_job_of_a_known_step_is_replaced(
    services: Services, database: tuple[str, Callable[[str], object]], spoil: Spoil, document: str
) -> None:
    await services.workflows.put({"etl": flow("extract")})
    if document != "{oops":
        spoil("workflows", "etl")
    database[1](f"UPDATE jobs SET spec = '{document}' WHERE id = 'etl.extract' RETURNING id")

    await services.workflows.put({"etl": flow("extract", command="false")})

    [job] = (await services.storage.definitions.get_jobs([JobId("etl.extract")])).values()
    assert job.spec.spec["command"] == "false"


# -- many


async def test_an_unreadable_row_is_found_by_bisection(services: Services, spoil: Spoil) -> None:
    wanted = [JobId(f"job-{number:03}") for number in range(256)]
    await services.jobs.put(dict.fromkeys(wanted, SHELL))
    spoil("jobs", "job-100")
    asked: list[int] = []

    async def get(names: Collection[JobId]) -> dict[JobId, Job]:
        asked.append(len(names))
        return await services.storage.definitions.get_jobs(names)

    found = await found_with_errors(get, wanted)

    assert [name for name, job in found.items() if isinstance(job, RowUnreadable)] == ["job-100"]
    assert (len(found), len(asked)) == (256, 1 + 2 * 8)
    assert len(await known_jobs(services.storage, wanted)) == 255
