"""Turns errors of the HTTP API into the errors that the same call raises without a server."""

from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any, Final

import msgspec

from foliot import errors
from foliot.errors import (
    ChangedMeanwhile,
    CredentialsRefused,
    CycleDetected,
    FoliotError,
    Forbidden,
    InvalidCron,
    InvalidDocument,
    InvalidInput,
    InvalidJobDocument,
    InvalidWorkflow,
    JobInUse,
    NotFound,
    OwnedElsewhere,
    Place,
    Problem,
    RateLimited,
    RequestRefused,
    Severity,
    WaitTimeout,
)
from foliot.service.answers import ErrorBody, ErrorDetail

_DECODER: Final = msgspec.json.Decoder(ErrorBody)
_NOT_SENT: Final[Mapping[type[FoliotError], Mapping[str, Any]]] = {
    NotFound: {"kind": "", "name": ""},
    WaitTimeout: {"run_ids": ()},
    JobInUse: {"job_id": "", "run_id": ""},
    ChangedMeanwhile: {"revision": 0},
    OwnedElsewhere: {"names": ()},
    CycleDetected: {"cycle": ()},
    InvalidInput: {"field": ""},
    InvalidCron: {"expression": "", "position": 0},
    InvalidWorkflow: {"problems": ()},
    InvalidJobDocument: {"problems": ()},
    RateLimited: {"retry_after": 1},
}
"""The attributes of errors that an answer may not have, with what they are then."""
_INVALID: Final = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY})


def decode_error(content: bytes) -> ErrorDetail | None:
    """Return the error in an answer, or None if it was not written by Foliot."""
    try:
        return _DECODER.decode(content).error
    except msgspec.MsgspecError:
        return None


def failure(status: int, path: str, headers: Mapping[str, str], detail: ErrorDetail | None) -> FoliotError:
    """Return the error for an answer that is no success."""
    if detail is None:
        return _foreign(status)
    kind = _CLASSES.get(detail.code)
    if detail.code == InvalidDocument.code:
        kind = InvalidDocument if "/workflows" in path else InvalidJobDocument
    if kind is None:
        error: FoliotError = _without_class(status, detail)
    else:
        error = _rebuilt(kind, detail, status)
    if isinstance(error, RateLimited):
        error.retry_after = _seconds(headers)
    error.request_id = detail.request_id
    return error


def _classes() -> Iterator[type[FoliotError]]:
    for name in errors.__all__:
        kind = getattr(errors, name)
        if isinstance(kind, type) and issubclass(kind, FoliotError):
            yield kind


_CLASSES: Final[Mapping[str, type[FoliotError]]] = {kind.code: kind for kind in _classes()}


def _rebuilt(kind: type[FoliotError], detail: ErrorDetail, status: int) -> FoliotError:
    """Build an error of a class without its constructor, which takes the causes and not the message."""
    error = kind.__new__(kind, detail.message)
    facts: dict[str, Any] = {"message": detail.message, "hint": detail.hint}
    for base in reversed(kind.__mro__):
        facts |= _NOT_SENT.get(base, {})
    if isinstance(error, InvalidInput):
        facts["field"] = detail.field
    if isinstance(error, InvalidCron) and isinstance(detail.position, int):
        facts["position"] = detail.position
    if isinstance(error, InvalidWorkflow | InvalidJobDocument) and isinstance(detail.problems, list):
        facts["problems"] = tuple(
            Problem(Severity.ERROR, Place(key=one.field), one.message, one.hint) for one in detail.problems
        )
    if isinstance(error, RequestRefused):
        facts |= {"status": status, "field": detail.field}
    vars(error).update(facts)
    return error


def _without_class(status: int, detail: ErrorDetail) -> FoliotError:
    """Return the error for a code that only the API has: a field that is unknown, a run that has ended and so on."""
    if status in _INVALID:
        error = InvalidInput(detail.message, hint=detail.hint, field=detail.field)
        vars(error)["code"] = detail.code
        return error
    return RequestRefused(detail.message, hint=detail.hint, code=detail.code, status=status, field=detail.field)


def _foreign(status: int) -> FoliotError:
    """Return the error for an answer of a proxy, or of another program at this address."""
    if status == HTTPStatus.UNAUTHORIZED:
        return CredentialsRefused()
    kind = Forbidden if status == HTTPStatus.FORBIDDEN else RequestRefused
    return kind(
        f"the answer has status {status} and was not written by Foliot",
        hint="Check the address of the server, with its base path. A proxy may have answered.",
        status=status,
    )


def _seconds(headers: Mapping[str, str]) -> int:
    asked = headers.get("Retry-After", "")
    return int(asked[:9]) if asked.isdecimal() else 1
