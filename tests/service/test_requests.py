"""Requests with an idempotency key are carried out once."""

import pytest

from foliot.domain.access.actor import Actor, ActorKind
from foliot.domain.access.request import (
    TAKEOVER_AFTER,
    KeyReused,
    NewRequest,
    RequestInProgress,
    StoredAnswer,
)
from foliot.domain.ids import JobId, RunId
from foliot.domain.job.job import JobSpec
from foliot.errors import InvalidInput
from foliot.service.commands.requests import RequestService
from foliot.service.commands.run_request import RunRequest
from foliot.service.services import Services
from foliot.testing.clock import VirtualClock

CALL = ("POST", "/api/jobs/report/run", b"{}")
ANSWER = StoredAnswer(201, b"{}")


@pytest.fixture
def requests(services: Services) -> RequestService:
    return services.acting_as(Actor(ActorKind.TOKEN, "ci")).requests


@pytest.mark.proves("A1")
async def test_a_repeated_request_gets_the_first_answer(requests: RequestService) -> None:
    assert isinstance(await requests.begin("k", *CALL), NewRequest)
    await requests.complete("k", ANSWER)

    assert await requests.begin("k", *CALL) == ANSWER


@pytest.mark.proves("A2")
async def test_a_key_is_bound_to_method_path_and_body(requests: RequestService) -> None:
    await requests.begin("k", *CALL)

    assert await requests.begin("k", *CALL) == RequestInProgress()
    method, path, body = CALL
    for other in (("PUT", path, body), (method, f"{path}2", body), (method, path, b"{ }")):
        assert await requests.begin("k", *other) == KeyReused()


@pytest.mark.proves("A3")
async def test_keys_of_actors_are_independent_and_checked(requests: RequestService, services: Services) -> None:
    await requests.begin("k", *CALL)

    assert isinstance(await services.acting_as(Actor(ActorKind.USER, "ci")).requests.begin("k", *CALL), NewRequest)
    with pytest.raises(InvalidInput):
        await requests.begin("", *CALL)


async def test_an_abandoned_request_can_be_repeated(requests: RequestService) -> None:
    await requests.begin("k", *CALL)
    await requests.abandon("k")

    assert isinstance(await requests.begin("k", *CALL), NewRequest)


@pytest.mark.proves("A1")
async def test_a_request_that_was_lost_after_its_change_creates_no_second_run(
    services: Services, requests: RequestService, clock: VirtualClock
) -> None:
    await services.jobs.put({JobId("report"): JobSpec(kind="shell", spec={"command": "true"})})

    async def carry_out() -> RunId:
        begun = await requests.begin("k", *CALL)
        assert isinstance(begun, NewRequest)
        return await services.runs.enqueue("report", RunRequest(run_id=RunId(begun.resource_id)))

    first = await carry_out()  # and the process is killed before it stores the answer
    clock.advance(TAKEOVER_AFTER)
    assert await carry_out() == first
    assert len(await services.runs.page(job="report")) == 1
