"""Errors of the API: one JSON form, and the status for each class of error."""

import logging
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Final

import msgspec

from foliot.domain.work.message import PROTOCOL
from foliot.errors import (
    BadSignature,
    ChangedMeanwhile,
    CredentialsRefused,
    FoliotError,
    InUse,
    InvalidCron,
    InvalidDefinitions,
    InvalidInput,
    InvalidJobDocument,
    InvalidWorkflow,
    JobInUse,
    JoinRefused,
    LabelRefused,
    LogTooLarge,
    NotFound,
    OutputLost,
    OutputPruned,
    OutputUnavailable,
    OwnedElsewhere,
    ProtocolTooOld,
    RateLimited,
    Replayed,
    RowUnreadable,
    RunCancelled,
    SecretError,
    SecretKeyUnusable,
    StaleTimestamp,
    StorageError,
    WaitTimeout,
    WorkerDisabled,
    WorkerRefused,
    WrongState,
)
from foliot.service.answers import ErrorBody, ErrorDetail, ProblemBody

log = logging.getLogger("foliot.api")

STATUSES: Final[Mapping[type[FoliotError], HTTPStatus]] = {
    FoliotError: HTTPStatus.CONFLICT,
    ChangedMeanwhile: HTTPStatus.PRECONDITION_FAILED,
    CredentialsRefused: HTTPStatus.UNAUTHORIZED,
    RateLimited: HTTPStatus.TOO_MANY_REQUESTS,
    InvalidInput: HTTPStatus.UNPROCESSABLE_ENTITY,
    WrongState: HTTPStatus.CONFLICT,
    NotFound: HTTPStatus.NOT_FOUND,
    OwnedElsewhere: HTTPStatus.CONFLICT,
    JobInUse: HTTPStatus.CONFLICT,
    InUse: HTTPStatus.SERVICE_UNAVAILABLE,
    WaitTimeout: HTTPStatus.GATEWAY_TIMEOUT,
    OutputUnavailable: HTTPStatus.CONFLICT,
    OutputLost: HTTPStatus.GONE,
    OutputPruned: HTTPStatus.GONE,
    WorkerRefused: HTTPStatus.CONFLICT,
    BadSignature: HTTPStatus.UNAUTHORIZED,
    StaleTimestamp: HTTPStatus.UNAUTHORIZED,
    Replayed: HTTPStatus.UNAUTHORIZED,
    JoinRefused: HTTPStatus.UNAUTHORIZED,
    WorkerDisabled: HTTPStatus.FORBIDDEN,
    LabelRefused: HTTPStatus.FORBIDDEN,
    RunCancelled: HTTPStatus.GONE,
    LogTooLarge: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    ProtocolTooOld: HTTPStatus.UPGRADE_REQUIRED,
    SecretError: HTTPStatus.SERVICE_UNAVAILABLE,
    StorageError: HTTPStatus.SERVICE_UNAVAILABLE,
}
"""The status of each class of errors; a class that is not listed has that of its base class."""

_INTERNAL: Final = (StorageError, SecretError)
"""Errors whose message may contain addresses or paths. It is written to the log only."""


class ApiError(Exception):
    """A request that is refused by the API itself."""

    def __init__(
        self,
        status: HTTPStatus,
        code: str,
        message: str,
        *,
        hint: str = "",
        field: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.hint = hint
        self.field = field
        self.headers = dict(headers or {})


def no_route(path: str) -> ApiError:
    return ApiError(
        HTTPStatus.NOT_FOUND, "not_found", f"there is nothing at {path[:128]!a}", hint="See /api/docs for all paths."
    )


def headers_of(error: Exception) -> dict[str, str]:
    """Return the headers that the answer to an error has."""
    match error:
        case ApiError():
            return error.headers
        case RateLimited():
            return {"Retry-After": str(error.retry_after)}
        case ProtocolTooOld():
            return {"Upgrade": f"foliot-worker/{PROTOCOL}", "Connection": "Upgrade"}
        case CredentialsRefused() | BadSignature() | StaleTimestamp() | Replayed() | JoinRefused():
            return {"WWW-Authenticate": 'Bearer realm="foliot"'}
    return {}


def status_of(error: FoliotError) -> HTTPStatus:
    return next(STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES)


def describe(error: Exception, request_id: str) -> tuple[HTTPStatus, ErrorBody]:
    """Return the status and the body for any error. What may contain internals is logged instead."""
    match error:
        case ApiError():
            return error.status, _body(error.code, error.message, request_id, hint=error.hint, field=error.field)
        case _ if isinstance(error, _INTERNAL):
            log.warning("request_refused", extra={"request": request_id, "code": error.code, "problem": error.message})
            return status_of(error), _internal(error, request_id)
        case FoliotError():
            return status_of(error), _of_foliot(error, request_id)
        case _:
            log.error("request_failed", extra={"request": request_id}, exc_info=error)
            hint = "The log of the server has the details; look for the request id."
            return HTTPStatus.INTERNAL_SERVER_ERROR, _body("internal", "the request failed", request_id, hint=hint)


def _internal(error: FoliotError, request_id: str) -> ErrorBody:
    hint = "Try again. The log of the server has the details; look for the request id."
    message = "the database could not be used" if isinstance(error, StorageError) else "a secret could not be used"
    if isinstance(error, SecretKeyUnusable):
        message = "the server has no usable key for secrets"
        hint = "Set FOLIOT_SECRET_KEY for the server. Its log says what is wrong; look for the request id."
    if isinstance(error, RowUnreadable):
        message = f"the row of {error.kind} {error.name[:128]!a} cannot be read"
    return _body(error.code, message, request_id, hint=hint)


def _of_foliot(error: FoliotError, request_id: str) -> ErrorBody:
    field = error.field if isinstance(error, InvalidInput) else ""
    problems: Sequence[ProblemBody] = ()
    if isinstance(error, InvalidWorkflow | InvalidJobDocument | InvalidDefinitions):
        problems = [
            ProblemBody(message=one.message, hint=one.hint, field=one.key, line=one.line, column=one.place.column)
            for one in error.problems
        ]
        field = problems[0].field or field if problems else field
    body = _body(error.code, error.message, request_id, hint=error.hint, field=field)
    changes: dict[str, object] = {}
    if problems:
        changes["problems"] = list(problems)
    if isinstance(error, InvalidCron):
        changes["position"] = error.position
    return ErrorBody(error=msgspec.structs.replace(body.error, **changes)) if changes else body


def _body(code: str, message: str, request_id: str, *, hint: str = "", field: str = "") -> ErrorBody:
    return ErrorBody(error=ErrorDetail(code=code, message=message, hint=hint, field=field, request_id=request_id))
