"""One attempt as a call in an interpreter of its own."""

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from msgspec.structs import replace

from foliot.adapters.runners.isolated.interpreter import LONGEST_ID, PLACEHOLDERS, Interpreter, command
from foliot.adapters.runners.isolated.messages import CallRequest, RunInfo, read_answer
from foliot.adapters.runners.isolated.warm_pool import WarmPool
from foliot.adapters.runners.process import SpawnRequest, child_environment, inherited_environment, run_process
from foliot.adapters.runners.process.children.exit_watch import Watch
from foliot.adapters.runners.process.children.subreaper import Head
from foliot.adapters.runners.process.spawn.account import Account, find_account
from foliot.adapters.runners.process.spawn.environment import AttemptKey
from foliot.adapters.runners.process.spawn.program import NOT_EXECUTABLE
from foliot.adapters.runners.process.supervisor import Start
from foliot.adapters.runners.refusal import refusal
from foliot.domain.job.kinds import read_spec
from foliot.domain.job.kinds.python import PythonSpec
from foliot.domain.job.sandbox_policy import ANYTHING, SandboxPolicy
from foliot.domain.run.outcome import Failure, Reason, Success
from foliot.errors import InvalidJob
from foliot.ports.runner import Attempt


class IsolatedCalls:
    """Calls `module:function`, each time in an interpreter that serves this call alone.

    Modules are looked for in the job's working directory, in `places`, in the PYTHONPATH of the job, and where the
    worker would find them. Without `places`: in the directory that the worker runs in.
    """

    def __init__(
        self,
        *,
        environ: Mapping[str, str] = os.environ,
        places: Sequence[Path] | None = None,
        warm_pool: WarmPool | None = None,
        sandbox_policy: SandboxPolicy = ANYTHING,
    ) -> None:
        self._inherited = inherited_environment(environ)
        self._sandbox_policy = sandbox_policy
        self._places = places
        self._pool = WarmPool() if warm_pool is None else warm_pool

    async def run(self, attempt: Attempt) -> Success | Failure:
        try:
            spec = read_spec(PythonSpec, attempt.spec)
            self._sandbox_policy.check(user=spec.user, call=spec.call)
            account = None if spec.user is None else await asyncio.to_thread(find_account, spec.user)
            order = self._order(spec, attempt).frame()
        except InvalidJob as error:
            return refusal(error, NOT_EXECUTABLE)
        except (TypeError, ValueError) as error:
            return Failure(f"the payload cannot be written as JSON: {error}", Reason.PAYLOAD, retryable=False)
        with closing(_Call(self._pool, *self._spawn_requests(spec, account, attempt))) as call:
            return await _carry_out(call, spec, attempt, order)

    async def close(self) -> None:
        await self._pool.close()

    def _spawn_requests(
        self, spec: PythonSpec, account: Account | None, attempt: Attempt
    ) -> tuple[SpawnRequest, SpawnRequest | None]:
        """How to start an interpreter for this attempt, and how one would have been started ahead, if that will do.

        It will not where something must be there from the start that only this attempt knows.
        """
        inherited = self._inherited if account is None else {**self._inherited, **account.variables()}
        environment = child_environment(inherited, spec.env, _without_payload(attempt))
        cold = SpawnRequest(command(), environment, account=account, limits=spec.limits)
        if account is not None or attempt.environment or len(attempt.run_id) > LONGEST_ID:
            return cold, None
        return cold, SpawnRequest(command(), {**inherited, **spec.env, **PLACEHOLDERS})

    def _order(self, spec: PythonSpec, attempt: Attempt) -> CallRequest:
        working_dir = None if spec.working_dir is None else str(Path(spec.working_dir).absolute())
        places = [Path.cwd()] if self._places is None else self._places
        return CallRequest(
            call=spec.call or "",
            payload=attempt.payload,
            variables=child_environment({}, {}, _without_payload(attempt)),
            working_dir=working_dir,
            umask=spec.umask,
            first=[*([working_dir] if working_dir else []), *map(str, places)],
            path=[place for place in sys.path if place],
            context=_run_info(attempt),
            is_memory_limited=spec.limits.memory is not None,
        )


async def _carry_out(call: "_Call", spec: PythonSpec, attempt: Attempt, order: bytes) -> Success | Failure:
    key = AttemptKey(attempt.run_id, attempt.number)
    outcome = await run_process(
        call.request,
        key,
        attempt.log,
        grace=spec.grace,
        output_cap=spec.output_cap,
        start=call.starter(key, order),
    )
    return _judge(outcome, call.answer())


class _Call:
    """The interpreter of one attempt, from the moment it is found or started."""

    def __init__(self, pool: WarmPool, request: SpawnRequest, ahead: SpawnRequest | None) -> None:
        self.request = request
        self._ahead = ahead
        self._pool = pool
        self._interpreter: Interpreter | None = None

    def starter(self, key: AttemptKey, order: bytes) -> Start:
        def start(stdout: int, stderr: int) -> tuple[Head, Watch]:
            interpreter = self._assigned(key, order, stdout, stderr)
            self._interpreter = interpreter
            return interpreter.head, interpreter.ending

        return start

    def answer(self) -> bytes:
        return b"" if self._interpreter is None else self._interpreter.answer()

    def close(self) -> None:
        if self._interpreter is not None:
            self._interpreter.close()

    def _assigned(self, key: AttemptKey, order: bytes, stdout: int, stderr: int) -> Interpreter:
        spare = None if self._ahead is None else self._pool.take(self._ahead)
        if spare is not None:
            try:
                spare.assign(key, order, self.request.limits, stdout, stderr)
            except OSError:
                spare.forget()  # killed by somebody a moment ago
            else:
                return spare
        return self._fresh(key, order, stdout, stderr)

    def _fresh(self, key: AttemptKey, order: bytes, stdout: int, stderr: int) -> Interpreter:
        # The limits are set when it waits for the order, so nothing has to hold it before.
        unlimited = SpawnRequest(self.request.argv, self.request.environment, account=self.request.account)
        fresh = Interpreter.start(unlimited, key, stdout, stderr)
        try:
            fresh.assign(key, order, self.request.limits, stdout, stderr)
        except (BrokenPipeError, ConnectionResetError, ProcessLookupError):
            pass  # it has died by itself; its end says what happened
        except BaseException:
            fresh.forget()
            raise
        return fresh


def _run_info(attempt: Attempt) -> RunInfo:
    return RunInfo(
        run_id=attempt.run_id,
        job_id=attempt.job_id,
        attempt=attempt.number,
        tick=attempt.tick,
        execution_id=attempt.execution,
        planned=attempt.planned,
    )


def _without_payload(attempt: Attempt) -> Attempt:
    """For the variables: a large one would keep the function from starting programs, and it gets the payload anyway."""
    return replace(attempt, payload=None)


def _judge(outcome: Success | Failure, received: bytes) -> Success | Failure:
    """Success needs both: an answer, and a process that ended well. A failure that was told says more than its exit."""
    answer = read_answer(received)
    if isinstance(outcome, Failure):
        return answer if isinstance(answer, Failure) and outcome.reason is Reason.EXIT_CODE else outcome
    if answer is None:
        return Failure("the process ended without an answer (exit code 0)", Reason.EXIT_CODE, outcome.exit_code)
    return answer
