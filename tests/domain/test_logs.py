"""How a log ends."""

import pytest

from foliot.domain.instant import Instant
from foliot.domain.run.logs import Closing, LogChunk, LogEnd, LogState, Stream, closing_line, log_end, read_closing
from foliot.testing.builders import a_chunk, a_claim
from tests.cases import for_each

CLAIM = a_claim()
COMPLETE = closing_line(Closing())
TRUNCATED = closing_line(Closing(seen=9_000, stored=4_000))


def chunks(*pieces: tuple[Stream, bytes], first: int = 0) -> list[LogChunk]:
    return [a_chunk(CLAIM, first + index, data, stream) for index, (stream, data) in enumerate(pieces)]


@pytest.mark.parametrize("closing", [Closing(), Closing(9_000, 4_000), Closing(1, 0)])
def test_a_closing_line_can_be_read_back(closing: Closing) -> None:
    assert read_closing(a_chunk(CLAIM, 0, closing_line(closing), "meta")) == closing


def test_a_counted_log_with_all_bytes_is_complete() -> None:
    assert closing_line(Closing(5, 5)) == COMPLETE


@pytest.mark.proves("Z16")
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_job_cannot_forge_a_closing_line(stream: Stream) -> None:
    assert read_closing(a_chunk(CLAIM, 0, COMPLETE, stream)) is None


def test_other_meta_lines_are_not_closing_lines() -> None:
    assert read_closing(a_chunk(CLAIM, 0, b"the end of log: complete\n", "meta")) is None
    assert read_closing(a_chunk(CLAIM, 0, COMPLETE + COMPLETE, "meta")) is None


OUT: tuple[Stream, bytes] = ("stdout", b"x")
NOW = Instant(1_000)
JUDGEMENTS: list[tuple[str, list[LogChunk], dict[str, object], LogEnd]] = [
    ("closed", chunks(OUT, ("meta", COMPLETE)), {}, LogEnd(LogState.COMPLETE)),
    ("nothing printed", [], {}, LogEnd(LogState.COMPLETE)),
    ("cut", chunks(OUT, ("meta", TRUNCATED)), {}, LogEnd(LogState.TRUNCATED, 9_000, 4_000)),
    ("never closed", chunks(OUT), {}, LogEnd(LogState.TRUNCATED)),
    ("forged", chunks(OUT, ("stdout", COMPLETE)), {}, LogEnd(LogState.TRUNCATED)),
    ("under way", chunks(OUT), {"is_over": False}, LogEnd(LogState.OPEN)),
    ("lost", chunks(OUT), {"was_lost": True}, LogEnd(LogState.WORKER_LOST)),
    ("lost, yet closed", chunks(OUT, ("meta", COMPLETE)), {"was_lost": True}, LogEnd(LogState.WORKER_LOST)),
    ("lost, and begins too late", chunks(OUT, first=3), {"was_lost": True}, LogEnd(LogState.PRUNED)),
    ("begins too late", chunks(OUT, ("meta", COMPLETE), first=3), {}, LogEnd(LogState.PRUNED)),
    ("older than what is kept", [], {"kept_from": Instant(1_001)}, LogEnd(LogState.PRUNED)),
    ("as old as what is kept", [], {"kept_from": NOW}, LogEnd(LogState.COMPLETE)),
    ("old, but there", chunks(OUT, ("meta", COMPLETE)), {"kept_from": Instant(9_000)}, LogEnd(LogState.COMPLETE)),
]


@for_each(("case", "found", "facts", "end"), JUDGEMENTS)
def test_a_log_has_one_of_five_states(case: str, found: list[LogChunk], facts: dict[str, object], end: LogEnd) -> None:
    known: dict[str, object] = {"is_over": True, "was_lost": False, "ended_at": NOW, "kept_from": None}

    assert log_end(found, **{**known, **facts}) == end  # type: ignore[arg-type]
