"""What an attempt in the history does (`Act`), and what it may depend on (`Scene`)."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import NamedTuple

from foliot.domain.instant import DAY, HOUR, SECOND, Instant, Millis
from foliot.domain.run.logs import Stream
from foliot.domain.run.outcome import DONE, Failure, Reason, Success
from foliot.ports.runner import Attempt


class Line(NamedTuple):
    """One line of output. On standard error if it is an error."""

    text: str
    is_error: bool = False

    @property
    def stream(self) -> Stream:
        return "stderr" if self.is_error else "stdout"


class Act(NamedTuple):
    """How long an attempt takes, what it prints meanwhile, and how it ends."""

    span: Millis
    lines: Sequence[Line] = ()
    outcome: Success | Failure = DONE
    pauses: int = 1
    """In how many parts the time passes. The output is printed between them."""
    progress: str = ""
    """What is counted, if the attempt reports progress: `shelf`."""


class Story(NamedTuple):
    """The period that the history covers. Incidents are placed relative to its end."""

    begins: Instant
    ends: Instant
    seed: int

    @property
    def span(self) -> Millis:
        return Millis(self.ends - self.begins)

    def ago(self, days: float) -> Instant:
        """Return the moment so many days before the end, out of 30. A shorter story is compressed."""
        return Instant(round(self.ends - days * DAY * self.span / (30 * DAY)))


class Scene(NamedTuple):
    """One attempt: when it begins, and chance, which is the same for the same attempt of the same seed."""

    story: Story
    attempt: Attempt
    now: Instant
    random: Random

    @property
    def day(self) -> int:
        """How many days the story is old."""
        return (self.now - self.story.begins) // DAY

    @property
    def hour(self) -> int:
        """The hour of the day in UTC."""
        return self.now % DAY // HOUR

    @property
    def item(self) -> str:
        """The item of a child of a fanout."""
        return self.attempt.environment.get("FANOUT_ITEM", "")

    @property
    def data(self) -> Mapping[str, object]:
        payload = self.attempt.payload
        return payload if isinstance(payload, dict) else {}

    def is_between(self, begins: float, ends: float) -> bool:
        """Whether it is now between so many days and so many days before the end, out of 30."""
        return self.story.ago(begins) <= self.now < self.story.ago(ends)

    def is_within(self, hours: float) -> bool:
        """Whether the story ends in at most so many hours."""
        return self.now >= self.story.ends - hours * HOUR

    def happens(self, chance: float) -> bool:
        return self.random.random() < chance

    def about(self, seconds: float, spread: float = 0.22) -> Millis:
        """Return a duration near `seconds`. Few are much longer, none is much shorter."""
        return Millis(max(5, round(seconds * SECOND * self.random.lognormvariate(0, spread))))

    def number(self, least: int, most: int) -> int:
        return self.random.randint(least, most)


def say(*texts: str) -> list[Line]:
    return [Line(text) for text in texts]


def complain(*texts: str) -> list[Line]:
    return [Line(text, is_error=True) for text in texts]


def exits(code: int) -> Failure:
    """Return the outcome of a command that ended with this code."""
    return Failure(f"exit code {code}", Reason.EXIT_CODE, code)
