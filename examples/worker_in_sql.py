"""A worker that uses only the protocol of Foliot (docs/reference/protocol.md) and imports nothing of it.

    python worker_in_sql.py foliot.db QUEUE [COUNT]

It executes shell commands of one queue, one at a time, and needs only Python's standard library. On TERM it gives back
its run and stops. It shows what a worker in another language has to do; comments say what it leaves out.
"""

import json
import os
import secrets
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO, Any, NamedTuple

LEASE = 60_000
FOLIOT, SCHEMA, LOG_SCHEMA = 0x466F6C69, 1, 1
"""The application id of the file, and the supported versions of both schemas."""
PRIORITY_STEP = 60_000
MAX_ATTEMPTS = 999_999_999
GRACE = 2
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
BOOT_ID = Path("/proc/sys/kernel/random/boot_id").read_text().strip()

LOGS = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS log_chunks (
    run_id TEXT NOT NULL,
    token INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    stream TEXT NOT NULL CHECK (stream IN ('stdout', 'stderr', 'meta')),
    data BLOB NOT NULL,
    PRIMARY KEY (run_id, token, seq)
) STRICT;
PRAGMA application_id = {FOLIOT};
PRAGMA user_version = {LOG_SCHEMA};
COMMIT;
"""
"""Creates the log database. The first program with output to write does this."""


def now() -> int:
    return time.time_ns() // 1_000_000


def since_boot() -> int:
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000


def new_id() -> str:
    number = now() << 80 | secrets.randbits(80)
    return "".join(ALPHABET[number >> shift & 31] for shift in range(125, -1, -5))


class Claimed(NamedTuple):
    token: int
    run_id: str
    attempt: int
    started_at: int
    failures: int
    """The number of failed attempts if this one fails too."""
    spec: dict[str, Any]
    options: dict[str, Any]


class Ended(NamedTuple):
    """How an attempt ended."""

    status: str
    reason: str | None = None
    error: str | None = None
    exit_code: int | None = None


SUCCESS = Ended("success", exit_code=0)
CANCELLED = Ended("cancelled", "cancelled")
GIVEN_BACK = Ended("given back")
LOST = Ended("lost")


class Worker:
    def __init__(self, path: str, queue: str) -> None:
        self.path, self.queue = path, queue
        self.db = sqlite3.connect(path, isolation_level=None, timeout=30)
        found = [self.db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
        if found != [FOLIOT, SCHEMA]:
            sys.exit(f"{path} is not a database of a supported version")
        self.id, self.is_stopping, self.renewed_at = new_id(), False, since_boot()

    # -- registration

    def register(self) -> None:
        row = (self.id, "worker_in_sql", json.dumps([self.queue]), 1, now(), now(), BOOT_ID, since_boot() + LEASE)
        columns = "id, name, queues, slots, registered_at, seen_at, boot_id, deadline"
        self.db.execute(f"INSERT INTO workers ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)  # noqa: S608

    def renew_if_due(self) -> bool:
        """Renew if it is time. Return False if the worker has expired: its runs may belong to another worker."""
        if since_boot() - self.renewed_at < LEASE / 3:
            return True
        self.renewed_at = since_boot()
        renewed = "UPDATE workers SET seen_at = ?, deadline = ? WHERE id = ? AND boot_id = ? AND deadline > ?"
        values = (now(), since_boot() + LEASE, self.id, BOOT_ID, since_boot())
        return self.db.execute(renewed, values).rowcount == 1

    def stop(self, *_: object) -> None:
        self.is_stopping = True

    def retire(self) -> None:
        self.db.execute("DELETE FROM workers WHERE id = ?", (self.id,))

    # -- claiming

    def claim(self) -> Claimed | None:
        """Return the next run, or None. A run with invalid attempt numbers is skipped; Foliot would end it."""
        self.db.execute("BEGIN IMMEDIATE")
        alive = "SELECT 1 FROM workers WHERE id = ? AND boot_id = ? AND deadline > ?"
        first = (
            "SELECT q.rank, q.run_id FROM ready q JOIN runs r ON r.id = q.run_id WHERE q.queue = ? "
            "AND r.attempt BETWEEN 0 AND ? AND r.lost BETWEEN 0 AND ? ORDER BY q.rank, q.run_id LIMIT 1"
        )
        found = self.db.execute(first, (self.queue, MAX_ATTEMPTS, MAX_ATTEMPTS)).fetchone()
        if found is None or self.db.execute(alive, (self.id, BOOT_ID, since_boot())).fetchone() is None:
            self.db.execute("ROLLBACK")
            return None
        self.db.execute("DELETE FROM ready WHERE queue = ? AND rank = ? AND run_id = ?", (self.queue, *found))
        raised = "UPDATE counters SET value = value + 1 WHERE name = 'token' RETURNING value"
        [token] = self.db.execute(raised).fetchone()
        claimed = self.read(token, found[1])
        lease = (token, claimed.run_id, self.id, claimed.attempt, claimed.started_at)
        # The last column, is_bare, may be 1 if the end of the run affects no other row; 0 is correct for every run.
        columns = "token, run_id, worker_id, attempt, started_at, is_bare"
        self.db.execute(f"INSERT INTO leases ({columns}) VALUES (?, ?, ?, ?, ?, 0)", lease)  # noqa: S608
        self.add_event("runs.started", claimed, claimed.attempt)
        self.db.execute("COMMIT")
        return claimed

    def read(self, token: int, run_id: str) -> Claimed:
        """Return what to execute: the definition of the job with the overrides of the run. A run with a
        `definition_id`, such as a step of a workflow, has another definition, which this worker does not support."""
        about = (
            "SELECT r.attempt + 1, r.lost, r.created_at, r.overrides, j.spec FROM runs r LEFT JOIN jobs j "
            "ON j.project = r.project AND j.id = r.job_id AND r.definition_id IS NULL WHERE r.id = ?"
        )
        attempt, lost, created_at, overrides, job = self.db.execute(about, (run_id,)).fetchone()
        definition, given = json.loads(job or '{"kind": "?"}'), json.loads(overrides or "{}")
        options = {**definition.get("options", {}), **given}
        options["retry"] = {**definition.get("options", {}).get("retry", {}), **given.get("retry", {})}
        # A claimed run that this worker cannot execute fails: its queue must contain shell jobs only.
        kind = definition.get("inner_kind") or definition["kind"]
        spec = {**definition.get("spec", {}), **given.get("spec", {})} if kind == "shell" else {}
        return Claimed(token, run_id, attempt, max(now(), created_at), attempt - lost, spec, options)

    # -- execution

    def execute(self, run: Claimed) -> Ended:
        """Run the command and store its output. Left out: the other fields of a command (env, working_dir, limits and
        so on) and its environment variables."""
        words = run.spec.get("argv") or ["/bin/sh", "-c", run.spec.get("command", "")]
        if not run.spec:
            return Ended("failed", "handler_missing", "this worker runs shell commands")
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            process = subprocess.Popen(  # noqa: S603 - executing commands is its purpose
                words, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True
            )
            ended = self.watch(process, run)
            if ended is not LOST:
                self.print(run, {"stdout": out, "stderr": err})
        return ended

    def watch(self, process: "subprocess.Popen[bytes]", run: Claimed) -> Ended:
        """Wait until the process ends, renewing meanwhile. End it early on cancellation, expiry, timeout or stop."""
        started, timeout = since_boot(), run.options.get("timeout")
        early = None
        while early is None and process.poll() is None:
            time.sleep(0.05)
            [cancel_at] = self.db.execute("SELECT cancel_at FROM leases WHERE token = ?", (run.token,)).fetchone() or [
                0
            ]
            if cancel_at is not None or not self.renew_if_due():
                early = CANCELLED if cancel_at else LOST
            elif timeout is not None and since_boot() - started > timeout:
                early = Ended("timeout", "timeout", f"took longer than {timeout / 1_000:g} s")
            elif self.is_stopping:
                early = GIVEN_BACK
        if early is not None:
            end(process)
            return early
        code = process.returncode if process.returncode >= 0 else 128 - process.returncode
        return Ended("failed", "exit_code", f"exit code {code}", code) if code else SUCCESS

    def print(self, run: Claimed, printed: dict[str, IO[bytes]]) -> None:
        Path(f"{self.path}-logs").touch(0o600)
        logs = sqlite3.connect(f"{self.path}-logs", isolation_level=None, timeout=30)
        logs.execute("PRAGMA journal_mode = WAL")
        if logs.execute("PRAGMA user_version").fetchone() == (0,):
            logs.executescript(LOGS)
        pieces = [(stream, file.seek(0) or file.read()) for stream, file in printed.items()]
        lines = [*((stream, data) for stream, data in pieces if data), ("meta", b"end of log: complete\n")]
        chunks = [(run.run_id, run.token, seq, now(), *line) for seq, line in enumerate(lines)]
        logs.executemany("INSERT INTO log_chunks VALUES (?, ?, ?, ?, ?, ?)", chunks)
        logs.close()

    # -- finishing

    def finish(self, run: Claimed, ended: Ended) -> bool:
        """Save the outcome. Return False if the lease was lost: then nothing may be written."""
        self.db.execute("BEGIN IMMEDIATE")
        mine = "DELETE FROM leases WHERE token = ? RETURNING cancel_at"
        lease = self.db.execute(mine, (run.token,)).fetchone()
        if lease is None or ended is LOST:
            self.db.execute("ROLLBACK")
            return False
        retry, once = run.options["retry"], run.options.get("delivery") == "at_most_once"
        is_retryable = ended.status in ("failed", "timeout") and ended.reason != "handler_missing"
        is_again = is_retryable and run.failures <= retry.get("retries", 0)
        if ended is GIVEN_BACK and once:
            ended = Ended("failed", "restart", "the worker was stopped, and the job allows only one attempt")
        if lease[0] is not None and (is_again or ended is GIVEN_BACK):
            ended, is_again = CANCELLED, False
        if ended is GIVEN_BACK:
            self.give_back(run)
        elif is_again:
            self.repeat(run, ended, pause(retry, run.failures))
        else:
            self.end(run, ended)
        self.db.execute("COMMIT")
        return True

    def give_back(self, run: Claimed) -> None:
        """Put the run back as if it had never been claimed. It keeps its holds."""
        self.put_ready(run)
        self.add_event("runs.ended", run, "scheduled", run.attempt)

    def repeat(self, run: Claimed, ended: Ended, pause: int) -> None:
        finished_at = max(now(), run.started_at)
        when = (run.attempt, run.token, self.id, run.started_at, finished_at)
        how = (ended.reason, ended.exit_code, ended.error)
        record = "INSERT INTO attempts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        self.db.execute(record, (run.run_id, *when, ended.status, *how))
        again = "UPDATE runs SET attempt = ?, due_at = ?, reason = ?, exit_code = ?, error = ? WHERE id = ?"
        self.db.execute(again, (run.attempt, finished_at + pause, *how, run.run_id))
        # Free the places of its limits, but not its turn in the schedule. The run goes to `later` even without a delay:
        # Foliot releases it and assigns places again.
        self.db.execute("DELETE FROM holds WHERE run_id = ? AND key NOT GLOB 'tick:*'", (run.run_id,))
        self.db.execute("INSERT INTO later VALUES (?, ?)", (finished_at + pause, run.run_id))
        self.add_event("runs.ended", run, "scheduled", run.attempt)

    def end(self, run: Claimed, ended: Ended) -> None:
        """End the run. An output would be inserted into `outputs`; this worker supports none."""
        when = (max(now(), run.started_at), run.started_at, run.attempt)
        self.db.execute(
            "UPDATE runs SET status = ?, reason = ?, error = ?, exit_code = ?, finished_at = ?, started_at = ?, "
            "attempt = ?, worker_id = ?, token = ? WHERE id = ?",
            (*ended, *when, self.id, run.token, run.run_id),
        )
        # Free all its places. Foliot admits waiting runs within seconds.
        self.db.execute("DELETE FROM holds WHERE run_id = ?", (run.run_id,))
        noted = "INSERT OR IGNORE INTO notes SELECT parent_id, id FROM runs WHERE id = ? AND parent_id IS NOT NULL"
        self.db.execute(noted, (run.run_id,))
        self.db.execute(
            "INSERT INTO endings SELECT r.project, r.job_id, r.finished_at, r.id, r.status, r.reason FROM runs r "
            "JOIN watched w ON w.job_id = r.job_id AND w.project = r.project WHERE r.id = ?",
            (run.run_id,),
        )
        self.add_event("runs.ended", run, ended.status, run.attempt)

    def put_ready(self, run: Claimed) -> None:
        ready = "INSERT INTO ready SELECT queue, due_at - priority * ?, id FROM runs WHERE id = ?"
        self.db.execute(ready, (PRIORITY_STEP, run.run_id))

    def add_event(self, kind: str, run: Claimed, *facts: object) -> None:
        """Insert an event. The bell is left out: waiting programs poll every second."""
        items = json.dumps([[run.run_id, *facts]])
        self.db.execute("INSERT INTO events (at, kind, items) VALUES (?, ?, ?)", (now(), kind, items))


def pause(retry: dict[str, Any], number: int) -> int:
    """Return the delay of that retry in milliseconds."""
    delays = retry.get("delays")
    if delays:
        planned: int = delays[min(number, len(delays)) - 1]
    else:
        base, factor, cap = retry.get("base", 30_000), retry.get("factor", 2.0), retry.get("cap", 1_800_000)
        planned = min(int(base * factor ** min(number - 1, 64)), cap)
    spread = secrets.randbelow(2_001) / 1_000 - 1
    return round(planned * (1 + float(retry.get("jitter", 0.0)) * spread))


def end(process: "subprocess.Popen[bytes]") -> None:
    """Send TERM, and KILL after the grace period, to the process and its children."""
    os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def main(path: str, queue: str, count: int) -> None:
    worker = Worker(path, queue)
    signal.signal(signal.SIGTERM, worker.stop)
    worker.register()
    print("ready", file=sys.stderr, flush=True)
    while count > 0 and not worker.is_stopping:
        if not worker.renew_if_due():
            sys.exit("this worker has expired")  # a permanent worker would register again with another id
        run = worker.claim()
        if run is None:
            time.sleep(0.1)
            continue
        ended = worker.execute(run)
        is_saved = worker.finish(run, ended)
        word = ended.status if ended.exit_code is None else ended.exit_code
        print(run.run_id, word if is_saved else "lost", flush=True)
        count -= 1
    worker.retire()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 1_000_000)
