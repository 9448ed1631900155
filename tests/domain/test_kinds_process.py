"""The fields of jobs that run as a process, and what is refused."""

import pytest

from foliot.domain.job.kinds import check_spec
from foliot.errors import InvalidJob
from tests.cases import for_each


@for_each(
    "field",
    [
        {"env": {"": "x"}},
        {"env": {"A=B": "x"}},
        {"env": {"A\0B": "x"}},
        {"env": {"A": "x\0"}},
        {"working_dir": "/tmp\0"},
        {"working_dir": ""},
        {"user": ""},
        {"user": 0},
        {"umask": -1},
        {"umask": 0o1000},
        {"stdin": b"bytes"},
        {"grace": -1},
        {"grace": 301},
        {"output_cap": -1},
        {"output_cap": 1 << 63},
        {"output": "xml"},
        {"output": True},
        {"limits": {"memory": 1000}},
        {"limits": {"memory": 1 << 63}},
        {"limits": {"cpu_sec": 0}},
        {"limits": {"cpu_sec": 1.5}},
        {"limits": {"files": 7}},
        {"limits": {"processes": 0}},
        {"limits": {"file_size": -1}},
        {"limits": {"core": -1}},
        {"limits": {"colour": 1}},
    ],
)
@for_each(("kind", "words"), [("shell", {"command": "true"}), ("agent", {"prompt": "hello"})])
def test_invalid_process_fields_are_refused(kind: str, words: dict[str, object], field: dict[str, object]) -> None:
    with pytest.raises(InvalidJob):
        check_spec(kind, {**words, **field})


def test_all_fields_of_a_process_can_be_combined() -> None:
    limits = {"memory": 1 << 30, "cpu_sec": 60, "files": 64, "processes": 10, "file_size": 0, "core": 1024}
    process = {"env": {"A": "b"}, "working_dir": "/", "stdin": "", "user": "me", "umask": 0o77, "limits": limits}

    check_spec("shell", {"argv": ["true"], "grace": 0, "output_cap": 0, "output": "file", **process})
    check_spec("agent", {"prompt": "hello", "cli": ["other", "--flag"], "prompt_args": [], "output": "json", **process})


@pytest.mark.parametrize("spec", [{"call": "shop.tasks:report"}, {"handler": "report"}], ids=str)
@pytest.mark.parametrize("mode", ["none", "json"])
def test_a_python_job_cannot_have_an_output_mode(spec: dict[str, object], mode: str) -> None:
    with pytest.raises(InvalidJob, match="unknown field `output`"):
        check_spec("python", {**spec, "output": mode})


@pytest.mark.parametrize("args", [{"model": 7}, {"bare": "yes"}, {"extra_args": "--one"}, {"model": ""}], ids=str)
def test_an_argument_of_another_type_is_refused(args: dict[str, object]) -> None:
    with pytest.raises(InvalidJob, match="not a valid agent job"):
        check_spec("agent", {"prompt": "hello", **args})


def test_an_empty_prompt_is_refused() -> None:
    with pytest.raises(InvalidJob):
        check_spec("agent", {"prompt": ""})


@pytest.mark.parametrize("words", [{"command": "echo a\0b"}, {"argv": ["echo", "a\0b"]}], ids=str)
def test_a_command_with_a_nul_character_is_refused(words: dict[str, object]) -> None:
    with pytest.raises(InvalidJob, match="contains a NUL character"):
        check_spec("shell", words)


def test_stdin_may_contain_nul_characters() -> None:
    check_spec("shell", {"command": "cat", "stdin": "a\0b"})


@pytest.mark.parametrize("command", ["", " \n"], ids=repr)
def test_an_empty_command_is_refused(command: str) -> None:
    with pytest.raises(InvalidJob, match="`command` is empty"):
        check_spec("shell", {"command": command})
