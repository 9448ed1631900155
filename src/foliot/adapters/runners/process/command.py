"""Runs a command as its job specifies it. The runners of commands (shell, agent) share this."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Final

from foliot.adapters.runners.capture import Capture, with_output
from foliot.adapters.runners.process.spawn.account import find_account
from foliot.adapters.runners.process.spawn.environment import AttemptKey, child_environment
from foliot.adapters.runners.process.spawn.program import NOT_EXECUTABLE, SpawnRequest
from foliot.adapters.runners.process.spawn.spawn_queue import spawn_queue
from foliot.adapters.runners.process.streams.output_file import VARIABLE, OutputFile
from foliot.adapters.runners.process.supervisor import log_wait, run_process
from foliot.adapters.runners.process.termination.shielded_wait import ShieldedWait
from foliot.adapters.runners.refusal import refusal
from foliot.domain.job.kinds.process import CommandSpec
from foliot.domain.run.outcome import Failure, Reason, Success
from foliot.errors import InvalidJob
from foliot.ports.runner import Attempt, LogSink

_REMOVAL_LIMIT: Final = 10.0
"""Seconds to wait for the removal of an output file. After that the removal continues in its thread."""


async def run_command(
    attempt: Attempt,
    spec: CommandSpec,
    words: tuple[str, ...],
    *,
    echo: str,
    inherited: Mapping[str, str],
    hint_if_missing: str = "",
) -> Success | Failure:
    """Run a program with these arguments as the specification says. Keeps the promises of `Runner.run`."""
    try:
        request = await _prepare(attempt, spec, words, inherited, hint_if_missing)
    except InvalidJob as error:
        return refusal(error, NOT_EXECUTABLE)
    except (TypeError, ValueError) as error:
        return Failure(f"the payload cannot be written as JSON: {error}", Reason.PAYLOAD, retryable=False)
    attempt.log.write("meta", f"$ {echo}\n".encode(errors="backslashreplace"))
    key = AttemptKey(attempt.run_id, attempt.number)

    async def run(request: SpawnRequest, capture: Capture | None = None) -> Success | Failure:
        outcome = await run_process(
            request, key, attempt.log, grace=spec.grace, output_cap=spec.output_cap, capture=capture
        )
        return outcome if spec.success_codes == (0,) else _judged(outcome, spec.success_codes)

    match spec.output:
        case "none":
            return await run(request)
        case "file":
            return await _run_with_output_file(run, request, key, attempt.log)
        case mode:
            capture = Capture(mode)
            return await with_output(await run(request, capture), capture.read, of_failures=mode == "last_line")


def _judged(outcome: Success | Failure, success_codes: tuple[int, ...]) -> Success | Failure:
    """Return the outcome of a process with other exit codes for success than 0."""
    code = outcome.exit_code
    if isinstance(outcome, Success):
        return outcome if code in success_codes else Failure(f"exit code {code}", Reason.EXIT_CODE, code)
    return Success(exit_code=code) if outcome.reason is Reason.EXIT_CODE and code in success_codes else outcome


async def _run_with_output_file(
    run: Callable[[SpawnRequest], Awaitable[Success | Failure]], request: SpawnRequest, key: AttemptKey, log: LogSink
) -> Success | Failure:
    try:
        output_file = await spawn_queue().start(lambda: OutputFile.make(key, request.account), partial(log_wait, log))
    except OSError as error:
        fault = (error.strerror or str(error)).lower()
        return Failure(f"could not create the output file: {fault}", Reason.LAUNCH_FAILED)
    try:
        with_path = request._replace(environment={**request.environment, VARIABLE: output_file.path})
        return await with_output(await run(with_path), output_file.read)
    finally:
        await _remove(output_file)


async def _remove(output_file: OutputFile) -> None:
    """Remove the file in a thread: a job can leave a large directory tree there."""
    shield = ShieldedWait()
    removal = asyncio.get_running_loop().run_in_executor(None, output_file.remove)
    await shield.wait(removal, _REMOVAL_LIMIT)
    shield.raise_if_cancelled()


async def _prepare(
    attempt: Attempt, spec: CommandSpec, words: tuple[str, ...], inherited: Mapping[str, str], hint_if_missing: str
) -> SpawnRequest:
    # In a thread: the user database may be on the network.
    account = None if spec.user is None else await asyncio.to_thread(find_account, spec.user)
    base = inherited if account is None else {**inherited, **account.variables()}
    return SpawnRequest(
        words,
        child_environment(base, spec.env, attempt),
        spec.working_dir,
        stdin=_encode(spec.stdin),
        account=account,
        umask=spec.umask,
        limits=spec.limits,
        hint_if_missing=hint_if_missing,
    )


def _encode(stdin: str | None) -> bytes | None:
    try:
        return None if stdin is None else stdin.encode()
    except UnicodeEncodeError:
        raise InvalidJob(
            "the text for stdin contains a lone surrogate",
            hint="Write the whole character; half of a surrogate pair cannot be encoded as UTF-8.",
            field="stdin",
        ) from None
