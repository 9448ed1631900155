"""foliot init, check, plan and reload."""

from pathlib import Path

import pytest

from foliot.config import STARTER
from tests.interfaces.conftest import Call, working

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
    def test_init_writes_a_valid_file(self, call: Call, elsewhere: Path) -> None:
        code, out, err = call("init")

        assert (code, out) == (0, "wrote foliot.toml\n")
        assert "foliot check; foliot serve" in err
        assert (elsewhere / "foliot.toml").read_text() == STARTER
        assert call("check").code == 0

    def test_init_does_not_overwrite_a_file(self, call: Call, file: Path) -> None:
        code, out, err = call("init")

        assert (code, out) == (1, "")
        assert err == "error: foliot.toml already exists\n  Overwrite it with: foliot init --force\n"
        assert file.read_text() == TWO_JOBS

    def test_init_with_force_overwrites_a_file(self, call: Call, file: Path) -> None:
        assert call("init", "--force").code == 0
        assert file.read_text() == STARTER

    def test_init_writes_to_the_given_path(self, call: Call, elsewhere: Path) -> None:
        _, _, err = call("init", "etc/jobs.toml")

        assert "foliot serve --config etc/jobs.toml" in err
        assert call("check", "etc/jobs.toml").code == 0

    def test_init_fails_if_the_file_cannot_be_written(self, call: Call, file: Path) -> None:
        code, _, err = call("init", "foliot.toml/x.toml")

        assert code == 1
        assert err.startswith("error: foliot.toml/x.toml could not be written")


class TestCheck:
    def test_check_counts_the_definitions_of_a_valid_file(self, call: Call, file: Path) -> None:
        assert call("check") == (0, "foliot.toml: 2 jobs, 1 schedule, no errors\n", "")

    def test_check_counts_workflows(self, call: Call, file: Path) -> None:
        file.write_text(f'{TWO_JOBS}[[workflows]]\nid = "etl"\n[[workflows.steps]]\nname = "a"\ncommand = "true"\n')

        assert call("check").out == "foliot.toml: 2 jobs, 1 workflow, 1 schedule, no errors\n"

    def test_check_counts_chains_by_themselves(self, call: Call, elsewhere: Path) -> None:
        chain = '[[chains]]\nid = "disk"\n[chains.action]\ncommand = "true"\n'
        (elsewhere / "foliot.toml").write_text(f'[[jobs]]\nid = "a"\ncommand = "true"\n{chain}')

        assert call("check").out == "foliot.toml: 1 job, 1 chain, 0 schedules, no errors\n"

    def test_check_prints_every_error_with_its_line(self, call: Call, file: Path) -> None:
        file.write_text(TWO_JOBS.replace("0 3", "0 33").replace("command", "comand"))

        code, out, err = call("check")

        lines = [line for line in err.splitlines() if not line.startswith("  ")]
        assert (code, out) == (1, f"foliot.toml: {len(lines)} errors\n")
        assert [line.partition(": error: ")[0] for line in lines][:2] == ["foliot.toml:2", "foliot.toml:4"]
        assert 'Did you mean "command"?' in err

    def test_check_with_warnings_only_exits_with_0(self, call: Call, file: Path) -> None:
        file.write_text(TWO_JOBS + "\n[server]\nadmin_token = 'x'\n")

        code, out, err = call("check")

        assert (code, out) == (0, "foliot.toml: 2 jobs, 1 schedule, no errors, 1 warning\n")
        assert err.startswith("foliot.toml:13: warning: server.admin_token: ")

    def test_check_prints_problems_as_json(self, call: Call, file: Path) -> None:
        file.write_text(TWO_JOBS.replace("0 3", "0 33"))

        called = call("check", "--json")

        [problem] = called.objects
        assert called.code == 1
        assert (problem["severity"], problem["line"], problem["key"]) == ("error", 5, "jobs[1].schedule")

    def test_check_fails_for_a_missing_file(self, call: Call) -> None:
        assert call("check").code == 1
        assert call("check", "nowhere.toml").code == 2


