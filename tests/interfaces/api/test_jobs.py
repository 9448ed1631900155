"""Jobs by HTTP."""

import pytest

from foliot import Foliot
from foliot.domain.ids import JobId
from foliot.domain.job.job import JobSpec
from tests.interfaces.api.serving import Client

SHELL = {"id": "backup", "schedule": "0 3 * * *", "timezone": "Europe/Berlin", "command": "true"}


@pytest.mark.proves("R0-69")
async def test_a_job_is_created_with_its_schedule(api: Client) -> None:
    created = await api.post("/api/jobs", SHELL)

    assert created.status == 201
    assert created.json["id"] == "backup"
    assert created.json["source"] == "api"
    [schedule] = created.json["schedules"]
    assert (schedule["schedule_id"], schedule["timezone"]) == ("backup:default", "Europe/Berlin")
    assert (await api.get("/api/jobs/backup")).json["id"] == "backup"


@pytest.mark.proves("R0-66")
@pytest.mark.parametrize(
    "document",
    [
        {"id": "gate", "kind": "workflow", "depends_on": ["backup"], "command": "true", "inner_kind": "shell"},
        {"id": "fan", "kind": "fanout", "inner_kind": "shell", "items": ["a", "b"], "command": "true"},
        {"id": "page", "kind": "http", "url": "https://example.com/"},
    ],
)
async def test_each_kind_of_job_is_created(api: Client, document: dict[str, object]) -> None:
    await api.post("/api/jobs", SHELL)

    created = await api.post("/api/jobs", document)

    assert created.status == 201, created.json
    assert created.json["id"] == document["id"]


async def test_a_job_without_an_id_gets_one(api: Client) -> None:
    created = await api.post("/api/jobs", {"command": "true"})

    assert (await api.get(f"/api/jobs/{created.json['id']}")).status == 200


@pytest.mark.proves("Z6")
async def test_all_problems_of_a_job_are_reported_with_their_fields(api: Client) -> None:
    refused = await api.post("/api/jobs", {"id": "x", "comand": "true", "timeout": "soon"})

    assert (refused.status, refused.error["code"]) == (422, "invalid_document")
    assert [problem["field"] for problem in refused.error["problems"]] == ["$.comand", "$.timeout", "$"]
    assert (await api.get("/api/jobs/x")).status == 404


async def test_an_unknown_kind_is_refused(api: Client) -> None:
    assert (await api.post("/api/jobs", {"id": "x", "kind": "nope", "command": "true"})).status == 422


