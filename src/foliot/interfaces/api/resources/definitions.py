"""Definitions as TOML: check a text, apply it, read stored definitions as text."""

from http import HTTPStatus
from typing import Annotated, Final

import msgspec
from msgspec.structs import replace

from foliot.domain.access.role import Permission
from foliot.domain.deploy.text import MAX_BYTES
from foliot.interfaces.api.call import Call
from foliot.interfaces.api.reading import Parameters
from foliot.interfaces.api.resources.table import ROUTES
from foliot.service.queries.definition_view import (
    AppliedText,
    CheckedText,
    DefinitionAction,
    DefinitionToml,
    DefinitionView,
)

_LARGEST: Final = 4 * MAX_BYTES
"""Of a body. A text of the largest size may have many characters that JSON escapes."""
_MOST_PLACES: Final = 20
"""For how many definitions the file and the line are looked up."""
_EXAMPLE: Final = """\
[[jobs]]
id = "backup"
cron = "0 3 * * *"
command = "true"
"""

Toml = Annotated[str, msgspec.Meta(max_length=MAX_BYTES)]
Revision = Annotated[int, msgspec.Meta(ge=0, le=1 << 53)]


class TextBody(Parameters, frozen=True, kw_only=True):
    toml: Toml
    """[defaults], [[jobs]], [[workflows]] and [[chains]] of a configuration file."""


class ApplyBody(TextBody, frozen=True, kw_only=True):
    pause_new: bool = False
    """Pause the jobs and schedules that it creates."""
    expected: dict[str, Revision] = msgspec.field(default_factory=dict)
    """The revisions that the change was made for, by id; of workflows their versions. 0: it must not exist."""


class VersionQuery(Parameters, frozen=True, kw_only=True):
    version: Annotated[int, msgspec.Meta(ge=1, lt=1 << 31)] | None = None
    """By default the newest one."""


@ROUTES.post(
    "/api/definitions/check",
    permission=Permission.READ,
    summary="Check definitions given as TOML, and compare them with what is stored. Nothing is stored.",
    examples=({"toml": _EXAMPLE},),
    max_body=_LARGEST,
    is_repeatable=False,
)
async def check_definitions(call: Call, body: TextBody) -> CheckedText:
    found = await call.services.definitions.check(body.toml)
    return replace(found, definitions=await _with_places(call, found.definitions))


@ROUTES.post(
    "/api/definitions",
    permission=Permission.EDIT,
    summary="Store all definitions of a TOML text, or none. Others are not changed.",
    errors=(HTTPStatus.CONFLICT, HTTPStatus.PRECONDITION_FAILED),
    examples=({"toml": _EXAMPLE},),
    max_body=_LARGEST,
)
async def apply_definitions(call: Call, body: ApplyBody) -> AppliedText:
    return await call.services.definitions.apply(
        body.toml, pause_new=body.pause_new, expected=body.expected or None, revision=call.expected_revision
    )


@ROUTES.get(
    "/api/jobs/{job_id}/toml",
    permission=Permission.READ,
    summary="Return a job, a fanout or a class of chains as TOML, with masked secrets.",
    errors=(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
)
async def get_job_toml(call: Call, job_id: str) -> DefinitionToml:
    found = await call.services.definitions.job_toml(job_id)
    find = call.context.find_place
    return _tagged(call, found if find is None else replace(found, place=await find(job_id)))


@ROUTES.get(
    "/api/workflows/{workflow_id}/toml",
    permission=Permission.READ,
    summary="Return a workflow as TOML, with masked secrets.",
    errors=(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
)
async def get_workflow_toml(call: Call, workflow_id: str, query: VersionQuery) -> DefinitionToml:
    found = await call.services.definitions.workflow_toml(workflow_id, version=query.version)
    return _tagged(call, found)


@ROUTES.get(
    "/api/chain-classes/{class_id}/toml",
    permission=Permission.READ,
    summary="Return a class of chains as TOML, with masked secrets.",
    errors=(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
)
async def get_chain_class_toml(call: Call, class_id: str) -> DefinitionToml:
    return _tagged(call, await call.services.definitions.class_toml(class_id))


def _tagged(call: Call, found: DefinitionToml) -> DefinitionToml:
    call.set_etag(found.revision)
    return found


async def _with_places(call: Call, definitions: list[DefinitionView]) -> list[DefinitionView]:
    """Add the file and line of definitions that only a file can change."""
    find = call.context.find_place
    owned = [one for one in definitions if one.action is DefinitionAction.REFUSED and one.owner == "file"]
    if find is None or not owned:
        return definitions
    places = {one.id: await find(one.id) for one in owned[:_MOST_PLACES]}
    return [replace(one, place=places.get(one.id)) for one in definitions]
