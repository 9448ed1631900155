"""The messages between the worker and an isolated interpreter: one call, one answer, both JSON after its length.

The interpreter runs untrusted code, so the answer is validated like any untrusted input.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from foliot.domain.run.outcome import Failure, Reason, Success
from foliot.domain.run.payload import MAX_BYTES, encode_payload
from foliot.errors import InvalidRun

LENGTH_SIZE: Final = 8
LARGEST_ANSWER: Final = MAX_BYTES + 65_536

_MAX_ERROR: Final = 16_000
_REPORTED: Final = frozenset(
    {
        Reason.EXCEPTION,
        Reason.PAYLOAD,
        Reason.OUTPUT,
        Reason.HANDLER_MISSING,
        Reason.LAUNCH_FAILED,
        Reason.LIMIT_MEMORY,
    }
)
"""Reasons that only the interpreter can report."""


class RunInfo(msgspec.Struct, frozen=True, kw_only=True):
    """The values of `current_run()` in the function."""

    run_id: str
    job_id: str
    attempt: int
    tick: tuple[Any, ...] | None
    execution_id: str | None
    planned: int | None


class CallRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One call."""

    call: str
    payload: Any
    variables: Mapping[str, str]
    """Variables to add to the environment that the interpreter was started with."""
    working_dir: str | None
    umask: int | None
    first: Sequence[str]
    """Directories that are searched for modules before all others."""
    path: Sequence[str]
    """The worker's own module path."""
    context: RunInfo
    is_memory_limited: bool
    largest_output: int = MAX_BYTES

    def frame(self) -> bytes:
        text = msgspec.json.encode(self)
        return len(text).to_bytes(LENGTH_SIZE, "big") + text


class _Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    output: msgspec.Raw = msgspec.Raw()
    error: str | None = None
    reason: Reason = Reason.EXCEPTION
    retryable: bool = True


def read_answer(received: bytes) -> Success | Failure | None:
    """Return the outcome in the answer; None if there is no answer."""
    if not received:
        return None
    size = int.from_bytes(received[:LENGTH_SIZE], "big")
    if len(received) != LENGTH_SIZE + size or size > LARGEST_ANSWER:
        return _invalid_answer("the length is wrong")
    try:
        return _outcome(msgspec.json.decode(received[LENGTH_SIZE:], type=_Answer))
    except (msgspec.MsgspecError, RecursionError) as error:
        return _invalid_answer(str(error))


def _outcome(answer: _Answer) -> Success | Failure:
    if answer.error is not None:
        reason = answer.reason if answer.reason in _REPORTED else Reason.EXCEPTION
        return Failure(answer.error[-_MAX_ERROR:], reason, retryable=answer.retryable)
    if not bytes(answer.output):
        return _invalid_answer("it is empty")
    try:
        return Success(encode_payload(msgspec.json.decode(answer.output), what="output"))
    except InvalidRun as refusal:
        return Failure(str(refusal), Reason.OUTPUT, retryable=False)


def _invalid_answer(why: str) -> Failure:
    return Failure(f"the function wrote to the socket for the answer of its process: {why}", Reason.EXCEPTION)
