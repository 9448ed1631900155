"""What a run printed, as numbered chunks of one attempt."""

from typing import Literal, NamedTuple

from foliot.domain.ids import RunId, Token
from foliot.domain.instant import Instant

Stream = Literal["stdout", "stderr", "meta"]


class LogChunk(NamedTuple):
    """Bytes as they were printed. `seq` counts from 0 within (run, token), so that two attempts never mix."""

    run_id: RunId
    token: Token
    seq: int
    at: Instant
    stream: Stream
    data: bytes
