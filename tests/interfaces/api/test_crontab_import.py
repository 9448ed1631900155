"""Crontabs by HTTP: what each line becomes, and the jobs that are stored."""

from typing import Any

import pytest

from foliot import Foliot
from foliot.domain.ids import JobId
from foliot.domain.job.job import JobSpec
from tests.interfaces.api.serving import Client

LINES = "MAILTO=me@x\n30 2 * * * /usr/local/bin/backup\nnot a line\n@reboot /bin/start\n"


async def imported(api: Client, text: str = LINES, **options: Any) -> dict[str, Any]:
    answer = await api.post("/api/import/crontab", {"text": text, **options})
    assert answer.status == 200, answer.json
    found: dict[str, Any] = answer.json
    return found


async def test_each_line_says_what_it_becomes(on_each: Client) -> None:
    found = await imported(on_each, timezone="Europe/Berlin")

    shown = [(one["line"], one["outcome"], one["job_id"], one["action"]) for one in found["lines"]]
    assert shown == [
        (1, "setting", None, None),
        (2, "job", "backup", "created"),
        (3, "skipped", None, None),
        (4, "job", "start", "created"),
    ]
    setting, backup, skipped, start = found["lines"]
    assert setting["warnings"]
    assert skipped["reason"]
    assert (backup["words"], len(backup["next"])) == ("at 02:30 every day, Europe/Berlin", 5)
    assert (start["words"], start["next"]) == (None, [])
    assert (found["saved"], (await on_each.get("/api/jobs")).json["items"]) == ([], [])


async def test_the_jobs_are_stored_paused_unless_asked_otherwise(on_each: Client) -> None:
    paused = await imported(on_each, dry_run=False)
    await imported(on_each, "@daily /bin/other\n", dry_run=False, paused=False)

    jobs = {one["id"]: one["paused"] for one in (await on_each.get("/api/jobs")).json["items"]}
    assert (paused["saved"], jobs) == (["backup", "start"], {"backup": True, "other": False, "start": True})
    again = await imported(on_each)
    assert [one["action"] for one in again["lines"] if one["job_id"]] == ["unchanged", "unchanged"]


async def test_a_job_that_exists_is_kept_unless_it_may_be_replaced(api: Client) -> None:
    await api.put("/api/jobs/backup", {"command": "mine"})

    kept = await imported(api, dry_run=False)
    stayed = (await api.get("/api/jobs/backup")).json["spec"]["command"]
    replaced = await imported(api, dry_run=False, replace=True)

    assert (kept["lines"][1]["action"], kept["saved"], stayed) == ("kept", ["start"], "mine")
    assert "exists with another definition" in kept["lines"][1]["reason"]
    assert 'id = "backup"' not in kept["toml"]
    assert replaced["lines"][1]["action"] == "changed"


async def test_a_job_of_a_file_is_refused_and_the_others_are_stored(app: Foliot, api: Client) -> None:
    services = await app.open()
    await services.jobs.put({JobId("backup"): JobSpec(kind="shell", spec={"command": "x"}, source="file")})

    found = await imported(api, dry_run=False, replace=True)

    assert (found["lines"][1]["action"], found["saved"]) == ("refused", ["start"])


async def test_the_lines_of_a_system_crontab_name_their_users(api: Client) -> None:
    await imported(api, "0 1 * * * www-data /bin/clean\n", system=True, dry_run=False)

    assert (await api.get("/api/jobs/clean")).json["spec"]["user"] == "www-data"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"text": 7},
        {"text": LINES, "timezone": "Nope"},
        {"text": LINES, "system": True, "user": "x"},
        {"text": "* * * * * x\n" * 2_001},
        {"text": LINES, "more": 1},
    ],
)
async def test_a_wrong_request_is_refused(api: Client, body: dict[str, object]) -> None:
    assert (await api.post("/api/import/crontab", body)).status == 422


@pytest.mark.parametrize("text", ["", "\0\n", "* * * * *\n", "é = ü\n", "@x y\n", "%" * 9_999, "* * * * * \\%\n" * 99])
async def test_odd_lines_are_never_an_internal_error(api: Client, text: str) -> None:
    await imported(api, text, dry_run=False)
