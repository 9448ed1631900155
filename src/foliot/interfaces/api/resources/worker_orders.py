"""Orders to running workers, with a database or remote: pause, resume, drain."""

from http import HTTPStatus
from typing import Final

from foliot.domain.access.role import Permission
from foliot.interfaces.api.call import Call
from foliot.interfaces.api.reading import Parameters
from foliot.interfaces.api.resources.table import ROUTES
from foliot.service.answers import DirectedWorkers

_NOT_FOUND: Final = (HTTPStatus.NOT_FOUND,)


class DrainBody(Parameters, frozen=True, kw_only=True):
    version: str | None = None
    """Only those with this version of the code."""


class DrainVersionBody(Parameters, frozen=True, kw_only=True):
    version: str


@ROUTES.post(
    "/api/workers/{name}/pause",
    permission=Permission.ADMINISTER,
    summary="Give workers no new runs until they are resumed: the worker with this name or id, or all of an enrolment.",
    errors=_NOT_FOUND,
)
async def pause_workers(call: Call, name: str) -> DirectedWorkers:
    return DirectedWorkers(name=name, workers=await call.services.enrolments.pause(name))


@ROUTES.post(
    "/api/workers/{name}/resume",
    permission=Permission.ADMINISTER,
    summary="Give paused workers runs again.",
    errors=_NOT_FOUND,
)
async def resume_workers(call: Call, name: str) -> DirectedWorkers:
    return DirectedWorkers(name=name, workers=await call.services.enrolments.resume(name))


@ROUTES.post(
    "/api/workers/{name}/drain",
    permission=Permission.ADMINISTER,
    summary="Let workers finish their runs and stop.",
    errors=_NOT_FOUND,
    examples=({},),
)
async def drain_workers(call: Call, name: str, body: DrainBody) -> DirectedWorkers:
    return DirectedWorkers(name=name, workers=await call.services.enrolments.drain(name, version=body.version))


@ROUTES.post(
    "/api/workers/drain",
    permission=Permission.ADMINISTER,
    summary="Let all workers with a version of the code finish their runs and stop, for a rolling update.",
    errors=_NOT_FOUND,
    examples=({"version": "1.2.3"},),
)
async def drain_version(call: Call, body: DrainVersionBody) -> DirectedWorkers:
    return DirectedWorkers(name="", workers=await call.services.enrolments.drain(version=body.version))
