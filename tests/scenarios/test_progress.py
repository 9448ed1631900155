"""Progress reported by real jobs of a real server, as the commands show it."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.scenarios.server import Place, command, environment, until

REPORT = f"{sys.executable} -m foliot progress"
WAIT = "while [ ! -e gate ]; do sleep 0.05; done"
NOTE = 'echo "$FOLIOT_CHANNEL $FOLIOT_RUN_TOKEN" > "access-$FOLIOT_ATTEMPT"'
FUNCTION = """
import pathlib, time
from foliot import current_run

def job():
    for page in range(1, 13):
        current_run().progress(page / 30, f"page {page} of 30")
    while not pathlib.Path("gate").exists():
        time.sleep(0.05)
"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    (tmp_path / "tasks.py").write_text(FUNCTION)
    return Place(tmp_path)


def test_a_shell_job_reports_with_the_command(place: Place) -> None:
    define(place, f"""command = '{REPORT} 40% page 12 of 30 && {WAIT}'""")

    with place.serve():
        run_id = trigger(place)
        progress = reported(place, run_id, "page 12 of 30")

        assert (progress["fraction"], progress["text"]) == (0.4, "page 12 of 30")
        assert "[####------] 40% page 12 of 30" in place.foliot("show", run_id)
        assert "[####------] 40% page 12 of 30" in place.foliot("top", "--once")
        (place.directory / "gate").touch()
        until(lambda: shown(place, run_id)["status"] == "success", lambda: place.foliot("show", run_id))
        assert shown(place, run_id)["progress"] is None


def test_an_isolated_function_reports_and_its_latest_report_is_shown(place: Place) -> None:
    define(place, 'kind = "python"\ncall = "tasks:job"')

    with place.serve():
        run_id = trigger(place)

        assert reported(place, run_id, "page 12 of 30")["fraction"] == 0.4
        (place.directory / "gate").touch()


def test_a_failed_job_has_its_last_progress_in_its_log(place: Place) -> None:
    define(place, f"command = '{REPORT} 0.4 page 12 && exit 3'")

    with place.serve():
        place.foliot("trigger", "load", "--wait", code=1)

        assert "last progress: 40%, page 12\n" in [line.get("text") for line in place.objects("logs", "load@last")]


def test_a_wrong_fraction_is_refused_before_the_worker_is_asked(place: Place) -> None:
    messages = [refused(place, "missing", "1.token", fraction, code=2) for fraction in ("4", "101%", "nan", "half")]

    assert [message.splitlines()[0] for message in messages] == [
        "error: progress 4.0 is not between 0 and 1",
        "error: progress 1.01 is not between 0 and 1",
        "error: progress 'nan' is not between 0 and 1",
        "error: 'half' is not a number",
    ]


def test_a_restarted_worker_replaces_the_channel_of_a_killed_one(place: Place) -> None:
    define(place, f"""command = '{NOTE}; {REPORT} 0.4 "attempt $FOLIOT_ATTEMPT" && {WAIT}'\nmax_lost = 5""")
    first = place.serve()
    with first:
        run_id = trigger(place)
        reported(place, run_id, "attempt 1")
        first.kill()

    with place.serve():
        reported(place, run_id, "attempt 2")
        (old_path, old_token), (path, _) = access(place, attempt=1), access(place, attempt=2)

        assert [Path(old_path).parent.exists(), Path(path).exists()] == [False, True]
        assert "could not reach the worker of this run" in refused(place, old_path, old_token)
        assert "the token belongs to no attempt that runs on this worker" in refused(place, path, old_token)
        assert shown(place, run_id)["progress"]["text"] == "attempt 2"
        (place.directory / "gate").touch()
    assert not Path(path).parent.exists()


def test_outside_of_a_job_the_command_names_the_missing_variable(place: Place) -> None:
    message = place.foliot("progress", "0.4", code=1)

    assert "FOLIOT_CHANNEL is not set" in message
    assert "Call this inside a job" in message
    assert [path.name for path in place.directory.iterdir()] == ["tasks.py"]


def define(place: Place, lines: str) -> None:
    place.file.write_text(f'[[jobs]]\nid = "load"\n{lines}\n')


def trigger(place: Place) -> str:
    [run] = place.objects("trigger", "load")
    return str(run["run_id"])


def shown(place: Place, run_id: str) -> dict[str, Any]:
    [page] = place.objects("show", run_id)
    return page


def reported(place: Place, run_id: str, text: str) -> dict[str, Any]:
    """Wait until this text was reported, and return the progress."""

    def find() -> dict[str, Any] | None:
        progress: dict[str, Any] | None = shown(place, run_id)["progress"]
        return progress if progress is not None and progress["text"] == text else None

    return until(find, lambda: f"{text!r} was not reported: {place.foliot('show', run_id)}")


def access(place: Place, *, attempt: int) -> list[str]:
    """Return the path of the channel and the token that an attempt received."""
    return (place.directory / f"access-{attempt}").read_text().split()


def refused(place: Place, path: str, token: str, fraction: str = "0.9", *, code: int = 1) -> str:
    """Return the message of a report with this access, which must fail."""
    variables = environment() | {"FOLIOT_CHANNEL": path, "FOLIOT_RUN_TOKEN": token}
    done = subprocess.run(
        command("progress", fraction), cwd=place.directory, env=variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stderr
