"""foliot init, check, plan and reload: a file, from the first line to the database."""

from pathlib import Path

import pytest

from foliot.config import STARTER
from tests.interfaces.conftest import Call

TWO_JOBS = """
[[jobs]]
id = "backup"
command = "echo backup"
schedule = "0 3 * * *"
timezone = "Europe/Berlin"

[[jobs]]
id = "tidy"
command = "echo tidy"
"""


@pytest.fixture
def file(elsewhere: Path) -> Path:
    path = elsewhere / "foliot.toml"
    path.write_text(TWO_JOBS)
    return path


class TestInit:
    def test_it_writes_a_file_that_is_right(self, call: Call, elsewhere: Path) -> None:
        code, out, err = call("init")

        assert (code, out) == (0, "wrote foliot.toml\n")
        assert "foliot check; foliot serve" in err
        assert (elsewhere / "foliot.toml").read_text() == STARTER
        assert call("check").code == 0

    def test_it_does_not_write_over_a_file(self, call: Call, file: Path) -> None:
        code, out, err = call("init")

        assert (code, out) == (1, "")
        assert err == "error: foliot.toml is there already\n  Write over it with: foliot init --force\n"
        assert file.read_text() == TWO_JOBS

    def test_unless_it_is_told_to(self, call: Call, file: Path) -> None:
        assert call("init", "--force").code == 0
        assert file.read_text() == STARTER

    def test_it_is_written_where_it_is_told_to(self, call: Call, elsewhere: Path) -> None:
        _, _, err = call("init", "etc/jobs.toml")

        assert "foliot serve --config etc/jobs.toml" in err
        assert call("check", "etc/jobs.toml").code == 0

    def test_that_nothing_can_be_written_is_an_error(self, call: Call, file: Path) -> None:
        code, _, err = call("init", "foliot.toml/x.toml")

        assert code == 1
        assert err.startswith("error: foliot.toml/x.toml could not be written")


class TestCheck:
    def test_a_file_without_errors_is_counted(self, call: Call, file: Path) -> None:
        assert call("check") == (0, "foliot.toml: 2 jobs, 1 schedule, no errors\n", "")

    def test_workflows_are_counted_where_there_are_some(self, call: Call, file: Path) -> None:
        file.write_text(f'{TWO_JOBS}[[workflows]]\nid = "etl"\n[[workflows.steps]]\nname = "a"\ncommand = "true"\n')

        assert call("check").out == "foliot.toml: 2 jobs, 1 workflow, 1 schedule, no errors\n"

    def test_every_error_is_told_with_its_line(self, call: Call, file: Path) -> None:
        file.write_text(TWO_JOBS.replace("0 3", "0 33").replace("command", "comand"))

        code, out, err = call("check")

        lines = [line for line in err.splitlines() if not line.startswith("  ")]
        assert (code, out) == (1, f"foliot.toml: {len(lines)} errors\n")
        assert [line.partition(": error: ")[0] for line in lines][:2] == ["foliot.toml:2", "foliot.toml:4"]
        assert 'Did you mean "command"?' in err

    def test_warnings_are_no_errors(self, call: Call, file: Path) -> None:
        file.write_text(TWO_JOBS + "\n[server]\nport = 8080\n")

        code, out, err = call("check")

        assert (code, out) == (0, "foliot.toml: 2 jobs, 1 schedule, no errors, 1 warning\n")
        assert err.startswith("foliot.toml:13: warning: server.port: ")

    def test_programs_get_problems_as_objects(self, call: Call, file: Path) -> None:
        file.write_text(TWO_JOBS.replace("0 3", "0 33"))

        called = call("check", "--json")

        [problem] = called.objects
        assert called.code == 1
        assert (problem["severity"], problem["line"], problem["key"]) == ("error", 5, "jobs[1].schedule")

    def test_a_file_that_is_not_there_is_an_error(self, call: Call) -> None:
        assert call("check").code == 1
        assert call("check", "nowhere.toml").code == 2


