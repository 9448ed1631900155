"""foliot jobs delete, schedules delete and workflows delete."""

import asyncio
from pathlib import Path

import pytest

from foliot import Foliot
from foliot.domain.ids import JobId
from foliot.domain.job.job import JobSpec
from tests.interfaces.conftest import Call
from tests.interfaces.test_completion import offered

COMMANDS = ("jobs", "schedules", "workflows")
FLOW = {
    "id": "flow",
    "steps": [{"name": "ask", "approve": True}, {"name": "ship", "kind": "shell", "command": "true", "after": ["ask"]}],
    "schedules": [{"name": "daily", "cron": "0 3 * * *"}],
}


@pytest.fixture
def owned(shop: Path) -> Path:
    """The shop with a job, a workflow and schedules that nobody defines elsewhere. An execution has not begun."""
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


def test_a_job_goes_with_its_schedules_and_its_history_stays(call: Call, owned: Path) -> None:
    assert call("jobs", "delete", "mine") == (0, "deleted mine with mine-a, mine-b\n", "")
    assert "mine" not in ids(call, "jobs")
    assert [name for name in ids(call, "schedules") if name.startswith("mine")] == []
    assert statuses(call, "mine") == ["cancelled"]


def test_nothing_follows_a_job_that_is_deleted(call: Call, owned: Path) -> None:
    call("jobs", "delete", "mine")

    async def edges() -> list[object]:
        async with Foliot(f"sqlite:///{owned}/foliot.db") as app:
            return list(await app.jobs.dependencies("report"))

    assert asyncio.run(edges()) == []


def test_a_schedule_goes_and_its_job_stays(call: Call, owned: Path) -> None:
    assert call("schedules", "delete", "mine-a") == (0, "deleted mine-a\n", "")
    assert "mine-a" not in ids(call, "schedules")
    assert "mine-b" in ids(call, "schedules")
    assert "mine" in ids(call, "jobs")


def test_a_workflow_goes_with_its_schedules_and_the_jobs_of_its_steps(call: Call, owned: Path) -> None:
    assert call("workflows", "delete", "flow") == (0, "deleted flow with flow:daily\n", "")
    assert "flow" not in ids(call, "workflows")
    assert "flow:daily" not in ids(call, "schedules")
    assert [one["id"] for one in call("jobs", "--all", "--json").objects if str(one["id"]).startswith("flow")] == []
    assert statuses(call, "flow") == ["cancelled"]


def test_programs_are_told_what_went_along(call: Call, owned: Path) -> None:
    flow = {"id": "flow", "schedules": ["flow:daily"], "done": "deleted"}

    assert call("workflows", "delete", "flow", "--json").objects == [flow]
    assert call("schedules", "delete", "mine-a", "--json").objects == [{"id": "mine-a", "done": "deleted"}]
    assert call("jobs", "delete", "mine", "--json").objects == [
        {"id": "mine", "schedules": ["mine-b"], "done": "deleted"}
    ]


def test_one_that_cannot_be_deleted_does_not_keep_the_others_from_it(call: Call, owned: Path) -> None:
    code, out, err = call("jobs", "delete", "report", "mine")

    assert (code, out) == (1, "deleted mine with mine-a, mine-b\n")
    assert err.startswith('error: job "report" is defined in the application\'s code\n')


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (["jobs", "delete", "mien"], "error: job 'mien' does not exist\n  Did you mean \"mine\"?"),
        (
            ["jobs", "delete", "flow"],
            'error: "flow" is a workflow\n  Delete it with its steps: foliot workflows delete',
        ),
        (["jobs", "delete", "flow.ship"], 'error: job "flow.ship" is defined by a workflow'),
        (["schedules", "delete", "mine"], "error: schedule 'mine' does not exist"),
        (["schedules", "delete", "report-often"], 'error: schedule "report-often" is defined in the application'),
        (["schedules", "delete", "flow:daily"], 'error: schedule "flow:daily" is defined by a workflow'),
        (["workflows", "delete", "folw"], "error: workflow 'folw' does not exist\n  Did you mean \"flow\"?"),
        (["workflows", "delete", "mine"], "error: workflow 'mine' does not exist\n  It is a job: foliot show mine"),
        (["workflows", "delete", "foliot.dependencies"], "error: workflow "),
    ],
)
def test_what_cannot_be_deleted_stays(call: Call, owned: Path, wrong: list[str], said: str) -> None:
    before = [ids(call, what) for what in COMMANDS]

    code, out, err = call(*wrong)

    assert (code, out) == (1, "")
    assert err.startswith(said)
    assert [ids(call, what) for what in COMMANDS] == before


@pytest.mark.parametrize(("what", "name"), [("schedules", "report-often"), ("jobs", "report")], ids=["schedule", "job"])
def test_what_an_application_no_longer_defines_is_deleted_by_force(
    call: Call, owned: Path, what: str, name: str
) -> None:
    asyncio.run(_let_go(f"sqlite:///{owned}/foliot.db"))

    code, out, _ = call(what, "delete", "--force", name)

    assert (code, out.startswith(f"deleted {name}")) == (0, True)
    assert name not in ids(call, what)


async def _let_go(url: str) -> None:
    """Nothing depends on the report any more."""
    async with Foliot(url) as app:
        await app.jobs.remove_dependency("report", "mine")


def test_the_part_of_a_workflow_is_not_deleted_by_force(call: Call, owned: Path) -> None:
    code, _, err = call("jobs", "delete", "--force", "flow.ship")

    assert (code, err.startswith('error: job "flow.ship" is defined by a workflow')) == (1, True)


def test_a_workflow_of_an_application_stays(call: Call, plant: Path) -> None:
    code, out, err = call("workflows", "delete", "etl")

    assert (code, out) == (1, "")
    assert err.startswith('error: workflow "etl" is defined in the application\'s code\n')


@pytest.mark.parametrize("command", COMMANDS)
def test_naming_nothing_is_a_wrong_call(call: Call, owned: Path, command: str) -> None:
    assert call(command, "delete").code == 2


@pytest.mark.parametrize("command", COMMANDS)
def test_an_option_of_the_list_is_not_taken_for_one_of_the_command(call: Call, owned: Path, command: str) -> None:
    code, out, err = call(command, "--json", "delete", "mine")

    assert (code, out) == (2, "")
    assert err == f"error: --json stands before the command\n  Write: foliot {command} delete ... --json\n"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("foliot jobs delete mi", ["mine"]),
        ("foliot schedules delete mi", ["mine-a", "mine-b"]),
        ("foliot workflows delete f", ["flow"]),
    ],
)
def test_ids_are_offered(owned: Path, words: str, expected: list[str]) -> None:
    assert sorted(offered(owned, words)) == expected
