"""Limits of a shell attempt."""

import resource
import signal
import subprocess
from pathlib import Path

import pytest

from foliot.adapters.runners.process.children.exit_watch import outcome_of
from foliot.adapters.runners.process.limits import rlimits
from foliot.domain.job.kinds.process import ProcessLimits
from foliot.domain.run.outcome import Failure, Reason, Success
from tests.adapters.runners.attempts import ListLog, living, only_root, output_of, run, survive_fork_bomb, unique
from tests.cases import for_each

MIB = 1 << 20
QUIET = "daemon"
"""A user without other processes, which would count towards the limit."""
SPINNING = "while :; do :; done"


async def limits_of(name: str, **spec: object) -> list[str]:
    """Return soft and hard limit as a job sees them."""
    seen = await output_of(None, argv=["grep", name, "/proc/self/limits"], **spec)
    return seen.decode().removeprefix(name).split()[:2]


@pytest.mark.proves("Z45")
@pytest.mark.parametrize(
    ("limits", "name", "expected"),
    [
        ({"memory": 64 * MIB}, "Max address space", ["67108864", "67108864"]),
        ({"cpu_sec": 5}, "Max cpu time", ["5", "6"]),
        ({"files": 32}, "Max open files", ["32", "32"]),
        ({"processes": 50}, "Max processes", ["50", "50"]),
        ({"file_size": 1000}, "Max file size", ["1024", "1024"]),
        ({"core": 4096}, "Max core file size", ["4096", "4096"]),
    ],
)
@pytest.mark.parametrize("way", [{}, {"working_dir": "/"}, {"umask": 0o77}], ids=str)
async def test_a_limit_applies_to_a_command_and_its_children(
    limits: dict[str, int], name: str, expected: list[str], way: dict[str, object]
) -> None:
    assert await limits_of(name, limits=limits, **way) == expected


@pytest.mark.proves("Z45")
async def test_core_dumps_are_off_by_default_even_if_the_worker_has_them() -> None:
    before = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (before[1], before[1]))
    try:
        seen = [(await limits_of("Max core file size", **spec))[0] for spec in ({}, {"limits": {"files": 64}})]
        assert resource.getrlimit(resource.RLIMIT_CORE) == (before[1], before[1])
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, before)

    assert seen == ["0", "0"]


async def test_starting_a_command_with_limits_does_not_change_the_worker() -> None:
    before = [resource.getrlimit(kind) for kind in range(16)]

    await run("true", limits={"memory": 64 * MIB, "cpu_sec": 5, "files": 32, "processes": 50, "file_size": 1000})

    assert [resource.getrlimit(kind) for kind in range(16)] == before


async def test_set_limits_limits_a_waiting_process() -> None:
    process = subprocess.Popen(["sleep", "600"])  # noqa: ASYNC220 - short

    rlimits.set_limits(process.pid, ProcessLimits(files=32, processes=50, cpu_sec=7), but={"pids"})

    seen = [resource.prlimit(process.pid, kind) for kind in (resource.RLIMIT_NOFILE, resource.RLIMIT_CPU)]
    assert seen == [(32, 32), (7, 8)]
    assert resource.prlimit(process.pid, resource.RLIMIT_NPROC) == resource.getrlimit(resource.RLIMIT_NPROC)
    process.kill()
    process.wait()


async def test_a_limit_is_never_higher_than_that_of_the_worker() -> None:
    highest = resource.getrlimit(resource.RLIMIT_NOFILE)[1]

    assert await limits_of("Max open files", limits={"files": highest + 1}) == [str(highest)] * 2


@pytest.mark.proves("Z45")
async def test_allocating_more_than_the_memory_limit_fails() -> None:
    outcome = await run("dd if=/dev/zero of=/dev/null bs=256M count=1", limits={"memory": 64 * MIB})

    assert isinstance(outcome, Failure)
    assert outcome.reason is Reason.EXIT_CODE


@pytest.mark.proves("Z45")
@pytest.mark.parametrize("command", [SPINNING, f"sh -c '{SPINNING}'; exit $?"])
async def test_exceeding_the_limit_of_processor_time_ends_a_process(command: str) -> None:
    outcome = await run(command, limits={"cpu_sec": 1})

    assert outcome == Failure("used up its 1 s of processor time", Reason.LIMIT_CPU, 128 + signal.SIGXCPU)


@pytest.mark.proves("Z45")
async def test_a_process_that_ignores_xcpu_is_killed_a_second_later() -> None:
    outcome = await run(f"trap '' XCPU; {SPINNING}", limits={"cpu_sec": 1})

    assert outcome == Failure("killed by SIGKILL", Reason.SIGNAL, 137)


