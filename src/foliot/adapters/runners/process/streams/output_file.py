"""The file into which a command writes its output: private, new for each attempt, removed after it.

    /tmp/foliot-RUN-ATTEMPT-RANDOM/     0700    the job's user may replace the file, and the directory as well
        output.json                     0600    $FOLIOT_OUTPUT

So paths cannot be trusted once the job runs. Files are read and removed relative to a descriptor of the original
directory, and checked before they are read.
"""

import errno
import logging
import os
import shutil
import stat
import tempfile
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Final

from foliot.adapters.runners.process.spawn.account import Account
from foliot.adapters.runners.process.spawn.environment import AttemptKey
from foliot.domain.run.output import check_size, read_output
from foliot.domain.run.payload import MAX_BYTES
from foliot.errors import InvalidRun

VARIABLE: Final = "FOLIOT_OUTPUT"

_NAME: Final = "output.json"
# Refuses a link, and does not block on a pipe or on a file with a lease.
_SAFE_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
_NOT_REGULAR: Final = frozenset({errno.ELOOP, errno.ENXIO})
"""Errors from opening a link or a socket."""

log = logging.getLogger(__name__)


class OutputFile:
    """The output file of one attempt: created by the worker, written by the job, read after the job has ended."""

    def __init__(self, directory: Path, account: Account | None) -> None:
        self._directory = directory
        self._owner = None if account is None or account.is_ours else account
        self._handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        self.path = str(directory / _NAME)

    @classmethod
    def make(cls, key: AttemptKey, account: Account | None) -> "OutputFile":
        """Create the file for an attempt and its user. Raises OSError."""
        directory = Path(tempfile.mkdtemp(prefix=f"{_prefix(key)}-"))
        try:
            output_file = cls(directory, account)
        except BaseException:
            directory.rmdir()
            raise
        try:
            output_file._create()
        except BaseException:
            output_file.remove()
            raise
        return output_file

    def read(self) -> bytes | None:
        """Return the output; None if there is none. Raises InvalidRun if the file cannot be the output."""
        try:
            file = os.open(_NAME, _SAFE_READ, dir_fd=self._handle)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _not_regular() if error.errno in _NOT_REGULAR else _unreadable(error) from None
        try:
            self._check(os.fstat(file))
            data = _read(file)
        except OSError as error:
            raise _unreadable(error) from None
        finally:
            os.close(file)
        return read_output("file", data) if data else None

    def remove(self) -> None:
        """Remove the file and its directory. To be called once; a failure is logged."""
        try:
            with suppress(FileNotFoundError):  # a process that is still alive may remove files too
                self._empty()
            with suppress(FileNotFoundError):
                self._directory.rmdir()
        except (OSError, RecursionError) as error:
            log.warning("output_file_not_removed", extra={"path": str(self._directory), "error": str(error)})
        finally:
            os.close(self._handle)

    def _create(self) -> None:
        file = os.open(_NAME, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=self._handle)
        try:
            if self._owner is not None:
                os.fchown(file, self._owner.uid, self._owner.gid)
                os.fchown(self._handle, self._owner.uid, self._owner.gid)
        finally:
            os.close(file)

    def _check(self, found: os.stat_result) -> None:
        if not stat.S_ISREG(found.st_mode):
            raise _not_regular()
        # It may be a hard link to a file that the user may not read.
        if self._owner is not None and found.st_uid != self._owner.uid:
            raise _refusal("belongs to another user")
        check_size(found.st_size)

    def _empty(self) -> None:
        os.fchmod(self._handle, stat.S_IRWXU)
        with os.scandir(self._handle) as entries:
            for entry in entries:
                if _is_directory(entry):
                    shutil.rmtree(entry.name, dir_fd=self._handle)
                else:
                    os.unlink(entry.name, dir_fd=self._handle)


def sweep_output_files(attempts: Collection[AttemptKey]) -> None:
    """Remove output files that a killed worker left of these attempts. Call this after their processes have ended."""
    known = {_prefix(key) for key in attempts}
    try:
        with os.scandir(tempfile.gettempdir()) as entries:
            left = [entry.path for entry in entries if _prefix_in(entry.name) in known and _is_directory(entry)]
    except OSError as error:
        log.warning("output_files_not_swept", extra={"error": str(error)})
        return
    for path in left:
        try:
            shutil.rmtree(path)
        except (OSError, RecursionError) as error:
            log.warning("output_file_not_removed", extra={"path": path, "error": str(error)})


def _prefix(key: AttemptKey) -> str:
    return f"foliot-{key.run_id}-{key.attempt}"


def _prefix_in(name: str) -> str:
    return name.rpartition("-")[0]


def _is_directory(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False)


def _read(file: int) -> bytes:
    """Read the whole file, up to the limit: a process may still write to it."""
    data = bytearray()
    while piece := os.read(file, MAX_BYTES + 1):
        data += piece
        check_size(len(data))
    return bytes(data)


def _not_regular() -> InvalidRun:
    return _refusal("is not a regular file")


def _unreadable(error: OSError) -> InvalidRun:
    return _refusal(f"could not be read: {(error.strerror or str(error)).lower()}")


def _refusal(why: str) -> InvalidRun:
    hint = f"Write the output to the file that ${VARIABLE} names, or move a finished file there."
    return InvalidRun(f"the output file {why}", hint=hint, field="output")
