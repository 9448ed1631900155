"""A database, an effect file and the processes that a test starts on them."""

import asyncio
import os
import random
import signal
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from foliot.domain.ids import JobId, RunId
from foliot.domain.run.run import Run
from foliot.engine.scheduler.reaper import Reaper
from foliot.ports.pages import RunFilter
from foliot.ports.storage import Storage
from foliot.service.commands.run_request import RunRequest
from foliot.service.services import Services
from foliot.testing.invariants import read_ledgers
from foliot.testing.postgres import PostgresServer
from tests.scenarios.crash.effects import Effect, read_effects
from tests.scenarios.crash.jobs import build, fanout, gate_of
from tests.scenarios.crash.process import APP, FoliotProcess

PATIENCE: Final = 60.0
"""Seconds after which a condition is given up. Nothing takes that long; a machine may be slow."""

_HASTE: Final = ("--lease", "1", "--poll", "0.1", "--concurrency", "20")
_LOOPS: Final = {False: "asyncio", True: "uvloop"}
"""The event loop, by whether there is a server: both are tried."""
LEISURE: Final = ("--lease", "30")
"""For a process that must not lose its leases, however slow the machine is."""
LONG_LEASE: Final = ("--lease", "60")
"""The default: longer than a test waits."""


class Stage:
    def __init__(self, directory: Path, url: str, services: Services, server: PostgresServer | None = None) -> None:
        self.url = url
        self.services = services
        self.effect_file = directory / "effects"
        self.gate = directory / "gate"
        self.fault_log = directory / "fault"
        self.database = url.partition("?")[0].rpartition("/")[2]
        self._server = server
        self._directory = directory
        self._processes: list[FoliotProcess] = []

    @property
    def storage(self) -> Storage:
        return self.services.storage

    @property
    def server(self) -> PostgresServer:
        assert self._server is not None
        return self._server

    @property
    def is_on_postgres(self) -> bool:
        return self._server is not None

    def gate_of(self, *, attempt: int) -> Path:
        return gate_of(self.gate, attempt)

    # -- processes

    def serve(self, *options: str, plan: str = "none", fault: str | None = None) -> FoliotProcess:
        return self.start(
            "foliot",
            "serve",
            APP,
            *_HASTE,
            "--loop",
            _LOOPS[self.is_on_postgres],
            *options,
            plan=plan,
            fault=fault,
        )

    def worker(self, *options: str) -> FoliotProcess:
        return self.start("foliot", "worker", APP, *_HASTE, "--loop", _LOOPS[self.is_on_postgres], *options)

    def scheduler(self, *options: str, plan: str = "none") -> FoliotProcess:
        return self.serve("--roles", "scheduler", *options, plan=plan)

    def start(self, *arguments: str, plan: str = "none", fault: str | None = None, **environment: str) -> FoliotProcess:
        known = {
            "FOLIOT_STORAGE": self.url,
            "CRASH_EFFECTS": str(self.effect_file),
            "CRASH_GATE": str(self.gate),
            "CRASH_PLAN": plan,
            **environment,
        }
        if fault is not None:
            known |= {"FOLIOT_FAULT": fault, "FOLIOT_FAULT_LOG": str(self.fault_log)}
        log = self._directory / f"log-{len(self._processes)}"
        process = FoliotProcess(arguments, known, log)
        self._processes.append(process)
        return process

    async def started(self, *processes: FoliotProcess) -> None:
        await self.until(lambda: all(process.logged("node_started") for process in processes), "a node has started")

    async def ended(self, process: FoliotProcess) -> int:
        await self.until(lambda: process.returncode is not None, "the process has ended")
        assert process.returncode is not None
        return process.returncode

    async def freeze(self, process: FoliotProcess) -> None:
        """Stop a process at a moment at which it holds no lock: on SQLite nobody could write any more."""
        process.send(signal.SIGSTOP)
        while not await self._can_write():
            process.send(signal.SIGCONT)
            await asyncio.sleep(0.05)
            process.send(signal.SIGSTOP)

    async def _can_write(self) -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout(0.5):
                await self.storage.upkeep.resign("nobody")
                return True
        return False

    def close(self) -> None:
        """Kill what this test started, and what that has left."""
        for process in self._processes:
            process.kill()
        for pid in self.orphans():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def orphans(self) -> set[int]:
        """The processes of this test's commands that are alive, whoever has started them."""
        mark = os.fsencode(f"CRASH_EFFECTS={self.effect_file}")
        return {pid for pid in _pids() if _is_run(pid, mark)}

    # -- asking

    async def declare(self, plan: str = "none") -> None:
        """Register jobs and schedules, so that something can be asked before a process has started."""
        async with build(self.url, self.effect_file, self.gate, plan):
            await self.put_fanout("scan", [{}] * 3, concurrency=2)

    async def put_fanout(self, job_id: str, items: Sequence[object], **fields: Any) -> None:
        await self.services.jobs.put({JobId(job_id): fanout(self.effect_file, self.gate, items, **fields)})

    async def enqueue(self, job: str, count: int = 1, *, delay: float = 0, payload: object = None) -> list[str]:
        created = await self.services.runs.create(job, RunRequest(delay=delay), [payload] * count)
        return [answer.run_id for answer in created]

    async def reap(self) -> None:
        """Free what a killed worker held, as a scheduler on another machine does."""
        reaper = Reaper(self.storage)

        async def is_free() -> bool:
            await reaper.round()
            await self.storage.admission.release_due(1_000)
            return not await self.storage.admission.workers()

        await self.until(is_free, "the leases have run out")

    # -- waiting

    async def until(self, is_so: Callable[[], bool | Awaitable[bool]], what: str) -> None:
        """Wait until it is so. The test's own log says what was waited for in vain."""
        try:
            async with asyncio.timeout(PATIENCE):
                while not await _answer(is_so()):
                    await asyncio.sleep(0.02)
        except TimeoutError:
            raise AssertionError(f"waited in vain until {what}\n{self.logs()}") from None

    async def moment(self, chance: random.Random, at_most: float) -> None:
        """Let a random time pass: the one thing that a test of crashes wants to leave to luck."""
        await asyncio.sleep(chance.uniform(0, at_most))

    async def quiet(self) -> None:
        """No schedule fires any more, and every run is over."""
        schedules = await self.storage.definitions.page_schedules(limit=1_000)
        await self.storage.definitions.pause_schedules([schedule.id for schedule in schedules], paused=True)
        await self.until(self._is_quiet, "every run is over")

    async def over(self, run_ids: Collection[str]) -> list[Run]:
        async def are_over() -> bool:
            return all(run.status.is_terminal for run in await self.runs_of(run_ids))

        await self.until(are_over, "these runs are over")
        return await self.runs_of(run_ids)

    async def more_ticks_than(self, count: int) -> None:
        async def are_there() -> bool:
            return await self.ticks() > count

        await self.until(are_there, "schedules go on firing")

    async def _is_quiet(self) -> bool:
        return all(run.status.is_terminal for run in await self.runs())

    # -- looking

    async def runs(self) -> list[Run]:
        return await self.storage.queries.page_runs(RunFilter(limit=100_000))

    async def ticks(self) -> int:
        """How many rows the ledger has."""
        return sum([len(book.ticks) async for book in read_ledgers(self.storage)])

    async def runs_of(self, run_ids: Collection[str]) -> list[Run]:
        found = await self.storage.queries.get_runs([RunId(run_id) for run_id in run_ids])
        assert len(found) == len(run_ids)
        return list(found.values())

    def effects(self, run_id: str | None = None) -> list[Effect]:
        return [seen for seen in read_effects(self.effect_file) if run_id in (None, seen.run_id)]

    async def printed(self, run_id: str) -> None:
        async def is_there() -> bool:
            return bool(await self.storage.queries.read_log(RunId(run_id)))

        await self.until(is_there, "what it printed is saved")

    async def begun(self, *run_ids: str) -> None:
        await self.until(lambda: all(self.effects(run_id) for run_id in run_ids), "these runs have begun")

    def logs(self) -> str:
        tails = (f"{process.log.name}: {process.log.read_text()[-3_000:]}" for process in self._processes[-4:])
        return "\n".join(tails)


async def _answer(given: bool | Awaitable[bool]) -> bool:
    return given if isinstance(given, bool) else await given


def _pids() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _is_run(pid: int, mark: bytes) -> bool:
    with suppress(OSError):
        variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        return mark in variables and any(variable.startswith(b"FOLIOT_RUN_ID=") for variable in variables)
    return False
