"""Server-sent events of changes and logs."""

import asyncio
import json
from contextlib import AsyncExitStack

import pytest

from foliot.domain.instant import DAY, HOUR, Instant, Millis
from foliot.ports.upkeep import Retention
from foliot.service.services import Services
from tests.interfaces.api.serving import Client, Frames


async def prune_events(services: Services) -> None:
    later, upkeep = Instant(services.clock.now() + DAY), services.storage.upkeep
    epoch = await upkeep.lead("test", HOUR, at=later)
    assert epoch is not None
    everything = Retention(None, None, None, None, events_age=Millis(0))
    await upkeep.prune(everything, epoch=epoch, limit=1_000, at=later)


async def take(frames: Frames, count: int) -> list[dict[str, str]]:
    return [await anext(frames) for _ in range(count)]


@pytest.mark.proves("O2")
async def test_events_are_streamed_and_resumed_without_gap_or_repeat(api: Client) -> None:
    async with api.stream("/api/events?after=0") as frames:
        for name in "abc":
            await api.put(f"/api/jobs/{name}", {"command": "true"})
        first = await take(frames, 2)
    async with api.stream("/api/events", last_event_id=first[-1]["id"]) as frames:
        rest = await take(frames, 2)

    numbers = [int(frame["id"]) for frame in (*first, *rest)]
    assert numbers == sorted(set(numbers))
    names = [item[0] for frame in (*first, *rest) for item in json.loads(frame["data"])["items"]]
    assert names[-3:] == ["a", "b", "c"]
    assert {frame["event"] for frame in rest} == {"job.changed"}


async def test_a_stream_begins_with_the_next_event(api: Client) -> None:
    await api.put("/api/jobs/old", {"command": "true"})
    async with api.stream("/api/events") as frames:
        reading = asyncio.ensure_future(anext(frames))
        while not api.context.services.queries.events.followers:
            await asyncio.sleep(0.001)
        await api.put("/api/jobs/new", {"command": "true"})
        frame = await reading

    assert json.loads(frame["data"])["items"][0][0] == "new"


@pytest.mark.proves("O2")
@pytest.mark.parametrize("last", ["1", "999999"])
async def test_a_position_that_is_no_longer_stored_is_a_reset(api: Client, services: Services, last: str) -> None:
    for name in "abc":
        await api.put(f"/api/jobs/{name}", {"command": "true"})
    if last == "1":
        await prune_events(services)

    async with api.stream("/api/events", last_event_id=last) as frames:
        reset = await anext(frames)
        await api.put("/api/jobs/d", {"command": "true"})
        after = await anext(frames)

    assert reset["event"] == "reset"
    assert json.loads(after["data"])["items"][0][0] == "d"


@pytest.mark.proves("R0-44")
async def test_one_stream_has_the_events_of_a_fanout_and_its_children(working: Client) -> None:
    fanout = {"kind": "fanout", "inner_kind": "shell", "items": ["a", "b"], "command": "true"}
    await working.put("/api/jobs/fan", {**fanout, "reducer": {"command": "true"}})
    await working.put("/api/jobs/other", {"command": "true"})
    before = (await working.get("/api/events/page")).json["items"][-1]["id"]
    parent = (await working.post("/api/jobs/fan/run")).json["id"]
    await working.ended((await working.post("/api/jobs/other/run")).json["id"])
    ended: dict[str, str] = {}
    async with working.stream(f"/api/runs/{parent}/events?after={before}") as frames:
        async for frame in frames:
            event = json.loads(frame["data"])
            if event["kind"] == "runs.ended":
                ended |= {item[0]: item[1] for item in event["items"]}
            if parent in ended:
                break

    children = (await working.get(f"/api/runs/{parent}/children")).json["items"]
    assert ended.keys() == {parent, *(run["id"] for run in children)}
    assert {run["role"] for run in children} == {"child", "reducer"}


@pytest.mark.proves("R0-04", "R0-69")
async def test_a_log_is_streamed_until_the_run_ends(working: Client) -> None:
    await working.put("/api/jobs/hello", {"command": "echo one; sleep 0.3; echo two"})
    run_id = (await working.post("/api/jobs/hello/run")).json["id"]

    async with working.stream(f"/api/runs/{run_id}/log") as frames:
        found = [frame async for frame in frames]

    lines = [json.loads(frame["data"]) for frame in found[:-1]]
    assert [line["text"] for line in lines if line["stream"] == "stdout"] == ["one\n", "two\n"]
    assert found[-1]["event"] == "end"
    assert json.loads(found[-1]["data"]) == {"run_id": run_id, "status": "success", "log": "complete"}


@pytest.mark.proves("O2")
async def test_a_log_is_resumed_after_any_line(working: Client) -> None:
    await working.put("/api/jobs/hello", {"command": "printf '1\\n2\\n3\\n'; printf 4"})
    run_id = (await working.post("/api/jobs/hello/run")).json["id"]
    await working.ended(run_id)
    async with working.stream(f"/api/runs/{run_id}/log") as frames:
        whole = [frame async for frame in frames]

    for count, frame in enumerate(whole[:-1], 1):
        async with working.stream(f"/api/runs/{run_id}/log", last_event_id=frame["id"]) as frames:
            assert [one async for one in frames] == whole[count:]


