"""What a server must answer to a worker: each check sends messages and raises CheckFailed if an answer is wrong.

The checks use a job and a queue of their own, so that no other worker gets their runs.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final
from uuid import uuid4

from foliot.errors import FoliotError
from foliot.interfaces.cli.worker_check.server import Answered, CheckedServer

_LATE: Final = 412
"""Seconds by which the clock of a refused request is wrong."""


class CheckFailed(Exception):
    """An answer is not what the protocol says."""


class Bench:
    """A job with its own queue, and a registered worker."""

    def __init__(self, server: CheckedServer, name: str) -> None:
        self.server = server
        self.name = name
        self.worker = ""

    def register(self) -> None:
        answer = self.server.post("register", {"name": self.name, "queues": [self.name]})
        expect(answer, 201)
        self.worker = answer.body["worker"]

    def send(self, name: str, *parts: Mapping[str, Any], **fields: Any) -> Answered:
        """Send a message of the worker."""
        merged: dict[str, Any] = {"worker": self.worker}
        for part in (*parts, fields):
            merged |= part
        return self.server.post(name, merged)

    def lease(self) -> dict[str, str]:
        """Start a run, lease it, and return the fields that name the lease."""
        run = self.server.ask("POST", f"/api/jobs/{self.name}/run")
        expect(run, 202)
        answer = self.send("lease", queues=[self.name], wait=10)
        expect(answer, 200)
        [leased] = answer.body["runs"]
        if leased["run_id"] != run.body["id"]:
            raise CheckFailed("another run than the one that was started was leased")
        return {"run_id": leased["run_id"], "token": leased["token"]}

    def status(self, run_id: str) -> str:
        return str(self.server.ask("GET", f"/api/runs/{run_id}").body["status"])


def expect(answer: Answered, status: int, code: str = "") -> None:
    """Raise CheckFailed if an answer has another status or code."""
    if (answer.status, answer.code) != (status, code):
        raise CheckFailed(f"answered {answer}, not {status} {code}".rstrip())


@contextmanager
def bench_on(server: CheckedServer) -> Iterator[Bench]:
    """Create the job of the checks, register a worker, and remove both afterwards."""
    name = f"worker-check-{uuid4().hex[:8]}"
    document = {"command": "true", "queue": name, "retries": 0, "max_concurrent": 100}
    created = server.ask("PUT", f"/api/jobs/{name}", document)
    if created.status not in (200, 201):
        raise FoliotError(
            f"the job of the checks could not be created: {created}",
            hint="Set FOLIOT_TOKEN to a token with the role editor.",
        )
    bench = Bench(server, name)
    try:
        bench.register()
        yield bench
        bench.send("retire")
    finally:
        server.ask("DELETE", f"/api/jobs/{name}")


def an_idle_lease_is_204(bench: Bench) -> None:
    expect(bench.send("lease", queues=[bench.name]), 204)


def a_run_is_leased_and_finished(bench: Bench) -> None:
    held = bench.lease()
    expect(bench.send("heartbeat", held=[held]), 200)
    expect(bench.send("progress", held, fraction=0.5), 204)
    expect(bench.send("log", held, pieces=[{"seq": 0, "text": "hello\n"}]), 200)
    expect(bench.send("finish", held, status="success", exit_code=0), 204)
    if (status := bench.status(held["run_id"])) != "success":
        raise CheckFailed(f"the run has the status {status}")


def a_run_finishes_once(bench: Bench) -> None:
    held = bench.lease()
    expect(bench.send("finish", held, status="success"), 204)
    expect(bench.send("finish", held, status="success"), 204)
    expect(bench.send("finish", held, status="failed"), 409, "stale_lease")
    if (status := bench.status(held["run_id"])) != "success":
        raise CheckFailed(f"the run has the status {status}")


def a_cancelled_run_is_410(bench: Bench) -> None:
    held = bench.lease()
    expect(bench.server.ask("POST", f"/api/runs/{held['run_id']}/cancel"), 202)
    expect(bench.send("heartbeat", held), 410, "cancelled")
    expect(bench.send("finish", held, status="cancelled"), 204)


def a_lease_of_another_run_is_stale(bench: Bench) -> None:
    first, second = bench.lease(), bench.lease()
    mixed = {"run_id": first["run_id"], "token": second["token"]}
    messages: dict[str, dict[str, Any]] = {
        "heartbeat": {},
        "log": {"pieces": [{"seq": 0, "text": "x"}]},
        "progress": {"fraction": 0.5},
        "finish": {"status": "success"},
    }
    for name, fields in messages.items():
        expect(bench.send(name, mixed, fields), 409, "stale_lease")
    for held in (first, second):
        expect(bench.send("finish", held, status="success"), 204)


def a_lease_that_was_given_back_is_stale(bench: Bench) -> None:
    held = bench.lease()
    expect(bench.send("heartbeat", held=[]), 200)
    expect(bench.send("heartbeat", held), 409, "stale_lease")
    expect(bench.send("finish", held, status="success"), 409, "stale_lease")
    again = bench.send("lease", queues=[bench.name], wait=10)
    expect(again, 200)
    [leased] = again.body["runs"]
    expect(bench.send("finish", run_id=leased["run_id"], token=leased["token"], status="success"), 204)


def output_is_accepted_in_order_and_once(bench: Bench) -> None:
    held = bench.lease()

    def log(*numbers: int) -> Answered:
        return bench.send("log", held, pieces=[{"seq": number, "text": "x\n"} for number in numbers])

    expect(log(1), 409, "log_out_of_order")
    expect(log(0, 1), 200)
    expect(log(0, 1), 409, "log_repeated")
    expect(log(5), 409, "log_out_of_order")
    expect(bench.send("finish", held, status="success"), 204)


def an_exchange_does_many_things(bench: Bench) -> None:
    held = bench.lease()
    answer = bench.send(
        "exchange",
        logs=[{**held, "pieces": [{"seq": 0, "text": "x\n"}]}],
        finishes=[{**held, "status": "success"}],
        renew={"held": []},
        claim={"queues": [bench.name]},
    )
    expect(answer, 200)
    if answer.body["stale"] or answer.body["refused_logs"] or answer.body["runs"]:
        raise CheckFailed("the exchange has refused something, or leased a run that does not exist")


def an_unknown_worker_has_to_register(bench: Bench) -> None:
    expect(bench.server.post("heartbeat", {"worker": "nobody"}), 409, "worker_expired")


def an_unknown_field_is_refused(bench: Bench) -> None:
    expect(bench.send("lease", surprise=1), 422, "unknown_field")


def another_protocol_is_426(bench: Bench) -> None:
    answer = bench.server.post("lease", {"worker": bench.worker}, **{"X-Foliot-Protocol": "0"})
    expect(answer, 426, "protocol_version")


def a_wrong_signature_is_refused(bench: Bench) -> None:
    body = json.dumps({"worker": bench.worker}).encode()
    headers = bench.server.credentials("heartbeat", body)
    expect(bench.server.send_signed("heartbeat", body + b" ", headers), 401, "bad_signature")
    expect(bench.server.send_signed("retire", body, headers), 401, "bad_signature")


def a_wrong_clock_is_refused(bench: Bench) -> None:
    body = json.dumps({"worker": bench.worker}).encode()
    for ahead in (_LATE, -_LATE):
        headers = bench.server.credentials("heartbeat", body, ahead=ahead)
        expect(bench.server.send_signed("heartbeat", body, headers), 401, "stale_timestamp")


def a_repeated_nonce_is_refused(bench: Bench) -> None:
    body = json.dumps({"worker": bench.worker}).encode()
    headers = bench.server.credentials("heartbeat", body)
    expect(bench.server.send_signed("heartbeat", body, headers), 200)
    expect(bench.server.send_signed("heartbeat", body, headers), 401, "replay")


Check = Callable[[Bench], None]
CHECKS: Final[tuple[Check, ...]] = (
    an_idle_lease_is_204,
    a_run_is_leased_and_finished,
    a_run_finishes_once,
    a_cancelled_run_is_410,
    a_lease_of_another_run_is_stale,
    a_lease_that_was_given_back_is_stale,
    output_is_accepted_in_order_and_once,
    an_exchange_does_many_things,
    an_unknown_worker_has_to_register,
    an_unknown_field_is_refused,
    another_protocol_is_426,
)
SIGNED_CHECKS: Final[tuple[Check, ...]] = (
    a_wrong_signature_is_refused,
    a_wrong_clock_is_refused,
    a_repeated_nonce_is_refused,
)
"""Checks of servers that a worker signs its messages for."""
