"""One attempt as a call in an interpreter of its own."""

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from msgspec.structs import replace

from foliot.adapters.runners.isolated.interpreter import LONGEST_ID, ROOM, Interpreter, command
from foliot.adapters.runners.isolated.order import Calling, Order, read_answer
from foliot.adapters.runners.isolated.spares import Spares
from foliot.adapters.runners.process import Launch, child_environment, inherited_environment, run_process
from foliot.adapters.runners.process.account import Account, find_account
from foliot.adapters.runners.process.launch import NOT_EXECUTABLE
from foliot.adapters.runners.process.proctable import Tag
from foliot.adapters.runners.process.running import Start
from foliot.adapters.runners.process.subreaper import Head
from foliot.adapters.runners.process.waiting import Watch
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
        spares: Spares | None = None,
        sandbox_policy: SandboxPolicy = ANYTHING,
    ) -> None:
        self._inherited = inherited_environment(environ)
        self._sandbox_policy = sandbox_policy
        self._places = places
        self._spares = Spares() if spares is None else spares

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
        with closing(_Call(self._spares, *self._launches(spec, account, attempt))) as call:
            return await _carry_out(call, spec, attempt, order)

    async def close(self) -> None:
        await self._spares.close()

    def _launches(self, spec: PythonSpec, account: Account | None, attempt: Attempt) -> tuple[Launch, Launch | None]:
        """How to start an interpreter for this attempt, and how one would have been started ahead, if that will do.

        It will not where something must be there from the start that only this attempt knows.
        """
        inherited = self._inherited if account is None else {**self._inherited, **account.variables()}
        environment = child_environment(inherited, spec.env, _without_payload(attempt))
        cold = Launch(command(), environment, account=account, limits=spec.limits)
        if account is not None or attempt.environment or len(attempt.run_id) > LONGEST_ID:
            return cold, None
        return cold, Launch(command(), {**inherited, **spec.env, **ROOM})

    def _order(self, spec: PythonSpec, attempt: Attempt) -> Order:
        working_dir = None if spec.working_dir is None else str(Path(spec.working_dir).absolute())
        places = [Path.cwd()] if self._places is None else self._places
        return Order(
            call=spec.call or "",
            payload=attempt.payload,
            variables=child_environment({}, {}, _without_payload(attempt)),
            working_dir=working_dir,
            umask=spec.umask,
            first=[*([working_dir] if working_dir else []), *map(str, places)],
            path=[place for place in sys.path if place],
            context=_calling(attempt),
            is_memory_limited=spec.limits.memory is not None,
        )


async def _carry_out(call: "_Call", spec: PythonSpec, attempt: Attempt, order: bytes) -> Success | Failure:
    tag = Tag(attempt.run_id, attempt.number)
    outcome = await run_process(
        call.launch,
        tag,
        attempt.log,
        grace=spec.grace,
        output_cap=spec.output_cap,
        start=call.starter(tag, order),
    )
    return _judge(outcome, call.answer())


class _Call:
    """The interpreter of one attempt, from the moment it is found or started."""

    def __init__(self, spares: Spares, launch: Launch, ahead: Launch | None) -> None:
        self.launch = launch
        self._ahead = ahead
        self._spares = spares
        self._interpreter: Interpreter | None = None

    def starter(self, tag: Tag, order: bytes) -> Start:
        def start(stdout: int, stderr: int) -> tuple[Head, Watch]:
            interpreter = self._assigned(tag, order, stdout, stderr)
            self._interpreter = interpreter
            return interpreter.head, interpreter.ending

        return start

    def answer(self) -> bytes:
        return b"" if self._interpreter is None else self._interpreter.answer()

    def close(self) -> None:
        if self._interpreter is not None:
            self._interpreter.close()

    def _assigned(self, tag: Tag, order: bytes, stdout: int, stderr: int) -> Interpreter:
        spare = None if self._ahead is None else self._spares.take(self._ahead)
        if spare is not None:
            try:
                spare.assign(tag, order, self.launch.limits, stdout, stderr)
            except OSError:
                spare.forget()  # killed by somebody a moment ago
            else:
                return spare
        return self._fresh(tag, order, stdout, stderr)

    def _fresh(self, tag: Tag, order: bytes, stdout: int, stderr: int) -> Interpreter:
        # The limits are set when it waits for the order, so nothing has to hold it before.
        unlimited = Launch(self.launch.argv, self.launch.environment, account=self.launch.account)
        fresh = Interpreter.start(unlimited, tag, stdout, stderr)
        try:
            fresh.assign(tag, order, self.launch.limits, stdout, stderr)
        except (BrokenPipeError, ConnectionResetError, ProcessLookupError):
            pass  # it has died by itself; its end says what happened
        except BaseException:
            fresh.forget()
            raise
        return fresh


def _calling(attempt: Attempt) -> Calling:
    return Calling(
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