@pytest.mark.proves("Z15")
async def test_a_line_of_a_job_cannot_form_a_frame(working: Client) -> None:
    forged = r"event: end\ndata: {}\n\nid: 99\r\rdata: forged\r\n\r\n"
    await working.put("/api/jobs/evil", {"command": f"printf '{forged}'; printf '\\342\\200\\250data: x\\n'"})
    run_id = (await working.post("/api/jobs/evil/run")).json["id"]

    async with working.stream(f"/api/runs/{run_id}/log") as frames:
        content = await frames.answer.read()

    for line in content.decode().replace("\r", "\n").split("\n"):
        assert line.partition(":")[0] in ("", "id", "event", "data", "retry")
    assert content.count(b"event: ") - content.count(b'"event: ') - content.count(b"$ printf") == 1
    assert b"\r" not in content


async def test_a_stream_of_a_missing_run_is_not_found(api: Client) -> None:
    assert (await api.get("/api/runs/nope/log", accept="text/event-stream")).status == 404
    assert (await api.get("/api/runs/nope/events")).status == 404


async def test_streams_end_when_the_server_stops(api: Client) -> None:
    async with api.stream("/api/events") as frames:
        await frames.answer.content.readline()
        api.context.closing.set()

        assert [frame async for frame in frames] == []


async def test_the_reader_of_events_ends_with_its_last_listener(api: Client, services: Services) -> None:
    events = services.queries.events
    async with api.stream("/api/events") as frames:
        await frames.answer.content.readline()
        while not events.followers:
            await asyncio.sleep(0.001)
    while events.followers:
        await asyncio.sleep(0.001)

    assert not [task for task in asyncio.all_tasks() if task.get_name() == "event reader"]


@pytest.mark.proves("E5")
async def test_clients_that_never_read_delay_no_other(api: Client) -> None:
    description = "x" * 20_000
    async with AsyncExitStack() as stack:
        idle = [await stack.enter_async_context(api.stream("/api/events?after=0")) for _ in range(20)]
        readers = [await stack.enter_async_context(api.stream("/api/events?after=0")) for _ in range(20)]
        for number in range(100):
            await api.put(f"/api/jobs/j{number}", {"command": "true", "description": description})
        seen = await asyncio.gather(*(names_until(frames, "j99") for frames in readers))

    assert len(idle) == 20
    assert all(names == [f"j{number}" for number in range(100)] for names in seen)


async def names_until(frames: Frames, last: str) -> list[str]:
    """Return the names of the jobs j0, j1 ... of a stream, up to the last one."""
    names: list[str] = []
    async for frame in frames:
        names += [item[0] for item in json.loads(frame["data"])["items"] if str(item[0]).startswith("j")]
        if last in names:
            break
    return names


@pytest.mark.proves("Z42")
async def test_more_streams_than_allowed_are_refused(api: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("foliot.interfaces.api.streams.MOST_STREAMS", 1)
    async with api.stream("/api/events") as frames:
        await frames.answer.content.readline()
        refused = await api.get("/api/events")
    while api.context.streams:
        await asyncio.sleep(0.001)
    async with api.stream("/api/events") as frames:
        again = frames.answer.status

    assert (refused.status, refused.error["code"], again) == (429, "too_many_streams", 200)


async def test_a_heartbeat_is_sent_while_nothing_happens(api: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("foliot.interfaces.api.streams.HEARTBEAT", 0.01)

    async with api.stream("/api/events") as frames:
        lines = [await frames.answer.content.readline() for _ in range(3)]

    assert lines[2] == b": heartbeat\n"


@pytest.mark.proves("Z42", "A5")
async def test_a_page_of_large_events_is_short_and_has_a_next_one(api: Client, services: Services) -> None:
    await api.put("/api/jobs/d", {"command": "true"})
    for _ in range(20):
        await services.runs.enqueue_many("d", [None] * 1_000)

    pages, cursor = [], ""
    while cursor is not None:
        page = (await api.get(f"/api/events/page{cursor and f'?cursor={cursor}'}")).json
        pages.append(page["items"])
        cursor = page["next"]

    created = [len(event["items"]) for page in pages for event in page if event["kind"] == "runs.created"]
    ids = [event["id"] for page in pages for event in page]
    assert sum(created) == 20_000
    assert ids == sorted(set(ids))
    assert max(len(json.dumps(page)) for page in pages) < 1 << 20


@pytest.mark.proves("A5")
async def test_a_page_of_small_events_has_as_many_as_were_asked_for(api: Client) -> None:
    for number in range(30):
        await api.put(f"/api/jobs/j{number}", {"command": "true"})

    page = (await api.get("/api/events/page?limit=25")).json
    rest = (await api.get(f"/api/events/page?cursor={page['next']}")).json

    changed = [event["items"][0][0] for event in [*page["items"], *rest["items"]]]
    assert len(page["items"]) == 25
    assert changed[-30:] == [f"j{number}" for number in range(30)]
    assert rest["next"] is None
