"""Bodies are decompressed in small pieces, with bounded memory."""

import gzip
import random
import tracemalloc
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foliot.adapters.outbound.decoder import PIECE, Inflate, NotDecodable, decoder_for
from tests.cases import for_each

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
        ("gzip", gzip.compress(DATA, mtime=0)),
        ("X-GZip ", gzip.compress(DATA, mtime=0)),
        ("gzip", gzip.compress(DATA[:7], mtime=0) + gzip.compress(DATA[7:], mtime=0)),
        ("gzip", gzip.compress(DATA, mtime=0) + bytes(512)),
        ("deflate", zlib.compress(DATA)),
        ("deflate", zlib.compress(DATA, wbits=-15)),
    ],
)
@given(cut=st.integers(0, 2_000))
def test_a_body_is_decoded_completely_wherever_it_is_split(encoding: str, body: bytes, cut: int) -> None:
    assert decoded(encoding, body[:cut], body[cut:]) == DATA


@for_each("over", range(-2, 400, 3))
def test_a_body_near_the_size_of_a_piece_is_decoded_completely(over: int) -> None:
    bare = zlib.compress(bytes(PIECE + over), wbits=-15)

    assert len(decoded("deflate", bare)) == PIECE + over


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "compress"])
def test_unsupported_encodings_have_no_decoder(encoding: str) -> None:
    assert decoder_for(encoding) is None


@pytest.mark.parametrize(
    "body", [b"plain text", gzip.compress(DATA, mtime=0) + b"rest", gzip.compress(DATA, mtime=0)[:-4]]
)
def test_data_that_is_not_encoded_as_declared_is_refused(body: bytes) -> None:
    with pytest.raises(NotDecodable):
        decoded("gzip", body)


def test_an_empty_gzip_body_is_valid() -> None:
    assert decoded("gzip") == b""


@pytest.mark.proves("Z42")
def test_a_decompression_bomb_uses_memory_for_one_piece() -> None:
    bomb = gzip.compress(bytes(100 << 20))
    decoder = decoder_for("gzip")
    assert decoder is not None

    tracemalloc.start()
    total = sum(len(piece) for piece in decoder.feed(bomb))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert total == 100 << 20
    assert peak < 2 << 20


def test_a_body_with_too_many_gzip_parts_is_refused() -> None:
    part = gzip.compress(b"a")
    assert decoded("gzip", part * 1_000) == b"a" * 1_000
    with pytest.raises(NotDecodable, match="more than 1,000 parts"):
        decoded("gzip", part * 500, part * 501)


def test_the_decoder_yields_after_every_part_and_every_16_kilobytes() -> None:
    decoder = decoder_for("gzip")
    assert decoder is not None
    nothing, noise = gzip.compress(b""), gzip.compress(random.Random(7).randbytes(100_000))

    assert list(decoder.feed(nothing * 900)) == [b""] * (900 + len(nothing) * 900 // 16_384)
    assert max(map(len, decoder.feed(noise))) <= 17_000


def test_zlib_gets_at_most_16_kilobytes_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    fed: list[int] = []
    inflate = Inflate._inflate

    def counted(self: Inflate, data: bytes) -> bytes:
        fed.append(len(data))
        return inflate(self, data)

    monkeypatch.setattr(Inflate, "_inflate", counted)
    nothing = gzip.compress(b"")

    decoded("gzip", nothing * 999 + gzip.compress(random.Random(7).randbytes(10 << 20)))

    assert max(fed) <= 16_384
