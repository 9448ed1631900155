"""Going round the history, a piece with each call, to remove what need not be kept, whatever the database.

    Round.runs --asks--> a look into the database --sends what it found--> Round.runs ... returns the runs that go

Nothing is read here: which way is gone next, how much room is left, and when a round is over are decided in one place,
for the adapter that waits for its answers and for the one that does not.
"""

from collections.abc import Generator, Mapping, Sequence
from enum import Enum, auto
from typing import Any, Final, NamedTuple

from foliot.adapters.storage.shared.documents import decode_schedule_spec
from foliot.domain.ids import RunId
from foliot.domain.instant import Instant, Millis
from foliot.domain.run.payload import UNREADABLE
from foliot.domain.schedule.schedule import Catchup
from foliot.ports.upkeep import Pruned, Retention

Place = Any
"""How far a way has been gone, in the adapter's own words: behind it the way goes on."""
FRONT: Final = ""
"""The place of whoever has not begun."""


class Way(Enum):
    """What is gone through to its end in each round."""

    OLD_RUNS = auto()
    """Runs that ended before a moment; none that is a part of an execution that is not over."""
    SURPLUS_RUNS = auto()
    """Runs that are over, of one job after the other, beyond its newest; parts as above."""
    SURPLUS_EXECUTIONS = auto()
    """Executions that are over, of one workflow after the other, beyond its newest."""
    OLD_EXECUTIONS = auto()
    """Executions that ended before a moment."""
    LEDGERS = auto()
    LOGS = auto()


_TO_RUNS: Final = (Way.OLD_RUNS, Way.SURPLUS_RUNS, Way.SURPLUS_EXECUTIONS, Way.OLD_EXECUTIONS)
_BY_COUNT: Final = (Way.SURPLUS_RUNS, Way.SURPLUS_EXECUTIONS)


class Ask(NamedTuple):
    """Go a way on from a place, until there are as many runs as there is room for."""

    way: Way
    bound: int
    """The moment before which something ended, or how many are kept."""
    place: Place
    room: int


class AskForParts(NamedTuple):
    """Look for runs that are over and parts of these."""

    run_ids: Sequence[RunId]
    room: int


class Found(NamedTuple):
    run_ids: list[RunId]
    place: Place | None = None
    """Where the way goes on. None: it has been gone to its end."""


Asking = Generator[Ask | AskForParts, Found, list[RunId]]


class Round:
    """How far each way has been gone. One that has come to its end is left out until the others have, too: so each is
    gone once until there is no more.

    Only what is committed has been gone through: a piece goes on with a copy, which takes the place of the round then.
    """

    def __init__(self) -> None:
        self._places: Mapping[Way, Place] = dict.fromkeys(Way, FRONT)

    def place(self, way: Way) -> Place | None:
        return self._places.get(way)

    def move(self, way: Way, place: Place | None) -> None:
        places = {**self._places, way: place}
        self._places = {way: place for way, place in places.items() if place is not None}

    def runs(self, retention: Retention, now: Instant, limit: int) -> Asking:
        """The runs that go with this piece, each with all that is a part of it."""
        stood = self._places
        doomed: dict[RunId, None] = {}
        for way in _TO_RUNS:
            kept, place = _kept(way, retention), self.place(way)
            if kept is not None and place is not None and len(doomed) < limit:
                bound = kept if way in _BY_COUNT else now - kept
                found = yield Ask(way, bound, place, limit - len(doomed))
                doomed.update(dict.fromkeys(found.run_ids))
                self.move(way, found.place)
        whole = yield from _with_parts(list(doomed), limit)
        if len(whole) >= limit:
            # Parts may have taken the place of what was found: it is looked for again.
            self._places = stood
        return whole

    def after(self, pruned: Pruned, retention: Retention, limit: int) -> tuple["Round", Pruned]:
        """The round that the next piece belongs to, and what was removed with this one, with whether there is more."""
        is_over = pruned.most < limit and all(_kept(way, retention) is None for way in self._places)
        return Round() if is_over else self, pruned._replace(is_more=not is_over)


def _kept(way: Way, retention: Retention) -> int | None:
    """How long, or how many of what this way leads to. None: all, for ever."""
    match way:
        case Way.OLD_RUNS:
            return retention.runs_age
        case Way.SURPLUS_RUNS:
            return retention.runs_per_job
        case Way.SURPLUS_EXECUTIONS:
            return retention.executions_per_workflow
        case Way.OLD_EXECUTIONS:
            return retention.executions_age
        case Way.LEDGERS:
            return retention.ticks_age
        case Way.LOGS:
            return retention.logs_age


def _with_parts(run_ids: list[RunId], limit: int) -> Asking:
    """These runs with all that is a part of them; of what is too much at once, a piece, the parts before the whole."""
    parts = (yield AskForParts(run_ids, limit)).run_ids if run_ids else []
    if not parts:
        return run_ids
    first = yield from _with_parts(list(dict.fromkeys(parts)), limit)
    return first if len(first) >= limit else list(dict.fromkeys([*first, *run_ids]))


# -- How far back the ledger of a schedule must reach, whatever retention says.


def removable_before(document: str, settled_until: Instant, now: Instant, ticks_age: Millis) -> Instant:
    """Ticks of the schedule that says this, and that ended before this moment, may go.

    It keeps those younger than `ticks_age` and those a catch-up may still ask about; a moment that is not settled
    is never older than that.
    """
    return Instant(min(now - max(ticks_age, _longest_catchup(document)), settled_until + 1))


def _longest_catchup(document: str) -> Millis:
    """None, where the document cannot be read: what is not settled is kept all the same."""
    try:
        spec = decode_schedule_spec(document)
    except UNREADABLE:
        return Millis(0)
    return Millis(0) if spec.catchup is Catchup.NONE else spec.catchup_max_age or Millis(0)
