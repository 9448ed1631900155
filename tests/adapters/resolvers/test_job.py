"""job:// reads the standard output of the latest successful run of a job."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from foliot.adapters.resolvers.job import JobResolver
from foliot.adapters.storage.sqlite import SqliteStorage
from foliot.domain.ids import JobId
from foliot.domain.instant import DAY, HOUR
from foliot.domain.run.lease import Claim
from foliot.domain.run.logs import Closing, Stream, closing_line
from foliot.errors import InputsRefused, InputsUnavailable, InvalidInput
from foliot.testing.builders import a_chunk, a_run, failed, retention, succeeded, to_retry
from foliot.testing.clock import VirtualClock
from foliot.testing.conformance.storage.scene import Scene
from tests.adapters.resolvers.resolving import items
from tests.cases import for_each

MONITOR = "job://monitor?output_as_lines"
COMPLETE = Closing()


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
async def scene(tmp_path: Path, clock: VirtualClock) -> AsyncIterator[Scene]:
    storage = await SqliteStorage.open(tmp_path / "foliot.db", clock=clock, inline=True, synchronous="NORMAL")
    yield Scene(storage, clock)
    await storage.close()


async def start(scene: Scene, job_id: str = "monitor") -> Claim:
    return await scene.start(a_run(job_id=JobId(job_id)))


async def write(scene: Scene, claim: Claim, *pieces: tuple[Stream, bytes], closing: Closing | None = COMPLETE) -> None:
    """Store the output of an attempt; without `closing`, its last line is missing."""
    written = [*pieces] if closing is None else [*pieces, ("meta", closing_line(closing))]
    chunks = [a_chunk(claim, seq, data, stream) for seq, (stream, data) in enumerate(written)]
    assert await scene.storage.work.append_log(chunks) == []


async def printed(scene: Scene, data: bytes, job_id: str = "monitor") -> None:
    """Run a job that prints these bytes and succeeds."""
    claim = await start(scene, job_id)
    await write(scene, claim, ("stdout", data))
    await scene.finish(succeeded(claim))


async def resolved(scene: Scene, uri: str = MONITOR, window: int = DAY) -> list[bytes]:
    return await items(JobResolver(scene.storage.queries), uri, now=scene.now, window=window)


@pytest.mark.proves("R0-48")
async def test_each_line_of_the_latest_success_is_an_item(scene: Scene) -> None:
    await printed(scene, b"old\n")
    scene.clock.advance(HOUR)
    await printed(scene, b"one\n\ntwo words\r\n# three\ncaf\xe9")
    await printed(scene, b"another job\n", "other")
    claim = await start(scene)
    await write(scene, claim, ("stdout", b"failed\n"))
    await scene.finish(failed(claim))
    await start(scene)

    assert await resolved(scene) == [b"one", b"two words", b"# three", b"caf\xe9"]


async def test_only_standard_output_has_items_and_lines_may_be_divided(scene: Scene) -> None:
    claim = await start(scene)
    pieces: list[tuple[Stream, bytes]] = [
        ("meta", b"started\n"),
        ("stdout", b"fir"),
        ("stderr", b"warning\n"),
        ("stdout", b"st\nsecond\n"),
    ]
    await write(scene, claim, *pieces)
    await scene.finish(succeeded(claim))

    assert await resolved(scene) == [b"first", b"second"]


async def test_a_long_output_is_read_in_pages(scene: Scene) -> None:
    claim = await start(scene)
    await write(scene, claim, *[("stdout", b"%d\n" % number) for number in range(1_000)])
    await scene.finish(succeeded(claim))

    assert await resolved(scene) == [b"%d" % number for number in range(1_000)]


async def test_only_the_last_attempt_is_read(scene: Scene) -> None:
    claim = await start(scene)
    await write(scene, claim, ("stdout", b"first attempt\n"))
    await scene.finish(to_retry(claim))
    [again] = await scene.claim()
    await write(scene, again, ("stdout", b"second attempt\n"))
    await scene.finish(succeeded(again))

    assert await resolved(scene) == [b"second attempt"]


async def test_a_run_that_printed_nothing_has_no_items(scene: Scene) -> None:
    claim = await start(scene)
    await scene.finish(succeeded(claim))

    assert await resolved(scene) == []


@pytest.mark.proves("R0-48")
async def test_without_a_success_there_is_a_failure(scene: Scene) -> None:
    claim = await start(scene)
    await write(scene, claim, ("stdout", b"a\n"))
    await scene.finish(failed(claim))

    for uri in (MONITOR, "job://missing?output_as_lines"):
        with pytest.raises(InputsUnavailable, match="has no successful run within the window") as refused:
            await resolved(scene, uri)
        assert "foliot trigger" in refused.value.hint


@pytest.mark.proves("R0-48")
async def test_a_success_before_the_window_does_not_count(scene: Scene) -> None:
    await printed(scene, b"a\n")
    scene.clock.advance(HOUR)

    assert await resolved(scene, window=HOUR) == [b"a"]
    with pytest.raises(InputsUnavailable, match="within the window"):
        await resolved(scene, window=HOUR - 1)


@pytest.mark.parametrize("closing", [Closing(seen=1_000, stored=2), None], ids=["truncated", "no end"])
async def test_a_truncated_output_is_refused(scene: Scene, closing: Closing | None) -> None:
    claim = await start(scene)
    await write(scene, claim, ("stdout", b"a\n"), closing=closing)
    await scene.finish(succeeded(claim))

    with pytest.raises(InputsRefused, match="is not complete") as refused:
        await resolved(scene)

    assert "output_cap" in refused.value.hint


async def test_an_output_that_retention_has_removed_is_a_failure(scene: Scene) -> None:
    await printed(scene, b"a\n")
    scene.clock.advance(2 * HOUR)
    await scene.prune(retention(logs_age=HOUR))

    with pytest.raises(InputsUnavailable, match="has been removed"):
        await resolved(scene)


@pytest.mark.proves("F8")
async def test_limits_apply(scene: Scene) -> None:
    await printed(scene, b"a\nb\nc\n")

    with pytest.raises(InputsRefused, match="more than 2 items"):
        await items(JobResolver(scene.storage.queries), MONITOR, now=scene.now, items=2)


@pytest.mark.proves("Z27")
@for_each(
    ("output", "limits", "words"),
    [
        (b"a\nb\nc\n", {"items": 2}, "more than 2 items"),
        (b"short\n" + b"x" * 101 + b"\n", {"item_bytes": 100}, "item 2 is longer than 100 bytes"),
        (b"12345\n" * 100, {"total_bytes": 500}, "more than 500 bytes"),
        (b"text\nnot\0text\n", {}, "contains a NUL byte"),
    ],
)
async def test_an_output_that_is_too_large_or_no_text_is_refused(
    scene: Scene, output: bytes, limits: dict[str, int], words: str
) -> None:
    await printed(scene, output)

    with pytest.raises((InputsRefused, InvalidInput), match=words):
        await items(JobResolver(scene.storage.queries), MONITOR, now=scene.now, **limits)


@pytest.mark.proves("R0-64", "Z27")
async def test_a_host_is_refused(scene: Scene) -> None:
    with pytest.raises(InvalidInput, match="without a host"):
        JobResolver(scene.storage.queries).check("job://other.example/monitor?output_as_lines")
