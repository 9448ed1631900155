"""An application is open on one event loop; a call from another loop is refused with a hint."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from typing import Any

import pytest

from foliot import Foliot
from foliot.app import lifecycle
from foliot.app.background import wait_on
from foliot.errors import FoliotError, InUse, StorageUnavailable, WrongLoop
from foliot.ports.pages import RunFilter
from foliot.service.services import Services
from foliot.wiring.services import open_services
from tests.interfaces.application.programs import program
from tests.interfaces.serving import outcome, served


@pytest.fixture
def app(url: str) -> Foliot:
    app = Foliot(url)
    app.shell("job", "true")
    return app


async def test_a_plain_function_enqueues_from_its_thread(app: Foliot) -> None:
    @app.job
    def parent() -> list[str]:
        return [app.wait(app.enqueue("job")) for _ in range(10)]

    async with served(app):
        runs = [await outcome(app, "parent") for _ in range(2)]
        made = {run.id for run in await app.runs.page(job="job")}

    assert [run.status for run in runs] == ["success", "success"]
    assert {run_id for run in runs for run_id in run.output_payload} == made


def test_several_asyncio_run_calls_need_no_close_in_between(app: Foliot) -> None:
    made = [asyncio.run(app.enqueue("job")) for _ in range(3)]

    assert {run.id for run in app.wait(app.runs.page())} == set(made)
    app.wait(app.close())


def test_an_application_reopens_after_its_loop_was_closed_inside_a_block(url: str) -> None:
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


def test_close_works_after_the_loop_of_an_open_application_was_closed(url: str) -> None:
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


def test_a_node_on_a_closed_loop_does_not_block_close(url: str) -> None:
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


def close_loop_inside_a_block(app: Foliot) -> None:
    """Enter a block on a loop and close the loop, so that the block never ends."""
    loop = asyncio.new_event_loop()
    loop.run_until_complete(app.__aenter__())
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()


def test_an_application_left_open_by_a_closed_loop_can_be_closed_on_another_loop(app: Foliot) -> None:
    close_loop_inside_a_block(app)

    asyncio.run(app.close())

    assert app.wait(app.runs.page()) == []
    app.wait(app.close())


def test_a_block_on_a_closed_loop_does_not_keep_the_application_open(app: Foliot) -> None:
    async def end_on_this_loop() -> None:
        await app.open()
        await app.__aexit__(None, None, None)
        async with app:
            services = await app.open()
            async with app:
                pass
            assert await app.open() is services

    close_loop_inside_a_block(app)
    asyncio.run(end_on_this_loop())


async def test_after_close_plain_code_opens_the_application_on_the_background_loop(app: Foliot) -> None:
    made = await app.enqueue("job")
    await app.close()

    assert [run.id for run in app.wait(app.runs.page())] == [made]
    app.wait(app.close())


async def test_open_reopens_if_the_application_was_closed_while_it_waited(app: Foliot) -> None:
    async def open_and_close() -> None:
        await app.open()
        await app.close()

    closing = asyncio.create_task(open_and_close())
    waiting = asyncio.create_task(app.open())
    services = await waiting
    await closing

    assert await app.open() is services
    await app.close()


async def test_open_refuses_and_closes_a_second_storage(app: Foliot, tmp_path: Path) -> None:
    async with app:
        late = await open_services(f"sqlite:///{tmp_path}/late.db")
        with pytest.raises(InUse, match="open on another storage"):
            await app.open(late)

    with pytest.raises(RuntimeError, match="after shutdown"):
        await late.runs.records(RunFilter())


async def test_open_accepts_the_storage_that_is_open_already(app: Foliot) -> None:
    async with app:
        services = await app.open()

        assert await app.open(services) is services
        assert await app.runs.page() == []


@pytest.mark.parametrize("call", [Foliot.open, Foliot.close, Foliot.__aenter__])
def test_an_application_open_on_the_background_loop_is_refused_on_another_loop(
    app: Foliot, call: Callable[[Foliot], Coroutine[Any, Any, object]]
) -> None:
    made = app.wait(app.enqueue("job"))

    with pytest.raises(WrongLoop, match=r"app\.wait\(app\.close\(\)\)"):
        asyncio.run(call(app))

    assert [run.id for run in app.wait(app.runs.page())] == [made]
    app.wait(app.close())


def test_an_application_that_plain_code_closed_opens_on_another_loop_and_then_in_plain_code_again(app: Foliot) -> None:
    first = app.wait(app.enqueue("job"))
    app.wait(app.close())

    async def ask() -> list[str]:
        async with app:
            in_thread = await asyncio.to_thread(app.wait, app.enqueue("job"))
            return [await app.enqueue("job"), in_thread]

    made = [first, *asyncio.run(ask()), app.wait(app.enqueue("job"))]

    assert {run.id for run in app.wait(app.runs.page())} == set(made)
    app.wait(app.close())


def test_closing_in_plain_code_ends_the_storage_threads_of_the_background_loop(app: Foliot) -> None:
    app.wait(app.enqueue("job"))
    names = {thread.name for thread in threading.enumerate() if thread.name.startswith("foliot-sqlite")}

    app.wait(app.close())

    left = {thread.name for thread in threading.enumerate() if thread.name.startswith("foliot-sqlite")}
    assert not left & names


async def test_app_wait_is_refused_on_the_loop_of_the_application(app: Foliot) -> None:
    async with app:
        with pytest.raises(WrongLoop, match=r"await app\.enqueue"):
            app.wait(app.enqueue("job"))

        assert await app.runs.page() == []


def test_app_wait_inside_app_wait_is_refused(app: Foliot) -> None:
    async def ask() -> str:
        return app.wait(app.enqueue("job"))

    with pytest.raises(WrongLoop, match=r"await app\.enqueue"):
        app.wait(ask())


async def test_a_call_on_a_second_loop_is_refused_with_a_hint_that_works(app: Foliot) -> None:
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


def test_of_many_concurrent_loops_each_call_succeeds_or_is_refused(app: Foliot) -> None:
    begin, results = threading.Barrier(4), list[str]()

    async def ask() -> None:
        begin.wait()
        try:
            await app.enqueue("job")
            results.append("enqueued")
        except WrongLoop as error:
            results.append(error.code)

    threads = [threading.Thread(target=asyncio.run, args=[ask()]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert set(results) <= {"enqueued", "wrong_loop"}
    assert len(app.wait(app.runs.page())) == results.count("enqueued") >= 1
    app.wait(app.close())


async def test_open_that_raises_leaves_no_storage_thread(tmp_path: Path) -> None:
    app = Foliot(f"sqlite:///{tmp_path}/foliot.db")
    app.shell("job", "true", depends_on=["stranger"])
    before = set(threading.enumerate())

    with pytest.raises(FoliotError, match="stranger"):
        await app.open()

    assert [one.name for one in set(threading.enumerate()) - before if one.name.startswith("foliot-sqlite")] == []


def test_a_second_loop_is_refused_while_the_first_is_still_opening(
    app: Foliot, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Event(), threading.Event()

    async def open_slowly(*given: Any) -> Services:
        begun.set()
        await asyncio.to_thread(go_on.wait, 10)  # a loop that wrongly took over would wait as well
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


async def test_after_a_failed_open_another_loop_may_open(tmp_path: Path) -> None:
    app = Foliot(f"sqlite:///{tmp_path}/foliot.db")
    (tmp_path / "foliot.db").mkdir()
    for _ in range(2):
        with pytest.raises(StorageUnavailable):
            await app.open()

    (tmp_path / "foliot.db").rmdir()

    assert await asyncio.to_thread(asyncio.run, app.runs.page()) == []


def test_wait_on_raises_if_the_loop_is_closed_during_the_call() -> None:
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
    with pytest.raises(WrongLoop, match="was closed before the call had ended"):
        wait_on(loop, never())
    ending.join()


def test_wait_on_raises_if_the_ending_loop_cancels_the_call() -> None:
    found, waiting = Queue[asyncio.AbstractEventLoop](), threading.Event()

    async def never() -> None:
        waiting.set()
        await asyncio.Event().wait()

    async def serve() -> None:
        found.put(asyncio.get_running_loop())
        await asyncio.to_thread(waiting.wait)

    with ThreadPoolExecutor(1) as threads:
        serving = threads.submit(asyncio.run, serve())
        with pytest.raises(WrongLoop, match="cancelled on its event loop") as caught:
            wait_on(found.get(), never())
        serving.result()

    assert caught.value.hint.endswith("Make the call again.")
