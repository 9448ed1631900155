"""foliot show: everything about a run, a job or a schedule."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from foliot import Foliot
from foliot.interfaces.cli.render.format import last_line, option_text
from tests.interfaces.conftest import Call
from tests.interfaces.serving import outcome, served, started

BOTH_WAYS = True


def fields(out: str) -> dict[str, str]:
    """Return the fields before the first empty line, by their names."""
    lines = out.partition("\n\n")[0].splitlines()
    pairs = (line.split("  ", 1) for line in lines)
    return {name.strip(): value.strip() for name, value in pairs}


def test_show_failed_run_prints_why_and_its_attempts(call: Call, shop: Path) -> None:
    code, out, err = call("show", "broken@last")

    said = fields(out)
    assert (code, err) == (0, "")
    assert said["status"] == "failed (exit_code)"
    assert said["why"] == "the command exited with a code other than 0, after 2 attempts"
    assert (said["exit code"], said["payload"]) == ("3", '{"week": 7}')
    assert all(said[name].endswith(" (attempt 2)") for name in ("due", "started", "took"))
    assert said["log"].startswith("complete; print it with: foliot logs ")
    assert [line.split()[:3] for line in out.splitlines()[-2:]] == [
        ["1", "failed", "(exit_code)"],
        ["2", "failed", "(exit_code)"],
    ]


def test_show_run_prints_one_json_object(call: Call, shop: Path) -> None:
    [run] = call("show", "broken@last", "--json").objects

    assert (run["type"], run["job_id"], len(run["attempts"])) == ("run", "broken", 2)
    assert run["log"]["state"] == "complete"


def test_show_queued_run_says_that_no_worker_is_alive(call: Call, shop: Path) -> None:
    [waiting] = call("runs", "--status", "queued", "--json").objects

    said = fields(call("show", waiting["id"]).out)

    assert said["why"] == 'no worker of queue "default" is alive; start one with: foliot serve, or foliot worker'


def test_show_job_prints_definition_schedules_and_runs(call: Call, shop: Path) -> None:
    code, out, _ = call("show", "report")

    assert (code, fields(out)["description"]) == (0, "Für die Woche")
    assert '{"TOKEN": "***"}' in out
    assert "at 09:00 on Monday, Europe/Berlin" in out
    assert out.count("  report  ") >= 3


def test_show_schedule_prints_next_five_and_last_ticks(call: Call, shop: Path) -> None:
    [schedule] = call("show", "report-weekly", "--json").objects
    _, out, _ = call("show", "report-weekly")

    assert (schedule["type"], len(schedule["preview"]), schedule["ticks"]) == ("schedule", 5, [])
    assert len(fields(out)["next"].split(", ")) == 5


@pytest.mark.proves("R1-12")
def test_show_schedule_describes_its_rule_in_text_and_json(call: Call, shop: Path) -> None:
    [schedule] = call("show", "report-weekly", "--json").objects
    said = fields(call("show", "report-weekly").out)

    assert said["in words"] == schedule["description"] == "at 09:00 on Monday, Europe/Berlin"
    assert "in words" not in fields(call("show", "report-often").out)


@pytest.mark.proves("R1-12")
def test_the_description_follows_the_day_rule_of_the_schedule(call: Call) -> None:
    Path("foliot.toml").write_text('[[jobs]]\nid = "pay"\ncommand = "true"\ncron = "0 0 13 * FRI"\ndom_dow = "and"\n')
    call("migrate")
    call("reload")

    said = fields(call("show", "pay:default").out)

    assert said["in words"] == "at 00:00 on day 13 of the month if that is Friday, UTC"
    assert all("-13 00:00" in moment for moment in said["next"].split(", "))


@pytest.mark.proves("R1-12")
def test_the_description_of_a_renamed_schedule_has_its_firing_time(call: Call) -> None:
    call("migrate")
    for names in ('id = "report"', 'id = "digest"\nrenamed_from = "report"'):
        Path("foliot.toml").write_text(f'[[jobs]]\n{names}\ncommand = "true"\ncron = "H 3 * * *"\n')
        call("reload")

    [schedule] = call("show", "digest:default", "--json").objects

    assert schedule["description"] == "at 03:22 every day, UTC"
    assert all(moment.endswith("T03:22:00Z") for moment in schedule["preview"])


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("reprot", 'Did you mean "report"?'),
        ("report-weakly", 'Did you mean "report-weekly"?'),
        ("01ARZ3NDEKTSV4RRFFQ69G5FAV", "List the names with: foliot jobs, foliot schedules, foliot runs"),
    ],
)
def test_showing_a_missing_id_suggests_the_closest_match(call: Call, shop: Path, name: str, hint: str) -> None:
    code, out, err = call("show", name)

    assert (code, out) == (1, "")
    assert err == f"error: no job, schedule or run is named '{name}'\n  {hint}\n"


class TestNamingARun:
    """An id may be shortened if it matches one run."""

    def ids(self, call: Call) -> list[str]:
        return [run["id"] for run in call("runs", "--json").objects]

    def shown(self, call: Call, name: str) -> str:
        [run] = call("show", name, "--json").objects
        return str(run["id"])

    def test_a_run_can_be_named_by_the_end_of_its_id(self, call: Call, shop: Path) -> None:
        for run_id in self.ids(call):
            assert self.shown(call, run_id[-8:]) == run_id

    def test_a_run_can_be_named_by_the_beginning_of_its_id_in_any_case(self, call: Call, shop: Path) -> None:
        # Ids of the same millisecond differ only in the last characters; these two runs are older.
        for run_id in self.ids(call)[-2:]:
            assert self.shown(call, run_id[:24]) == run_id
            assert self.shown(call, run_id.lower()) == run_id

    def test_a_run_can_be_named_as_the_last_one(self, call: Call, shop: Path) -> None:
        newest, *_, oldest = self.ids(call)

        assert self.shown(call, "@last") == newest
        assert call("show", "broken@last", "--json").objects[0]["job_id"] == "broken"
        assert oldest not in (newest, self.shown(call, "report@last"))

    def test_an_ambiguous_run_name_is_refused(self, call: Call, shop: Path) -> None:
        beginning = self.ids(call)[0][:6]

        code, _, err = call("show", beginning)

        assert code == 2
        assert f"'{beginning}' matches" in err

    def test_a_run_name_of_fewer_than_six_characters_is_not_found(self, call: Call, shop: Path) -> None:
        assert call("show", self.ids(call)[0][-5:]).code == 1

    @pytest.mark.parametrize("name", ["nobody@last", "report-weekly@last"])
    def test_the_last_run_of_a_missing_job_is_not_found(self, call: Call, shop: Path, name: str) -> None:
        code, _, err = call("logs", name)

        assert code == 1
        assert "does not exist" in err


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("timeout", 7_200_000, "2h00m"),
        ("retry", {"retries": 1, "base": 2_000}, "1, after 2.0s"),
        ("retry", {"retries": 5, "base": 1_000}, "5, after 1.0s, 2.0s, 4.0s ..."),
        ("retry", {"retries": 2, "delays": [1_000, 60_000]}, "2, after 1.0s, 1m00s"),
        ("queue", "mail", "mail"),
        ("max_concurrent", 1, "1"),
    ],
)
def test_job_options_are_formatted_with_readable_times(name: str, value: Any, text: str) -> None:
    assert option_text(name, value) == text


@pytest.mark.parametrize(
    ("error", "line"),
    [
        ("exit code 3", "exit code 3"),
        ("the output is not JSON\n  Print messages to stderr.", "the output is not JSON"),
        ("Traceback (most recent call last):\n  File x\nValueError: no", "ValueError: no"),
        ("Traceback (most recent call last):\n  File x\nOops: no\n  Try again.\n", "Oops: no"),
        ("  only a hint", "only a hint"),
        ("", "-"),
        (None, "-"),
    ],
)
def test_last_line_returns_the_line_that_names_the_error(error: str | None, line: str) -> None:
    assert last_line(error) == line


def test_show_prints_a_traceback_line_by_line(call: Call, tmp_path: Path) -> None:
    app = Foliot(f"sqlite:///{tmp_path}/foliot.db")

    @app.job
    def divide() -> None:
        raise ValueError("no\tnumber")

    async def fail() -> str:
        async with served(app):
            return (await outcome(app, "divide")).id

    out = call("show", asyncio.run(fail())).out

    assert fields(out)["error"] == r"ValueError: no\tnumber"
    _, _, rest = out.partition("\n\nError\n")
    lines = rest.partition("\n\n")[0].splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[-1].startswith("ValueError: no ")
    assert any(line.startswith("  File ") for line in lines)


def test_a_run_that_waits_for_its_next_attempt_is_shown_without_the_reason_of_the_last(
    call: Call, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path}/foliot.db"

    async def fail_once() -> str:
        app = Foliot(url)
        app.shell("flaky", "exit 1", retries=1, retry_delay=3600)
        async with app, started(app):
            run_id = await app.enqueue("flaky")
            while not await app.runs.attempts(run_id):
                await asyncio.sleep(0.01)
            return run_id

    said = fields(call("show", asyncio.run(fail_once()), "--storage", url).out)

    assert said["status"] == "scheduled"
    assert said["why"].startswith("attempt 1 did not succeed; next attempt at ")
