"""Trying out where notifications go."""

from http import HTTPStatus

from foliot.domain.access.role import Permission
from foliot.interfaces.api.call import Call
from foliot.interfaces.api.reading import Parameters
from foliot.interfaces.api.resources.table import ROUTES
from foliot.service.answers import Page, SampleAnswer


class TestBody(Parameters, frozen=True, kw_only=True):
    job: str | None = None
    """Use the targets of this job. By default those of [notifications]."""


@ROUTES.post(
    "/api/alerts/test",
    permission=Permission.ADMINISTER,
    summary="Send a test message to the configured targets, and return what each of them answers.",
    errors=(HTTPStatus.NOT_FOUND,),
    examples=({},),
)
async def test_alerts(call: Call, body: TestBody) -> Page[SampleAnswer]:
    return Page(items=await call.context.send_samples(call.services, body.job), next=None)
