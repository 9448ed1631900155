"""Outcomes of shell attempts."""

import errno
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from foliot.adapters.runners.process.children.exit_watch import outcome_of
from foliot.adapters.runners.process.spawn import program
from foliot.domain.run.outcome import Failure, Reason, Success
from tests.adapters.runners.attempts import open_descriptors, output_of, run


async def test_exit_code_zero_is_a_success() -> None:
    assert await run("true") == Success(exit_code=0)


@pytest.mark.parametrize("code", [1, 3, 255])
async def test_a_nonzero_exit_code_is_a_failure_that_names_it(code: int) -> None:
    assert await run(f"exit {code}") == Failure(f"exit code {code}", Reason.EXIT_CODE, code)


@pytest.mark.parametrize(("name", "code"), [("TERM", 143), ("KILL", 137), ("SEGV", 139)])
async def test_a_fatal_signal_is_a_failure_that_names_it(name: str, code: int) -> None:
    assert await run(f"kill -{name} $$") == Failure(f"killed by SIG{name}", Reason.SIGNAL, code)


async def test_a_signal_without_a_name_is_reported_by_number() -> None:
    assert await run("kill -40 $$") == Failure("killed by signal 40", Reason.SIGNAL, 168)


def test_a_missing_exit_status_is_a_failure() -> None:
    assert isinstance(outcome_of(None), Failure)


async def test_arguments_are_passed_without_a_shell() -> None:
    assert await output_of(argv=["printf", "%s|", "$HOME", "a b", "*"]) == b"$HOME|a b|*|"


async def test_a_program_is_searched_in_the_path_of_the_job(tmp_path: Path) -> None:
    a_script(tmp_path / "greet", "#!/bin/sh\necho hello\n")

    assert await output_of(argv=["greet"], env={"PATH": str(tmp_path)}) == b"hello\n"


async def test_a_program_that_was_moved_is_found_again(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    new.mkdir()
    a_script(old / "greet", "#!/bin/sh\necho hello\n")
    variables = {"PATH": f"{old}:{new}"}

    before = await output_of(argv=["greet"], env=variables)
    (old / "greet").rename(new / "greet")

    assert (before, await output_of(argv=["greet"], env=variables)) == (b"hello\n", b"hello\n")


async def test_a_program_is_searched_again_after_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "FOUND_FOR", 0.0)
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    variables = {"PATH": f"{first}:{second}"}

    a_script(second / "greet", "#!/bin/sh\necho second\n")
    before = await output_of(argv=["greet"], env=variables)
    a_script(first / "greet", "#!/bin/sh\necho first\n")

    assert (before, await output_of(argv=["greet"], env=variables)) == (b"second\n", b"first\n")


async def test_a_missing_program_is_exit_code_127() -> None:
    outcome = await run(argv=["no-such-program"])

    assert outcome == Failure("could not start 'no-such-program': command not found", Reason.LAUNCH_FAILED, 127)


async def test_a_missing_path_is_exit_code_127() -> None:
    outcome = await run(argv=["/no/such/program"])

    assert isinstance(outcome, Failure)
    assert (outcome.exit_code, outcome.reason) == (127, Reason.LAUNCH_FAILED)


