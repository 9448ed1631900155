"""The main file and its includes."""

import errno
import os
from pathlib import Path

import pytest

from foliot.config import files, load
from foliot.testing.clock import START
from tests.config.conftest import Good, Loader


def a_job(job_id: str) -> str:
    return f'[[jobs]]\nid = "{job_id}"\ncommand = "true"\n'


INCLUDE = 'include = ["jobs.d/*.toml"]\n'


def test_included_files_are_read_in_order(good: Good, tmp_path: Path) -> None:
    configuration = good(
        INCLUDE + a_job("main"), {"jobs.d/b.toml": a_job("b"), "jobs.d/a.toml": a_job("a"), "jobs.d/c.txt": "?"}
    )

    assert list(configuration.declared.jobs) == ["main", "a", "b"]
    assert configuration.files == tuple(tmp_path / name for name in ("foliot.toml", "jobs.d/a.toml", "jobs.d/b.toml"))
    assert configuration.watched == (tmp_path, tmp_path / "jobs.d")


def test_a_directory_without_files_is_watched(loaded: Loader, tmp_path: Path) -> None:
    (tmp_path / "jobs.d").mkdir()

    configuration = loaded(INCLUDE).configuration

    assert configuration is not None
    assert configuration.watched == (tmp_path, tmp_path / "jobs.d")


def test_a_missing_directory_is_watched(loaded: Loader, tmp_path: Path) -> None:
    configuration = loaded(INCLUDE).configuration

    assert configuration is not None
    assert configuration.watched == (tmp_path, tmp_path / "jobs.d")


def test_the_directories_of_a_pattern_are_watched_as_a_pattern(loaded: Loader, tmp_path: Path) -> None:
    configuration = loaded('include = ["jobs.d/**/*.toml", "*/jobs.toml"]').configuration

    assert configuration is not None
    assert set(configuration.watched) == {tmp_path, tmp_path / "jobs.d/**", tmp_path / "*"}


def test_empty_files_are_listed(good: Good, tmp_path: Path) -> None:
    included = {"jobs.d/a.toml": " \n\t\n", "jobs.d/b.toml": "# nothing\n", "jobs.d/c.toml": "\ufeff"}

    assert good(INCLUDE, included).blank == (tmp_path / "jobs.d/a.toml", tmp_path / "jobs.d/c.toml")
    assert good("").blank == (tmp_path / "foliot.toml",)


def test_included_files_may_include(good: Good) -> None:
    declared = good(
        'include = ["a/a.toml"]', {"a/a.toml": 'include = ["b/*.toml"]\n' + a_job("a"), "a/b/b.toml": a_job("b")}
    ).declared

    assert list(declared.jobs) == ["a", "b"]


def test_files_that_include_each_other_are_read_once(good: Good) -> None:
    declared = good(
        'include = ["*.toml", "foliot.toml", "a.toml"]\n' + a_job("main"),
        {"a.toml": 'include = ["foliot.toml"]\n' + a_job("a")},
    ).declared

    assert list(declared.jobs) == ["main", "a"]


def test_links_are_followed(good: Good, tmp_path: Path) -> None:
    (tmp_path / "jobs.d").mkdir()
    (tmp_path / "real").write_text(a_job("a"))
    (tmp_path / "jobs.d/a.toml").symlink_to(tmp_path / "real")

    assert list(good(INCLUDE).declared.jobs) == ["a"]


def test_temporary_files_of_editors_are_not_read(good: Good) -> None:
    assert list(good(INCLUDE, {"jobs.d/.#a.toml": "?", "jobs.d/a.toml": a_job("a")}).declared.jobs) == ["a"]


def test_a_pattern_without_files_is_a_warning_and_a_missing_file_an_error(loaded: Loader) -> None:
    [warning] = loaded(INCLUDE).problems
    [error] = loaded('include = [\n"jobs.toml"]').problems

    assert (warning.severity, warning.line, warning.message) == ("warning", 1, "'jobs.d/*.toml' matches no file")
    assert (error.severity, error.line, error.message) == ("error", 2, "file 'jobs.toml' does not exist")


def test_a_job_defined_in_two_files_is_reported_with_both_places(loaded: Loader, tmp_path: Path) -> None:
    [error] = loaded(INCLUDE + a_job("a"), {"jobs.d/x.toml": "\n" + a_job("a")}).errors

    assert (error.file, error.line) == (str(tmp_path / "jobs.d/x.toml"), 3)
    assert f"{tmp_path / 'foliot.toml'}:3" in error.hint


def test_a_section_in_an_included_file_is_refused(loaded: Loader) -> None:
    [error] = loaded(INCLUDE, {"jobs.d/a.toml": "[defaults]\nqueue = 'x'"}).errors

    assert error.message == "[defaults] belongs into the main file"


def test_relative_directories_are_relative_to_their_file(good: Good, tmp_path: Path) -> None:
    [job] = good(INCLUDE, {"jobs.d/a.toml": a_job("a") + "working_dir = 'x'"}).declared.jobs.values()

    assert job.spec["working_dir"] == str(tmp_path / "jobs.d/x")


