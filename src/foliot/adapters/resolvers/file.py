"""file:// reads a file on the machine of the coordinator.

The path is resolved first, and must then be inside one of the allowed directories. The file is opened from there, one
directory after the other and without following links: whatever is exchanged for a link meanwhile is refused. What was
opened must be a regular file, so that neither a device nor a named pipe is read.
"""

import asyncio
import errno
import os
import stat
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, suppress
from io import FileIO
from pathlib import Path
from typing import Final

from foliot.adapters.resolvers.batches import too_much
from foliot.adapters.resolvers.texts import JsonArray, JsonLines, Lines, TextFormat, batches_of
from foliot.adapters.resolvers.time_limit import SECONDS, limited
from foliot.domain.fanout.inputs import parse_file
from foliot.domain.fanout.item import ItemLimits
from foliot.errors import InputsRefused, InputsUnavailable
from foliot.ports.resolver import ResolveRequest

_PIECE: Final = 1 << 18
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
_DIRECTORY: Final = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
"""Linux needs no permission to list a directory on the way to a file."""
_KINDS: Final = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


class FileResolver:
    """Reads files inside `roots`. None: any file that this process can read."""

    def __init__(self, roots: Sequence[Path] | None = None, *, seconds: float = SECONDS) -> None:
        self._roots = roots
        self._seconds = seconds

    def check(self, uri: str) -> None:
        parse_file(uri)

    def resolve(self, request: ResolveRequest) -> AsyncGenerator[Sequence[bytes]]:
        path = parse_file(request.uri).path
        return limited(self._batches(path, request.limits), self._seconds)

    async def _batches(self, path: str, limits: ItemLimits) -> AsyncGenerator[Sequence[bytes]]:
        with await _in_thread(lambda: self._open(path, limits)) as file:
            async with aclosing(batches_of(_pieces(file), _format_of(path, limits))) as batches:
                async for batch in batches:
                    yield batch

    def _open(self, path: str, limits: ItemLimits) -> FileIO:
        try:
            file = FileIO(_open_inside(path, *self._place(path)))
        except OSError as error:
            raise _unreadable(path, error) from None
        try:
            _check(path, os.fstat(file.fileno()), limits)
        except BaseException:
            file.close()
            raise
        return file

    def _place(self, path: str) -> tuple[Path, tuple[str, ...]]:
        """Return the allowed directory that the file is in, and the parts of its path from there."""
        real = Path(os.path.realpath(path, strict=True))
        if self._roots is None:
            return Path("/"), real.parts[1:]
        for root in self._roots:
            with suppress(OSError, ValueError):
                base = root.resolve(strict=True)
                return base, real.relative_to(base).parts
        raise InputsRefused(
            f"the file {path!a} is not in an allowed directory",
            hint="The operator can add its directory to file_roots in [fanout]. A link must not lead out of it.",
        )


async def _in_thread(opening: Callable[[], FileIO]) -> FileIO:
    """Open a file in a thread. If this is cancelled, the file is closed as soon as it is open."""
    task = asyncio.create_task(asyncio.to_thread(opening))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        task.add_done_callback(_close)
        raise


def _close(task: asyncio.Task[FileIO]) -> None:
    if not task.cancelled() and task.exception() is None:
        task.result().close()


def _open_inside(path: str, root: Path, parts: Sequence[str]) -> int:
    """Open a file below `root` without following links."""
    descriptor = os.open(root, _DIRECTORY)
    for part in parts[:-1]:
        try:
            inner = os.open(part, _DIRECTORY, dir_fd=descriptor)
        finally:
            os.close(descriptor)
        descriptor = inner
    try:
        # Opening a device can have effects, so look first. What has been opened is checked again.
        _check_kind(path, os.stat("".join(parts[-1:]) or ".", dir_fd=descriptor, follow_symlinks=False))
        return os.open(parts[-1], _FILE, dir_fd=descriptor)
    finally:
        os.close(descriptor)


def _check(path: str, found: os.stat_result, limits: ItemLimits) -> None:
    _check_kind(path, found)
    if found.st_size > limits.total_bytes:
        raise too_much(limits)


def _check_kind(path: str, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        what = next((name for is_kind, name in _KINDS if is_kind(found.st_mode)), "not a regular file")
        raise InputsRefused(f"{path!a} is {what}, not a file", hint="Name a regular file.")


def _unreadable(path: str, error: OSError) -> InputsRefused | InputsUnavailable:
    if error.errno == errno.ELOOP:
        return InputsRefused(f"the file {path!a} was replaced by a link while it was opened", hint="Try again.")
    return InputsUnavailable(
        f"the file {path!a} could not be opened: {_reason(error)}",
        hint="It is read on the machine, and by the account, of the process with the role coordinator.",
    )


def _reason(error: OSError) -> str:
    return (error.strerror or "unknown reason").lower()


def _format_of(path: str, limits: ItemLimits) -> TextFormat:
    match Path(path).suffix.lower():
        case ".json":
            return JsonArray(limits)
        case ".jsonl" | ".ndjson":
            return JsonLines(limits)
    return Lines(limits, comments=True)


async def _pieces(file: FileIO) -> AsyncGenerator[bytes]:
    while True:
        try:
            piece = await asyncio.to_thread(file.read, _PIECE)
        except OSError as error:
            raise InputsUnavailable(f"the file could not be read: {_reason(error)}") from None
        if not piece:
            return
        yield piece
