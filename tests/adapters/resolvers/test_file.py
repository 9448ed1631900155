"""file:// reads regular files inside the allowed directories, and nothing else."""

import errno
import os
import socket
from pathlib import Path

import pytest

from foliot.adapters.resolvers import file as module
from foliot.adapters.resolvers.file import FileResolver
from foliot.domain.fanout.item import BASE64
from foliot.errors import InputsRefused, InputsUnavailable, InvalidInput
from tests.adapters.resolvers.resolving import a_request, documents, items, values

ANY = FileResolver()


@pytest.mark.proves("R0-45")
async def test_lines_are_items_without_blanks_and_comments(tmp_path: Path) -> None:
    path = tmp_path / "targets.txt"
    path.write_bytes(b"# targets\r\none\r\n\r\ntwo words\r\n$(reboot)\r\n")

    assert await items(ANY, path.as_uri()) == [b"one", b"two words", b"$(reboot)"]


async def test_bytes_are_kept(tmp_path: Path) -> None:
    (tmp_path / "raw").write_bytes(b"caf\xe9\n")

    assert await items(ANY, f"file://{tmp_path}/raw") == [b"caf\xe9"]
    assert BASE64.encode() in (await documents(ANY, f"file://{tmp_path}/raw"))[0]


async def test_the_ending_of_the_name_selects_the_format(tmp_path: Path) -> None:
    for name, data in {
        "a.json": b'["x", {"y": 1}]',
        "a.jsonl": b'"x"\n{"y": 1}\n',
        "a.NDJSON": b'"x"\n{"y":1}',
    }.items():
        (tmp_path / name).write_bytes(data)

        assert await values(ANY, f"file://{tmp_path}/{name}") == ["x", {"y": 1}]


async def test_a_name_may_have_any_characters(tmp_path: Path) -> None:
    (tmp_path / "why? 100% #1.txt").write_text("a\n")

    assert await items(ANY, f"file://{tmp_path}/why%3F 100%25 #1.txt") == [b"a"]


async def test_an_empty_file_has_no_items(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()

    assert await items(ANY, f"file://{tmp_path}/empty") == []


async def test_a_large_file_is_read_in_batches(tmp_path: Path) -> None:
    path = tmp_path / "large"
    path.write_bytes(b"".join(b"%d\n" % number for number in range(100_000)))

    found = await items(ANY, f"file://{path}")

    assert found == [b"%d" % number for number in range(100_000)]


async def test_a_missing_file_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(InputsUnavailable, match="no such file or directory") as refused:
        await items(ANY, f"file://{tmp_path}/missing")

    assert "coordinator" in refused.value.hint


async def test_a_file_without_permission_is_unavailable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "closed").touch()

    def refuse(*_: object) -> int:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(module, "_open_inside", refuse)

    with pytest.raises(InputsUnavailable, match="permission denied"):
        await items(ANY, f"file://{tmp_path}/closed")


async def test_a_directory_is_refused(tmp_path: Path) -> None:
    for uri in (f"file://{tmp_path}", "file:///"):
        with pytest.raises(InputsRefused, match="is a directory, not a file"):
            await items(ANY, uri)


async def test_a_named_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(InputsRefused, match="is a named pipe"):
        await items(ANY, f"file://{tmp_path}/pipe")


async def test_a_device_is_refused() -> None:
    with pytest.raises(InputsRefused, match="is a device"):
        await items(ANY, "file:///dev/zero")


async def test_a_socket_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the path of a socket is short
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("s")

        with pytest.raises(InputsRefused, match="is a socket"):
            await items(ANY, f"file://{tmp_path}/s")


async def test_what_becomes_a_pipe_while_it_is_opened_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").touch()
    looked = os.stat
    monkeypatch.setattr(os, "stat", lambda *_, **__: looked(tmp_path / "file"))

    with pytest.raises(InputsRefused, match="is a named pipe"):
        await items(ANY, f"file://{tmp_path}/pipe")