async def test_a_file_that_is_not_executable_is_exit_code_126(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello")

    outcome = await run(argv=[str(tmp_path / "text")])

    assert isinstance(outcome, Failure)
    assert (outcome.exit_code, outcome.reason) == (126, Reason.LAUNCH_FAILED)


async def test_a_file_of_no_executable_format_is_exit_code_126(tmp_path: Path) -> None:
    a_script(tmp_path / "odd", "echo no first line that names a shell\n")

    outcome = await run(argv=[str(tmp_path / "odd")])

    assert isinstance(outcome, Failure)
    assert outcome.exit_code == 126


async def test_a_command_that_the_shell_cannot_find_is_exit_code_127() -> None:
    assert await run("no-such-command") == Failure("exit code 127", Reason.EXIT_CODE, 127)


@pytest.mark.proves("E3")
async def test_a_command_starts_in_its_working_directory(tmp_path: Path) -> None:
    assert await output_of("pwd", working_dir=str(tmp_path)) == f"{tmp_path}\n".encode()


async def test_a_relative_program_is_found_from_the_working_directory(tmp_path: Path) -> None:
    a_script(tmp_path / "greet", "#!/bin/sh\necho hello\n")

    assert await output_of(argv=["./greet"], working_dir=str(tmp_path)) == b"hello\n"


async def test_a_missing_program_in_a_working_directory_is_exit_code_127(tmp_path: Path) -> None:
    outcome = await run(argv=["./greet"], working_dir=str(tmp_path))

    assert outcome == Failure(
        "could not start './greet': no such file or directory", Reason.LAUNCH_FAILED, exit_code=127
    )


async def test_a_missing_working_directory_is_exit_code_127() -> None:
    outcome = await run("true", working_dir="/no/such/place")

    assert isinstance(outcome, Failure)
    assert (outcome.exit_code, outcome.reason) == (127, Reason.LAUNCH_FAILED)
    assert "working directory '/no/such/place'" in outcome.error


async def test_a_working_directory_that_is_a_file_is_exit_code_127(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    outcome = await run("true", working_dir=str(tmp_path / "file"))

    assert isinstance(outcome, Failure)
    assert outcome.exit_code == 127


@pytest.mark.parametrize(
    "given",
    [
        {"command": "echo \0"},
        {"argv": ["echo", "\0"]},
        {"command": "true", "working_dir": "/tmp\0"},
        {"command": "true", "env": {"NAME": "a\0b"}},
        {"command": "true", "env": {"NA\0ME": "a"}},
        {"command": "true", "environment": {"ITEM": "a\0b"}},
        {"command": "true", "env": {"NA=ME": "a"}},
        {"command": "true", "env": {"": "a"}},
        {"command": "true", "env": {"NAME": "\ud800"}},
    ],
)
async def test_arguments_that_no_process_can_have_are_refused_without_retry(given: dict[str, Any]) -> None:
    outcome = await run(**given)

    assert isinstance(outcome, Failure)
    assert (outcome.reason, outcome.retryable) == (Reason.LAUNCH_FAILED, False)


async def test_the_error_names_the_invalid_variable() -> None:
    outcome = await run("true", env={"NAME": "a\0b"})

    assert isinstance(outcome, Failure)
    assert outcome.error == "cannot start: the variable 'NAME' contains a NUL byte"


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"command": "true", "argv": ["true"]},
        {"argv": []},
        {"argv": "true"},
        {"command": 7},
        {"command": "true", "env": {"NAME": 7}},
        {"command": "true", "grace": -1},
        {"command": "true", "working_dir": ""},
        {"command": "true", "output_cap": -1},
        {"command": "true", "comand": "false"},
    ],
)
async def test_an_invalid_shell_job_is_not_retried(spec: dict[str, Any]) -> None:
    outcome = await run(**spec)

    assert isinstance(outcome, Failure)
    assert outcome.error.startswith("not a valid shell job: ")
    assert (outcome.reason, outcome.retryable) == (Reason.LAUNCH_FAILED, False)


@pytest.mark.parametrize("payload", [object(), float("nan"), {"set": {1}}])
async def test_a_payload_that_is_not_json_is_refused_without_retry(payload: object) -> None:
    outcome = await run("true", payload=payload)

    assert isinstance(outcome, Failure)
    assert (outcome.reason, outcome.retryable) == (Reason.PAYLOAD, False)


async def test_a_payload_too_long_for_the_system_is_refused_without_retry() -> None:
    outcome = await run("true", payload="x" * 4_000_000)

    assert isinstance(outcome, Failure)
    assert "too long" in outcome.error
    assert not outcome.retryable


@pytest.mark.parametrize("number", [errno.EAGAIN, errno.ENOMEM])
async def test_a_start_that_fails_for_lack_of_processes_or_memory_is_retryable(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "posix_spawn", refuse)

    outcome = await run("true")

    assert isinstance(outcome, Failure)
    assert (outcome.reason, outcome.retryable, outcome.exit_code) == (Reason.LAUNCH_FAILED, True, None)


@pytest.mark.parametrize("free", range(7))
async def test_a_start_that_fails_for_lack_of_descriptors_is_retryable_and_leaks_none(free: int) -> None:
    await run(argv=["/bin/true"])
    before = open_descriptors()
    with only_free_descriptors(free):
        outcome = await run(argv=["/bin/true"])

    if isinstance(outcome, Failure):
        assert (outcome.reason, outcome.retryable) == (Reason.LAUNCH_FAILED, True)
    assert isinstance(outcome, Success) == (free >= 4)
    assert open_descriptors() == before


@contextmanager
def only_free_descriptors(count: int) -> Iterator[None]:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, limits[1]))
    taken = []
    try:
        with suppress(OSError):
            while True:
                taken.append(os.open(os.devnull, os.O_RDONLY))
        for _ in range(count):
            os.close(taken.pop())
        yield
    finally:
        for descriptor in taken:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def a_script(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)
