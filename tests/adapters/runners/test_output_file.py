"""The output file that a command writes."""

import asyncio
import errno
import os
import pwd
import shutil
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from foliot.adapters.runners.process.spawn.account import find_account
from foliot.adapters.runners.process.spawn.environment import AttemptKey
from foliot.adapters.runners.process.streams.output_file import OutputFile
from foliot.adapters.runners.shell import sweep_processes
from foliot.domain.ids import RunId
from foliot.domain.run.outcome import Failure, Reason, Success
from foliot.domain.run.payload import MAX_BYTES
from foliot.errors import InvalidRun
from tests.adapters.runners.attempts import ListLog, living, only_root, open_descriptors, output_of, run, unique, until
from tests.adapters.runners.test_output_printed import FULL, refused

OTHER = "nobody"
KEY = AttemptKey("a-run", 1)


@pytest.fixture(autouse=True)
def temp(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a directory for temporary files, with the usual permissions. It must be empty after each test."""
    tmp_path_factory.getbasetemp()  # created before the temporary directory changes
    # On the disk of `tmp_path`: a directory cannot be moved to another disk, only copied.
    place = Path(tempfile.mkdtemp(dir=os.environ.get("PYTEST_DEBUG_TEMPROOT")))
    place.chmod(0o1777)
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    yield place
    left = names_in(place)
    shutil.rmtree(place)
    assert left == []


def names_in(place: Path) -> list[str]:
    return [entry.name for entry in place.iterdir()]


@pytest.fixture
def output_file() -> Iterator[OutputFile]:
    made = OutputFile.make(KEY, None)
    yield made
    made.remove()


async def test_json_in_the_output_file_becomes_the_output() -> None:
    outcome = await run("""echo noise; echo '{"rows": [1, 2]}' > "$FOLIOT_OUTPUT" """, output="file")

    assert outcome == Success(b'{"rows":[1,2]}', 0)


@pytest.mark.parametrize("mode", ["none", "text", "json"])
async def test_jobs_without_output_file_have_no_variable_for_it(mode: str) -> None:
    assert await output_of("echo ${FOLIOT_OUTPUT-1}", output=mode) == b"1\n"


async def test_a_job_cannot_change_the_variable_of_the_output_file() -> None:
    assert await run("echo 1 > $FOLIOT_OUTPUT", output="file", env={"FOLIOT_OUTPUT": "/x"}) == Success(b"1", 0)


async def test_the_output_file_works_with_limits_and_a_working_directory() -> None:
    outcome = await run("echo 1 > $FOLIOT_OUTPUT", output="file", limits={"files": 64}, working_dir="/", umask=0o77)

    assert outcome == Success(b"1", 0)


@pytest.mark.parametrize("command", ["true", "rm $FOLIOT_OUTPUT", 'rm -r "$(dirname "$FOLIOT_OUTPUT")"'])
async def test_an_empty_or_deleted_output_file_is_no_output(command: str) -> None:
    assert await run(command, output="file") == Success(None, 0)


async def test_a_finished_file_can_be_moved_to_the_output_file() -> None:
    assert await run("echo 1 > $FOLIOT_OUTPUT.new; mv $FOLIOT_OUTPUT.new $FOLIOT_OUTPUT", output="file") == Success(
        b"1", 0
    )


async def test_a_grandchild_in_another_session_may_write_the_output_file() -> None:
    outcome = await run("setsid sh -c 'echo 1 > $FOLIOT_OUTPUT' & wait", output="file")

    assert outcome == Success(b"1", 0)


async def test_the_output_file_is_read_after_all_processes_have_ended() -> None:
    word = unique()
    command = f"setsid -f sh -c 'trap \"\" TERM; echo 1 > $FOLIOT_OUTPUT; touch $FOLIOT_OUTPUT.go; sleep {word}'"

    outcome = await run(f"{command}; until test -e $FOLIOT_OUTPUT.go; do sleep 0.01; done", output="file", grace=0)

    assert (outcome, living(word)) == (Success(b"1", 0), [])


@pytest.mark.proves("Z46")
async def test_only_the_worker_user_may_access_output_file_and_directory() -> None:
    before = os.umask(0)
    try:
        seen = await output_of('stat -c "%a %u %s" "$FOLIOT_OUTPUT" "$(dirname "$FOLIOT_OUTPUT")"', output="file")
    finally:
        os.umask(before)

    file, directory = (line.split() for line in seen.decode().splitlines())
    assert (file, directory[:2]) == (["600", str(os.geteuid()), "0"], ["700", str(os.geteuid())])


@only_root
@pytest.mark.proves("Z44", "Z46")
async def test_the_user_of_the_job_owns_output_file_and_directory() -> None:
    log = ListLog()
    command = 'stat -c "%a %U" "$FOLIOT_OUTPUT" "$(dirname "$FOLIOT_OUTPUT")"; echo 1 > "$FOLIOT_OUTPUT"'

    outcome = await run(command, output="file", user=OTHER, log=log)

    assert outcome == Success(b"1", 0)
    assert log.text("stdout").decode().splitlines() == [f"600 {OTHER}", f"700 {OTHER}"]


@pytest.mark.proves("Z46")
async def test_each_attempt_has_an_unpredictable_output_directory() -> None:
    run_id = unique()
    seen = [await output_of("echo $FOLIOT_OUTPUT", output="file", run_id=run_id, number=number) for number in (1, 1, 2)]

    assert len(set(seen)) == 3


@pytest.mark.proves("Z46")
async def test_an_existing_output_directory_is_never_reused(temp: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = iter(["taken", "linked", "free"])
    monkeypatch.setattr(tempfile, "_get_candidate_names", lambda: names)
    (temp / "foliot-a-run-1-taken").mkdir()
    (temp / "foliot-a-run-1-linked").symlink_to(temp / "elsewhere")

    seen = await output_of("echo $FOLIOT_OUTPUT", output="file", run_id="a-run")

    assert seen.decode() == f"{temp}/foliot-a-run-1-free/output.json\n"
    (temp / "foliot-a-run-1-taken").rmdir()
    (temp / "foliot-a-run-1-linked").unlink()


async def test_an_output_file_of_one_mebibyte_is_accepted() -> None:
    outcome = await run(f"({FULL.format(size=MAX_BYTES - 2)}) > $FOLIOT_OUTPUT", output="file")

    assert isinstance(outcome, Success)
    assert len(outcome.output or b"") == MAX_BYTES


@pytest.mark.proves("R1-52")
@pytest.mark.parametrize(
    ("command", "size"),
    [(f"({FULL.format(size=MAX_BYTES - 1)}) > $FOLIOT_OUTPUT", 1048577), ("truncate -s 1T $FOLIOT_OUTPUT", 1 << 40)],
    ids=["one", "many"],
)
async def test_an_output_file_over_one_mebibyte_is_refused_without_reading(command: str, size: int) -> None:
    assert f"{size} bytes, more than 1048576" in refused(await run(command, output="file"))


async def test_an_output_file_that_is_not_json_is_refused_with_the_position() -> None:
    assert "expecting value at line 1, column 5" in refused(
        await run("echo '[1, oops]' > $FOLIOT_OUTPUT", output="file")
    )


@pytest.mark.proves("Z46")
@pytest.mark.parametrize(
    "trick",
    [
        "ln -s /etc/passwd $FOLIOT_OUTPUT",
        "ln -s $FOLIOT_OUTPUT $FOLIOT_OUTPUT",
        "mkfifo $FOLIOT_OUTPUT",
        "mkdir $FOLIOT_OUTPUT; touch $FOLIOT_OUTPUT/x",
        """python3 -c 'import os, socket; socket.socket(socket.AF_UNIX).bind(os.environ["FOLIOT_OUTPUT"])'""",
    ],
    ids=["link", "loop", "fifo", "directory", "socket"],
)
async def test_an_output_file_that_is_not_a_regular_file_is_refused(trick: str) -> None:
    error = refused(await run(f"cd $(dirname $FOLIOT_OUTPUT); rm $FOLIOT_OUTPUT; {trick}", output="file"))

    assert error.startswith("the output file is not a regular file\n  Write the output to the file")


@only_root
@pytest.mark.proves("Z46")
async def test_a_device_as_output_file_is_refused() -> None:
    assert "not a regular file" in refused(
        await run("rm $FOLIOT_OUTPUT; mknod $FOLIOT_OUTPUT c 1 5 || mkfifo $FOLIOT_OUTPUT", output="file")
    )


@pytest.mark.proves("Z46")
async def test_a_link_in_place_of_the_output_directory_is_not_followed(temp: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "output.json").write_text('"secret"')

    moved = f"d=$(dirname $FOLIOT_OUTPUT); echo 1 > $FOLIOT_OUTPUT; mv $d {tmp_path}/moved; ln -s {secret} $d"
    outcome = await run(moved, output="file")

    assert outcome == Success(b"1", 0)
    assert (secret / "output.json").read_text() == '"secret"'
    assert names_in(tmp_path / "moved") == []
    (temp / names_in(temp)[0]).unlink()


@only_root
@pytest.mark.proves("Z46")
def test_a_hard_link_to_a_file_of_another_user_is_refused(temp: Path) -> None:
    secret = temp / "secret"
    secret.write_text('"secret"')
    output_file = OutputFile.make(KEY, find_account(OTHER))
    Path(output_file.path).unlink()
    os.link(secret, output_file.path)
    secret.unlink()
    try:
        with pytest.raises(InvalidRun, match="the output file belongs to another user"):
            output_file.read()
    finally:
        output_file.remove()


@pytest.mark.skipif(os.geteuid() != 0, reason="takes rights away from itself")
def test_an_unreadable_output_file_is_refused(temp: Path) -> None:
    os.seteuid(pwd.getpwnam(OTHER).pw_uid)
    try:
        output_file = OutputFile.make(KEY, None)
        Path(output_file.path).chmod(0)
        with pytest.raises(InvalidRun, match="could not be read: permission denied"):
            output_file.read()
        output_file.remove()
    finally:
        os.seteuid(0)


def test_a_growing_output_file_is_read_up_to_the_limit(
    output_file: OutputFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.truncate(output_file.path, 16 * MAX_BYTES)
    real = os.fstat
    monkeypatch.setattr(os, "fstat", lambda file: os.stat_result((*real(file)[:6], 0, *real(file)[7:])))

    with pytest.raises(InvalidRun, match="has 1048577 bytes, more than 1048576"):
        output_file.read()


@pytest.mark.parametrize(
    "left",
    [
        "touch $d/more $d/.hidden; ln -s /etc/passwd $d/link",
        "mkdir -p $d/a/b; touch $d/a/b/c; ln -s / $d/a/root",
        "chmod 0 $d",
        "touch $d/x; chmod 500 $d",
    ],
)
async def test_all_files_in_the_output_directory_are_removed(left: str) -> None:
    assert isinstance(await run(f"d=$(dirname $FOLIOT_OUTPUT); {left}", output="file"), Success)


@pytest.mark.skipif(os.geteuid() != 0, reason="takes rights away from itself")
def test_an_output_directory_without_permissions_is_removed(temp: Path) -> None:
    os.seteuid(pwd.getpwnam(OTHER).pw_uid)
    try:
        output_file = OutputFile.make(KEY, None)
        Path(output_file.path).parent.chmod(0o500)
        output_file.remove()
    finally:
        os.seteuid(0)

    assert names_in(temp) == []


@pytest.mark.parametrize("command", ["exit 1", "kill -9 $$", "/no/such/program"])
async def test_no_output_file_is_left_after_a_failed_command(command: str) -> None:
    assert isinstance(await run(f"echo 1 > $FOLIOT_OUTPUT; {command}", output="file"), Failure)


async def test_no_output_file_is_left_if_the_program_is_missing(temp: Path) -> None:
    outcome = await run(argv=["/no/such/program"], output="file")

    assert isinstance(outcome, Failure)
    assert (outcome.reason, names_in(temp)) == (Reason.LAUNCH_FAILED, [])


@pytest.mark.parametrize("times", [1, 2])
async def test_no_output_file_is_left_after_a_cancelled_command(temp: Path, times: int) -> None:
    word, descriptors = unique(), open_descriptors()
    running = asyncio.create_task(run(f"echo 1 > $FOLIOT_OUTPUT; sleep {word}", output="file"))
    await until(lambda: living(f"sleep\0{word}"))

    for _ in range(times):
        running.cancel()
        await asyncio.sleep(0)

    with pytest.raises(asyncio.CancelledError):
        await running
    assert (names_in(temp), living(word)) == ([], [])
    assert open_descriptors() <= descriptors


async def test_a_cancellation_during_the_removal_is_raised_after_it(
    temp: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on, remove = threading.Event(), threading.Event(), OutputFile.remove

    def remove_later(output_file: OutputFile) -> None:
        begun.set()
        go_on.wait(20)
        remove(output_file)

    monkeypatch.setattr(OutputFile, "remove", remove_later)
    running = asyncio.create_task(run("true", output="file"))
    await until(begun.is_set)

    running.cancel()
    await asyncio.sleep(0)
    go_on.set()

    with pytest.raises(asyncio.CancelledError):
        await running
    assert names_in(temp) == []


async def test_removing_the_output_file_closes_its_descriptor() -> None:
    await run("true", output="file")
    before = open_descriptors()

    await run("echo 1 > $FOLIOT_OUTPUT", output="file")

    assert open_descriptors() == before


async def test_an_attempt_whose_output_file_cannot_be_created_is_retryable(
    temp: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(temp / "missing"))

    outcome = await run("true", output="file")

    assert outcome == Failure(
        "could not create the output file: no such file or directory", Reason.LAUNCH_FAILED, retryable=True
    )


@pytest.mark.parametrize("wanting", ["the directory", "the file"])
def test_no_output_directory_is_left_if_descriptors_run_out(
    temp: Path, monkeypatch: pytest.MonkeyPatch, wanting: str
) -> None:
    """The start is retried every second."""
    real, before = os.open, open_descriptors()

    def open_some(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if (dir_fd is None) == (wanting == "the directory"):
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return real(path, flags, mode, dir_fd=dir_fd)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", open_some)
        with pytest.raises(OSError, match="Too many open files"):
            OutputFile.make(KEY, None)

    assert names_in(temp) == []
    assert open_descriptors() == before


async def test_a_job_may_remove_its_output_directory(caplog: pytest.LogCaptureFixture) -> None:
    assert await run('rm -r "$(dirname "$FOLIOT_OUTPUT")"', output="file") == Success(None, 0)

    assert caplog.records == []


def test_removing_an_output_directory_tolerates_concurrent_removal(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    output_file, real = OutputFile.make(KEY, None), os.unlink

    def unlink_second(name: str, *, dir_fd: int) -> None:
        real(name, dir_fd=dir_fd)
        real(name, dir_fd=dir_fd)

    with monkeypatch.context() as patch:
        patch.setattr(os, "unlink", unlink_second)
        output_file.remove()

    assert caplog.records == []


async def test_an_output_directory_that_cannot_be_removed_is_logged(
    temp: Path, caplog: pytest.LogCaptureFixture
) -> None:
    another = "d=$(dirname $FOLIOT_OUTPUT); rm -r $d; mkdir $d; touch $d/not-ours"

    outcome = await run(another, output="file")

    assert outcome == Success(None, 0)
    assert [record.message for record in caplog.records] == ["output_file_not_removed"]
    shutil.rmtree(temp / names_in(temp)[0])


async def test_a_directory_tree_too_deep_to_remove_is_logged(temp: Path, caplog: pytest.LogCaptureFixture) -> None:
    deep = "cd $(dirname $FOLIOT_OUTPUT); n=0; while [ $n -lt 1200 ]; do mkdir x; cd x; n=$((n+1)); done"

    outcome = await run(deep, output="file")

    assert outcome == Success(None, 0)
    left = names_in(temp)  # how deep a tree Python can remove depends on its version
    assert [record.message for record in caplog.records] == ["output_file_not_removed"] * len(left)
    await run(f"rm -rf {temp}/*")


async def test_a_sweep_removes_output_files_of_a_killed_worker(temp: Path, caplog: pytest.LogCaptureFixture) -> None:
    lost, *others = (
        OutputFile.make(key, None) for key in (AttemptKey("lost", 2), AttemptKey("lost", 1), AttemptKey("lost-2", 1))
    )
    (temp / "foliot-lost-2-link").symlink_to(temp)

    await sweep_processes([(RunId("lost"), 2)])

    assert set(names_in(temp)) == {*(Path(other.path).parent.name for other in others), "foliot-lost-2-link"}
    assert caplog.records == []
    (temp / "foliot-lost-2-link").unlink()
    for output_file in (lost, *others):
        output_file.remove()


@pytest.mark.parametrize("error", [PermissionError(13, "Permission denied"), RecursionError("too deep")], ids=repr)
async def test_a_sweep_continues_after_a_directory_that_it_cannot_remove(
    temp: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    lost, real = [OutputFile.make(AttemptKey("lost", number), None) for number in (1, 2)], shutil.rmtree
    refused: list[str] = []

    def refuse_the_first(path: str) -> None:
        if not refused:
            refused.append(path)
            raise error
        real(path)

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", refuse_the_first)
        await sweep_processes([(RunId("lost"), 1), (RunId("lost"), 2)])

    assert [str(temp / name) for name in names_in(temp)] == refused
    assert [record.message for record in caplog.records] == ["output_file_not_removed"]
    for output_file in lost:
        output_file.remove()


async def test_a_sweep_logs_a_temporary_directory_that_it_cannot_read(
    temp: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(temp / "missing"))

    await sweep_processes([(RunId("lost"), 2)])

    assert [record.message for record in caplog.records] == ["output_files_not_swept"]