async def test_a_file_that_is_too_large_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "huge"
    with path.open("wb") as file:
        file.truncate(2 << 30)

    with pytest.raises(InputsRefused, match="more than 1,073,741,824 bytes"):
        await items(ANY, f"file://{path}")


# -- allowed directories


async def test_files_inside_an_allowed_directory_are_read(tmp_path: Path) -> None:
    inner = tmp_path / "lists" / "deep"
    inner.mkdir(parents=True)
    (inner / "a").write_text("x\n")
    resolver = FileResolver([tmp_path / "missing", tmp_path / "lists"])

    assert await items(resolver, f"file://{inner}/a") == [b"x"]


async def test_files_outside_are_refused(tmp_path: Path) -> None:
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists-of-others").touch()
    (tmp_path / "secret").write_text("x\n")
    resolver = FileResolver([tmp_path / "lists"])

    for path in ("secret", "lists/../secret", "lists-of-others"):
        with pytest.raises(InputsRefused, match="not in an allowed directory") as refused:
            await items(resolver, f"file://{tmp_path}/{path}")
        assert "file_roots" in refused.value.hint


async def test_without_allowed_directories_no_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x\n")

    with pytest.raises(InputsRefused, match="not in an allowed directory"):
        await items(FileResolver([]), f"file://{tmp_path}/a")


async def test_a_link_that_leads_out_is_refused_and_one_that_stays_inside_is_followed(tmp_path: Path) -> None:
    lists = tmp_path / "lists"
    (lists / "real").mkdir(parents=True)
    (lists / "real" / "a").write_text("x\n")
    (tmp_path / "secret").write_text("s\n")
    (lists / "out").symlink_to(tmp_path / "secret")
    (lists / "up").symlink_to(tmp_path)
    (lists / "inside").symlink_to("real/a")
    (lists / "loop").symlink_to("loop")
    resolver = FileResolver([lists])

    assert await items(resolver, f"file://{lists}/inside") == [b"x"]
    for name in ("out", "up/secret"):
        with pytest.raises(InputsRefused, match="not in an allowed directory"):
            await items(resolver, f"file://{lists}/{name}")
    with pytest.raises((InputsRefused, InputsUnavailable)):
        await items(resolver, f"file://{lists}/loop")


async def test_an_allowed_directory_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a").write_text("x\n")
    (tmp_path / "link").symlink_to("real")

    assert await items(FileResolver([tmp_path / "link"]), f"file://{tmp_path}/link/a") == [b"x"]


@pytest.mark.parametrize("exchanged", ["lists", "lists/a"])
async def test_a_link_that_appears_after_the_path_was_resolved_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exchanged: str
) -> None:
    """A program exchanges a directory or the file for a link between the check and the opening."""
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists" / "a").write_text("x\n")
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "a").write_text("s\n")
    opened = module._open_inside

    def exchange(path: str, root: Path, parts: tuple[str, ...]) -> int:
        (tmp_path / exchanged).rename(tmp_path / "moved")
        (tmp_path / exchanged).symlink_to(tmp_path / "secret" / ("a" if exchanged == "lists/a" else ""))
        return opened(path, root, parts)

    monkeypatch.setattr(module, "_open_inside", exchange)

    with pytest.raises((InputsRefused, InputsUnavailable)):
        await items(FileResolver([tmp_path]), f"file://{tmp_path}/lists/a")


async def test_a_file_is_closed_when_the_reader_stops_early(tmp_path: Path) -> None:
    path = tmp_path / "many"
    path.write_bytes(b"item\n" * 1_000_000)
    batches = ANY.resolve(a_request(f"file://{path}"))

    await anext(batches)
    await batches.aclose()

    assert path not in open_files()


def open_files() -> list[Path]:
    return [one.readlink() for one in Path("/proc/self/fd").iterdir() if one.exists()]


def test_a_text_that_is_no_path_is_refused_when_a_definition_is_read() -> None:
    with pytest.raises(InvalidInput):
        ANY.check("file://host/path")
