"""foliot alert test, and what status and doctor say about notifications that failed."""

import asyncio
import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from foliot.ports.deliveries import DeliveryResult, DeliveryState, NewDelivery
from foliot.wiring.services import open_services
from tests.interfaces.conftest import Call


class Receiver(ThreadingHTTPServer):
    def __init__(self) -> None:
        self.got: list[dict[str, Any]] = []
        self.status = 200
        super().__init__(("127.0.0.1", 0), _Handler)

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_port}{path}"


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.got.append({"path": self.path, "id": self.headers["webhook-id"], **json.loads(body)})
        self.send_response(self.server.status)
        self.end_headers()
        self.wfile.write(b"thanks")

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as running:
        thread = Thread(target=running.serve_forever)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def config(receiver: Receiver, elsewhere: Path) -> Path:
    path = elsewhere / "foliot.toml"
    job = f'[[jobs]]\nid = "own"\ncommand = "x"\nwebhook_url = "{receiver.url("/own/hunter2")}"'
    path.write_text(f'[notifications]\nwebhook_url = "{receiver.url("/all/hunter2")}"\n{job}\n')
    return path


@pytest.mark.usefixtures("config")
def test_a_test_message_is_sent_and_the_answer_is_printed_without_the_url(call: Call, receiver: Receiver) -> None:
    sent = call("alert", "test")

    assert sent.code == 0
    assert f"http://127.0.0.1:{receiver.server_port}/***  yes       200 OK: thanks" in sent.out
    assert "hunter2" not in sent.out + sent.err
    [message] = receiver.got
    assert (message["path"], message["type"]) == ("/all/hunter2", "test")


@pytest.mark.usefixtures("config")
def test_with_a_job_its_own_targets_are_used(call: Call, receiver: Receiver) -> None:
    assert call("reload").code == 0

    [result] = call("alert", "test", "--job", "own", "--json").objects

    assert (result["target"], result["is_accepted"], result["answer"]) == ("webhook", True, "200 OK: thanks")
    assert [(message["path"], message["job_id"]) for message in receiver.got] == [("/own/hunter2", "own")]


@pytest.mark.usefixtures("config")
def test_a_target_that_does_not_accept_is_exit_code_1(call: Call, receiver: Receiver) -> None:
    receiver.status = 500

    sent = call("alert", "test")

    assert sent.code == 1
    assert "no        500 Internal Server Error: thanks" in sent.out


def test_a_private_target_is_refused_in_production(call: Call, config: Path, receiver: Receiver) -> None:
    config.write_text('[server]\nmode = "production"\n' + config.read_text())

    sent = call("alert", "test")

    assert sent.code == 1
    assert "the target is a loopback address, which is blocked" in sent.out
    assert receiver.got == []


def test_without_a_target_the_error_says_where_to_set_one(call: Call) -> None:
    sent = call("alert", "test")

    assert sent.code == 1
    assert "no target is configured" in sent.err
    assert "[notifications]" in sent.err


@pytest.mark.usefixtures("config")
def test_a_job_that_does_not_exist_is_named(call: Call) -> None:
    call("reload")

    assert "job 'owm' does not exist" in call("alert", "test", "--job", "owm").err


def test_status_and_doctor_name_notifications_that_failed(call: Call, elsewhere: Path) -> None:
    asyncio.run(_fail(elsewhere))

    [notice] = [one for one in call("status", "--json").objects[0]["notices"] if one["code"] == "deliveries_failed"]
    assert notice["message"] == "1 notification to webhook could not be delivered: 404 Not Found"
    assert notice["hint"] == "Repair the target, and try it: foliot alert test --job report"
    assert "1 notification to webhook could not be delivered: 404 Not Found" in call("doctor").out


async def _fail(directory: Path) -> None:
    services = await open_services(f"sqlite:///{directory}/foliot.db")
    deliveries = services.storage.deliveries
    await deliveries.add([NewDelivery("msg_1", "webhook", "report", None, "webhook-1", {})])  # type: ignore[arg-type]
    await deliveries.settle([DeliveryResult("msg_1", DeliveryState.FAILED, "404 Not Found")])
    await services.close()
