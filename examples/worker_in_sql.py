"""A worker that knows nothing of Foliot but its protocol (docs/reference/protocol.md).

    python worker_in_sql.py foliot.db QUEUE [HOW_MANY]

It carries out shell commands of one queue, one at a time, and needs only Python's standard library. It shows how little
a worker in another language has to do; what is left out is written where it is left out.
"""

import json
import secrets
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

LEASE = 60_000
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
BOOT_ID = Path("/proc/sys/kernel/random/boot_id").read_text().strip()

LOGS = """
PRAGMA journal_mode = WAL;
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
PRAGMA application_id = 0x466F6C69;
PRAGMA user_version = 1;
COMMIT;
"""
"""The file for logs is made by whoever needs it first."""


def now() -> int:
    return time.time_ns() // 1_000_000


def since_boot() -> int:
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000


def new_id() -> str:
    number = now() << 80 | secrets.randbits(80)
    return "".join(ALPHABET[number >> shift & 31] for shift in range(125, -1, -5))


class Worker:
    def __init__(self, path: str, queue: str) -> None:
        self.db = sqlite3.connect(path, isolation_level=None, timeout=30)
        self.logs = sqlite3.connect(f"{path}-logs", isolation_level=None, timeout=30)
        if self.logs.execute("PRAGMA user_version").fetchone() == (0,):
            self.logs.executescript(LOGS)
        self.id, self.queue = new_id(), queue

    def register(self) -> None:
        """One that lives longer than its lease renews `seen_at` and `deadline` while it is not over."""
        row = (self.id, "worker_in_sql", json.dumps([self.queue]), 1, now(), now(), BOOT_ID, since_boot() + LEASE)
        self.db.execute("INSERT INTO workers VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)

    def claim(self) -> tuple[int, str, int, str] | None:
        """Token, run id, number of the attempt and command of the next run, if there is one."""
        self.db.execute("BEGIN IMMEDIATE")
        alive = "SELECT 1 FROM workers WHERE id = ? AND boot_id = ? AND deadline > ?"
        first = "SELECT rank, run_id FROM ready WHERE queue = ? ORDER BY rank, run_id LIMIT 1"
        found = self.db.execute(first, (self.queue,)).fetchone()
        if found is None or self.db.execute(alive, (self.id, BOOT_ID, since_boot())).fetchone() is None:
            self.db.execute("ROLLBACK")
            return None
        self.db.execute("DELETE FROM ready WHERE queue = ? AND rank = ? AND run_id = ?", (self.queue, *found))
        raised = "UPDATE counters SET value = value + 1 WHERE name = 'token' RETURNING value"
        [token] = self.db.execute(raised).fetchone()
        about = "SELECT r.attempt + 1, j.spec FROM runs r JOIN jobs j ON j.id = r.job_id WHERE r.id = ?"
        attempt, spec = self.db.execute(about, (found[1],)).fetchone()
        lease = (token, found[1], self.id, attempt, now())
        self.db.execute("INSERT INTO leases VALUES (?, ?, ?, ?, ?, NULL)", lease)
        self.tell("runs.started", [[found[1], attempt]])
        self.db.execute("COMMIT")
        return token, found[1], attempt, json.loads(spec)["spec"]["command"]

    def carry_out(self, token: int, run_id: str, command: str) -> int:
        """What was printed goes into the log, which ends with a line that says so."""
        done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, check=False)  # noqa: S603 - its duty
        printed = [("stdout", done.stdout), ("stderr", done.stderr), ("meta", b"end of log: complete\n")]
        chunks = [(run_id, token, seq, now(), stream, data) for seq, (stream, data) in enumerate(printed) if data]
        self.logs.executemany("INSERT INTO log_chunks VALUES (?, ?, ?, ?, ?, ?)", chunks)
        return done.returncode

    def finish(self, token: int, run_id: str, attempt: int, exit_code: int) -> bool:
        """False when the lease was lost: nothing may be written then. Retries are left out: a failure is final."""
        self.db.execute("BEGIN IMMEDIATE")
        mine = "DELETE FROM leases WHERE token = ? RETURNING started_at, cancel_at"
        lease = self.db.execute(mine, (token,)).fetchone()
        if lease is None:
            self.db.execute("ROLLBACK")
            return False
        started_at, cancel_at = lease
        failed = ("cancelled", "cancelled") if cancel_at else ("failed", "exit_code")
        status, reason = ("success", None) if exit_code == 0 else failed
        facts = (status, reason, max(now(), started_at), started_at, attempt, exit_code, self.id, token, run_id)
        self.db.execute(
            "UPDATE runs SET status = ?, reason = ?, finished_at = ?, started_at = ?, attempt = ?, exit_code = ?, "
            "worker_id = ?, token = ? WHERE id = ?",
            facts,
        )
        # Its places are free; who waits for them is admitted by Foliot, within seconds.
        self.db.execute("DELETE FROM holds WHERE run_id = ?", (run_id,))
        noted = "INSERT OR IGNORE INTO notes SELECT root_id, id FROM runs WHERE id = ? AND root_id IS NOT NULL"
        self.db.execute(noted, (run_id,))
        self.db.execute(
            "INSERT INTO endings SELECT r.project, r.job_id, r.finished_at, r.id, r.status, r.reason FROM runs r "
            "JOIN watched w ON w.job_id = r.job_id AND w.project = r.project WHERE r.id = ?",
            (run_id,),
        )
        self.tell("runs.ended", [[run_id, status, attempt]])
        self.db.execute("COMMIT")
        return True

    def tell(self, kind: str, items: list[list[object]]) -> None:
        self.db.execute("INSERT INTO events (at, kind, items) VALUES (?, ?, ?)", (now(), kind, json.dumps(items)))

    def retire(self) -> None:
        self.db.execute("DELETE FROM workers WHERE id = ?", (self.id,))


def main(path: str, queue: str, how_many: int) -> None:
    worker = Worker(path, queue)
    worker.register()
    while how_many > 0:
        claimed = worker.claim()
        if claimed is None:
            time.sleep(0.1)
            continue
        token, run_id, attempt, command = claimed
        exit_code = worker.carry_out(token, run_id, command)
        is_saved = worker.finish(token, run_id, attempt, exit_code)
        print(run_id, exit_code if is_saved else "lost", flush=True)
        how_many -= 1
    worker.retire()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 1_000_000)
