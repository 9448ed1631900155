"""What a remote worker makes of answers that Foliot has not written: of a proxy, or of another program."""

from foliot.adapters.work_http.connection import Connection
from foliot.adapters.work_http.server import Server
from foliot.adapters.work_http.work import HttpWork
from foliot.domain.instant import SECOND, Millis
from foliot.errors import FoliotError, RequestRefused, StorageUnavailable
from foliot.testing.builders import a_worker
from tests.client.scripted import Reply, ScriptedServer

PROXY = "Check the address, and that a proxy in between passes /api/workers on."
CASES = (
    (
        Reply(308, None, {"Location": "https://foliot.example/jobs/api/workers/register"}),
        RequestRefused,
        "the server redirects to another address",
        "Use that address: https://foliot.example/jobs",
    ),
    (
        Reply(302, None, {"Location": "/login"}),
        RequestRefused,
        "the answer has status 302 and was not written by Foliot",
        PROXY,
    ),
    (Reply(404, "?"), RequestRefused, "the answer has status 404 and was not written by Foliot", PROXY),
    (Reply(502, "?"), StorageUnavailable, "the answer has status 502 and was not written by Foliot", PROXY),
    (
        Reply(204, None),
        StorageUnavailable,
        "the answer of the server is empty",
        "Check the address, and that foliot serve runs there.",
    ),
)


async def error_of_registering(reply: Reply) -> FoliotError:
    async with ScriptedServer() as server:
        server.replies = [reply]
        work = HttpWork(Connection(Server(url=server.url)))
        try:
            await work.register(a_worker(), Millis(60 * SECOND))
        except FoliotError as error:
            return error
        finally:
            await work.close()
    raise AssertionError("it was registered")


async def test_an_answer_of_another_program_says_what_to_check() -> None:
    found = [await error_of_registering(reply) for reply, *_ in CASES]

    assert [(type(one), one.message, one.hint) for one in found] == [tuple(case[1:]) for case in CASES]
