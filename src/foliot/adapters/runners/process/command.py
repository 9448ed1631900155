"""From what a job says to a process: what runners of commands have in common."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Final

from foliot.adapters.runners.capture import Capture, with_output
from foliot.adapters.runners.process.account import find_account
from foliot.adapters.runners.process.environment import child_environment
from foliot.adapters.runners.process.launch import NOT_EXECUTABLE, Launch
from foliot.adapters.runners.process.outbox import VARIABLE, Outbox
from foliot.adapters.runners.process.patience import Patience
from foliot.adapters.runners.process.proctable import Tag
from foliot.adapters.runners.process.room import room
from foliot.adapters.runners.process.running import run_process, tell_wait
from foliot.adapters.runners.refusal import refusal
from foliot.domain.job.kinds.process import CommandSpec
from foliot.domain.run.outcome import Failure, Reason, Success
from foliot.errors import InvalidJob
from foliot.ports.runner import Attempt, LogSink

_REMOVAL_LIMIT: Final = 10.0
"""Seconds after which nobody waits for a removal any more. It goes on."""


async def run_command(
    attempt: Attempt,
    spec: CommandSpec,
    words: tuple[str, ...],
    *,
    echo: str,
    inherited: Mapping[str, str],
    hint_if_missing: str = "",
) -> Success | Failure:
    """Run the words as the specification says. Keeps the promises of `Runner.run`."""
    try:
        launch = await _prepare(attempt, spec, words, inherited, hint_if_missing)
    except InvalidJob as error:
        return refusal(error, NOT_EXECUTABLE)
    except (TypeError, ValueError) as error:
        return Failure(f"the payload cannot be written as JSON: {error}", Reason.PAYLOAD, retryable=False)
    attempt.log.write("meta", f"$ {echo}\n".encode(errors="backslashreplace"))
    tag = Tag(attempt.run_id, attempt.number)
    run = partial(run_process, tag=tag, log=attempt.log, grace=spec.grace, output_cap=spec.output_cap)
    match spec.output:
        case "none":
            return await run(launch)
        case "file":
            return await _run_with_outbox(run, launch, tag, attempt.log)
        case mode:
            capture = Capture(mode)
            return await with_output(await run(launch, capture=capture), capture.read)


async def _run_with_outbox(
    run: Callable[[Launch], Awaitable[Success | Failure]], launch: Launch, tag: Tag, log: LogSink
) -> Success | Failure:
    try:
        outbox = await room().start(lambda: Outbox.make(tag, launch.account), partial(tell_wait, log))
    except OSError as error:
        fault = (error.strerror or str(error)).lower()
        return Failure(f"could not make the file for the output: {fault}", Reason.LAUNCH_FAILED)
    try:
        told = launch._replace(environment={**launch.environment, VARIABLE: outbox.path})
        return await with_output(await run(told), outbox.read)
    finally:
        await _remove(outbox)


async def _remove(outbox: Outbox) -> None:
    """In a thread: a job can leave more there than is removed in a moment."""
    patience = Patience()
    removal = asyncio.get_running_loop().run_in_executor(None, outbox.remove)
    await patience.wait(removal, _REMOVAL_LIMIT)
    patience.give_way()


async def _prepare(
    attempt: Attempt, spec: CommandSpec, words: tuple[str, ...], inherited: Mapping[str, str], hint_if_missing: str
) -> Launch:
    # In a thread: the list of users may be on the network.
    account = None if spec.user is None else await asyncio.to_thread(find_account, spec.user)
    surroundings = inherited if account is None else {**inherited, **account.variables()}
    return Launch(
        words,
        child_environment(surroundings, spec.env, attempt),
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
            "the text for stdin contains half a character",
            hint="Write the character as a whole; text with lone surrogates has no bytes.",
            field="stdin",
        ) from None
