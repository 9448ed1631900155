"""References to a run in commands: its id, a part of the id, or the newest run.

01JQZ8W3F07M4T5V6W8X9YABCD      RunById
01JQZ8W3, 8X9YABCD              RunByPart: six or more characters of the beginning or the end
@last, report@last              NewestRun: of all jobs, or of one
"""

from typing import Final, NamedTuple

from foliot.domain.ids import ID_LENGTH, JobId, RunId, is_id

LAST: Final = "@last"
SHORTEST_PART: Final = 6


class RunById(NamedTuple):
    run_id: RunId


class RunByPart(NamedTuple):
    part: str
    """In upper case, like ids."""


class NewestRun(NamedTuple):
    job_id: JobId | None


RunReference = RunById | RunByPart | NewestRun


def read_reference(text: str) -> RunReference:
    """Return the reference in `text`. Text that cannot be part of an id is taken as an id, which matches no run."""
    if text.endswith(LAST):
        job_id = text.removesuffix(LAST)
        return NewestRun(JobId(job_id) if job_id else None)
    word = text.upper()
    if is_id(word):
        return RunById(RunId(word))
    return RunByPart(word) if _may_be_part(word) else RunById(RunId(text))


def _may_be_part(word: str) -> bool:
    return SHORTEST_PART <= len(word) < ID_LENGTH and is_id(word.rjust(ID_LENGTH, "0"))
