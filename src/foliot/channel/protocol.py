"""The run channel: how a process of a job sends requests to its worker.

    job --> {"version":1,"token":"42.q3...","type":"progress","fraction":0.4,"text":"page 12"}
        <-- {"version":1,"ok":true}                                          or
        <-- {"version":1,"ok":false,"code":"token","error":"...","hint":"..."}

The worker listens on a Unix socket. Both sides send JSON, one object in each line, of at most `MAX_LINE` bytes in a
request; each request gets one answer, in order. docs/design/run-channel.md has the reasons.
"""

from typing import Final

VERSION: Final = 1

PATH_VARIABLE: Final = "FOLIOT_CHANNEL"
"""The path of the socket."""
URL_VARIABLE: Final = "FOLIOT_RUN_URL"
"""The address of the HTTP API, which answers the same requests at `HTTP_PATH` with the token as a bearer token."""
HTTP_PATH: Final = "/api/run-channel"
TOKEN_VARIABLE: Final = "FOLIOT_RUN_TOKEN"  # noqa: S105 - the name of a variable
"""Gives access to one attempt, while it runs."""

MAX_LINE: Final = 16_384
"""How many bytes a request has at most."""
MAX_ANSWER: Final = 8 * 1024 * 1024
"""How many bytes an answer has at most: a page of results has one output of up to 1 MiB, or several smaller ones."""

MALFORMED: Final = "malformed"
"""The code of a request that is not a JSON object in one line."""
WRONG_VERSION: Final = "version"
WRONG_TOKEN: Final = "token"  # noqa: S105 - a code
WRONG_TYPE: Final = "type"
INVALID: Final = "invalid"
"""The code of a request with a field that the caller can correct."""
FAILED: Final = "failed"
"""The code of a request that the worker could not carry out."""
