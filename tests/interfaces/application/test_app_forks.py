"""After a fork the parent keeps its open application, and the child opens its own.

Each case runs as a separate program: a failure hangs, or loses stored data.
"""

from pathlib import Path

import pytest

from tests.interfaces.application.programs import program


def test_parent_and_forked_child_both_use_the_application(url: str) -> None:
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


def test_a_forked_child_may_fork_again(url: str) -> None:
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


def test_multiprocessing_children_of_a_running_loop_open_their_own_application(url: str) -> None:
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


def test_a_fork_during_calls_of_other_threads_loses_no_run(url: str) -> None:
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


def test_runs_of_a_forked_child_survive_when_the_parent_closes_the_database(tmp_path: Path) -> None:
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


def test_a_forked_child_inherits_no_descriptor_of_the_database(tmp_path: Path) -> None:
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
def test_a_forked_child_that_makes_no_call_does_not_affect_its_parent(url: str, leave: str) -> None:
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
