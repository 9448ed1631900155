"""From the options of a job or a run, in the words people use, to the options used inside."""

from typing import Any, Final

from foliot.domain.input.timing import millis, number
from foliot.domain.input.words import text, whole_number, word_of
from foliot.domain.job.job import Delivery
from foliot.errors import InvalidJob, suggest

_RETRY: Final = {
    "retries": "retries",
    "retry_delay": "base",
    "retry_factor": "factor",
    "retry_cap": "cap",
    "retry_jitter": "jitter",
    "retry_delays": "delays",
}
_PLAIN: Final = ("queue", "priority", "max_concurrent", "concurrency_key", "concurrency_limit", "max_lost")
_NONE: Final = ("max_concurrent", "concurrency_key")
KNOWN: Final = (*_RETRY, *_PLAIN, "timeout", "delivery")


def job_options(**given: Any) -> dict[str, Any]:
    """Read options. Only those that were given come back, in the form that `domain.job.job.overlay` takes.

    None was not given, except where it says that there is to be no limit and no key.
    """
    if not given:
        return {}
    for name in given:
        if name not in KNOWN:
            hint = suggest(name, KNOWN, otherwise=f"Use: {', '.join(KNOWN)}.")
            raise InvalidJob(f"option {name[:64]!a} does not exist", hint=hint, field=name[:64])
    given = {name: value for name, value in given.items() if value is not None or name in _NONE}
    options: dict[str, Any] = {name: _plain(name, given[name]) for name in _PLAIN if name in given}
    retry = {field: _retry(name, given[name]) for name, field in _RETRY.items() if name in given}
    if retry:
        options["retry"] = _whole(retry)
    if "timeout" in given:
        options["timeout"] = millis(given["timeout"], "timeout")
    if "delivery" in given:
        options["delivery"] = word_of(Delivery)(given["delivery"], "delivery")
    return options


def _plain(name: str, value: Any) -> Any:
    if name in ("queue", "concurrency_key"):
        return None if value is None else text(value, name)
    return None if value is None else whole_number(value, name)


def _retry(name: str, value: Any) -> Any:
    match name:
        case "retries":
            return whole_number(value, name)
        case "retry_delay" | "retry_cap":
            return millis(value, name)
        case "retry_delays":
            return _delays(name, value)
        case _:
            return float(number(value, name))


def _delays(name: str, value: Any) -> list[int]:
    if not isinstance(value, list | tuple):
        hint = "Give the pause before each retry: [10, 60, 600]."
        raise InvalidJob(f"{name} must be a list of pauses, not {type(value).__name__}", hint=hint, field=name)
    return [millis(delay, name) for delay in value]


def _whole(retry: dict[str, Any]) -> dict[str, Any]:
    """A list of delays without a number of retries means: that many."""
    return {"retries": len(retry["delays"]), **retry} if "delays" in retry else retry
