"""Patterns of includes match what glob matches, if all directories can be listed."""

import glob
from pathlib import Path

import pytest

from foliot.config.files import matches

TREE = [
    "a.toml",
    "b.toml",
    ".hidden.toml",
    "jobs.d/c.toml",
    "jobs.d/.x/d.toml",
    "jobs.d/deep/e.toml",
    "jobs.d/deep/f.txt",
]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in TREE:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "link").symlink_to("jobs.d")
    (tmp_path / "broken.toml").symlink_to("nowhere")
    return tmp_path


@pytest.mark.parametrize(
    "pattern",
    [
        "a.toml", "*.toml", "?.toml", "[ab].toml", ".*.toml", "nowhere.toml", "nowhere/*.toml", "a.toml/*.toml",
        "jobs.d/*.toml", "*/*.toml", "*/deep/*.toml", "**/*.toml", "jobs.d/**/*.toml", "**/deep/e.toml",
        "jobs.d/../*.toml", "link/*.toml", "jobs.d/.x/*.toml", "*.d/*",
    ],
)  # fmt: skip
def test_a_pattern_matches_what_glob_matches(tree: Path, pattern: str) -> None:
    expected = sorted(set(glob.glob(pattern, root_dir=tree, recursive=True)))  # noqa: PTH207 - the one to compare with

    assert matches(pattern, tree) == expected
    assert matches(f"{tree}/{pattern}", Path("/")) == [f"{tree}/{name}" for name in expected]


def test_a_link_to_a_parent_directory_is_not_followed(tree: Path) -> None:
    (tree / "jobs.d/deep/up").symlink_to("..")

    assert matches("jobs.d/**/*.toml", tree) == ["jobs.d/c.toml", "jobs.d/deep/e.toml"]


def test_two_stars_match_all_files_below_a_directory(tree: Path) -> None:
    assert matches("jobs.d/**", tree) == ["jobs.d/c.toml", "jobs.d/deep", "jobs.d/deep/e.toml", "jobs.d/deep/f.txt"]


def test_a_directory_that_cannot_be_listed_raises_an_error(tree: Path) -> None:
    (tree / "loop").symlink_to("loop")

    with pytest.raises(OSError, match="Too many levels of symbolic links"):
        matches("loop/*.toml", tree)
