"""An invalid job fails its attempt with a message and a hint."""

from typing import Any

import pytest

from foliot.adapters.runners.agent import AgentRunner
from foliot.adapters.runners.http import HttpRunner
from foliot.adapters.runners.isolated import IsolatedCalls
from foliot.adapters.runners.refusal import refusal
from foliot.adapters.runners.shell import ShellRunner
from foliot.domain.job.sandbox_policy import SandboxPolicy
from foliot.domain.run.outcome import Failure, Reason
from foliot.errors import InvalidJob
from foliot.ports.runner import Runner
from tests.adapters.runners.attempts import ListLog, an_attempt

STRANGE_USER: dict[str, Any] = {"user": "nobody-of-that-name"}


@pytest.mark.parametrize(
    ("runner", "spec", "fact", "advice"),
    [
        (ShellRunner(), {"comand": "x"}, "not a valid shell job", "Its fields are: env,"),
        (
            ShellRunner(),
            {"command": "x", **STRANGE_USER},
            "does not exist on this machine",
            "Use the name of an account",
        ),
        (AgentRunner(), {"promt": "x"}, "not a valid agent job", "Its fields are: env,"),
        (HttpRunner(), {"url": "ftp://x.example"}, 'the scheme "ftp" is not supported', "Use http or https."),
        (
            HttpRunner(),
            {"url": "https://x.example", "methd": "GET"},
            "not a valid http job",
            "Its fields are: url,",
        ),
    ],
)
async def test_each_runner_reports_an_invalid_job_with_a_hint(
    runner: Runner, spec: dict[str, Any], fact: str, advice: str
) -> None:
    outcome = await runner.run(an_attempt(log=ListLog(), **spec))

    assert isinstance(outcome, Failure)
    assert (outcome.reason, outcome.retryable) == (Reason.LAUNCH_FAILED, False)
    assert fact in outcome.error
    assert f". {advice}" in outcome.error


async def test_an_isolated_call_reports_an_invalid_user_with_a_hint() -> None:
    outcome = await IsolatedCalls().run(an_attempt(log=ListLog(), call="shop:sell", **STRANGE_USER))

    assert isinstance(outcome, Failure)
    assert ". Use the name of an account" in outcome.error


def test_an_error_without_a_hint_is_only_the_message() -> None:
    assert refusal(InvalidJob("it is broken"), 2) == Failure("it is broken", Reason.LAUNCH_FAILED, 2, retryable=False)


NOBODY = SandboxPolicy.of(users=[], modules=["shop"])


@pytest.mark.proves("Z44", "Z56")
@pytest.mark.parametrize(
    ("runner", "spec", "fact"),
    [
        (ShellRunner(sandbox_policy=NOBODY), {"command": "x", "user": "root"}, "may not run as user 'root'"),
        (AgentRunner(sandbox_policy=NOBODY), {"prompt": "x", "user": "root"}, "may not run as user 'root'"),
        (IsolatedCalls(sandbox_policy=NOBODY), {"call": "shop:sell", "user": "root"}, "may not run as user 'root'"),
        (IsolatedCalls(sandbox_policy=NOBODY), {"call": "os:system"}, "may not call module 'os'"),
    ],
)
async def test_a_job_that_the_sandbox_policy_forbids_is_not_started(
    runner: ShellRunner | AgentRunner | IsolatedCalls, spec: dict[str, Any], fact: str
) -> None:
    log = ListLog()

    outcome = await runner.run(an_attempt(log=log, **spec))

    assert isinstance(outcome, Failure)
    assert (outcome.reason, outcome.retryable) == (Reason.LAUNCH_FAILED, False)
    assert fact in outcome.error
    assert log.text("meta") == b""