class TestPlan:
    def test_what_would_change_and_what_would_fire(self, call: Call, file: Path, elsewhere: Path) -> None:
        code, out, err = call("plan", "--within", "3d")

        changes, fires = out.split("\n\n")
        assert (code, err) == (0, "")
        assert [line.split() for line in changes.splitlines()[1:]] == [
            ["created", "job", "backup"],
            ["created", "job", "tidy"],
            ["created", "schedule", "backup:default"],
            ["0", "unchanged"],
        ]
        assert [line.split()[2:] for line in fires.splitlines()[1:]] == [["backup", "backup:default"]] * 3

    def test_nothing_is_changed_by_looking(self, call: Call, file: Path, elsewhere: Path) -> None:
        call("plan")

        assert [path.name for path in elsewhere.iterdir()] == ["foliot.toml"]

    def test_what_differs_is_told_field_by_field(self, call: Call, file: Path) -> None:
        call("reload")
        file.write_text(TWO_JOBS.replace("echo tidy", "echo up").replace("0 3", "0 4"))

        [answer] = call("plan", "--json", "-n", "0").objects

        different = {change["id"]: change for change in answer["changes"] if change["change"] != "unchanged"}
        assert {name: change["change"] for name, change in different.items()} == {
            "tidy": "changed",
            "backup:default": "changed",
        }
        assert different["tidy"]["fields"] == [{"field": "command", "before": "echo tidy", "after": "echo up"}]
        assert answer["fires"] == []

    def test_what_is_paused_or_switched_off_does_not_fire(self, call: Call, file: Path) -> None:
        call("reload")
        call("pause", "backup")

        assert call("plan", "--json").objects[0]["fires"] == []
        call("resume", "backup")
        file.write_text(TWO_JOBS.replace('id = "backup"', 'id = "backup"\nenabled = false'))
        assert call("plan", "--json").objects[0]["fires"] == []

    def test_a_job_of_somebody_else_is_refused(self, call: Call, shop: Path) -> None:
        (shop / "foliot.toml").write_text('[[jobs]]\nid = "report"\ncommand = "true"\n')

        code, _, err = call("plan")

        assert code == 1
        assert 'job "report" is defined' in err

    @pytest.mark.parametrize("wrong", [["--within", "soon"], ["-n", "-1"]])
    def test_a_wrong_call(self, call: Call, file: Path, wrong: list[str]) -> None:
        assert call("plan", *wrong).code == 2


class TestReload:
    def test_it_makes_the_database_say_what_the_file_says(self, call: Call, file: Path) -> None:
        code, out, _ = call("reload")

        assert (code, out.splitlines()[-1]) == (0, "0 unchanged")
        assert [(job["id"], job["source"]) for job in call("jobs", "--json").objects] == [
            ("backup", "file"),
            ("tidy", "file"),
        ]

    def test_doing_it_again_changes_nothing(self, call: Call, file: Path) -> None:
        call("reload")

        assert call("reload") == (0, "nothing to change, 3 as they are\n", "")

    def test_what_is_gone_from_the_file_is_switched_off_and_its_history_kept(self, call: Call, file: Path) -> None:
        call("reload")
        call("trigger", "backup")
        file.write_text(TWO_JOBS.partition('[[jobs]]\nid = "tidy"')[2].join(['[[jobs]]\nid = "tidy"', ""]))

        changes = {change["id"]: change["change"] for change in call("reload", "--json").objects}

        assert changes == {"backup": "removed", "backup:default": "removed", "tidy": "unchanged"}
        assert {job["id"]: job["state"] for job in call("jobs", "--json").objects} == {
            "backup": "disabled",
            "tidy": "on",
        }
        assert len(call("runs", "--job", "backup", "--json").objects) == 1

    def test_a_wrong_file_changes_nothing(self, call: Call, file: Path) -> None:
        call("reload")
        file.write_text(TWO_JOBS.replace("0 3", "0 33").replace("echo tidy", "echo up"))

        code, out, err = call("reload")

        assert (code, out) == (1, "")
        assert err.endswith("error: foliot.toml has 1 error\n  Nothing was changed.\n")
        assert call("show", "tidy", "--json").objects[0]["spec"]["command"] == "echo tidy"

    def test_paused_stays_paused(self, call: Call, file: Path) -> None:
        call("reload")
        call("pause", "backup")
        file.write_text(TWO_JOBS.replace("0 3", "0 4"))

        call("reload")

        [schedule] = call("schedules", "--json").objects
        assert (schedule["schedule_expr"], schedule["state"]) == ("0 4 * * *", "paused")

    def test_a_new_name_keeps_the_history(self, call: Call, file: Path) -> None:
        call("reload")
        call("trigger", "tidy")
        file.write_text(TWO_JOBS.replace('id = "tidy"', 'id = "clean"\nrenamed_from = "tidy"'))

        code, out, _ = call("reload")

        assert (code, "was tidy" in out) == (0, True)
        assert len(call("runs", "--job", "clean", "--json").objects) == 1