class TestPlan:
    def test_plan_shows_changes_and_firings(self, call: Call, file: Path, elsewhere: Path) -> None:
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

    def test_plan_without_firings_says_nothing_about_them(self, call: Call, file: Path) -> None:
        code, out, err = call("plan", "-n", "0")

        assert (code, err) == (0, "")
        assert out.splitlines()[-1] == "0 unchanged"

    def test_plan_changes_nothing(self, call: Call, file: Path, elsewhere: Path) -> None:
        call("plan")

        assert [path.name for path in elsewhere.iterdir()] == ["foliot.toml"]

    def test_plan_lists_changed_fields(self, call: Call, file: Path) -> None:
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

    def test_plan_shows_no_firings_of_paused_and_disabled_schedules(self, call: Call, file: Path) -> None:
        call("reload")
        call("pause", "backup")

        assert call("plan", "--json").objects[0]["fires"] == []
        call("resume", "backup")
        file.write_text(TWO_JOBS.replace('id = "backup"', 'id = "backup"\nenabled = false'))
        assert call("plan", "--json").objects[0]["fires"] == []

    def test_plan_refuses_a_job_of_another_source(self, call: Call, shop: Path) -> None:
        (shop / "foliot.toml").write_text('[[jobs]]\nid = "report"\ncommand = "true"\n')

        code, _, err = call("plan")

        assert code == 1
        assert 'job "report" is defined' in err

    @pytest.mark.parametrize("wrong", [["--within", "soon"], ["-n", "-1"]])
    def test_plan_rejects_invalid_options(self, call: Call, file: Path, wrong: list[str]) -> None:
        assert call("plan", *wrong).code == 2


class TestReload:
    def test_reload_reports_workers_whose_settings_have_changed(self, call: Call, file: Path, elsewhere: Path) -> None:
        call("reload")
        file.write_text(f"[server]\nname = 'test'\nconcurrency = 7\nqueues = ['default', 'media']\n{TWO_JOBS}")

        with working(elsewhere):
            reported = call("reload")
        stopped = call("reload")

        assert (reported.code, reported.out) == (0, "no changes (3 unchanged)\n")
        assert reported.err.splitlines()[::2] == [
            'warning: restart_needed: worker "test" has 100 slots, the file has concurrency = 7',
            'warning: restart_needed: worker "test" works on default, the file on default, media',
        ]
        assert stopped.err == ""

    def test_reload_applies_the_file_to_the_database(self, call: Call, file: Path) -> None:
        code, out, _ = call("reload")

        assert (code, out.splitlines()[-1]) == (0, "0 unchanged")
        assert [(job["id"], job["source"]) for job in call("jobs", "--json").objects] == [
            ("backup", "file"),
            ("tidy", "file"),
        ]

    def test_reloading_twice_is_a_no_op(self, call: Call, file: Path) -> None:
        call("reload")

        assert call("reload") == (0, "no changes (3 unchanged)\n", "")

    def test_reload_disables_removed_jobs_and_keeps_their_history(self, call: Call, file: Path) -> None:
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

    def test_reloading_a_file_with_errors_changes_nothing(self, call: Call, file: Path) -> None:
        call("reload")
        file.write_text(TWO_JOBS.replace("0 3", "0 33").replace("echo tidy", "echo up"))

        code, out, err = call("reload")

        assert (code, out) == (1, "")
        assert err.endswith("error: foliot.toml has 1 error\n  Nothing was changed.\n")
        assert call("show", "tidy", "--json").objects[0]["spec"]["command"] == "echo tidy"

    def test_reload_keeps_schedules_paused(self, call: Call, file: Path) -> None:
        call("reload")
        call("pause", "backup")
        file.write_text(TWO_JOBS.replace("0 3", "0 4"))

        call("reload")

        [schedule] = call("schedules", "--json").objects
        assert (schedule["schedule_expr"], schedule["state"]) == ("0 4 * * *", "paused")

    def test_reload_renames_a_job_and_keeps_its_history(self, call: Call, file: Path) -> None:
        call("reload")
        call("trigger", "tidy")
        file.write_text(TWO_JOBS.replace('id = "tidy"', 'id = "clean"\nrenamed_from = "tidy"'))

        code, out, _ = call("reload")

        assert (code, "was tidy" in out) == (0, True)
        assert len(call("runs", "--job", "clean", "--json").objects) == 1
