"""foliot import crontab: where crontabs are read, and where the configuration goes."""

import io
from pathlib import Path

import pytest

from foliot.interfaces import machine as this_machine
from foliot.interfaces.machine import current_account, machine_timezone
from tests.interfaces.conftest import Call, working

LINES = "# Nightly\n30 2 * * * /usr/local/bin/backup\n"


@pytest.fixture(autouse=True)
def machine(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory in place of / and a `crontab` program that is not installed."""
    root = elsewhere / "machine"
    (root / "etc/cron.d").mkdir(parents=True)
    (root / "etc/timezone").write_text("Europe/Berlin\n")
    (elsewhere / "bin").mkdir()
    monkeypatch.setattr(this_machine, "ROOT", root)
    monkeypatch.setenv("PATH", str(elsewhere / "bin"))
    return root


@pytest.fixture
def program(elsewhere: Path) -> None:
    """A `crontab` program that prints its arguments as a job."""
    file = elsewhere / "bin/crontab"
    file.write_text('#!/bin/sh\necho "@daily echo $*"\n')
    file.chmod(0o755)


def script(file: Path, mode: int = 0o755) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("#!/bin/sh\n")
    file.chmod(mode)


def test_a_file_is_written_as_a_configuration_that_passes_the_check(call: Call, elsewhere: Path) -> None:
    (elsewhere / "old").write_text(LINES)

    code, out, err = call("import", "crontab", "old", "--output", "foliot.toml")

    assert (code, out, err) == (0, "wrote foliot.toml\n", "1 job from old\n")
    text = (elsewhere / "foliot.toml").read_text()
    assert 'timezone = "Europe/Berlin"' in text
    assert '[[jobs]]\nid = "backup"\ndescription = "Nightly"\ncron = "30 2 * * *"\n' in text
    assert call("check").out == "foliot.toml: 1 job, 1 schedule, no errors\n"


def test_only_the_owner_can_read_the_configuration(call: Call, elsewhere: Path) -> None:
    (elsewhere / "old").write_text(LINES)

    call("import", "crontab", "old", "-o", "new.toml")

    assert (elsewhere / "new.toml").stat().st_mode & 0o777 == 0o600


def test_an_existing_file_is_overwritten_only_by_force(call: Call, elsewhere: Path) -> None:
    (elsewhere / "old").write_text(LINES)
    (elsewhere / "new.toml").write_text("mine")

    refused = call("import", "crontab", "old", "-o", "new.toml")

    hint = "  Name another file, or overwrite it with --force.\n"
    assert (refused.code, refused.err) == (1, f"error: new.toml already exists\n{hint}")
    assert (elsewhere / "new.toml").read_text() == "mine"
    assert call("import", "crontab", "old", "-o", "new.toml", "--force").code == 0
    assert "[[jobs]]" in (elsewhere / "new.toml").read_text()


def test_standard_input_is_read(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(LINES.encode())))

    code, out, err = call("import", "crontab", "-")

    assert (code, err) == (0, "1 job from standard input\n")
    assert 'command = "/usr/local/bin/backup"' in out


def test_lines_that_are_left_out_are_reported_and_give_exit_code_1(call: Call, elsewhere: Path) -> None:
    (elsewhere / "old").write_bytes(b"MAILTO=ops\n0 0 31 2 * never\n* * * * * caf\xe9\n@daily ok")

    code, out, err = call("import", "crontab", "old")

    assert code == 1
    assert err.splitlines()[::2] == [
        "old:1: warning: output is not mailed: Foliot keeps it",
        "old:2: error: the expression never matches: no month has such a day",
        "old:3: error: the line contains characters that are not UTF-8 text",
        "1 job from old, 2 lines left out",
    ]
    assert "# 0 0 31 2 * never\n" in out


@pytest.mark.usefixtures("program")
def test_without_arguments_the_crontab_of_this_account_is_read(call: Call) -> None:
    assert 'command = "echo -l"\n' in f"{call('import', 'crontab').out}\n"


@pytest.mark.usefixtures("program")
def test_the_crontab_of_another_account_runs_as_that_account(call: Call) -> None:
    code, out, err = call("import", "crontab", "--user", "nobody-here")

    assert 'command = "echo -l -u nobody-here"\nuser = "nobody-here"' in out
    assert "account 'nobody-here' does not exist on this machine" in err
    assert code == 0


def test_without_the_program_the_file_in_the_spool_is_read(call: Call, machine: Path) -> None:
    spool = machine / "var/spool/cron/crontabs"
    spool.mkdir(parents=True)
    (spool / current_account()).write_text(LINES)

    assert 'id = "backup"' in call("import", "crontab").out


def test_a_missing_crontab_is_an_error_with_a_hint(call: Call, elsewhere: Path) -> None:
    nothing = call("import", "crontab")
    absent = call("import", "crontab", "absent")

    assert (nothing.code, absent.code) == (1, 1)
    assert "could not be read: crontab could not be started" in nothing.err
    assert absent.err.startswith("error: absent could not be read: no such file or directory\n")


def test_a_refusal_of_the_program_is_shown(call: Call, elsewhere: Path) -> None:
    script(elsewhere / "bin/crontab")
    (elsewhere / "bin/crontab").write_text("#!/bin/sh\necho 'no crontab for you' >&2; exit 1\n")

    assert "could not be read: no crontab for you\n" in call("import", "crontab").err


def test_the_crontabs_of_the_system_are_read_with_their_scripts(call: Call, machine: Path) -> None:
    (machine / "etc/crontab").write_text("25 6 * * * root cd / && run-parts --report /etc/cron.daily\n")
    (machine / "etc/cron.d/tool").write_text("A=1\n@hourly root tool\n")
    (machine / "etc/cron.d/tool.dpkg-old").write_text("@hourly root old-tool\n")
    (machine / "etc/cron.d/.placeholder").write_text("")
    script(machine / "etc/cron.daily/rotate")
    script(machine / "etc/cron.daily/clean")
    script(machine / "etc/cron.daily/notes.txt")
    script(machine / "etc/cron.daily/disabled", 0o644)
    script(machine / "etc/cron.weekly/orphan")

    code, out, err = call("import", "crontab", "--system")

    ids = [line for line in out.splitlines() if line.startswith("id = ")]
    assert code == 0
    assert ids == ['id = "cron-daily-clean"', 'id = "cron-daily-rotate"', 'id = "tool"']
    assert out.count('user = "root"') == 3
    assert f"{machine}/etc/cron.d/tool.dpkg-old is skipped" in err
    assert f"no line starts the scripts in {machine}/etc/cron.weekly\n" in err
    assert err.endswith(f"3 jobs from {machine}/etc/crontab, {machine}/etc/cron.d/tool\n")


def test_a_machine_without_system_crontabs_is_an_error(call: Call, machine: Path) -> None:
    assert call("import", "crontab", "--system").code == 1


def test_a_file_is_a_system_crontab_by_its_place_or_by_option(call: Call, machine: Path, elsewhere: Path) -> None:
    for file in (machine / "etc/crontab", machine / "etc/cron.d/tool", elsewhere / "copy"):
        file.write_text("@hourly root tool\n")

    for arguments in ([f"{machine}/etc/crontab"], [f"{machine}/etc/cron.d/tool"], ["--system", "copy"]):
        assert 'command = "tool"\nuser = "root"' in call("import", "crontab", *arguments).out


def test_user_and_system_are_mutually_exclusive(call: Call) -> None:
    assert call("import", "crontab", "--system", "--user", "root").code == 2


def test_the_time_zone_may_be_given(call: Call, elsewhere: Path) -> None:
    (elsewhere / "old").write_text(LINES)

    assert 'timezone = "Asia/Tokyo"' in call("import", "crontab", "old", "--timezone", "Asia/Tokyo").out
    assert call("import", "crontab", "old", "--tz", "Mars/Olympus").code == 2


def test_the_time_zone_is_that_of_the_machine(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert machine_timezone() == "Europe/Berlin"

    (machine / "etc/localtime").symlink_to("/usr/share/zoneinfo/Asia/Tokyo")
    assert machine_timezone() == "Asia/Tokyo"

    (machine / "etc/localtime").unlink()
    (machine / "etc/timezone").unlink()
    monkeypatch.setenv("TZ", ":/usr/share/zoneinfo/posix/America/Lima")
    assert machine_timezone() == "America/Lima"


def test_a_time_zone_without_a_name_is_reported(
    call: Call, machine: Path, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (machine / "etc/timezone").unlink()
    monkeypatch.setenv("TZ", "CET-1CEST")
    (elsewhere / "old").write_text(LINES)

    code, out, err = call("import", "crontab", "old")

    assert (code, 'timezone = "UTC"' in out) == (0, True)
    assert err.startswith("warning: the time zone of this machine has no known name: UTC is used\n")


def test_an_imported_job_runs_in_the_environment_of_cron(call: Call, elsewhere: Path) -> None:
    lines = f"A='b c'\nHOME={elsewhere}\n@daily echo $A 5\\% $PATH $SHELL; pwd; cat%one%two\n"
    (elsewhere / "old").write_text(lines)
    call("import", "crontab", "old", "-o", "foliot.toml")
    call("reload")

    with working(elsewhere):
        assert call("trigger", "echo-a", "--wait").code == 0

    assert call("logs", "@last").out == f"b c 5% /usr/bin:/bin /bin/sh\n{elsewhere}\none\ntwo\n"
