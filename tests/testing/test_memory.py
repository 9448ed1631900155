"""Files that nobody will miss are made in memory, where that is possible."""

import os
from pathlib import Path

import pytest

from foliot.testing.memory import directory_in_memory


def test_a_directory_with_room_is_taken(tmp_path: Path) -> None:
    assert directory_in_memory(tmp_path, room=1) == tmp_path


def test_one_that_is_too_small_is_not(tmp_path: Path) -> None:
    assert directory_in_memory(tmp_path, room=1 << 60) is None


def test_nor_is_one_that_does_not_exist(tmp_path: Path) -> None:
    assert directory_in_memory(tmp_path / "memory", room=1) is None


def test_nor_one_in_which_no_program_may_be_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = os.statvfs(tmp_path)
    without = os.statvfs_result((*found[:8], found.f_flag | os.ST_NOEXEC, found.f_namemax))
    monkeypatch.setattr("os.statvfs", lambda _: without)

    assert directory_in_memory(tmp_path, room=1) is None
