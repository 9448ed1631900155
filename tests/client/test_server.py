"""The client of a server process."""

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from foliot.client import AsyncClient, Client
from foliot.errors import (
    ChangedMeanwhile,
    CredentialsRefused,
    Forbidden,
    InvalidCron,
    InvalidDocument,
    InvalidInput,
    InvalidJobDocument,
    InvalidRun,
    InvalidTimezone,
    NotFound,
    OwnedElsewhere,
    RequestRefused,
    WaitTimeout,
)
from foliot.service.queries.run_view import RunView
from tests.client.scripted import CuttingProxy
from tests.scenarios.server import Place

# -- runs


def test_a_run_is_started_waited_for_and_read(client: Client) -> None:
    run = client.runs.wait(client.jobs.run("report", {"day": 1}, priority=3).id, timeout=30)

    assert isinstance(run, RunView)
    assert (run.status, run.job_id, run.input_payload, run.priority) == ("success", "report", {"day": 1}, 3)
    assert client.runs.output(run.id) == b"42 visitors\n"
    assert client.runs.get(run.id) == run
    assert client.runs.show(run.id).run.id == run.id
    assert client.runs.explain(run.id).run_id == client.server.explain("report@last").run_id == run.id
    assert [one.status for one in client.runs.attempts(run.id)] == ["success"]
    assert client.runs.children(run.id).items == []


def test_a_run_with_the_same_dedupe_key_is_not_created_again(client: Client) -> None:
    first = client.jobs.run("report", dedupe_key="once", delay=timedelta(hours=1))

    assert client.jobs.run("report", dedupe_key="once").id == first.id
    assert first.due_at - first.created_at > timedelta(minutes=59)
    assert client.runs.cancel(first.id).phase == "queued"


def test_pages_of_runs_have_no_gaps(client: Client) -> None:
    client.jobs.put("paged", {"command": "true"})
    started = [client.jobs.run("paged").id for _ in range(3)]

    first = client.runs.page(job_id="paged", limit=2)
    rest = client.runs.page(job_id="paged", limit=2, cursor=first.next)

    assert [run.id for run in (*first.items, *rest.items)] == started[::-1]
    assert rest.next is None
    assert [run.id for run in client.runs.each(job_id="paged")] == started[::-1]


def test_the_log_of_a_run_is_followed_until_its_end(client: Client) -> None:
    client.jobs.put("talk", {"command": "echo one; echo two >&2; printf three"})
    run = client.jobs.run("talk")

    lines = [line for line in client.runs.follow(run.id) if line.stream in ("stdout", "stderr")]

    assert sorted(line.text for line in lines) == ["one\n", "three", "two\n"]
    assert client.runs.get(run.id).status == "success"
    assert "".join(piece.text for piece in client.runs.logs(run.id) if piece.stream == "stdout") == "one\nthree"
    assert [line.id for line in client.runs.follow(run.id, after=lines[0].id)][-1:] != [lines[0].id]


def test_a_follower_may_stop_early(client: Client) -> None:
    run = client.runs.wait(client.jobs.run("report").id)
    follower = client.runs.follow(run.id)

    assert next(follower).attempt == 1
    follower.close()  # type: ignore[attr-defined]

    assert client.server.version()


