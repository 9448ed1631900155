"""What a queue carries: `{"v":1,"run_id":"01J..."}` and nothing else.

Whoever can write to a broker can write anything there, so that reading trusts nothing.
"""

from typing import Final, Literal

import msgspec

from foliot.domain.ids import RunId, is_id

MAX_BYTES: Final = 4_096
"""No message of ours comes near this; longer ones are not even looked at."""


class _Message(msgspec.Struct, forbid_unknown_fields=True):
    v: Literal[1]
    run_id: str


_encoder: Final = msgspec.json.Encoder()
_decoder: Final = msgspec.json.Decoder(_Message)


def encode(run_id: RunId) -> bytes:
    return _encoder.encode(_Message(1, run_id))


def decode(body: bytes) -> RunId | None:
    """The run id of a message, or None for whatever is not exactly a message of version 1."""
    if len(body) > MAX_BYTES:
        return None
    try:
        message = _decoder.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return RunId(message.run_id) if is_id(message.run_id) else None
