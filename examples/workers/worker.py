"""A worker with the standard library only. It executes shell jobs, one at a time, and stops after SIGTERM or drain.
See docs/reference/worker-protocol.md.

    FOLIOT_SERVER, FOLIOT_WORKER_ID, FOLIOT_WORKER_SECRET    as `foliot worker register` prints them
    python3 worker.py
"""

import base64
import hashlib
import hmac
import json
import os
import secrets
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from contextlib import suppress
from typing import Any

SERVER = os.environ.get("FOLIOT_SERVER", "http://127.0.0.1:7070").rstrip("/")
WORKER_ID, SECRET = (os.environ.pop(f"FOLIOT_WORKER_{name}", "") for name in ("ID", "SECRET"))
LEASE, stopping = float(os.environ.get("FOLIOT_LEASE", "60")), threading.Event()


def post(name: str, message: dict[str, Any]) -> tuple[int, Any]:
    """Send a message. Return the status, and the answer or None. Status 0: the server could not be reached."""
    path, body = urllib.parse.urlsplit(SERVER).path + f"/api/workers/{name}", json.dumps(message).encode()
    headers = {"Content-Type": "application/json", "X-Foliot-Protocol": "1"}
    if SECRET:
        moment, nonce, digest = str(int(time.time())), secrets.token_hex(16), hashlib.sha256(body).hexdigest()
        text = f"FOLIOT-HMAC-SHA256\nPOST\n{path}\n\n{digest}\n{moment}\n{nonce}"
        signature = hmac.new(SECRET.encode(), text.encode(), hashlib.sha256).hexdigest()
        headers |= {"X-Foliot-Worker": WORKER_ID, "X-Foliot-Timestamp": moment}
        headers |= {"X-Foliot-Nonce": nonce, "X-Foliot-Signature": signature}
    request = urllib.request.Request(f"{SERVER}/api/workers/{name}", body, headers)  # noqa: S310 - a chosen address
    try:
        answer: Any = urllib.request.urlopen(request, timeout=40)  # noqa: S310
    except urllib.error.HTTPError as error:
        answer = error
    except OSError:
        return 0, None
    content = answer.read()
    return answer.status, json.loads(content) if content.startswith(b"{") else None


def post_until(until: float, name: str, message: dict[str, Any]) -> tuple[int, Any]:
    """Send a message again while the server cannot be reached or is busy, until a moment."""
    while True:
        status, answer = post(name, message)
        if (0 < status < 500 and status != 429) or time.monotonic() > until:
            return status, answer
        time.sleep(1)


class Attempt:
    """One run that executes: a process, its output, and the heartbeat that keeps its lease."""

    def __init__(self, worker: str, run: dict[str, Any], definition: dict[str, Any]) -> None:
        self.lease = {"worker": worker, "run_id": run["run_id"], "token": run["token"]}
        overrides = json.loads(base64.b64decode(run["overrides"])) if run["overrides"] else {}
        self.spec = {**definition["spec"], **overrides.get("spec", {})}
        self.timeout = definition["timeout"] / 1000 if definition["timeout"] else None
        self.environment = {**os.environ, **self.spec.get("env", {}), **definition["variables"]}
        self.environment["FOLIOT_RUN_ID"] = run["run_id"]
        if run["payload"]:
            self.environment["FOLIOT_PAYLOAD"] = base64.b64decode(run["payload"]).decode()
        self.seq, self.is_lost, self.renewed, self.status = 0, False, time.monotonic(), ""

    def execute(self) -> None:
        command = self.spec.get("argv") or ["sh", "-c", self.spec["command"]]
        options: dict[str, Any] = {"env": self.environment, "cwd": self.spec.get("cwd"), "start_new_session": True}
        read, write = os.pipe()
        self.process = subprocess.Popen(command, stdout=write, stderr=write, **options)  # noqa: S603 - its purpose
        os.close(write)
        (watcher := threading.Thread(target=self.watch)).start()
        while chunk := os.read(read, 65536):
            self.print(chunk)
        os.close(read)
        code = self.process.wait()
        watcher.join()
        if not self.is_lost:
            status = self.status or ("success" if code == 0 else "failed")
            post_until(self.renewed + LEASE, "finish", {**self.lease, "status": status, "exit_code": code})

    def print(self, chunk: bytes) -> None:
        pieces = [{"seq": self.seq, "data": base64.b64encode(chunk).decode()}]
        self.seq += post_until(self.renewed + LEASE, "log", {**self.lease, "pieces": pieces})[0] == 200

    def watch(self) -> None:
        """Renew the lease until the process ends. End it if that is not possible, or if the run was cancelled."""
        started = time.monotonic()
        while self.process.poll() is None:
            time.sleep(min(0.5, LEASE / 10))
            now = time.monotonic()
            if self.timeout and now > started + self.timeout:
                self.end("timeout")
            elif stopping.is_set():
                self.end("interrupted")
            elif now > self.renewed + LEASE / 6 and (now > self.renewed + LEASE * 2 / 3 or self.renew() in (409, 403)):
                self.is_lost = True
                self.end("")

    def renew(self) -> int:
        sent = time.monotonic()
        status, _ = post("heartbeat", {**self.lease, "lease": LEASE})
        self.renewed = sent if status in (200, 410) else self.renewed
        if status == 410:
            self.end("cancelled")
        return status

    def end(self, status: str) -> None:
        self.status = self.status or status
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: stopping.set())
    worker: Any = None
    while not stopping.is_set():
        if worker is None:
            status, answer = post("register", {"name": "worker.py", "kinds": ["shell"], "lease": LEASE})
            if status in (401, 403, 426):
                raise SystemExit(f"refused: {answer['error']['message']}")
            worker = answer["worker"] if status == 201 else None
            time.sleep(0 if worker else 1)
            continue
        if (post("heartbeat", {"worker": worker, "held": [], "lease": LEASE})[1] or {}).get("drain"):
            break
        status, answer = post("lease", {"worker": worker, "limit": 1, "wait": min(5, LEASE / 3)})
        if status == 200:
            run = answer["runs"][0]
            definition = answer["definitions"][run["definition_id"]]
            if definition["kind"] == "shell" and not definition["error"]:
                Attempt(worker, run, definition).execute()
            else:
                failure = {"status": "failed", "reason": "handler_missing", "error": "this worker cannot execute it"}
                post("finish", {"worker": worker, "run_id": run["run_id"], "token": run["token"], **failure})
        elif status != 204:
            worker = None if status == 409 else worker
            time.sleep(1)
    if worker:
        post("retire", {"worker": worker})


main()
