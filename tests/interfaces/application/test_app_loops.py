"""An application is open on one event loop; whoever asks from elsewhere is answered, or told what to do."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from foliot import Foliot
from foliot.errors import StorageUnavailable, WrongLoop
from foliot.service.background import wait_on
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
        made = {run.id for run in await app.runs(job="job")}

    assert [run.status for run in runs] == ["success", "success"]
    assert {run_id for run in runs for run_id in run.output_payload} == made


def test_one_loop_after_the_other_without_closing(app: Foliot) -> None:
    made = [asyncio.run(app.enqueue("job")) for _ in range(3)]

    assert {run.id for run in app.wait(app.runs())} == set(made)
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


def test_plain_code_first_then_a_loop_then_plain_code(app: Foliot) -> None:
    first = app.wait(app.enqueue("job"))

    async def ask() -> list[str]:
        async with app:
            in_thread = await asyncio.to_thread(app.wait, app.enqueue("job"))
            return [await app.enqueue("job"), in_thread]

    made = [first, *asyncio.run(ask()), app.wait(app.enqueue("job"))]

    assert {run.id for run in app.wait(app.runs())} == set(made)
    app.wait(app.close())


def test_what_is_under_way_in_the_background_ends_there_when_a_loop_takes_over(app: Foliot) -> None:
    opened, go_on = threading.Event(), threading.Event()
    made = app.wait(app.enqueue("job"))

    async def look() -> str:
        services = await app.open()
        opened.set()
        assert await asyncio.to_thread(go_on.wait, 60)
        return (await services.desk.get(made)).id

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

        assert await app.runs() == []


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

    assert [run.id for run in await app.runs()] == [made]
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
    assert len(app.wait(app.runs())) == told.count("enqueued") >= 1
    app.wait(app.close())


async def test_an_opening_that_failed_holds_no_place(tmp_path: Path) -> None:
    app = Foliot(f"sqlite:///{tmp_path}/foliot.db")
    (tmp_path / "foliot.db").mkdir()
    for _ in range(2):
        with pytest.raises(StorageUnavailable):
            await app.open()

    (tmp_path / "foliot.db").rmdir()

    assert await asyncio.to_thread(asyncio.run, app.runs()) == []


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
