"""Bodies are decompressed in small pieces, whatever they claim to be."""

import gzip
import random
import tracemalloc
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foliot.adapters.outbound.decoder import PIECE, Inflate, NotDecodable, decoder_for

DATA = b"The quick brown fox. " * 10_000


def decoded(encoding: str, *chunks: bytes) -> bytes:
    decoder = decoder_for(encoding)
    assert decoder is not None
    pieces = [piece for chunk in chunks for piece in decoder.feed(chunk)]
    decoder.finish()
    assert all(len(piece) <= PIECE for piece in pieces)
    return b"".join(pieces)


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("", DATA),
        ("identity", DATA),
        ("gzip", gzip.compress(DATA)),
        ("X-GZip ", gzip.compress(DATA)),
        ("gzip", gzip.compress(DATA[:7]) + gzip.compress(DATA[7:])),
        ("gzip", gzip.compress(DATA) + bytes(512)),
        ("deflate", zlib.compress(DATA)),
        ("deflate", zlib.compress(DATA, wbits=-15)),
    ],
)
@given(cut=st.integers(0, 2_000))
def test_a_body_comes_out_whole_wherever_it_is_cut(encoding: str, body: bytes, cut: int) -> None:
    assert decoded(encoding, body[:cut], body[cut:]) == DATA


@pytest.mark.parametrize("over", range(-2, 400, 3))
def test_nothing_is_left_inside_at_the_edge_of_a_piece(over: int) -> None:
    bare = zlib.compress(bytes(PIECE + over), wbits=-15)

    assert len(decoded("deflate", bare)) == PIECE + over


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "compress"])
def test_other_ways_are_not_known(encoding: str) -> None:
    assert decoder_for(encoding) is None


@pytest.mark.parametrize("body", [b"plain text", gzip.compress(DATA) + b"rest", gzip.compress(DATA)[:-4]])
def test_what_is_not_compressed_as_it_says_is_refused(body: bytes) -> None:
    with pytest.raises(NotDecodable):
        decoded("gzip", body)


def test_an_empty_body_needs_no_compression() -> None:
    assert decoded("gzip") == b""


@pytest.mark.proves("Z42")
def test_a_bomb_of_100_megabytes_takes_no_more_memory_than_a_piece() -> None:
    bomb = gzip.compress(bytes(100 << 20))
    decoder = decoder_for("gzip")
    assert decoder is not None

    tracemalloc.start()
    total = sum(len(piece) for piece in decoder.feed(bomb))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert total == 100 << 20
    assert peak < 2 << 20


def test_a_body_in_very_many_parts_is_refused() -> None:
    part = gzip.compress(b"a")
    assert decoded("gzip", part * 1_000) == b"a" * 1_000
    with pytest.raises(NotDecodable, match="more than 1,000 parts"):
        decoded("gzip", part * 500, part * 501)


def test_a_turn_is_given_after_every_part_and_every_16_kilobytes() -> None:
    decoder = decoder_for("gzip")
    assert decoder is not None
    nothing, noise = gzip.compress(b""), gzip.compress(random.Random(7).randbytes(100_000))

    assert list(decoder.feed(nothing * 900)) == [b""] * (900 + len(nothing) * 900 // 16_384)
    assert max(map(len, decoder.feed(noise))) <= 17_000


def test_what_is_left_behind_a_part_is_not_copied_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    fed: list[int] = []
    inflate = Inflate._inflate

    def counted(self: Inflate, data: bytes) -> bytes:
        fed.append(len(data))
        return inflate(self, data)

    monkeypatch.setattr(Inflate, "_inflate", counted)
    nothing = gzip.compress(b"")

    decoded("gzip", nothing * 999 + gzip.compress(random.Random(7).randbytes(10 << 20)))

    assert max(fed) <= 16_384
