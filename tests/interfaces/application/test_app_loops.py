"""An application is open on one event loop; calls from elsewhere work, or are refused with a hint."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from typing import Any

import pytest

from foliot import Foliot
from foliot.app import lifecycle
from foliot.app.background import wait_on
from foliot.errors import FoliotError, InUse, StorageUnavailable, WrongLoop
from foliot.ports.queries import RunFilter
from foliot.service.services import Services
from foliot.wiring import open_services
from tests.interfaces.application.programs import program
from tests.interfaces.serving import outcome, served


@pytest.fixture
def app(url: str) -> Foliot:
    app = Foliot(url)
    app.shell("job", "true")
    return app


async def test_a_synchronous_job_can_enqueue_from_its_thread(app: Foliot) -> None:
    @app.job
    def parent() -> list[str]:
        return [app.wait(app.enqueue("job")) for _ in range(10)]

    async with served(app):
        runs = [await outcome(app, "parent") for _ in range(2)]
        made = {run.id for run in await app.runs.page(job="job")}

    assert [run.status for run in runs] == ["success", "success"]
    assert {run_id for run in runs for run_id in run.output_payload} == made


def test_an_application_can_be_used_on_one_loop_after_another_without_closing(app: Foliot) -> None:
    made = [asyncio.run(app.enqueue("job")) for _ in range(3)]

    assert {run.id for run in app.wait(app.runs.page())} == set(made)
    app.wait(app.close())


def test_an_abandoned_loop_does_not_keep_the_application(url: str) -> None:
    said = program(
        url,
        """
        for _ in range(2):
            loop = asyncio.new_event_loop()
            loop.run_until_complete(app.__aenter__())
            loop.run_until_complete(app.enqueue("job"))
            loop.close()
        print(count())
        app.wait(app.close())
        """,
    )

    assert said == "2"


def test_an_application_left_open_by_an_abandoned_loop_can_be_closed(url: str) -> None:
    said = program(
        url,
        """
        loop = asyncio.new_event_loop()
        loop.run_until_complete(app.open())
        loop.close()
        asyncio.run(app.close())
        print(count())
        """,
    )

    assert said == "0"


def test_a_node_of_a_closed_loop_no_longer_uses_the_application(url: str) -> None:
    said = program(
        url,
        """
        async def start():
            node = await app.node(Settings(label="test"))
            await node.start()
            return node

        loop = asyncio.new_event_loop()
        node = loop.run_until_complete(start())
        loop.close()
        ask()
        app.wait(app.close())
        print(count())
        os._exit(sys.stdout.flush() or 0)
        """,
    )

    assert said == "1"


def closed_amid_a_block(app: Foliot) -> None:
    """Enter a block on a loop and close the loop, so that the block cannot be left there."""
    loop = asyncio.new_event_loop()
    loop.run_until_complete(app.__aenter__())
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()


def test_an_application_left_open_by_a_closed_loop_can_be_closed_on_another_loop(app: Foliot) -> None:
    closed_amid_a_block(app)

    asyncio.run(app.close())

    assert app.wait(app.runs.page()) == []
    app.wait(app.close())


def test_a_block_of_a_closed_loop_is_not_counted_when_it_ends_on_another(app: Foliot) -> None:
    async def end_it_here() -> None:
        await app.open()
        await app.__aexit__(None, None, None)
        async with app:
            services = await app.open()
            async with app:
                pass
            assert await app.open() is services

    closed_amid_a_block(app)
    asyncio.run(end_it_here())


async def test_synchronous_code_can_use_an_application_that_was_closed_on_a_loop(app: Foliot) -> None:
    made = await app.enqueue("job")
    await app.close()

    assert [run.id for run in app.wait(app.runs.page())] == [made]
    await app.close()


def test_a_call_while_the_application_is_closing_opens_it_again(app: Foliot) -> None:
    opened, go_on = threading.Event(), threading.Event()

    async def look() -> Services:
        services = await app.open()
        opened.set()
        await asyncio.to_thread(go_on.wait)
        return services

    async def close_and_come_back() -> Services:
        closing = asyncio.create_task(app.close())
        await asyncio.sleep(0)
        services = await asyncio.to_thread(app.wait, app.open())
        go_on.set()
        await closing
        return services

    with ThreadPoolExecutor(1) as threads:
        looking = threads.submit(app.wait, look())
        opened.wait()
        anew = asyncio.run(close_and_come_back())

        assert looking.result() is not anew
    assert app.wait(app.open()) is anew
    app.wait(app.close())


async def test_a_call_that_waited_for_an_opening_that_was_closed_opens_again(app: Foliot) -> None:
    async def open_and_close() -> None:
        await app.open()
        await app.close()

    closing = asyncio.create_task(open_and_close())
    waiting = asyncio.create_task(app.open())
    services = await waiting
    await closing

    assert await app.open() is services
    await app.close()


async def test_a_storage_that_opens_too_late_is_closed(app: Foliot, tmp_path: Path) -> None:
    async with app:
        late = await open_services(f"sqlite:///{tmp_path}/late.db")
        with pytest.raises(InUse, match="open on another storage"):
            await app.open(late)

    with pytest.raises(RuntimeError, match="after shutdown"):
        await late.runs.records(RunFilter())


async def test_opening_with_the_same_storage_again_is_a_no_op(app: Foliot) -> None:
    async with app:
        services = await app.open()

        assert await app.open(services) is services
        assert await app.runs.page() == []


def test_a_loop_cannot_take_over_while_a_block_uses_the_background_loop(app: Foliot) -> None:
    app.wait(app.__aenter__())

    with pytest.raises(WrongLoop):
        asyncio.run(app.enqueue("job"))

    assert app.wait(app.runs.page()) == []
    app.wait(app.__aexit__(None, None, None))


def test_synchronous_code_and_a_loop_can_use_the_application_in_turn(app: Foliot) -> None:
    first = app.wait(app.enqueue("job"))

    async def ask() -> list[str]:
        async with app:
            in_thread = await asyncio.to_thread(app.wait, app.enqueue("job"))
            return [await app.enqueue("job"), in_thread]

    made = [first, *asyncio.run(ask()), app.wait(app.enqueue("job"))]

    assert {run.id for run in app.wait(app.runs.page())} == set(made)
    app.wait(app.close())


def test_background_calls_finish_when_another_loop_takes_over(app: Foliot) -> None:
    opened, go_on = threading.Event(), threading.Event()
    made = app.wait(app.enqueue("job"))

    async def look() -> str:
        services = await app.open()
        opened.set()
        assert await asyncio.to_thread(go_on.wait, 60)
        return (await services.runs.record(made)).id

    with ThreadPoolExecutor(1) as threads:
        looking = threads.submit(app.wait, look())
        assert opened.wait(30)
        asyncio.run(app.enqueue("job"))
        go_on.set()

        assert looking.result() == made
    app.wait(app.close())


def test_an_application_open_in_the_background_can_be_closed_from_a_loop(app: Foliot) -> None:
    app.wait(app.enqueue("job"))
    names = {thread.name for thread in threading.enumerate() if thread.name.startswith("foliot-sqlite")}

    asyncio.run(app.close())

    left = {thread.name for thread in threading.enumerate() if thread.name.startswith("foliot-sqlite")}
    assert not left & names


async def test_blocking_the_loop_of_the_application_is_refused(app: Foliot) -> None:
    async with app:
        with pytest.raises(WrongLoop, match=r"await app\.enqueue"):
            app.wait(app.enqueue("job"))

        assert await app.runs.page() == []


def test_a_blocking_call_inside_a_background_call_is_refused(app: Foliot) -> None:
    async def ask() -> str:
        return app.wait(app.enqueue("job"))

    with pytest.raises(WrongLoop, match=r"await app\.enqueue"):
        app.wait(ask())


async def test_a_call_on_a_loop_in_another_thread_is_refused_with_a_hint(app: Foliot) -> None:
    async def ask() -> str:
        with pytest.raises(WrongLoop, match=r"asyncio\.to_thread\(app\.wait"):
            await app.enqueue("job")
        with pytest.raises(WrongLoop):
            await app.close()
        return await asyncio.to_thread(app.wait, app.enqueue("job"))

    await app.open()
    made = await asyncio.to_thread(asyncio.run, ask())

    assert [run.id for run in await app.runs.page()] == [made]
    await app.close()


def test_of_many_concurrent_loops_one_has_the_application_open(app: Foliot) -> None:
    begin, told = threading.Barrier(4), list[str]()

    async def ask() -> None:
        begin.wait()
        try:
            await app.enqueue("job")
            told.append("enqueued")
        except WrongLoop as error:
            told.append(error.code)

    threads = [threading.Thread(target=asyncio.run, args=[ask()]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert set(told) <= {"enqueued", "wrong_loop"}
    assert len(app.wait(app.runs.page())) == told.count("enqueued") >= 1
    app.wait(app.close())


async def test_a_refused_opening_leaves_nothing_open(tmp_path: Path) -> None:
    app = Foliot(f"sqlite:///{tmp_path}/foliot.db")
    app.shell("job", "true", depends_on=["stranger"])
    before = set(threading.enumerate())

    with pytest.raises(FoliotError, match="stranger"):
        await app.open()

    assert [one.name for one in set(threading.enumerate()) - before if one.name.startswith("foliot-sqlite")] == []


def test_no_other_loop_takes_over_while_the_application_is_opening(
    app: Foliot, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Event(), threading.Event()

    async def open_slowly(*given: Any) -> Services:
        begun.set()
        await asyncio.to_thread(go_on.wait, 10)  # a loop that wrongly took over would wait here as well
        return await open_services(*given)

    monkeypatch.setattr(lifecycle, "open_services", open_slowly)
    with ThreadPoolExecutor(1) as threads:
        made = threads.submit(asyncio.run, app.enqueue("job"))
        begun.wait()
        try:
            with pytest.raises(WrongLoop):
                asyncio.run(app.runs.page())
        finally:
            go_on.set()

        run_id = made.result()
    assert [run.id for run in app.wait(app.runs.page())] == [run_id]
    app.wait(app.close())


async def test_a_failed_opening_does_not_keep_the_application(tmp_path: Path) -> None:
    app = Foliot(f"sqlite:///{tmp_path}/foliot.db")
    (tmp_path / "foliot.db").mkdir()
    for _ in range(2):
        with pytest.raises(StorageUnavailable):
            await app.open()

    (tmp_path / "foliot.db").rmdir()

    assert await asyncio.to_thread(asyncio.run, app.runs.page()) == []


def test_a_loop_that_stops_releases_threads_that_wait_for_it() -> None:
    loop, waiting = asyncio.new_event_loop(), threading.Event()

    async def never() -> None:
        waiting.set()
        await asyncio.Event().wait()

    def end() -> None:
        waiting.wait()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()

    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    ending = threading.Thread(target=end)
    ending.start()
    with pytest.raises(WrongLoop, match="ended before it had answered"):
        wait_on(loop, never())
    ending.join()


def test_a_loop_that_is_closed_in_order_cancels_its_calls_and_releases_waiting_threads() -> None:
    found, waiting = Queue[asyncio.AbstractEventLoop](), threading.Event()

    async def never() -> None:
        waiting.set()
        await asyncio.Event().wait()

    async def serve() -> None:
        found.put(asyncio.get_running_loop())
        await asyncio.to_thread(waiting.wait)

    with ThreadPoolExecutor(1) as threads:
        serving = threads.submit(asyncio.run, serve())
        with pytest.raises(WrongLoop, match="cancelled on the event loop") as told:
            wait_on(found.get(), never())
        serving.result()

    assert told.value.hint.endswith("Ask again.")
