"""The user of a shell attempt."""

import asyncio
import grp
import os
import pwd
import stat
from pathlib import Path

import pytest

from foliot.adapters.runners.process.children import subreaper
from foliot.domain.run.outcome import Failure, Reason, Success
from tests.adapters.runners.attempts import ListLog, living, only_root, output_of, run, unique, until, zombies

OTHER = "nobody"


async def status_of(**spec: object) -> dict[str, list[str]]:
    """Return /proc/self/status of a job."""
    seen = await output_of(None, argv=["cat", "/proc/self/status"], **spec)
    return {name: rest.split() for name, _, rest in (line.partition(":") for line in seen.decode().splitlines())}


@only_root
@pytest.mark.proves("Z44")
@pytest.mark.parametrize("way", [{}, {"limits": {"files": 64}}, {"working_dir": "/"}], ids=str)
async def test_real_effective_saved_and_file_ids_are_those_of_the_user(way: dict[str, object]) -> None:
    entry = pwd.getpwnam(OTHER)

    status = await status_of(user=OTHER, **way)

    assert status["Uid"] == [str(entry.pw_uid)] * 4
    assert status["Gid"] == [str(entry.pw_gid)] * 4


@only_root
@pytest.mark.proves("Z44")
async def test_groups_are_those_of_a_login_and_not_those_of_the_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = pwd.getpwnam(OTHER)
    extra = max(group.gr_gid for group in grp.getgrall() if group.gr_gid != entry.pw_gid)
    monkeypatch.setattr(os, "getgrouplist", lambda name, gid: [gid, extra] if name == OTHER else [])

    status = await status_of(user=OTHER)

    assert sorted(map(int, status["Groups"])) == sorted([entry.pw_gid, extra])


@only_root
@pytest.mark.proves("Z44")
@pytest.mark.parametrize("user", [OTHER, "root"])
async def test_a_command_with_a_user_cannot_gain_privileges(user: str) -> None:
    assert (await status_of(user=user))["NoNewPrivs"] == ["1"]


async def test_a_command_without_a_user_may_gain_privileges() -> None:
    assert (await status_of())["NoNewPrivs"] == ["0"]


@only_root
@pytest.mark.proves("Z44")
async def test_variables_describe_the_user_and_the_job_may_override_them() -> None:
    entry = pwd.getpwnam(OTHER)

    seen = await output_of('echo "$HOME $USER $LOGNAME $SHELL"', user=OTHER, env={"LOGNAME": "me"})

    assert seen.decode().split() == [entry.pw_dir, OTHER, "me", entry.pw_shell]


@only_root
async def test_a_command_with_a_user_may_reopen_its_streams() -> None:
    assert await output_of("cat /dev/stdin > /dev/stdout", user=OTHER, stdin="hello") == b"hello"


@only_root
@pytest.mark.proves("E1", "E2")
async def test_processes_of_another_user_are_ended() -> None:
    word = unique()

    assert await run(f"setsid -f sleep {word}; sleep {word} &", user=OTHER) == Success(exit_code=0)

    assert (living(word), zombies()) == ([], [])


@only_root
async def test_the_tag_of_a_run_can_be_read_for_processes_of_another_user() -> None:
    word, reaper = unique(), subreaper.subreaper()
    running = asyncio.create_task(run(f"env -i setsid -f sleep {word}; exec sleep {word}", user=OTHER))
    await until(lambda: len(living(f"sleep\0{word}")) == 2)

    seen = {reaper._tags.read(pid) for pid in living(f"sleep\0{word}")}

    assert seen == {head.tag for head in reaper._heads.values()}
    running.cancel()
    await asyncio.wait([running])


@pytest.mark.proves("Z44")
@pytest.mark.parametrize("name", ["no-such-user", "0", "65534", "a\0b", "x" * 500])
async def test_a_missing_user_is_refused_without_retry(name: str) -> None:
    outcome = await run("true", user=name)

    assert isinstance(outcome, Failure)
    assert (outcome.reason, outcome.retryable) == (Reason.LAUNCH_FAILED, False)
    assert "does not exist on this machine. Use the name of an account" in outcome.error


@pytest.mark.proves("Z44")
async def test_another_account_with_the_user_id_of_root_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    toor = pwd.struct_passwd(("toor", "x", 0, 0, "", "/root", "/bin/sh"))
    monkeypatch.setattr(pwd, "getpwnam", lambda _: toor)

    outcome = await run("true", user="toor")

    assert isinstance(outcome, Failure)
    assert "has the user id of root" in outcome.error


@pytest.mark.proves("Z44")
async def test_a_worker_without_root_refuses_other_users(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: pwd.getpwnam(OTHER).pw_uid)

    outcome = await run("true", user="root")

    assert isinstance(outcome, Failure)
    assert (outcome.reason, outcome.retryable) == (Reason.LAUNCH_FAILED, False)
    assert outcome.error.startswith('the worker cannot run jobs as user "root". Run the worker as root')


async def test_the_user_of_the_worker_needs_no_root() -> None:
    own = pwd.getpwuid(os.geteuid()).pw_name

    assert await output_of("id -un", user=own) == f"{own}\n".encode()


@only_root
async def test_a_program_that_the_user_may_not_execute_is_exit_code_126(tmp_path: Path) -> None:
    script = tmp_path / "secret"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o700)

    outcome = await run(argv=[str(script)], user=OTHER)

    assert isinstance(outcome, Failure)
    assert outcome.exit_code == 126


@pytest.mark.proves("E3")
@pytest.mark.parametrize(("umask", "mode"), [(0o077, 0o600), (0o022, 0o644), (0, 0o666)])
async def test_files_are_created_with_the_umask_of_the_job(tmp_path: Path, umask: int, mode: int) -> None:
    before = os.umask(0o027)
    try:
        await run(f"touch {tmp_path}/file", umask=umask)
        await run(f"touch {tmp_path}/other")
    finally:
        os.umask(before)

    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == mode
    assert stat.S_IMODE((tmp_path / "other").stat().st_mode) == 0o640


@only_root
async def test_the_log_shows_only_the_command_of_a_job_with_a_user() -> None:
    log = ListLog()

    await run("true", user=OTHER, log=log)

    assert log.written == [("meta", b"$ true\n")]
