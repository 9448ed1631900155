"""foliot jobs and foliot schedules."""

import asyncio
import re
from pathlib import Path

import pytest

from foliot import Foliot
from tests.interfaces.conftest import Call

BOTH_WAYS = True


def test_jobs_lists_schedules_next_tick_and_last_status(call: Call, shop: Path) -> None:
    code, out, err = call("jobs")

    title, broken, report = out.splitlines()
    assert (code, err) == (0, "")
    assert title.split() == ["JOB", "KIND", "STATE", "SCHEDULE", "NEXT", "LAST", "RUN", "FROM"]
    assert broken.split() == ["broken", "shell", "on", "-", "-", "failed", "(exit_code)", "app"]
    assert report.startswith("report  shell  on     every 1h and 1 more  20")


def test_jobs_as_json_have_schedules_and_no_secrets(call: Call, shop: Path) -> None:
    code, out, _ = call("jobs", "--json")

    broken, report = call("jobs", "--json").objects
    assert (code, broken["schedules"], broken["latest_run"]["status"]) == (0, [], "failed")
    assert [one["schedule_id"] for one in report["schedules"]] == ["report-often", "report-weekly"]
    assert report["spec"]["env"] == {"TOKEN": "***"}
    assert "hush" not in out


def test_jobs_with_all_lists_the_jobs_of_foliot(call: Call, shop: Path) -> None:
    everything = {job["id"]: job["source"] for job in call("jobs", "--all", "--json").objects}

    assert set(everything) > {"broken", "report"}
    assert "foliot" in everything.values()


def test_jobs_shows_workflows_as_workflow_and_gates_as_gate(call: Call, plant: Path) -> None:
    kinds = {line.split()[0]: line.split()[1] for line in call("jobs").out.splitlines()}
    [etl] = call("show", "etl", "--json").objects

    assert (kinds["etl"], kinds["digest"], kinds["good"]) == ("workflow", "gate", "shell")
    assert "\nkind       gate\n" in call("show", "digest").out
    assert etl["kind"] == "workflow"
    assert {one["id"]: one["kind"] for one in call("jobs", "--json").objects}["digest"] == "gate"


def test_jobs_lists_the_schedule_the_next_tick_and_the_pause_of_a_workflow(call: Call, url: str) -> None:
    document: dict[str, object] = {"id": "etl", "cron": "0 2 * * *", "steps": [{"name": "load", "command": "true"}]}
    asyncio.run(deploy(url, document))

    [_, row] = call("jobs", "--storage", url).out.splitlines()
    assert re.split(r"  +", row)[:4] == ["etl", "workflow", "on", "0 2 * * *"]
    assert "02:00:00Z" in row

    call("pause", "etl", "--storage", url)
    [_, row] = call("jobs", "--storage", url).out.splitlines()
    [listed] = call("jobs", "--storage", url, "--json").objects
    assert re.split(r"  +", row)[:5] == ["etl", "workflow", "paused", "0 2 * * *", "-"]
    assert (listed["state"], [one["schedule_expr"] for one in listed["schedules"]]) == ("paused", ["0 2 * * *"])


async def deploy(url: str, document: dict[str, object]) -> None:
    async with Foliot(url) as app:
        await app.workflows.deploy(document)


def test_jobs_with_an_unused_tag_lists_nothing(call: Call, shop: Path) -> None:
    assert call("jobs", "--tag", "x") == (0, "", "no jobs\n")


def test_schedules_lists_rules_and_next_ticks(call: Call, shop: Path) -> None:
    code, out, err = call("schedules")

    titles, often, weekly = out.splitlines()
    assert (code, err) == (0, "")
    assert titles.endswith("  LAST RAN")
    assert often.startswith("report-often   report  every 1h                   on     20")
    assert weekly.startswith("report-weekly  report  0 9 * * MON Europe/Berlin  on     20")


def test_schedules_of_a_job_are_listed_as_json(call: Call, shop: Path) -> None:
    schedules = call("schedules", "--job", "report", "--json").objects

    assert [(one["schedule_id"], one["state"], len(one["preview"])) for one in schedules] == [
        ("report-often", "on", 5),
        ("report-weekly", "on", 5),
    ]
    assert call("schedules", "--job", "broken") == (0, "", "no schedules\n")


def test_schedules_of_a_missing_job_fail_with_the_closest_match(call: Call, shop: Path) -> None:
    code, _, err = call("schedules", "--job", "repot")

    assert code == 1
    assert 'Did you mean "report"?' in err


@pytest.mark.parametrize("id", ["report", "report-weekly"])
def test_paused_schedules_and_jobs_are_listed_as_paused(call: Call, shop: Path, id: str) -> None:  # noqa: A002
    call("pause", id)

    states = {one["schedule_id"]: one["state"] for one in call("schedules", "--json").objects}
    _, job = call("jobs", "--json").objects
    assert states["report-weekly"] == "paused"
    assert states["report-often"] == ("paused" if id == "report" else "on")
    assert job["state"] == ("paused" if id == "report" else "on")