@pytest.mark.proves("Z45")
async def test_writing_beyond_the_file_size_limit_fails_the_run(tmp_path: Path) -> None:
    outcome = await run(f"exec head -c 1000000 /dev/zero > {tmp_path}/file", limits={"file_size": 4096})

    expected = Failure("wrote a file of more than its 4096 bytes", Reason.LIMIT_FILE_SIZE, 128 + signal.SIGXFSZ)
    assert outcome == expected
    assert (tmp_path / "file").stat().st_size == 4096


@pytest.mark.proves("Z45")
async def test_opening_more_files_than_the_limit_fails() -> None:
    many = "".join(f"exec {number}</dev/null; " for number in (3, 4, 5, 6, 7, 8, 9))

    assert isinstance(await run(many, limits={"files": 8}), Failure)
    assert isinstance(await run(many, limits={"files": 64}), Success)


@only_root
@pytest.mark.proves("Z45", "E1")
async def test_a_fork_bomb_is_stopped_by_its_limit_and_ended_with_its_run() -> None:
    word = unique()

    assert await survive_fork_bomb(word, user=QUIET) <= 20

    assert living(word) == []


@only_root
async def test_the_log_warns_of_a_limit_on_processes_without_effect() -> None:
    log, quiet = ListLog(), ListLog()

    await run("true", limits={"processes": 20}, log=log)
    await run("true", limits={"processes": 20}, user=QUIET, log=quiet)

    assert b"the limit on processes has no effect for root: set a user for the job" in log.text("meta")
    assert b"does not bind" not in quiet.text("meta")


async def test_limits_do_not_change_the_environment() -> None:
    async def variables(limits: dict[str, int]) -> list[bytes]:
        env = {"COLOUR": "blue", "EMPTY": "", "LINES": "a\nb", "QUOTE": "'"}
        return sorted((await output_of(argv=["env", "-0"], run_id="run-1", env=env, limits=limits)).split(b"\0"))

    assert await variables({"files": 64}) == await variables({})


async def test_stdin_of_a_program_with_limits_is_empty() -> None:
    assert await output_of("cat; readlink /proc/self/fd/0", limits={"files": 64}) == b"/dev/null\n"


async def test_a_program_with_limits_gets_its_arguments_unchanged() -> None:
    words = ["printf", "%s|", "$HOME", "a b", "*", "", "-n", "'\n"]

    assert await output_of(argv=words, limits={"files": 64}) == b"$HOME|a b|*||-n|'\n|"


@pytest.mark.parametrize(
    ("spec", "code"),
    [
        ({"argv": ["no-such-program"]}, 127),
        ({"argv": ["/no/such/program"]}, 127),
        ({"argv": ["./program"], "working_dir": "/"}, 127),
        ({"argv": ["true"], "working_dir": "/no/such/place"}, 127),
        ({"argv": ["/etc/passwd"]}, 126),
        ({"argv": ["/etc"]}, 126),
    ],
    ids=str,
)
async def test_start_errors_are_the_same_with_limits(spec: dict[str, object], code: int) -> None:
    plain, limited = await run(None, **spec), await run(None, **spec, limits={"files": 64})

    assert limited == plain
    assert isinstance(limited, Failure)
    assert (limited.reason, limited.exit_code) == (Reason.LAUNCH_FAILED, code)


@pytest.mark.parametrize("name", ["the.colour", "größe"])
async def test_a_variable_that_the_shell_would_drop_is_refused_by_name(name: str) -> None:
    outcome = await run(argv=["true"], env={name: "blue"}, limits={"files": 64})

    assert isinstance(outcome, Failure)
    assert f"the variable {name!a} cannot be passed to a job with limits" in outcome.error
    assert not outcome.retryable


@for_each("code", range(1, 256))
def test_without_limits_exit_codes_have_no_limit_reason(code: int) -> None:
    assert outcome_of(code << 8) == Failure(f"exit code {code}", Reason.EXIT_CODE, code)


@for_each("signum", sorted(signal.valid_signals()))
def test_without_limits_signals_have_no_limit_reason(signum: int) -> None:
    outcome = outcome_of(signum)

    assert isinstance(outcome, Failure)
    assert outcome.error.startswith("killed by ")
    assert (outcome.reason, outcome.exit_code) == (Reason.SIGNAL, 128 + signum)


@pytest.mark.parametrize("status", [9, 1 << 8, 137 << 8])
def test_a_failed_tree_that_ran_out_of_memory_has_reason_limit_memory(status: int) -> None:
    outcome = outcome_of(status, ProcessLimits(memory=MIB), is_out_of_memory=True)

    assert isinstance(outcome, Failure)
    assert (outcome.error, outcome.reason) == ("used more than its 1048576 bytes of memory", Reason.LIMIT_MEMORY)


def test_a_command_that_succeeds_after_an_out_of_memory_kill_is_a_success() -> None:
    assert outcome_of(0, ProcessLimits(memory=MIB), is_out_of_memory=True) == Success(exit_code=0)
