"""Temporary files are created in memory if possible."""

import os
from pathlib import Path

import pytest

from foliot.testing.memory import directory_in_memory


def test_a_memory_directory_with_room_is_used(tmp_path: Path) -> None:
    assert directory_in_memory(tmp_path, room=1) == tmp_path


def test_a_directory_that_is_too_small_is_not_used(tmp_path: Path) -> None:
    assert directory_in_memory(tmp_path, room=1 << 60) is None


def test_a_missing_memory_directory_is_not_used(tmp_path: Path) -> None:
    assert directory_in_memory(tmp_path / "memory", room=1) is None


def test_a_memory_directory_without_execution_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = os.statvfs(tmp_path)
    without = os.statvfs_result((*found[:8], found.f_flag | os.ST_NOEXEC, found.f_namemax))
    monkeypatch.setattr("os.statvfs", lambda _: without)

    assert directory_in_memory(tmp_path, room=1) is None
