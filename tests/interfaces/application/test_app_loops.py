"""An application is open on one event loop; whoever asks from elsewhere is answered, or told what to do."""

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


async def test_a_plain_job_enqueues_from_its_thread(app: Foliot) -> None:
    @app.job
    def parent() -> list[str]:
        return [app.wait(app.enqueue("job")) for _ in range(10)]

    async with served(app):
        runs = [await outcome(app, "parent") for _ in range(2)]
        made = {run.id for run in await app.runs.page(job="job")}

    assert [run.status for run in runs] == ["success", "success"]
    assert {run_id for run in runs for run_id in run.output_payload} == made


def test_one_loop_after_the_other_without_closing(app: Foliot) -> None:
    made = [asyncio.run(app.enqueue("job")) for _ in range(3)]

    assert {run.id for run in app.wait(app.runs.page())} == set(made)
    app.wait(app.close())


def test_a_loop_that_was_closed_out_of_order_holds_no_place(url: str) -> None:
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


def test_what_such_a_loop_has_left_open_can_be_closed(url: str) -> None:
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


def test_a_node_whose_loop_is_gone_uses_it_no_more(url: str) -> None:
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
    """A loop enters a block and is closed, so that nobody can leave the block there."""
    loop = asyncio.new_event_loop()
    loop.run_until_complete(app.__aenter__())
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()


def test_what_a_closed_loop_has_left_can_be_closed_from_another(app: Foliot) -> None:
    closed_amid_a_block(app)

    asyncio.run(app.close())

    assert app.wait(app.runs.page()) == []
    app.wait(app.close())


def test_a_block_whose_loop_is_gone_is_not_counted_when_it_ends_elsewhere(app: Foliot) -> None:
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


async def test_once_closed_it_is_open_nowhere_and_plain_code_is_answered_on_any_loop(app: Foliot) -> None:
    made = await app.enqueue("job")
    await app.close()

    assert [run.id for run in app.wait(app.runs.page())] == [made]
    await app.close()


def test_who_comes_while_it_is_closed_opens_it_anew(app: Foliot) -> None:
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


async def test_who_waited_for_an_opening_that_is_closed_at_once_opens_it_anew(app: Foliot) -> None:
    async def open_and_close() -> None:
        await app.open()
        await app.close()

    closing = asyncio.create_task(open_and_close())
    waiting = asyncio.create_task(app.open())
    services = await waiting
    await closing

    assert await app.open() is services
    await app.close()


async def test_a_storage_that_comes_too_late_is_closed(app: Foliot, tmp_path: Path) -> None:
    async with app:
        late = await open_services(f"sqlite:///{tmp_path}/late.db")
        with pytest.raises(InUse, match="open on another storage"):
            await app.open(late)

    with pytest.raises(RuntimeError, match="after shutdown"):
        await late.runs.records(RunFilter())


async def test_a_storage_that_it_has_already_is_no_other(app: Foliot) -> None:
    async with app:
        services = await app.open()

        assert await app.open(services) is services
        assert await app.runs.page() == []


def test_what_a_block_uses_in_the_background_is_not_taken_from_it(app: Foliot) -> None:
    app.wait(app.__aenter__())

    with pytest.raises(WrongLoop):
        asyncio.run(app.enqueue("job"))

    assert app.wait(app.runs.page()) == []
    app.wait(app.__aexit__(None, None, None))


def test_plain_code_first_then_a_loop_then_plain_code(app: Foliot) -> None:
    first = app.wait(app.enqueue("job"))

    async def ask() -> list[str]:
        async with app:
            in_thread = await asyncio.to_thread(app.wait, app.enqueue("job"))
            return [await app.enqueue("job"), in_thread]

    made = [first, *asyncio.run(ask()), app.wait(app.enqueue("job"))]

    assert {run.id for run in app.wait(app.runs.page())} == set(made)
    app.wait(app.close())


def test_what_is_under_way_in_the_background_ends_there_when_a_loop_takes_over(app: Foliot) -> None:
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


def test_what_is_open_in_the_background_is_closed_from_a_loop(app: Foliot) -> None:
    app.wait(app.enqueue("job"))
    names = {thread.name for thread in threading.enumerate() if thread.name.startswith("foliot-sqlite")}

    asyncio.run(app.close())

    left = {thread.name for thread in threading.enumerate() if thread.name.startswith("foliot-sqlite")}
    assert not left & names


async def test_waiting_on_the_loop_that_has_to_answer_is_refused(app: Foliot) -> None:
    async with app:
        with pytest.raises(WrongLoop, match=r"await app\.enqueue"):
            app.wait(app.enqueue("job"))

        assert await app.runs.page() == []


def test_waiting_inside_what_is_waited_for_is_refused(app: Foliot) -> None:
    async def ask() -> str:
        return app.wait(app.enqueue("job"))

    with pytest.raises(WrongLoop, match=r"await app\.enqueue"):
        app.wait(ask())


async def test_a_loop_in_another_thread_is_told_how_to_ask(app: Foliot) -> None:
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


def test_many_loops_at_once_leave_one_that_has_it_open(app: Foliot) -> None:
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


async def test_an_opening_that_was_refused_leaves_nothing_open(tmp_path: Path) -> None:
    app = Foliot(f"sqlite:///{tmp_path}/foliot.db")
    app.shell("job", "true", depends_on=["stranger"])
    before = set(threading.enumerate())

    with pytest.raises(FoliotError, match="stranger"):
        await app.open()

    assert [one.name for one in set(threading.enumerate()) - before if one.name.startswith("foliot-sqlite")] == []


def test_while_a_loop_opens_it_no_other_takes_its_place(app: Foliot, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = threading.Event(), threading.Event()

    async def open_slowly(*given: Any) -> Services:
        begun.set()
        await asyncio.to_thread(go_on.wait, 10)  # whoever wrongly takes the place waits as well
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


async def test_an_opening_that_failed_holds_no_place(tmp_path: Path) -> None:
    app = Foliot(f"sqlite:///{tmp_path}/foliot.db")
    (tmp_path / "foliot.db").mkdir()
    for _ in range(2):
        with pytest.raises(StorageUnavailable):
            await app.open()

    (tmp_path / "foliot.db").rmdir()

    assert await asyncio.to_thread(asyncio.run, app.runs.page()) == []


def test_a_loop_that_ends_lets_go_of_those_who_wait_for_it() -> None:
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


def test_so_does_one_that_ends_in_good_order_and_cancels_what_is_under_way() -> None:
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
