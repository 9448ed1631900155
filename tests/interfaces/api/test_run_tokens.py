"""The token of a running attempt: it may send by HTTP what the run channel answers, and nothing else."""

import sys
from collections.abc import AsyncIterator
from typing import Any

import pytest

from foliot import Foliot
from foliot.domain.access.run_token import RunLease
from foliot.domain.job.job import JobSpec
from foliot.engine.settings import Settings
from foliot.interfaces.api.access import StoredAccess
from foliot.interfaces.api.resources.all import ROUTES
from foliot.interfaces.api.route import PUBLIC
from foliot.service.services import Services
from foliot.testing.builders import a_run, succeeded
from foliot.testing.conformance.storage.scene import Scene
from tests.interfaces.api.serving import Client, serving
from tests.interfaces.serving import outcome, started

PATH = "/api/run-channel"


class Attempt:
    """A running attempt with its token."""

    def __init__(self, services: Services, scene: Scene, claim: Any) -> None:
        self.scene = scene
        self.claim = claim
        token = services.channel.token_of(RunLease(claim.run_id, claim.worker_id, claim.token))
        assert token is not None
        self.header = {"authorization": f"Bearer {token}"}


@pytest.fixture
async def attempt(services: Services) -> Attempt:
    scene = Scene(services.storage, services.clock)  # type: ignore[arg-type]
    return Attempt(services, scene, await scene.start(a_run()))


@pytest.fixture
async def server(services: Services) -> AsyncIterator[Client]:
    """A server with credentials, so that it is not in development mode."""
    async with serving(services, StoredAccess(services, may_be_development=False)) as client:
        yield client


@pytest.mark.proves("R4-05")
async def test_a_running_attempt_reports_its_progress_with_its_token(
    server: Client, services: Services, attempt: Attempt
) -> None:
    answer = await server.post(PATH, {"type": "progress", "fraction": 0.4, "text": "page 12"}, **attempt.header)

    assert (answer.status, answer.json) == (200, {"ok": True})
    progress = (await services.runs.get(attempt.claim.run_id)).progress
    assert progress is not None
    assert (progress.fraction, progress.text) == (0.4, "page 12")


async def test_a_running_step_starts_the_next_one_with_its_token(
    server: Client, services: Services, attempt: Attempt
) -> None:
    await services.storage.definitions.put_jobs(
        [(attempt.claim.job_id, JobSpec(kind="shell", spec={"command": "true"}))]
    )
    asked = {"type": "spawn", "name": attempt.claim.job_id, "dedupe_key": "once"}

    answers = [await server.post(PATH, {"type": "chain", "request": asked}, **attempt.header) for _ in range(2)]

    assert [answer.status for answer in answers] == [200, 200]
    assert answers[0].json["answer"]["run_id"] == answers[1].json["answer"]["run_id"]
    assert (await services.runs.get(answers[0].json["answer"]["run_id"])).job_id == attempt.claim.job_id


async def test_the_token_is_worthless_after_the_attempt(server: Client, services: Services, attempt: Attempt) -> None:
    await attempt.scene.finish(succeeded(attempt.claim))
    bodies: list[dict[str, Any]] = [
        {"type": "progress", "fraction": 0.4},
        {"type": "chain", "request": {"type": "spawn", "name": attempt.claim.job_id}},
        {"type": "results"},
    ]

    answers = [await server.post(PATH, body, **attempt.header) for body in bodies]

    assert [answer.status for answer in answers] == [409, 409, 409]
    assert len(await services.queries.runs.newest()) == 1


@pytest.mark.proves("Z2")
async def test_the_token_of_an_attempt_opens_no_other_route(server: Client, attempt: Attempt) -> None:
    others = [route for route in ROUTES if route.permission != PUBLIC and route.path != PATH]

    statuses = {
        (route.method, route.path): (
            await server.send(route.method, route.path.replace("{", "").replace("}", ""), {}, **attempt.header)
        ).status
        for route in others
    }

    assert {key: status for key, status in statuses.items() if status != 403} == {}


async def test_a_forged_token_is_refused(server: Client, services: Services, attempt: Attempt) -> None:
    genuine = attempt.header["authorization"]
    forged = genuine[:-4] + ("AAAA" if genuine[-4:] != "AAAA" else "BBBB")
    foreign = "Bearer 1." + "A" * 120

    answers = [
        await server.post(PATH, {"type": "progress", "fraction": 0.4}, authorization=text) for text in (forged, foreign)
    ]

    assert [answer.status for answer in answers] == [401, 401]


async def test_no_role_may_speak_for_a_run(guarded: Client) -> None:
    answer = await guarded.post(PATH, {"type": "progress", "fraction": 0.4}, authorization="Bearer admin")

    assert (answer.status, answer.error["hint"]) == (403, "It needs the role run.")


@pytest.mark.parametrize("body", [{"type": "progress", "fraction": 7}, {"type": "chain", "request": {"type": "?"}}])
async def test_a_wrong_request_is_refused(server: Client, attempt: Attempt, body: dict[str, Any]) -> None:
    answer = await server.post(PATH, body, **attempt.header)

    assert answer.status == 422


async def test_a_job_that_cannot_reach_the_socket_uses_the_server(services: Services, app: Foliot) -> None:
    """The variable names a socket that does not exist, as in a container. Development mode honours the token."""
    command = f"FOLIOT_CHANNEL=/nowhere {sys.executable} -m foliot progress 0.25 far && echo $FOLIOT_RUN_URL"
    async with serving(services, StoredAccess(services, may_be_development=True)) as api:
        await api.put("/api/jobs/far", {"command": command})
        async with started(app, Settings(label="test", slots=1, api_url=api.base)):
            run = await outcome(app, "far")
            printed = await app.runs.output(run.id)

    assert (run.status, printed.decode().strip()) == ("success", api.base)
