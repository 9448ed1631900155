"""A process that forks keeps what it has open, and its child opens its own.

Each case is a program of its own: what goes wrong here hangs, or loses what was saved.
"""

from pathlib import Path

import pytest

from tests.interfaces.application.programs import program


def test_parent_and_child_both_go_on(url: str) -> None:
    said = program(
        url,
        """
        ask()
        codes = [ended(fork(ask)) for _ in range(3)]
        ask()
        print(codes, count())
        """,
    )

    assert said == "[0, 0, 0] 5"


def test_a_child_may_have_children(url: str) -> None:
    said = program(
        url,
        """
        def work():
            ask()
            assert ended(fork(ask, leave=os._exit)) == 0
            ask()

        ask()
        print(ended(fork(work)), count())
        """,
    )

    assert said == "0 4"


def test_a_server_with_an_open_application_starts_workers_of_its_own(url: str) -> None:
    said = program(
        url,
        """
        def work():
            asyncio.run(app.enqueue("job"))
            ask()

        async def main():
            async with app:
                await app.enqueue("job")
                child = multiprocessing.get_context("fork").Process(target=work)
                child.start()
                await asyncio.to_thread(child.join)
                await app.enqueue("job")
                return child.exitcode, len(await app.runs.page())

        print(*asyncio.run(main()))
        """,
    )

    assert said == "0 4"


def test_a_job_may_fork_in_its_worker(url: str) -> None:
    said = program(
        url,
        """
        @app.job
        def forks():
            return [ended(fork(ask, leave=os._exit)) for _ in range(3)]

        async def main():
            async with app:
                node = await app.node(Settings(label="test"))
                await node.start()
                run = await app.runs.wait(await app.enqueue(forks), timeout=30)
                after = await app.runs.wait(await app.enqueue("job"), timeout=30)
                await node.stop()
                return run.status.value, run.output_payload, after.status.value, len(await app.runs.page(job="job"))

        print(*asyncio.run(main()))
        """,
    )

    assert said == "success [0, 0, 0] success 4"


def test_a_fork_amid_calls_of_other_threads_loses_nothing(url: str) -> None:
    said = program(
        url,
        """
        def work():
            for _ in range(100):
                ask()

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        codes = {ended(fork(ask, leave=os._exit)) for _ in range(10)}
        for thread in threads:
            thread.join()
        print(codes, count())
        """,
    )

    assert said == "{0} 310"


def test_what_a_child_saved_is_kept_when_its_parent_closes_the_file(tmp_path: Path) -> None:
    said = program(
        f"sqlite:///{tmp_path}/foliot.db",
        """
        saved, closed = os.pipe(), os.pipe()

        def work():
            ask()
            os.write(saved[1], b".")
            os.read(closed[0], 1)
            ask()

        ask()
        child = fork(work, leave=os._exit)
        os.read(saved[0], 1)
        count()
        app.wait(app.close())
        os.write(closed[1], b".")
        print(ended(child), count())
        """,
    )

    assert said == "0 3"


def test_a_child_inherits_no_file_of_the_database(tmp_path: Path) -> None:
    said = program(
        f"sqlite:///{tmp_path}/foliot.db",
        """
        def files():
            links = [f"/proc/self/fd/{number}" for number in range(64)]
            return sum("foliot.db" in os.readlink(link) for link in links if os.path.isfile(link))

        ask()
        assert files() > 0
        print(ended(fork(lambda: os._exit(files()))))
        """,
    )

    assert said == "0"


@pytest.mark.parametrize("leave", ["sys.exit", "os._exit"])
def test_a_child_that_never_asks_harms_nobody(url: str, leave: str) -> None:
    said = program(
        url,
        f"""
        ask()
        codes = [ended(fork(lambda: None, leave={leave})) for _ in range(3)]
        ask()
        print(codes, count())
        """,
    )

    assert said == "[0, 0, 0] 2"
