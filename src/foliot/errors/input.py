"""Errors about input that the caller can correct. Nothing was stored."""

from collections.abc import Iterable, Sequence
from typing import Final

from foliot.errors.base import FoliotError, suggest
from foliot.errors.problem import Problem

_MOST_SHOWN: Final = 20


class InvalidInput(FoliotError):
    """An argument is not valid; the caller can correct it. Nothing was stored."""

    code = "invalid_input"

    def __init__(self, message: str, *, hint: str = "", field: str = "") -> None:
        super().__init__(message, hint=hint)
        self.field = field


class InvalidCron(InvalidInput):
    """A cron expression cannot be parsed. `position` is an offset into `expression`."""

    code = "invalid_cron"

    def __init__(self, message: str, *, expression: str, position: int = 0, hint: str = "") -> None:
        super().__init__(message, hint=hint, field="cron")
        self.expression = expression
        self.position = position


class InvalidTimezone(InvalidInput):
    """A time zone does not exist. The hint names the closest match."""

    code = "invalid_timezone"

    def __init__(self, name: str, known: Iterable[str]) -> None:
        shown = ascii(name[:64])
        super().__init__(
            f"timezone {shown} does not exist",
            hint=suggest(name, known, otherwise='Use an IANA name such as "Europe/Berlin" or "UTC".'),
            field="timezone",
        )


class InvalidSchedule(InvalidInput):
    """A schedule is not valid, or would never fire."""

    code = "invalid_schedule"


class InvalidJob(InvalidInput):
    """The definition of a job is not valid."""

    code = "invalid_job"


class InvalidRun(InvalidInput):
    """A run cannot be created or changed like this: its payload, its dedupe key or its status prevents it."""

    code = "invalid_run"


class WrongState(InvalidRun):
    """A run or a step is not in a state in which this is possible."""

    code = "wrong_state"


class Unstorable(InvalidInput):
    """The database cannot store a value: a number out of range, or text with a NUL character."""

    code = "unstorable"

    def __init__(self, cause: Exception) -> None:
        super().__init__(
            f"a value cannot be stored: {cause}",
            hint="Use text without NUL characters and lone surrogates, and integers of at most 64 bits.",
        )


class InvalidWorkflow(InvalidInput):
    """A workflow is not valid. The message lists all its problems.

    `cannot` names the action that is refused.
    """

    code = "invalid_workflow"

    def __init__(
        self,
        workflow_id: str,
        problems: Sequence[Problem],
        *,
        cannot: str = "be registered",
        hint: str = "Correct the listed problems. Nothing was stored.",
    ) -> None:
        shown = "".join(f"\n  - {problem.in_one_line}" for problem in problems)
        super().__init__(f"workflow {workflow_id[:64]!a} cannot {cannot}:{shown}", hint=hint, field="steps")
        self.problems = tuple(problems)
        self.workflow_id = workflow_id


class InvalidDocument(InvalidWorkflow):
    """A workflow in a JSON document is not valid. Each problem has its JSON path."""

    code = "invalid_document"


class InvalidJobDocument(InvalidJob):
    """A job in a JSON document is not valid. Each problem has its JSON path."""

    code = "invalid_document"

    def __init__(self, job_id: str, problems: Sequence[Problem]) -> None:
        shown = "".join(f"\n  - {problem.in_one_line}" for problem in problems)
        hint = "Correct the listed problems. Nothing was stored."
        super().__init__(f"job {job_id[:64]!a} cannot be stored:{shown}", hint=hint)
        self.problems = tuple(problems)


class InvalidDefinitions(InvalidInput):
    """Definitions in a text are not valid. Each problem has its line and column."""

    code = "invalid_document"

    def __init__(self, problems: Sequence[Problem]) -> None:
        found = "".join(f"\n  - line {one.line}: {one.in_one_line}" for one in problems[:_MOST_SHOWN])
        more = f"\n  and {len(problems) - _MOST_SHOWN} more" if len(problems) > _MOST_SHOWN else ""
        hint = "Correct the listed problems. Nothing was stored."
        super().__init__(f"the definitions cannot be stored:{found}{more}", hint=hint, field="toml")
        self.problems = tuple(problems)


class CycleDetected(InvalidInput):
    """A dependency would create a cycle of jobs."""

    code = "cycle_detected"

    def __init__(self, cycle: Sequence[str]) -> None:
        super().__init__(
            f"the dependency would create a cycle: {' -> '.join(cycle)}", hint="Remove one of these dependencies first."
        )
        self.cycle = tuple(cycle)
