"""The first hour of a new user, with real processes in a new directory."""

import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.scenarios.server import Place, Server, until

EXAMPLES = Path(__file__).parents[2] / "examples"
QUIET = '[[jobs]]\nid = "quiet"\ncommand = "echo quiet"\n'
LOUD = '\n[[jobs]]\nid = "loud"\ncommand = "echo loud"\n'
WATCHED = f"[server]\nwatch = true\n\n{QUIET}"
WRONG = '\n[[jobs]]\nid = "wrong"\ncommand = "true"\nschedule = "61 * * * *"\n'


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def jobs(place: Place) -> dict[str, str]:
    return {job["id"]: job["state"] for job in place.objects("jobs")}


def test_two_commands_start_a_job(place: Place) -> None:
    place.foliot("init")

    with place.serve():
        place.foliot("trigger", "hello", "--wait")

        assert place.foliot("logs", "hello@last").startswith("hello from hello, it is ")
    # The schedule may have fired meanwhile.
    [run] = [run for run in place.objects("runs", "--job", "hello") if run["trigger"] != "schedule"]
    assert (run["status"], run["trigger"]) == ("success", "cli")


def test_the_example_of_the_repository_works(place: Place) -> None:
    shutil.copytree(EXAMPLES, place.directory / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    config = ("--config", "examples/foliot.toml")

    assert place.foliot("check", *config) == "examples/foliot.toml: 6 jobs, 1 workflow, 7 schedules, no errors\n"
    with place.serve(*config):
        for job in ("hello", "free-space", "sync", "digest", "report"):
            place.foliot("trigger", job, "--wait", *config)
        assert place.foliot("trigger", "count-down", "--payload", '{"start": 1}', "--follow", *config) == "1\ndone\n"
    assert (place.directory / "data" / "foliot.db").exists()


@pytest.mark.proves("R0-03")
def test_a_schedule_of_the_file_fires_and_the_ledger_is_sound(place: Place) -> None:
    place.file.write_text('[[jobs]]\nid = "beat"\ncommand = "echo beat"\nevery = "1s"\n')

    with place.serve():
        until(lambda: place.objects("runs", "--status", "success"), lambda: "nothing ran")

    [schedule] = place.objects("show", "beat:default")
    assert {tick["outcome"] for tick in schedule["ticks"]} >= {"ran"}
    assert "no problems found" in place.foliot("verify", "--since", "1h")


def write(file: Path, text: str) -> None:
    file.write_text(text)


def exchange(file: Path, text: str) -> None:
    """Replace the file by a new one, as many editors do."""
    other = file.with_name(".foliot.toml.swp")
    other.write_text(text)
    other.replace(file)


@pytest.mark.parametrize("save", [write, exchange])
def test_saving_the_file_applies_it(place: Place, save: Callable[[Path, str], None]) -> None:
    place.file.write_text(WATCHED)

    with place.serve() as server:
        save(place.file, WATCHED + LOUD)

        assert server.saw("configuration_applied", 2)["changes"] == "created loud"
        assert jobs(place) == {"quiet": "on", "loud": "on"}
        place.foliot("trigger", "loud", "--wait")


def test_a_new_included_file_is_applied(place: Place) -> None:
    (place.directory / "jobs.d").mkdir()
    place.file.write_text(f'include = ["jobs.d/*.toml"]\n{WATCHED}')

    with place.serve() as server:
        (place.directory / "jobs.d" / "more.toml").write_text(LOUD)

        assert server.saw("configuration_applied", 2)["changes"] == "created loud"


def test_a_signal_applies_a_changed_file(place: Place) -> None:
    place.file.write_text(QUIET)

    with place.serve() as server:
        place.file.write_text(LOUD)
        server.send(signal.SIGHUP)

        assert server.saw("configuration_applied", 2)["changes"] == "created loud; removed quiet"
        assert jobs(place) == {"quiet": "disabled", "loud": "on"}


def test_a_command_applies_a_changed_file(place: Place) -> None:
    place.file.write_text(QUIET)

    with place.serve():
        place.file.write_text(QUIET + LOUD)
        place.foliot("reload")

        place.foliot("trigger", "loud", "--wait")


def test_an_invalid_file_is_reported_with_its_line_and_changes_nothing(place: Place) -> None:
    place.file.write_text(WATCHED)

    with place.serve() as server:
        place.file.write_text(WATCHED.replace("echo quiet", "echo other") + WRONG)
        problem = server.saw("configuration_problem")
        server.saw("configuration_refused")

        line = place.file.read_text().splitlines().index('schedule = "61 * * * *"') + 1
        assert problem["place"] == f"foliot.toml:{line}"
        assert "minute '61' is outside 0-59" in problem["problem"]
        assert jobs(place) == {"quiet": "on"}
        assert place.objects("show", "quiet")[0]["spec"]["command"] == "echo quiet"

        place.file.write_text(WATCHED + LOUD)
        assert server.saw("configuration_applied", 2)["changes"] == "created loud"


def test_settings_that_need_a_restart_are_logged(place: Place) -> None:
    place.file.write_text(QUIET)

    with place.serve() as server:
        place.file.write_text(f"[server]\nconcurrency = 3\n{QUIET}")
        server.send(signal.SIGHUP)

        assert server.saw("restart_needed")["sections"] == "server"


def test_a_server_without_a_file_survives_a_signal_for_it(place: Place) -> None:
    (place.directory / "shop.py").write_text("from foliot import Foliot\napp = Foliot()\n")

    with place.serve("shop:app") as server:
        server.send(signal.SIGHUP)

        server.saw("nothing_to_reload")

    assert all(line.startswith("{") for line in server.output().splitlines()), "what greets people is for terminals"


def test_a_server_killed_during_a_long_job_recovers_after_a_restart(place: Place) -> None:
    place.file.write_text(
        "[server]\nlease = 1\npoll = 0.1\n"
        "[[jobs]]\nid = \"long\"\ncommand = 'echo $$ >> begun; while [ ! -e go ]; do sleep 0.05; done'\n"
    )
    begun = place.directory / "begun"

    def begun_times(count: int) -> bool:
        return begun.exists() and len(begun.read_text().splitlines()) == count

    with place.serve() as killed:
        run_id = place.foliot("trigger", "long").strip()
        until(lambda: begun_times(1), lambda: "it did not begin")
        killed.kill()

    with place.serve():
        until(lambda: begun_times(2), lambda: "it was not tried again")
        (place.directory / "go").touch()
        [run] = until(lambda: succeeded(place, run_id), lambda: place.foliot("show", run_id))

    assert (run["attempt"], run["lost"]) == (2, 1)
    assert [attempt["reason"] for attempt in run["attempts"]] == ["lease_lost", None]
    first = int(begun.read_text().splitlines()[0])
    assert not is_alive(first), "what the killed server had started is still there"


def succeeded(place: Place, run_id: str) -> list[dict[str, Any]]:
    return [run for run in place.objects("show", run_id) if run["status"] == "success"]


def is_alive(pid: int) -> bool:
    """Return whether a process runs. A zombie does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return state.rpartition(")")[2].split()[0] != "Z"


def test_following_a_run_continues_after_a_server_restart(place: Place) -> None:
    place.file.write_text(
        "[server]\nlease = 1\npoll = 0.1\ndrain = 0\n"
        '[[jobs]]\nid = "long"\n'
        "command = 'echo begun; touch begun; while [ ! -e go ]; do sleep 0.05; done; echo over'\n"
    )

    with place.serve():
        run_id = place.foliot("trigger", "long").strip()
        until((place.directory / "begun").exists, lambda: "it did not begin")
        following = Server(place.directory, "logs", "-f", run_id)
    with place.serve():
        (place.directory / "go").touch()
        until(lambda: succeeded(place, run_id), lambda: place.foliot("show", run_id))

    assert following.output().splitlines()[-1] == "over"


def test_an_application_and_a_file_are_served_together(place: Place) -> None:
    (place.directory / "shop.py").write_text(
        "from foliot import Foliot\napp = Foliot('sqlite:///elsewhere.db')\n\n\n"
        "@app.job\ndef add(a, b):\n    return a + b\n"
    )
    place.file.write_text(QUIET)

    with place.serve("shop:app", "--config", "foliot.toml"):
        [run] = place.objects("trigger", "add", "--payload", '{"a": 1, "b": 2}', "--wait")
        place.foliot("trigger", "quiet", "--wait")

    assert run["output_payload"] == 3
    assert {job["id"]: job["source"] for job in place.objects("jobs")} == {"add": "app", "quiet": "file"}
    assert not (place.directory / "elsewhere.db").exists()


def test_a_worker_does_not_change_the_definitions(place: Place) -> None:
    place.file.write_text(QUIET)
    place.foliot("reload")
    place.file.write_text(QUIET + LOUD)

    with place.serve(command="worker") as server:
        place.foliot("trigger", "quiet", "--wait")
        server.send(signal.SIGHUP)
        server.saw("nothing_to_reload")

    assert jobs(place) == {"quiet": "on"}


def test_a_schedule_fires_once_at_a_clock_change(place: Place) -> None:
    spring = place.foliot("next", "30 2 * * *", "--tz", "Europe/Berlin", "--from", "2026-03-28T12:00Z", "-n", "2")
    autumn = place.foliot("next", "30 2 * * *", "--tz", "Europe/Berlin", "--from", "2026-10-24T12:00Z", "-n", "2")

    assert spring.splitlines()[1:] == ["  Sun 2026-03-29 03:00:00 +0200 CEST", "  Mon 2026-03-30 02:30:00 +0200 CEST"]
    assert autumn.splitlines()[1:] == ["  Sun 2026-10-25 02:30:00 +0200 CEST", "  Mon 2026-10-26 02:30:00 +0100 CET"]


def test_warnings_of_a_file_are_logged_and_it_is_served(place: Place) -> None:
    place.file.write_text(f'[github]\nrepo = "x"\n{QUIET}')

    with place.serve() as server:
        assert server.saw("configuration_problem")["place"] == "foliot.toml:1"


UNPARSABLE = '\n[[jobs]]\nid = "wrong"\ncommand = "true\n'


@pytest.mark.parametrize("error", [WRONG, UNPARSABLE])
@pytest.mark.parametrize("text", [QUIET, WATCHED])
def test_a_server_starts_with_the_last_applied_jobs_if_the_file_has_errors(place: Place, text: str, error: str) -> None:
    """It applies the corrected file also without `watch`."""
    place.file.write_text(text)
    with place.serve():
        pass
    place.file.write_text(text + error)

    with place.serve() as server:
        refused = server.saw("configuration_refused")
        assert refused["level"] == "error"
        assert refused["problems"][0]["place"].startswith("foliot.toml:")
        assert refused["errors"] == 1
        place.foliot("trigger", "quiet", "--wait")
        assert jobs(place) == {"quiet": "on"}

        place.file.write_text(text + LOUD)
        server.saw("configuration_applied")

    assert jobs(place) == {"loud": "on", "quiet": "on"}


def test_a_server_with_strict_refuses_a_file_with_errors(place: Place) -> None:
    place.file.write_text(QUIET)
    with place.serve():
        pass
    place.file.write_text(QUIET + WRONG)

    assert "foliot.toml has 1 error" in place.foliot("serve", "--strict", code=1)


def test_a_server_without_stored_jobs_refuses_a_file_with_errors(place: Place) -> None:
    place.file.write_text(QUIET + WRONG)

    assert "foliot.toml has 1 error" in place.foliot("serve", code=1)
    assert not (place.directory / "foliot.db").exists()
    place.foliot("migrate")
    assert "foliot.toml has 1 error" in place.foliot("serve", code=1)
