"""What the worker and an isolated interpreter say to each other: one order, one answer, both JSON with its length.

The interpreter runs code that nobody has checked. Whatever comes back is looked at as if it came from a stranger.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from foliot.domain.run.outcome import Failure, Reason, Success
from foliot.domain.run.payload import MAX_BYTES, encode_payload
from foliot.errors import InvalidRun

HEAD: Final = 8
LARGEST_ANSWER: Final = MAX_BYTES + 65_536

_MAX_ERROR: Final = 16_000
_TOLD: Final = frozenset(
    {
        Reason.EXCEPTION,
        Reason.PAYLOAD,
        Reason.OUTPUT,
        Reason.HANDLER_MISSING,
        Reason.LAUNCH_FAILED,
        Reason.LIMIT_MEMORY,
    }
)
"""Reasons that only the interpreter can know."""


class RunInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What `current_run()` tells the function."""

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
    """To be set on top of the environment that the interpreter was started with."""
    working_dir: str | None
    umask: int | None
    first: Sequence[str]
    """Directories in which modules are looked for before all others."""
    path: Sequence[str]
    """Where the worker itself would find them."""
    context: RunInfo
    is_memory_limited: bool
    largest_output: int = MAX_BYTES

    def frame(self) -> bytes:
        text = msgspec.json.encode(self)
        return len(text).to_bytes(HEAD, "big") + text


class _Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    output: msgspec.Raw = msgspec.Raw()
    error: str | None = None
    reason: Reason = Reason.EXCEPTION
    retryable: bool = True


def read_answer(received: bytes) -> Success | Failure | None:
    """What the interpreter said; None if it said nothing."""
    if not received:
        return None
    size = int.from_bytes(received[:HEAD], "big")
    if len(received) != HEAD + size or size > LARGEST_ANSWER:
        return _disturbed("the length is wrong")
    try:
        return _judge(msgspec.json.decode(received[HEAD:], type=_Answer))
    except (msgspec.MsgspecError, RecursionError) as error:
        return _disturbed(str(error))


def _judge(answer: _Answer) -> Success | Failure:
    if answer.error is not None:
        reason = answer.reason if answer.reason in _TOLD else Reason.EXCEPTION
        return Failure(answer.error[-_MAX_ERROR:], reason, retryable=answer.retryable)
    if not bytes(answer.output):
        return _disturbed("it is empty")
    try:
        return Success(encode_payload(msgspec.json.decode(answer.output), what="output"))
    except InvalidRun as refusal:
        return Failure(str(refusal), Reason.OUTPUT, retryable=False)


def _disturbed(how: str) -> Failure:
    return Failure(f"the function wrote to the channel by which its process answers: {how}", Reason.EXCEPTION)