async def test_a_followed_log_continues_after_a_cut_connection(url: str, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    command = f"echo 1; while [ ! -e {gate} ]; do sleep 0.02; done; printf '2\\n3\\n'"
    async with CuttingProxy(url) as proxy, AsyncClient(proxy.url) as client:
        await client.jobs.put("cut", {"command": command})
        run = await client.jobs.run("cut")
        texts = []
        async for line in client.runs.follow(run.id):
            if line.stream == "stdout":
                texts.append(line.text)
            if line.text == "1\n":
                proxy.cut()
                gate.touch()

        assert texts == ["1\n", "2\n", "3\n"]
        assert proxy.connections >= 2


async def test_a_wait_continues_after_a_cut_connection(url: str, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    async with CuttingProxy(url) as proxy, AsyncClient(url) as direct, AsyncClient(proxy.url) as client:
        await direct.jobs.put("cut", {"command": f"echo 1; while [ ! -e {gate} ]; do sleep 0.02; done"})
        run = await direct.jobs.run("cut")
        with pytest.raises(WaitTimeout):
            await client.runs.wait(run.id, timeout=0.5)
        before = proxy.connections

        waiting = client.runs._ended(run.id)
        async for line in direct.runs.follow(run.id):
            if line.text == "1\n":
                proxy.cut()
                gate.touch()
        await waiting

        assert proxy.connections > before
        assert (await client.runs.wait(run.id)).status == "success"


def test_a_wait_that_takes_too_long_leaves_the_run_alone(client: Client) -> None:
    client.jobs.put("long", {"command": "sleep 60"})
    run = client.jobs.run("long")

    with pytest.raises(WaitTimeout, match=run.id):
        client.runs.wait(run.id, timeout=0)
    with pytest.raises(TimeoutError):
        client.runs.wait(run.id, timeout="50ms")

    assert client.runs.cancel(run.id).phase in ("queued", "local_signalled")
    ended = client.runs.wait(run.id, timeout=30)
    assert ended.status == "cancelled"
    again = client.runs.retry(run.id)
    assert again.trigger == f"retry:{run.id}"
    client.runs.cancel(again.id)
    client.runs.wait(again.id)
    assert client.runs.mark(again.id).answer == "recorded"


# -- definitions


def test_a_job_is_changed_only_in_the_expected_revision(client: Client) -> None:
    first = client.jobs.put("edited", {"command": "true", "schedule": "0 3 * * *"})
    second = client.jobs.put("edited", {"command": "false"}, revision=first.revision)

    with pytest.raises(ChangedMeanwhile):
        client.jobs.put("edited", {"command": "echo"}, revision=first.revision)
    assert client.jobs.get("edited").revision == second.revision
    assert client.jobs.show("edited").job.id == "edited"
    assert "edited" in [job.id for job in client.jobs.each()]
    assert client.jobs.pause("edited").paused
    assert not client.jobs.resume("edited").paused
    assert client.jobs.delete("edited").deleted
    assert not client.jobs.delete("edited").deleted


def test_a_schedule_is_created_paused_and_deleted(client: Client) -> None:
    stored = client.schedules.upsert("nightly", job_id="report", cron="0 3 * * *", jitter=timedelta(seconds=5))

    assert stored.next_run_at is not None
    assert client.schedules.get("nightly").job_id == "report"
    assert client.schedules.pause("nightly").paused
    assert not client.schedules.resume("nightly").paused
    assert [one.schedule_id for one in client.schedules.each(job_id="report")] == ["nightly"]
    assert client.schedules.ticks("nightly").items == []
    assert client.schedules.pause_all(note="maintenance").note == "maintenance"
    assert client.schedules.resume_all().ended is not None
    assert client.schedules.delete("nightly").deleted


def test_a_workflow_is_deployed_started_and_approved(client: Client) -> None:
    steps = [{"name": "ask", "approve": True}, {"name": "go", "command": "true", "after": ["ask"]}]
    deployed = client.workflows.deploy({"id": "release", "steps": steps})
    execution = client.workflows.start("release", idempotency_key="one")

    assert deployed.version == 1
    assert client.workflows.start("release", idempotency_key="one").id == execution.id
    assert "release" in [one.id for one in client.workflows.each()]
    while not (found := client.executions.page(workflow_id="release").items) or not found[0].execution.steps[0].run_id:
        pass
    assert [one.execution.id for one in client.executions.each(workflow_id="release")] == [execution.id]
    assert client.executions.approve(execution.id, "ask").answer == "approved"
    assert client.runs.wait(execution.id, timeout=30).status == "success"
    assert client.workflows.get("release").id == "release"
    assert client.workflows.pause_step("release", "go").paused
    again = client.executions.rerun(execution.id, "go")
    assert client.runs.wait(again.id, timeout=30).id == again.id
    assert client.workflows.delete("release").deleted


# -- the server


def test_the_state_of_the_server_is_read(client: Client) -> None:
    client.runs.wait(client.jobs.run("report").id)

    assert client.server.status().has_scheduler
    assert client.server.overview().workers
    assert client.server.explain_cron("0 3 * * *", "Europe/Berlin", count=2).fires
    start = datetime(2026, 1, 1, tzinfo=UTC)
    assert client.server.explain_cron("@daily", start=start, collisions=True).expression == "@daily"
    assert next(client.audit.each()).actor


def test_several_threads_use_one_client(client: Client) -> None:
    started: list[str] = []
    threads = [threading.Thread(target=lambda: started.append(client.jobs.run("report").id)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(set(started)) == 4


def test_a_closed_client_opens_again(url: str) -> None:
    client = Client(url)
    with client:
        version = client.server.version()
    with client:
        assert client.server.version() == version


async def test_a_blocking_client_may_be_used_beside_an_event_loop(client: Client) -> None:
    assert client.server.version()


# -- errors


def test_errors_have_the_class_and_the_facts_of_the_server(client: Client) -> None:
    with pytest.raises(NotFound, match="'reprot' does not exist") as missing:
        client.jobs.run("reprot")
    assert missing.value.hint == 'Did you mean "report"?'
    assert missing.value.request_id

    with pytest.raises(InvalidJobDocument) as job:
        client.jobs.put("wrong", {"comand": "true", "timeout": "soon"})
    assert len(job.value.problems) == 3
    assert job.value.problems[0].key == "$.comand"

    with pytest.raises(InvalidDocument) as workflow:
        client.workflows.deploy({"id": "wrong", "steps": [{"name": "a", "after": ["b"], "command": "true"}]})
    assert workflow.value.problems

    with pytest.raises(InvalidCron) as cron:
        client.server.explain_cron("0 25 * * *")
    assert (cron.value.position, cron.value.field) == (2, "expr")

    with pytest.raises(InvalidTimezone):
        client.server.explain_cron("@daily", "Europe/Berln")
    with pytest.raises(OwnedElsewhere, match=r"foliot\.toml"):
        client.jobs.put("report", {"command": "true"})
    with pytest.raises(InvalidInput) as unknown:
        client.runs.page(colour="red")  # type: ignore[call-arg]
    assert (unknown.value.code, unknown.value.field) == ("unknown_field", "colour")


def test_a_run_that_has_ended_cannot_be_cancelled(client: Client) -> None:
    run = client.runs.wait(client.jobs.run("report").id)

    with pytest.raises(RequestRefused) as refused:
        client.runs.cancel(run.id)
    assert (refused.value.code, refused.value.status) == ("terminal", 409)

    waiting = client.jobs.run("report", delay=3600)
    with pytest.raises(InvalidRun):
        client.runs.retry(waiting.id)
    client.runs.cancel(waiting.id)


def test_a_payload_that_is_not_json_is_refused_before_it_is_sent(client: Client) -> None:
    with pytest.raises(InvalidInput, match="cannot be sent as JSON"):
        client.jobs.run("report", object())


# -- tokens


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The address of a server that needs tokens, and one of an admin."""
    place = Place(tmp_path_factory.mktemp("guarded"))
    place.file.write_text('[server]\nmode = "production"\n')
    place.foliot("migrate")
    token = place.foliot("token", "create", "--role", "admin", "--name", "root").split()
    with place.serve() as server:
        yield server.url, next(word for word in token if word.startswith("fol"))


def test_a_token_is_created_used_and_revoked(guarded: tuple[str, str]) -> None:
    url, secret = guarded
    with Client(url, token=secret) as admin:
        created = admin.tokens.create("viewer", name="dashboard")
        assert {one.name for one in admin.tokens.each()} == {"root", "dashboard"}
        with Client(url, token=created.secret) as viewer:
            assert viewer.server.version()
            with pytest.raises(Forbidden, match="role") as refused:
                viewer.jobs.create({"command": "true"})
            assert refused.value.request_id
            assert admin.tokens.revoke("dashboard").state == "revoked"
            with pytest.raises(CredentialsRefused):
                viewer.server.version()
        assert admin.audit.page(actor="token:root").items


def test_a_server_with_tokens_refuses_a_client_without_one(guarded: tuple[str, str]) -> None:
    with Client(guarded[0]) as client, pytest.raises(CredentialsRefused, match="no valid credentials"):
        client.server.version()
