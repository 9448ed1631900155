"""Reading logs by line, and searching them."""

import pytest

from foliot.domain.run.lease import Claim
from foliot.domain.run.logs import LogState, Stream
from foliot.service.queries import log_lines
from foliot.service.services import Services
from foliot.testing.builders import a_chunk, succeeded
from foliot.testing.conformance.storage.scene import Scene


async def write(scene: Scene, claim: Claim, *pieces: bytes, first: int = 0, stream: Stream = "stdout") -> None:
    chunks = [a_chunk(claim, first + index, data, stream) for index, data in enumerate(pieces)]
    assert await scene.storage.work.append_log(chunks) == []


async def texts(services: Services, claim: Claim, first: int | None = 1, limit: int = 100) -> list[tuple[int, str]]:
    page = await services.queries.log_lines.page(claim.run_id, first=first, limit=limit)
    return [(line.number, line.text) for line in page.items]


async def test_a_line_may_span_pieces(services: Services, scene: Scene) -> None:
    claim = await scene.start()
    await write(scene, claim, b"one\ntw", b"o\nth", b"ree")

    assert await texts(services, claim) == [(1, "one"), (2, "two"), (3, "three")]


async def test_a_line_ends_where_another_stream_begins(services: Services, scene: Scene) -> None:
    claim = await scene.start()
    await write(scene, claim, b"asks: ")
    await write(scene, claim, b"warning\n", first=1, stream="stderr")
    await write(scene, claim, b"end\n", first=2)

    page = await services.queries.log_lines.page(claim.run_id, first=1, limit=10)

    assert [(line.text, line.stream) for line in page.items] == [
        ("asks: ", "stdout"),
        ("warning", "stderr"),
        ("end", "stdout"),
    ]
    assert page.total == 3


async def test_without_a_first_line_the_last_lines_are_returned(services: Services, scene: Scene) -> None:
    claim = await scene.start()
    await write(scene, claim, *(b"line %d\n" % number for number in range(1, 301)))

    assert await texts(services, claim, None, 2) == [(299, "line 299"), (300, "line 300")]


async def test_output_that_arrives_later_is_counted_on(services: Services, scene: Scene) -> None:
    claim = await scene.start()
    await write(scene, claim, b"one\ntw")
    before = await services.queries.log_lines.page(claim.run_id, first=1, limit=10)
    await write(scene, claim, b"o\nthree\n", first=1)
    after = await services.queries.log_lines.page(claim.run_id, first=2, limit=10)

    assert (before.total, after.total) == (2, 3)
    assert [line.text for line in after.items] == ["two", "three"]


async def test_the_page_of_an_ended_run_has_the_state_of_its_log(services: Services, scene: Scene) -> None:
    claim = await scene.start()
    await write(scene, claim, b"one\n")
    await write(scene, claim, b"end of log: complete\n", first=1, stream="meta")
    open_page = await services.queries.log_lines.page(claim.run_id, first=1, limit=10)
    await scene.finish(succeeded(claim))
    page = await services.queries.log_lines.page(claim.run_id, first=1, limit=10)

    assert (open_page.state, page.state) == (LogState.OPEN, LogState.COMPLETE)


async def test_a_long_line_is_cut(services: Services, scene: Scene) -> None:
    claim = await scene.start()
    await write(scene, claim, *[b"x" * 50_000] * 3, b"\nshort\n")

    page = await services.queries.log_lines.page(claim.run_id, first=1, limit=10)

    assert [(len(line.text), line.is_cut) for line in page.items] == [(log_lines.LONGEST_LINE, True), (5, False)]


async def test_every_line_of_a_large_log_is_reachable(
    services: Services, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_lines, "_BETWEEN", 100)
    monkeypatch.setattr(log_lines, "_COUNTED", 4_000)
    claim = await scene.start()
    text = b"".join(b"line %d\n" % number for number in range(1, 2_001))
    await write(scene, claim, *(text[begin : begin + 37] for begin in range(0, len(text), 37)))

    page = await services.queries.log_lines.page(claim.run_id, first=1, limit=1)
    assert not page.is_counted
    while not page.is_counted:
        page = await services.queries.log_lines.page(claim.run_id, first=1, limit=1)

    assert page.total == 2_000
    for first in (1, 2, 777, 1_500, 2_000):
        assert await texts(services, claim, first, 1) == [(first, f"line {first}")]
    assert await texts(services, claim, 2_001) == []


async def test_a_search_ignores_case_and_colours(services: Services, scene: Scene) -> None:
    claim = await scene.start()
    await write(scene, claim, b"fine\nHand\x1b[31mSHAKE\x1b[0m lost\nfine\nhandshake\n")

    found = await services.queries.log_lines.search(claim.run_id, text="handshake", first=1, limit=10)

    assert [line.number for line in found.items] == [2, 4]
    assert found.next is None


async def test_a_search_is_continued_after_its_limit(services: Services, scene: Scene) -> None:
    claim = await scene.start()
    await write(scene, claim, b"a\nb\na\na\n")

    one = await services.queries.log_lines.search(claim.run_id, text="a", first=1, limit=2)
    assert one.next is not None
    two = await services.queries.log_lines.search(claim.run_id, text="a", first=one.next, limit=2)

    assert [line.number for line in (*one.items, *two.items)] == [1, 3, 4]


@pytest.mark.parametrize(
    ("line", "is_error"),
    [
        (b"error: no such file", True),
        (b"ValueError: wrong", True),
        (b"Traceback (most recent call last):", True),
        (b"0 errors, 2 warnings", False),
        (b"terror", False),
    ],
)
async def test_without_a_text_lines_that_look_like_errors_are_found(
    services: Services, scene: Scene, line: bytes, is_error: bool
) -> None:
    claim = await scene.start()
    await write(scene, claim, b"fine\n" + line + b"\n")

    found = await services.queries.log_lines.search(claim.run_id, text=None, first=1, limit=1)

    assert [one.number for one in found.items] == ([2] if is_error else [])
