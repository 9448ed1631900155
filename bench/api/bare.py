"""A bare Starlette application under uvicorn, with the settings of Foliot: the limit of what an API can do here.

`/run` does nothing. `/stored-run` reads a row by its key, or commits a new one, in an SQLite file that is as durable as
that of Foliot.
"""

import socket
import sys
from functools import partial
from itertools import count
from threading import Lock

import apsw
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

_ANSWER = {"id": "01ARZ3NDEKTSV4RRFFQ69G5FAV", "job_id": "noop", "status": "queued", "attempt": 0}


class Rows:
    """Runs in a table."""

    def __init__(self, path: str) -> None:
        self._reading, self._writing, self._lock = apsw.Connection(path), apsw.Connection(path), Lock()
        self._writing.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
        self._writing.execute("CREATE TABLE runs (id INTEGER PRIMARY KEY, job_id TEXT, status TEXT, attempt INTEGER)")
        self._numbers = count(1)
        self._insert()

    async def get(self, _: Request) -> JSONResponse:
        [row] = self._reading.execute("SELECT * FROM runs WHERE id = 1")
        return JSONResponse(dict(zip(_ANSWER, row, strict=True)))

    async def post(self, request: Request) -> JSONResponse:
        await request.json()
        number = await run_in_threadpool(self._insert)
        return JSONResponse({**_ANSWER, "id": number}, status_code=202)

    def _insert(self) -> int:
        with self._lock:
            number = next(self._numbers)
            self._writing.execute("INSERT INTO runs VALUES (?, 'noop', 'queued', 0)", (number,))
        return number


async def get(_: Request) -> JSONResponse:
    return JSONResponse(_ANSWER)


async def post(request: Request) -> JSONResponse:
    await request.json()
    return JSONResponse(_ANSWER, status_code=202)


def main(path: str) -> None:
    rows, posted = Rows(path), partial(Route, methods=["POST"])
    stored = "/stored-run"
    app = Starlette(
        routes=[Route("/run", get), posted("/run", post), Route(stored, rows.get), posted(stored, rows.post)]
    )
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    config = uvicorn.Config(app, http="httptools", ws="none", lifespan="off", log_config=None, access_log=False)
    uvicorn.Server(config).run([listener])


if __name__ == "__main__":
    main(sys.argv[1])
