"""The OpenAPI document, made of the table of routes."""

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any, Final, get_args, get_origin

import msgspec
from starlette.responses import Response

import foliot
from foliot.interfaces.api.reading import may_be_empty
from foliot.interfaces.api.route import PUBLIC, Route, Routes
from foliot.service.answers import ErrorBody

_TEMPLATE: Final = "#/components/schemas/{name}"
_EVERYWHERE: Final = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
_CHANGES: Final = ("POST", "PUT")


def openapi_document(routes: Routes, server_url: str = "/") -> dict[str, Any]:
    """Return the description of all routes as OpenAPI 3.1."""
    schemas, components = _schemas(routes)
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Foliot", "version": foliot.__version__, "description": "A job scheduler with a ledger."},
        "servers": [{"url": server_url}],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
    }


def _types(routes: Iterable[Route]) -> list[Any]:
    """Return every type of a query, body or answer, each once."""
    found: dict[Any, None] = {ErrorBody: None}
    for route in routes:
        for kind in (route.query, route.body, route.answer):
            if kind is not None and kind is not Response:
                found.setdefault(kind)
    return list(found)


def _schemas(routes: Routes) -> tuple[Mapping[Any, dict[str, Any]], dict[str, Any]]:
    kinds = _types(routes)
    schemas, components = msgspec.json.schema_components(kinds, ref_template=_TEMPLATE)
    return dict(zip(map(_key, kinds), schemas, strict=True)), dict(components)


def _key(kind: Any) -> Any:
    """Return a key for a type: some forms of types cannot be hashed by what they mean."""
    return (get_origin(kind), get_args(kind)) if get_args(kind) else kind


def _operation(route: Route, schemas: Mapping[Any, dict[str, Any]]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": route.name,
        "summary": route.summary,
        "tags": [route.tag],
        "parameters": [*_path_parameters(route), *_query_parameters(route), *_header_parameters(route)],
        "responses": _responses(route, schemas),
        "security": [] if route.permission == PUBLIC else [{"bearer": []}],
        "x-permission": str(route.permission),
        "x-role": route.role,
    }
    if route.body is not None:
        operation["requestBody"] = _body(route, schemas)
    return operation


def _body(route: Route, schemas: Mapping[Any, dict[str, Any]]) -> dict[str, Any]:
    content: dict[str, Any] = {"schema": schemas[_key(route.body)]}
    if route.examples:
        named = {f"example {number}": {"value": one} for number, one in enumerate(route.examples, 1)}
        content["examples"] = named
    return {"required": not may_be_empty(route.body), "content": {"application/json": content}}


def _path_parameters(route: Route) -> list[dict[str, Any]]:
    return [{"name": name, "in": "path", "required": True, "schema": _NAME} for name in route.parameters]


def _query_parameters(route: Route) -> list[dict[str, Any]]:
    if route.query is None:
        return []
    [schema], components = msgspec.json.schema_components([route.query], ref_template="{name}")
    table = components[schema["$ref"]]
    required = table.get("required", ())
    return [
        {"name": name, "in": "query", "required": name in required, "schema": _inlined(one, components)}
        for name, one in table["properties"].items()
    ]


def _header_parameters(route: Route) -> list[dict[str, Any]]:
    if HTTPStatus.PRECONDITION_FAILED not in route.errors:
        return []
    return [{"name": "If-Match", "in": "header", "required": False, "schema": {"type": "string"}}]


def _inlined(schema: Any, components: Mapping[str, Any]) -> Any:
    """Return a schema of a query parameter with the enumerations that it refers to."""
    match schema:
        case {"$ref": str(name)}:
            return components[name]
        case {"anyOf": list(options), **rest}:
            return {"anyOf": [_inlined(one, components) for one in options], **rest}
    return schema


def _responses(route: Route, schemas: Mapping[Any, dict[str, Any]]) -> dict[str, Any]:
    is_json = route.answer is not Response
    schema: Any = schemas[_key(route.answer)] if is_json else {"type": "string"}
    statuses = [route.status, *_other_successes(route)]
    answers = {str(int(one)): _response(one, {route.media_type: {"schema": schema}}) for one in statuses}
    error = {"application/json": {"schema": schemas[ErrorBody]}}
    own = [HTTPStatus.UNPROCESSABLE_ENTITY] if route.query or route.body or not route.query else []
    if route.body is not None:
        own += [HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNSUPPORTED_MEDIA_TYPE]
    if route.parameters:
        own.append(HTTPStatus.NOT_FOUND)  # a path with characters that no name has
    everywhere = () if route.permission == PUBLIC else _EVERYWHERE
    for status in sorted({*everywhere, *own, *route.errors}):
        answers.setdefault(str(int(status)), _response(status, error))
    return answers


def _other_successes(route: Route) -> list[HTTPStatus]:
    """Return the further statuses of success: replaced instead of created, accepted instead of done."""
    if route.method == "PUT":
        return [HTTPStatus.CREATED]
    return [HTTPStatus.ACCEPTED] if route.name == "cancel_run" else []


def _response(status: HTTPStatus, content: dict[str, Any]) -> dict[str, Any]:
    return {"description": status.phrase, "content": content}


_NAME: Final = {"type": "string", "pattern": "^[A-Za-z0-9_.:@-]+$"}
