"""foliot jobs delete, schedules delete and workflows delete."""

import asyncio
import json
from pathlib import Path

import pytest

from foliot import Foliot
from foliot.domain.ids import JobId
from foliot.domain.job.job import JobSpec
from tests.interfaces.conftest import Call
from tests.interfaces.test_completion import offered

BOTH_WAYS = True

COMMANDS = ("jobs", "schedules", "workflows")
FLOW = {
    "id": "flow",
    "steps": [{"name": "ask", "approve": True}, {"name": "ship", "kind": "shell", "command": "true", "after": ["ask"]}],
    "schedules": [{"name": "daily", "cron": "0 3 * * *"}],
}


@pytest.fixture
def owned(shop: Path) -> Path:
    """The shop with a job, a workflow and schedules that no source owns. One execution has not started."""
    asyncio.run(_own(f"sqlite:///{shop}/foliot.db"))
    return shop


async def _own(url: str) -> None:
    async with Foliot(url) as app:
        services = await app.open()
        await services.jobs.put({JobId("mine"): JobSpec(kind="shell", spec={"command": "true"})})
        for name in ("mine-a", "mine-b"):
            await app.schedules.upsert(name, job_id="mine", cron="0 * * * *")
        await app.enqueue("mine")
        await app.workflows.deploy(FLOW)
        await app.workflows.start("flow")
        await app.jobs.add_dependency("report", "mine")


def ids(call: Call, what: str) -> list[str]:
    return [str(one.get("id") or one["schedule_id"]) for one in call(what, "--json").objects]


def statuses(call: Call, job: str) -> list[str]:
    return [str(run["status"]) for run in call("runs", "--job", job, "--json").objects]


def test_deleting_a_job_deletes_its_schedules_and_keeps_its_history(call: Call, owned: Path) -> None:
    assert call("jobs", "delete", "mine") == (0, "deleted mine with mine-a, mine-b\n", "")
    assert "mine" not in ids(call, "jobs")
    assert [name for name in ids(call, "schedules") if name.startswith("mine")] == []
    assert statuses(call, "mine") == ["cancelled"]


def test_a_deleted_job_starts_no_more_runs(call: Call, owned: Path) -> None:
    call("jobs", "delete", "mine")

    async def edges() -> list[object]:
        async with Foliot(f"sqlite:///{owned}/foliot.db") as app:
            return list(await app.jobs.dependencies("report"))

    assert asyncio.run(edges()) == []


def test_deleting_a_schedule_keeps_its_job(call: Call, owned: Path) -> None:
    assert call("schedules", "delete", "mine-a") == (0, "deleted mine-a\n", "")
    assert "mine-a" not in ids(call, "schedules")
    assert "mine-b" in ids(call, "schedules")
    assert "mine" in ids(call, "jobs")


def test_deleting_a_workflow_deletes_its_schedules_and_step_jobs(call: Call, owned: Path) -> None:
    assert call("workflows", "delete", "flow") == (0, "deleted flow with flow:daily\n", "")
    assert "flow" not in ids(call, "workflows")
    assert "flow:daily" not in ids(call, "schedules")
    assert [one["id"] for one in call("jobs", "--all", "--json").objects if str(one["id"]).startswith("flow")] == []
    assert statuses(call, "flow") == ["cancelled"]


def test_delete_prints_deleted_schedules_as_json(call: Call, owned: Path) -> None:
    flow = {"id": "flow", "schedules": ["flow:daily"], "done": "deleted"}

    assert call("workflows", "delete", "flow", "--json").objects == [flow]
    assert call("schedules", "delete", "mine-a", "--json").objects == [{"id": "mine-a", "done": "deleted"}]
    assert call("jobs", "delete", "mine", "--json").objects == [
        {"id": "mine", "schedules": ["mine-b"], "done": "deleted"}
    ]


def test_delete_reports_a_failure_and_deletes_the_others(call: Call, owned: Path) -> None:
    code, out, err = call("jobs", "delete", "report", "mine")

    assert (code, out) == (1, "deleted mine with mine-a, mine-b\n")
    assert err.startswith('error: job "report" is defined in the application\'s code\n')


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (["jobs", "delete", "mien"], "error: job 'mien' does not exist\n  Did you mean \"mine\"?"),
        (
            ["jobs", "delete", "flow"],
            'error: "flow" is a workflow\n  Delete it with its steps: foliot workflows delete',
        ),
        (["jobs", "delete", "flow.ship"], 'error: job "flow.ship" is defined by the workflow that it is part of'),
        (["schedules", "delete", "mine"], "error: schedule 'mine' does not exist"),
        (["schedules", "delete", "report-often"], 'error: schedule "report-often" is defined in the application'),
        (
            ["schedules", "delete", "flow:daily"],
            'error: schedule "flow:daily" is defined by the workflow that it is part of',
        ),
        (["workflows", "delete", "folw"], "error: workflow 'folw' does not exist\n  Did you mean \"flow\"?"),
        (["workflows", "delete", "mine"], "error: workflow 'mine' does not exist\n  It is a job: foliot show mine"),
        (["workflows", "delete", "foliot.dependencies"], "error: workflow "),
    ],
)
def test_delete_refuses_missing_and_owned_definitions(call: Call, owned: Path, wrong: list[str], message: str) -> None:
    before = [ids(call, what) for what in COMMANDS]

    code, out, err = call(*wrong)

    assert (code, out) == (1, "")
    assert err.startswith(message)
    assert [ids(call, what) for what in COMMANDS] == before


@pytest.mark.parametrize(("what", "name"), [("schedules", "report-often"), ("jobs", "report")], ids=["schedule", "job"])
def test_delete_with_force_deletes_a_job_of_an_application(call: Call, owned: Path, what: str, name: str) -> None:
    asyncio.run(_let_go(f"sqlite:///{owned}/foliot.db"))

    code, out, _ = call(what, "delete", "--force", name)

    assert (code, out.startswith(f"deleted {name}")) == (0, True)
    assert name not in ids(call, what)


async def _let_go(url: str) -> None:
    """Remove what depends on the job `report`."""
    async with Foliot(url) as app:
        await app.jobs.remove_dependency("report", "mine")


def test_delete_with_force_refuses_a_step_of_a_workflow(call: Call, owned: Path) -> None:
    code, _, err = call("jobs", "delete", "--force", "flow.ship")

    assert (code, err.startswith('error: job "flow.ship" is defined by the workflow that it is part of')) == (1, True)


def test_delete_refuses_a_workflow_of_an_application(call: Call, plant: Path) -> None:
    code, out, err = call("workflows", "delete", "etl")

    assert (code, out) == (1, "")
    assert err.startswith('error: workflow "etl" is defined in the application\'s code\n')


@pytest.mark.parametrize("command", COMMANDS)
def test_delete_without_arguments_is_a_usage_error(call: Call, owned: Path, command: str) -> None:
    assert call(command, "delete").code == 2


@pytest.mark.parametrize("command", COMMANDS)
def test_an_option_before_a_subcommand_is_refused(call: Call, owned: Path, command: str) -> None:
    code, out, err = call(command, "--json", "delete", "mine")

    assert (code, out) == (2, "")
    assert json.loads(err)["message"] == "--json is before the command"
    assert json.loads(err)["hint"] == f"Write: foliot {command} delete ... --json"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("foliot jobs delete mi", ["mine"]),
        ("foliot schedules delete mi", ["mine-a", "mine-b"]),
        ("foliot workflows delete f", ["flow"]),
    ],
)
def test_completion_offers_ids_to_delete(owned: Path, words: str, expected: list[str]) -> None:
    assert sorted(offered(owned, words)) == expected