# -- unreadable files


def test_a_missing_file_is_a_problem(tmp_path: Path) -> None:
    loaded = load(tmp_path / "nowhere.toml", {}, START)

    assert loaded.configuration is None
    assert loaded.problems[0].hint == "Write one with: foliot init"


def test_a_pipe_or_a_device_is_not_opened(loaded: Loader, tmp_path: Path) -> None:
    (tmp_path / "jobs.d").mkdir()
    os.mkfifo(tmp_path / "jobs.d/a.toml")
    (tmp_path / "jobs.d/b.toml").symlink_to("/dev/zero")
    (tmp_path / "jobs.d/c.toml").mkdir()

    errors = loaded(INCLUDE).errors

    assert [error.message.partition("jobs.d/")[2] for error in errors] == [
        f"{name}.toml' is not a regular file" for name in "abc"
    ]


def test_the_size_of_a_file_is_limited(loaded: Loader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_BYTES", 100)

    assert "has more than 100 bytes" in loaded("#" * 101).errors[0].message
    assert loaded("#" * 100).problems == ()


def test_the_number_of_included_files_is_limited(loaded: Loader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_FILES", 3)

    [error] = loaded(INCLUDE, {f"jobs.d/{number}.toml": "" for number in range(4)}).errors

    assert error.message == "too many files include each other"


def test_the_depth_of_includes_is_limited(loaded: Loader) -> None:
    files = {f"{number}.toml": f'include = ["{number + 1}.toml"]' for number in range(400)}

    [error] = loaded('include = ["0.toml"]', files).errors

    assert error.message == "too many files include each other"


def test_a_file_that_cannot_be_read_is_a_problem(loaded: Loader, tmp_path: Path) -> None:
    (tmp_path / "jobs.d").mkdir()
    (tmp_path / "jobs.d/a.toml").symlink_to("a.toml")

    [error] = loaded(INCLUDE).errors

    assert (error.line, error.message.partition("could not be ")[2]) == (1, "read: Too many levels of symbolic links")


def test_a_directory_that_cannot_be_listed_is_an_error(loaded: Loader, tmp_path: Path) -> None:
    """Otherwise the jobs defined there would be deleted."""
    (tmp_path / "jobs.d").symlink_to("jobs.d")

    [error] = loaded(INCLUDE).errors

    assert error.message.endswith("jobs.d' could not be read: Too many levels of symbolic links")
    assert error.hint == "Give this user the right to list it, or leave it out of include."


@pytest.mark.parametrize("call", ["open", "listdir"])
def test_running_out_of_descriptors_is_not_a_problem_of_the_files(
    loaded: Loader, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    def none_left(*_: object) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(os, call, none_left)

    with pytest.raises(OSError, match="Too many open files"):
        loaded(INCLUDE)


def test_a_broken_link_is_a_problem(loaded: Loader, tmp_path: Path) -> None:
    (tmp_path / "jobs.d").mkdir()
    (tmp_path / "jobs.d/a.toml").symlink_to("nowhere")

    [error] = loaded(INCLUDE).errors

    assert "does not exist" in error.message


# -- invalid TOML


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a = 1\nb = \n", 2, "invalid value"),
        ("a = 1\na = 2", 2, "cannot overwrite a value"),
        ('x = """\n\n', 3, "unterminated string"),
        ("a = " + "[" * 5_000, 1, "lists or tables are nested too deeply"),
        ("a = " + "[" * 201 + "]" * 201, 1, "lists or tables are nested too deeply"),
        ("a." * 5_000 + "a = 1", 1, "lists or tables are nested too deeply"),
        ("\nd = 2026-02-30", 2, ""),
    ],
)
def test_a_syntax_error_is_reported_with_its_line(loaded: Loader, text: str, line: int, message: str) -> None:
    [error] = loaded(text).errors

    assert error.line == line
    assert error.message.startswith(message)


@pytest.mark.parametrize("digits", ["9" * 5_000, "9_" * 5_000 + "9"])
def test_a_number_with_too_many_digits_is_reported_with_its_line(loaded: Loader, digits: str) -> None:
    [error] = loaded(f"# {'9' * 100}\na = 1\nb = {digits}").errors

    assert (error.line, error.message) == (3, "a number has more than 4300 digits")
    assert error.hint == "Write it shorter, or in quotes if it is text."


def test_a_syntax_error_in_one_file_does_not_hide_problems_of_another(loaded: Loader) -> None:
    errors = loaded(INCLUDE, {"jobs.d/a.toml": "=", "jobs.d/b.toml": "[[jobs]]\nid = 5"}).errors

    assert len(errors) == 3


def test_invalid_utf8_is_reported_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_bytes(b"# ok\n# \xff\n")

    [error] = load(tmp_path / "x.toml", {}, START).errors

    assert error.message.endswith("is not UTF-8 in line 2")


def test_a_byte_order_mark_is_accepted(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_bytes(b"\xef\xbb\xbf[server]\nconcurrency = 3\n")

    configuration = load(tmp_path / "x.toml", {}, START).configuration

    assert configuration is not None
    assert configuration.server.slots == 3