async def test_a_variable_of_the_environment_is_plain_text(api: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_SERVER", "hush")

    created = await api.post("/api/jobs", {"id": "x", "command": "echo ${SECRET_OF_SERVER}"})

    assert created.json["spec"]["command"] == "echo ${SECRET_OF_SERVER}"


@pytest.mark.proves("A4")
async def test_an_edit_of_an_old_revision_is_refused(api: Client) -> None:
    tag = (await api.post("/api/jobs", SHELL)).headers["ETag"]

    first = await api.put("/api/jobs/backup", {"command": "echo 1"}, if_match=tag)
    second = await api.put("/api/jobs/backup", {"command": "echo 2"}, if_match=tag)
    again = await api.put("/api/jobs/backup", {"command": "echo 1"}, if_match=tag)

    assert (first.status, second.status, again.status) == (200, 412, 200)
    assert second.error["code"] == "changed_meanwhile"
    assert (await api.get("/api/jobs/backup")).json["spec"]["command"] == "echo 1"


async def test_an_unchanged_job_is_not_sent_again(api: Client) -> None:
    tag = (await api.post("/api/jobs", SHELL)).headers["ETag"]

    answer = await api.get("/api/jobs/backup", if_none_match=tag)

    assert (answer.status, answer.content) == (304, b"")


async def test_a_put_replaces_the_schedules_of_the_document(api: Client) -> None:
    await api.post("/api/jobs", SHELL)
    await api.post("/api/schedules/upsert", {"schedule_id": "extra", "job_id": "backup", "every": 60})

    put = await api.put("/api/jobs/backup", {"command": "true"})

    assert [schedule["schedule_id"] for schedule in put.json["schedules"]] == ["extra"]


async def test_the_id_in_the_body_must_be_that_of_the_path(api: Client) -> None:
    refused = await api.put("/api/jobs/backup", {"id": "other", "command": "true"})

    assert (refused.status, refused.error["field"]) == (422, "id")


@pytest.mark.proves("Z30")
async def test_a_masked_secret_keeps_the_stored_one(api: Client, app: Foliot) -> None:
    await api.post("/api/jobs", {"id": "x", "command": "true", "env": {"TOKEN": "hush"}})
    document = (await api.get("/api/jobs/x")).json["document"]

    put = await api.put("/api/jobs/x", {**document, "command": "false"})

    assert document["env"] == {"TOKEN": "***"}
    assert put.json["spec"] == {"command": "false", "env": {"TOKEN": "***"}}
    assert (await (await app.open()).jobs.record("x")).spec.spec["env"] == {"TOKEN": "hush"}


@pytest.mark.proves("Z30")
async def test_a_masked_url_of_notifications_keeps_the_stored_one(api: Client, app: Foliot) -> None:
    await api.post("/api/jobs", {"id": "x", "command": "true", "webhook_url": "https://hooks.example/hush"})
    jobs = (await app.open()).jobs
    stored = (await jobs.record("x")).spec.notify
    answer = await api.get("/api/jobs/x")

    put = await api.put("/api/jobs/x", {**answer.json["document"], "command": "false"})

    assert b"hush" not in answer.content + put.content
    assert stored.webhook_url.encode() not in answer.content
    assert (await jobs.record("x")).spec.notify == stored
    assert (await api.put("/api/jobs/y", answer.json["document"] | {"id": "y"})).status == 422


async def test_a_mask_without_a_stored_value_is_refused(api: Client) -> None:
    refused = await api.put("/api/jobs/x", {"command": "true", "env": {"TOKEN": "***"}})

    assert (refused.status, refused.error["field"]) == (422, "$.env.TOKEN")


async def test_the_document_of_a_job_creates_the_same_job(api: Client) -> None:
    wanted = {**SHELL, "retries": 3, "retry_delay": 5, "timeout": 60, "payload": {"a": [1]}, "tags": ["x"]}
    first = (await api.post("/api/jobs", wanted)).json

    second = await api.put("/api/jobs/copy", {**first["document"], "id": "copy"})

    assert {**second.json["document"], "id": "backup"} == first["document"]


async def test_a_deleted_job_can_be_deleted_again(api: Client) -> None:
    await api.post("/api/jobs", SHELL)

    first, second = await api.delete("/api/jobs/backup"), await api.delete("/api/jobs/backup")

    assert first.json == {"deleted": True, "schedules": ["backup:default"]}
    assert (second.status, second.json["deleted"]) == (200, False)


@pytest.mark.proves("A5")
async def test_jobs_are_listed_in_pages(api: Client) -> None:
    for name in "cab":
        await api.put(f"/api/jobs/{name}", {"command": "true"})

    first = await api.get("/api/jobs?limit=2")
    second = await api.get(f"/api/jobs?limit=2&cursor={first.json['next']}")

    names = [job["id"] for page in (first, second) for job in page.json["items"]]
    assert names == ["a", "b", "c"]
    assert second.json["next"] is None


async def test_a_missing_job_names_a_similar_one(api: Client) -> None:
    await api.post("/api/jobs", SHELL)

    missing = await api.get("/api/jobs/bakup")

    assert (missing.status, missing.error["hint"]) == (404, 'Did you mean "backup"?')


async def test_a_job_of_a_file_can_be_paused_but_not_changed(app: Foliot, api: Client) -> None:
    async def find_place(name: str) -> str | None:
        return f"{name}.toml:7"

    api.context.find_place = find_place
    services = await app.open()
    await services.jobs.put({JobId("mine"): JobSpec(kind="shell", spec={"command": "true"}, source="file")})

    refused = await api.put("/api/jobs/mine", {"command": "false"})
    deleted = await api.delete("/api/jobs/mine")
    paused = await api.post("/api/jobs/mine/pause")

    assert (refused.status, deleted.status, paused.status) == (409, 409, 200)
    assert "mine.toml:7" in refused.error["message"]
    assert (await api.get("/api/jobs/mine")).json["paused"] is True


@pytest.mark.proves("R1-36")
async def test_a_run_of_a_missing_job_is_refused(api: Client) -> None:
    refused = await api.post("/api/jobs/nope/run")

    assert refused.status == 404
    assert (await api.get("/api/runs")).json["items"] == []


@pytest.mark.proves("R1-38", "R1-40")
async def test_a_run_is_planned_for_a_time(api: Client) -> None:
    await api.post("/api/jobs", SHELL)

    run = (await api.post("/api/jobs/backup/run", {"run_at": "2099-01-01T00:00:00Z", "payload": {"a": 1}})).json

    assert (run["status"], run["scheduled_for"], run["due_at"]) == ("scheduled", *["2099-01-01T00:00:00Z"] * 2)
    assert (run["input_payload"], run["job_schedule_id"], run["trigger"]) == ({"a": 1}, None, "api")


@pytest.mark.proves("R1-41")
async def test_a_dedupe_key_returns_the_run_that_has_it(api: Client) -> None:
    await api.post("/api/jobs", SHELL)

    first, again, other = [
        (await api.post("/api/jobs/backup/run", {"dedupe_key": key, "delay": "1h"})).json["id"] for key in "aab"
    ]

    assert first == again != other


async def test_an_invalid_option_of_a_run_is_named(api: Client) -> None:
    await api.post("/api/jobs", SHELL)

    refused = await api.post("/api/jobs/backup/run", {"options": {"priority": 5_000}})

    assert (refused.status, refused.error["field"]) == (422, "priority")
