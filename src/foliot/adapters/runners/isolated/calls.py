"""Runs an attempt as a call in a separate interpreter."""

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from msgspec.structs import replace

from foliot.adapters.runners.isolated.interpreter import LONGEST_RUN_ID, PLACEHOLDERS, Interpreter, command
from foliot.adapters.runners.isolated.messages import CallRequest, RunInfo, read_answer
from foliot.adapters.runners.isolated.warm_pool import WarmPool
from foliot.adapters.runners.process import SpawnRequest, child_environment, inherited_environment, run_process
from foliot.adapters.runners.process.children.exit_watch import ExitWatch
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
    """Calls `module:function`, each time in an interpreter that serves only this call.

    Modules are searched in the job's working directory, in `places` (by default the worker's current directory), in the
    PYTHONPATH of the job, and in the worker's own module path.
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
            message = self._call_request(spec, attempt).frame()
        except InvalidJob as error:
            return refusal(error, NOT_EXECUTABLE)
        except (TypeError, ValueError) as error:
            return Failure(f"the payload cannot be written as JSON: {error}", Reason.PAYLOAD, retryable=False)
        with closing(_Call(self._pool, *self._spawn_requests(spec, account, attempt))) as call:
            return await _run_call(call, spec, attempt, message)

    async def close(self) -> None:
        await self._pool.close()

    def _spawn_requests(
        self, spec: PythonSpec, account: Account | None, attempt: Attempt
    ) -> tuple[SpawnRequest, SpawnRequest | None]:
        """Return the request for a new interpreter, and the request for a warm one that can serve the attempt, if any.

        A warm one cannot serve attempts with a user or variables of their own, which are fixed when it starts.
        """
        inherited = self._inherited if account is None else {**self._inherited, **account.variables()}
        environment = child_environment(inherited, spec.env, _without_payload(attempt))
        cold = SpawnRequest(command(), environment, account=account, limits=spec.limits)
        if account is not None or attempt.environment or len(attempt.run_id) > LONGEST_RUN_ID:
            return cold, None
        return cold, SpawnRequest(command(), {**inherited, **spec.env, **PLACEHOLDERS})

    def _call_request(self, spec: PythonSpec, attempt: Attempt) -> CallRequest:
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


async def _run_call(call: "_Call", spec: PythonSpec, attempt: Attempt, message: bytes) -> Success | Failure:
    key = AttemptKey(attempt.run_id, attempt.number)
    outcome = await run_process(
        call.request,
        key,
        attempt.log,
        grace=spec.grace,
        output_cap=spec.output_cap,
        start=call.starter(key, message),
    )
    return _outcome(outcome, call.answer())


class _Call:
    """The interpreter of one attempt: a warm one, or a new one."""

    def __init__(self, pool: WarmPool, request: SpawnRequest, warm: SpawnRequest | None) -> None:
        self.request = request
        self._warm_request = warm
        self._pool = pool
        self._interpreter: Interpreter | None = None

    def starter(self, key: AttemptKey, message: bytes) -> Start:
        def start(stdout: int, stderr: int) -> tuple[Head, ExitWatch]:
            interpreter = self._assigned(key, message, stdout, stderr)
            self._interpreter = interpreter
            return interpreter.head, interpreter.exit_watch

        return start

    def answer(self) -> bytes:
        return b"" if self._interpreter is None else self._interpreter.answer()

    def close(self) -> None:
        if self._interpreter is not None:
            self._interpreter.close()

    def _assigned(self, key: AttemptKey, message: bytes, stdout: int, stderr: int) -> Interpreter:
        interpreter = None if self._warm_request is None else self._pool.take(self._warm_request)
        if interpreter is not None:
            try:
                interpreter.assign(key, message, self.request.limits, stdout, stderr)
            except OSError:
                interpreter.forget()  # it was killed a moment ago; use a new one
            else:
                return interpreter
        return self._start(key, message, stdout, stderr)

    def _start(self, key: AttemptKey, message: bytes, stdout: int, stderr: int) -> Interpreter:
        # `assign` sets the limits while it waits for the message, so no shell has to set them before.
        unlimited = SpawnRequest(self.request.argv, self.request.environment, account=self.request.account)
        started = Interpreter.start(unlimited, key, stdout, stderr)
        try:
            started.assign(key, message, self.request.limits, stdout, stderr)
        except (BrokenPipeError, ConnectionResetError, ProcessLookupError):
            pass  # it has died; its exit status is the outcome
        except BaseException:
            started.forget()
            raise
        return started


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
    """Return the attempt for its variables: a large payload in one would keep the function from starting programs."""
    return replace(attempt, payload=None)


def _outcome(outcome: Success | Failure, received: bytes) -> Success | Failure:
    """Return the outcome of the attempt.

    Success needs an answer and exit code 0. A failure in the answer says more than the exit code.
    """
    answer = read_answer(received)
    if isinstance(outcome, Failure):
        return answer if isinstance(answer, Failure) and outcome.reason is Reason.EXIT_CODE else outcome
    if answer is None:
        return Failure("the process ended without an answer (exit code 0)", Reason.EXIT_CODE, outcome.exit_code)
    return answer
