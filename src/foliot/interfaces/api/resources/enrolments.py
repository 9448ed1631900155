"""Enrolments: which remote workers may connect."""

from http import HTTPStatus
from typing import Annotated, Final
from urllib.parse import urlsplit

import msgspec

from foliot.domain.access.role import Permission
from foliot.errors import InvalidInput, NotFound
from foliot.interfaces.api.call import Call
from foliot.interfaces.api.reading import Parameters
from foliot.interfaces.api.resources.table import ROUTES
from foliot.service.answers import Deleted, InvitedWorker, NewEnrolment, Page
from foliot.service.workers.enrolments import EnrolmentView

_NOT_FOUND: Final = (HTTPStatus.NOT_FOUND,)
_MOST: Final = 100
Names = Annotated[tuple[str, ...], msgspec.Meta(max_length=_MOST)]


class EnrolmentBody(Parameters, frozen=True, kw_only=True):
    name: str
    labels: Names = ()
    """The labels that it may use."""
    kinds: Names = ()
    """The kinds of jobs that it may execute. Empty: all."""


class RegisterBody(EnrolmentBody, frozen=True, kw_only=True):
    server: str | None = None
    """The URL for the environment in the answer; by default that of this request."""


class InviteBody(EnrolmentBody, frozen=True, kw_only=True):
    valid: float | str = "10m"
    """For how long: seconds, or text such as "10m". At most an hour."""


@ROUTES.get(
    "/api/enrolments", permission=Permission.ADMINISTER, summary="List the enrolments of remote workers by name."
)
async def list_enrolments(call: Call) -> Page[EnrolmentView]:
    return Page(items=await call.services.enrolments.all(), next=None)


@ROUTES.post(
    "/api/enrolments",
    permission=Permission.ADMINISTER,
    summary="Enrol a remote worker. The answer has its secret, which cannot be read again.",
    status=HTTPStatus.CREATED,
    is_repeatable=False,
    examples=({"name": "gpu-1", "labels": ["gpu"]},),
)
async def enrol_worker(call: Call, body: RegisterBody) -> NewEnrolment:
    server = _server(call, body.server)
    view, secret = await call.services.enrolments.register(body.name, labels=body.labels, kinds=body.kinds)
    facts = {"FOLIOT_SERVER": server, "FOLIOT_WORKER_ID": view.id, "FOLIOT_WORKER_SECRET": secret}
    environment = "".join(f"{name}={value}\n" for name, value in facts.items())
    return NewEnrolment(**msgspec.structs.asdict(view), secret=secret, environment=environment)


@ROUTES.post(
    "/api/enrolments/invite",
    permission=Permission.ADMINISTER,
    summary="Enrol a remote worker that gets its secret with the join token in the answer, once.",
    status=HTTPStatus.CREATED,
    is_repeatable=False,
    examples=({"name": "gpu-2", "valid": "10m"},),
)
async def invite_worker(call: Call, body: InviteBody) -> InvitedWorker:
    view, token = await call.services.enrolments.invite(
        body.name, labels=body.labels, kinds=body.kinds, valid=body.valid
    )
    return InvitedWorker(**msgspec.structs.asdict(view), token=token)


@ROUTES.post(
    "/api/enrolments/{name}/disable",
    permission=Permission.ADMINISTER,
    summary="Refuse the requests of a worker from now on. Its runs are given to others when their leases run out.",
    errors=_NOT_FOUND,
)
async def disable_enrolment(call: Call, name: str) -> EnrolmentView:
    return await call.services.enrolments.disable(name)


@ROUTES.post(
    "/api/enrolments/{name}/enable",
    permission=Permission.ADMINISTER,
    summary="Accept the requests of a disabled worker again.",
    errors=_NOT_FOUND,
)
async def enable_enrolment(call: Call, name: str) -> EnrolmentView:
    return await call.services.enrolments.enable(name)


@ROUTES.delete(
    "/api/enrolments/{name}",
    permission=Permission.ADMINISTER,
    summary="Remove an enrolment. Requests with its secret are refused from now on.",
)
async def remove_enrolment(call: Call, name: str) -> Deleted:
    try:
        await call.services.enrolments.remove(name)
    except NotFound:
        return Deleted(deleted=False)
    return Deleted(deleted=True)


def _server(call: Call, given: str | None) -> str:
    """Return the URL that the worker uses: the given one, that of the configuration, or that of this request."""
    url = given or call.context.public_url
    if not url:
        scheme = "https" if call.is_secure else "http"
        url = f"{scheme}://{call.request.headers.get('host', '')}{call.context.base_path}"
    try:
        is_url = urlsplit(url).scheme in ("http", "https") and url.isprintable() and " " not in url
    except ValueError:
        is_url = False
    if not is_url:
        hint = "Write for example https://foliot.example."
        raise InvalidInput("the address of the server is not a URL", hint=hint, field="server")
    return url.rstrip("/")
