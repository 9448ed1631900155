"""Reads bodies and queries strictly. What a route does not declare is refused, with the name of the field."""

import asyncio
import re
from collections.abc import Mapping
from datetime import datetime
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import parse_qsl

import msgspec
from starlette.requests import ClientDisconnect, Request

from foliot.domain.run.payload import MAX_LEVELS, check_depth
from foliot.interfaces.api.errors import ApiError
from foliot.interfaces.api.route import Route

JSON: Final = "application/json"
_MOST_PARAMETERS: Final = 100
_LONGEST_BODY: Final = 60.0
"""Seconds."""
_PLACE: Final = re.compile(r" - at `(?:key in )?\$(?P<path>[^`]*)`$")
_UNKNOWN: Final = re.compile(r"^Object contains unknown field `(?P<name>.*)`$", re.DOTALL)
_MISSING: Final = re.compile(r"^Object missing required field `(?P<name>.*)`$")
_PATH: Final = re.compile(r"/[A-Za-z0-9_.:@/-]*")
_TRICKS: Final = re.compile(r"%2f|%2e|%5c|%00|//|/\.{1,2}(?:/|$)", re.IGNORECASE)


class Parameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The base class of queries and bodies: other fields are refused."""


def plain_path(raw_path: bytes, path: str) -> bool:
    """Return whether a path has one spelling only: no encoded slashes or dots, no empty or relative parts, and only the
    characters of names."""
    return _PATH.fullmatch(path) is not None and _TRICKS.search(raw_path.decode("latin-1")) is None


def read_query(route: Route, query_string: bytes) -> Any:
    """Return the query as the type that the route declares. A route without a query takes no parameters."""
    given: dict[str, Any] = {}
    try:
        text = query_string.decode("ascii")
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=_MOST_PARAMETERS, errors="strict")
    except ValueError:
        raise ApiError(
            HTTPStatus.BAD_REQUEST,
            "invalid_query",
            "the query cannot be read",
            hint="Encode it as UTF-8 with percent-escapes.",
        ) from None
    for name, value in pairs:
        if name in given:
            raise _invalid("invalid_field", f"parameter {name[:64]!a} is given twice", name)
        given[name] = value
    if route.query is None:
        if given:
            raise _unknown(next(iter(given)), "parameter")
        return None
    try:
        query = msgspec.convert(given, route.query, strict=False)
    except msgspec.ValidationError as error:
        raise refusal(error, "parameter") from None
    _check_zones(query)
    return query


def _check_zones(query: msgspec.Struct) -> None:
    """Refuse times without an offset: what they mean would depend on the zone of the server."""
    for name, value in msgspec.structs.asdict(query).items():
        if isinstance(value, datetime) and value.tzinfo is None:
            raise ApiError(
                HTTPStatus.UNPROCESSABLE_ENTITY,
                "invalid_field",
                f"parameter {name!a}: {value.isoformat()} has no timezone",
                hint="Add an offset, such as Z or %2B02:00.",
                field=name,
            )


def read_body(route: Route, content: bytes) -> Any:
    """Return the body as the type that the route declares."""
    if not content and may_be_empty(route.body):
        content = b"{}"
    return decode(content, route.body)


def decode(content: bytes, kind: Any) -> Any:
    try:
        value = msgspec.json.decode(content, type=kind)
        for part in msgspec.structs.astuple(value) if isinstance(value, msgspec.Struct) else (value,):
            check_depth(part)
    except msgspec.ValidationError as error:
        raise refusal(error, "field") from None
    except RecursionError:
        raise ApiError(
            HTTPStatus.BAD_REQUEST,
            "too_deep",
            "lists or objects are nested too deeply",
            hint=f"Use at most {MAX_LEVELS} levels.",
        ) from None
    except (msgspec.MsgspecError, UnicodeDecodeError, ValueError) as error:
        message = f"the body is not JSON: {str(error)[:200]}"
        raise ApiError(HTTPStatus.BAD_REQUEST, "invalid_json", message, hint="Send a JSON object.") from None
    return value


def check_media_type(headers: Mapping[str, str]) -> None:
    """Refuse bodies that are not plain JSON. This also keeps forms of other web pages from changing anything."""
    given = headers.get("content-type", "").partition(";")[0].strip().lower()
    if given != JSON:
        raise ApiError(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            "unsupported_media_type",
            f"content type {given[:64]!a} is not supported" if given else "the request has no content type",
            hint=f"Send JSON with the header Content-Type: {JSON}.",
        )
    if headers.get("content-encoding", "identity").lower() != "identity":
        message = "compressed bodies are not supported"
        hint = "Send the body without Content-Encoding."
        raise ApiError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", message, hint=hint)


def refusal(error: msgspec.ValidationError, what: str) -> ApiError:
    """Return the error for a value of another type, with the name of its field."""
    text = str(error)
    place = _PLACE.search(text)
    fact = text[: place.start()] if place else text
    path = place["path"].lstrip(".") if place else ""
    if unknown := _UNKNOWN.match(fact):
        return _unknown(_join(path, unknown["name"]), what)
    if missing := _MISSING.match(fact):
        name = _join(path, missing["name"])
        return _invalid("missing_field", f"{what} {name[:64]!a} is missing", name)
    return _invalid("invalid_field", f"{what} {path[:64]!a}: {fact[:200]}" if path else fact[:200], path)


async def read_content(request: Request, most: int) -> bytes:
    """Return the bytes of the body. Refuse one that is too large before it is read."""
    declared = request.headers.get("content-length", "0")
    if not declared.isdecimal() or len(declared) > 18 or int(declared) > most:
        raise _too_large(most)
    chunks, size = [], 0
    try:
        async with asyncio.timeout(_LONGEST_BODY):
            async for chunk in request.stream():
                size += len(chunk)
                if size > most:
                    raise _too_large(most)
                chunks.append(chunk)
    except ClientDisconnect:
        raise ApiError(HTTPStatus.BAD_REQUEST, "incomplete_body", "the body is not complete") from None
    except TimeoutError:
        message = f"the body was not complete after {_LONGEST_BODY:g} seconds"
        close = {"Connection": "close"}
        raise ApiError(HTTPStatus.REQUEST_TIMEOUT, "request_timeout", message, headers=close) from None
    return b"".join(chunks)


def may_be_empty(kind: Any) -> bool:
    """Whether every field of the body has a default, so that the body may be left out."""
    if not (isinstance(kind, type) and issubclass(kind, msgspec.Struct)):
        return False
    return all(not field.required for field in msgspec.structs.fields(kind))


def _too_large(most: int) -> ApiError:
    hint = f"Send at most {most} bytes."
    return ApiError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too_large", "the body is too large", hint=hint)


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _unknown(name: str, what: str) -> ApiError:
    return _invalid("unknown_field", f"{what} {name[:64]!a} does not exist", name)


def _invalid(code: str, message: str, field: str) -> ApiError:
    hint = "See /api/docs for the parameters of this path."
    return ApiError(HTTPStatus.UNPROCESSABLE_ENTITY, code, message, hint=hint, field=field[:128])
