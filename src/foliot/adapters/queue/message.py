"""The messages of a queue: `{"v":1,"run_id":"01J..."}` and nothing else.

Anyone with access to the broker can write anything there, so messages are validated strictly.
"""

from typing import Final, Literal

import msgspec

from foliot.domain.ids import RunId, is_id

MAX_BYTES: Final = 4_096
"""Longer messages are ignored without parsing them; our own are much shorter."""


class _Message(msgspec.Struct, forbid_unknown_fields=True):
    v: Literal[1]
    run_id: str


_encoder: Final = msgspec.json.Encoder()
_decoder: Final = msgspec.json.Decoder(_Message)


def encode(run_id: RunId) -> bytes:
    return _encoder.encode(_Message(1, run_id))


def decode(body: bytes) -> RunId | None:
    """Return the run id of a message; None if it is not a valid message of version 1."""
    if len(body) > MAX_BYTES:
        return None
    try:
        message = _decoder.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return RunId(message.run_id) if is_id(message.run_id) else None
