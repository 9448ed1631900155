"""A class of chains: its limits, its breaker and its stages."""

from collections.abc import Mapping
from typing import Annotated, Any, Final

from msgspec import Meta, Struct

from foliot.domain.chain.decision import DEFAULT_CODES, POSSIBLE, Decision
from foliot.domain.instant import DAY, HOUR, MINUTE, SECOND, Millis
from foliot.errors import InvalidJob

CHAIN: Final = "chain"
"""The kind of the job whose runs are chains."""
SCOUT: Final = "scout"
ACTION: Final = "action"
VERIFY: Final = "verify"
MONITOR: Final = "monitor"
ESCALATE: Final = "escalate"
STAGES: Final = (SCOUT, ACTION, VERIFY, MONITOR, ESCALATE)
"""The stages with a meaning of their own. A class may have others, which only requests of steps start."""

SHORTEST_DELAY: Final = SECOND
LONGEST_DELAY: Final = Millis(366 * DAY)
DELAYS: Final[Mapping[str, Millis]] = {ACTION: Millis(3 * MINUTE), VERIFY: Millis(2 * MINUTE)}
"""How long after its cause a step begins. Stages that are not listed begin at once."""
RETRY_DELAYS: Final = (Millis(2 * MINUTE), Millis(5 * MINUTE), Millis(12 * MINUTE))
TRANSIENT_CODES: Final = (75,)
"""EX_TEMPFAIL of sysexits.h: try again later."""

_Duration = Annotated[int, Meta(ge=SECOND, le=366 * DAY)]


class Limits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a chain may do. A step cannot change it."""

    max_depth: Annotated[int, Meta(ge=1)] = 4
    """The scout has depth 0, its action 1. A retry has the depth of the step that it repeats."""
    max_children: Annotated[int, Meta(ge=1)] = 8
    """Steps of one chain, without the scout."""
    max_retries: Annotated[int, Meta(ge=0)] = 3
    """Retries of one stage."""
    lifetime: _Duration = 90 * MINUTE
    """From arming to the latest possible end."""
    max_concurrent: Annotated[int, Meta(ge=1)] = 3
    """Chains of one class that are not closed."""
    spawns: Annotated[int, Meta(ge=1)] = 3
    """Steps that the steps of one chain may ask for within `spawn_window`."""
    spawn_window: _Duration = 10 * SECOND
    class_spawns: Annotated[int, Meta(ge=1)] = 10
    """Steps that those of all chains of the class may ask for within `class_window`."""
    class_window: _Duration = 60 * SECOND
    tokens: Annotated[int, Meta(ge=0)] | None = None
    """The budget of one chain. None: no limit."""
    usd: Annotated[float, Meta(ge=0)] | None = None
    daily_tokens: Annotated[int, Meta(ge=0)] | None = None
    """The budget of all chains of the class on one day (UTC)."""
    daily_usd: Annotated[float, Meta(ge=0)] | None = None


class Ceilings(Struct, frozen=True, kw_only=True):
    """What no class of this server may exceed."""

    max_depth: int = 16
    max_children: int = 100
    max_retries: int = 20
    lifetime: int = DAY
    max_concurrent: int = 100
    spawns: int = 100
    class_spawns: int = 1_000

    def check(self, limits: Limits) -> None:
        for name in self.__struct_fields__:
            given, most = getattr(limits, name), getattr(self, name)
            if given > most:
                is_time = name == "lifetime"
                shown = [f"{value // SECOND} s" if is_time else str(value) for value in (given, most)]
                raise InvalidJob(
                    f"{name} is {shown[0]}, above the ceiling of this server, {shown[1]}",
                    hint=f"Lower it, or raise {name} in [chain_ceilings].",
                    field=name,
                )


class BreakerRule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """When the breaker of a class opens, and for how long."""

    failures: Annotated[int, Meta(ge=1, le=100)] = 3
    """Failed chains in a row."""
    window: _Duration = 30 * MINUTE
    """The longest time from the first of them to the last."""
    cooldown: _Duration = HOUR


class Interval(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """How often a chain is monitored while at most `within` is left until its deadline. None: any time."""

    every: _Duration
    within: _Duration | None = None


INTERVALS: Final = (
    Interval(every=MINUTE, within=10 * MINUTE),
    Interval(every=5 * MINUTE, within=30 * MINUTE),
    Interval(every=15 * MINUTE),
)


class Stage(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a step of this stage does: a job of any kind, or a registered job or workflow."""

    kind: str = "shell"
    spec: Mapping[str, Any] = {}
    written: Mapping[str, Any] = {}
    """Fields of `spec` with environment variables, as they were written."""
    options: Mapping[str, Any] = {}
    """Fields of `Options`. The chain itself retries, so `retry` is not among them."""
    job: str | None = None
    """The registered job or workflow to run instead of `kind` and `spec`."""
    delay: Annotated[int, Meta(ge=0, le=366 * DAY)] | None = None
    """How long after its cause the step begins. None: the default of the stage."""
    retry_delays: tuple[_Duration, ...] = RETRY_DELAYS
    exit_codes: Mapping[int, Decision] | None = None
    """What exit codes decide. None: the defaults of the stage."""
    transient_codes: tuple[int, ...] = TRANSIENT_CODES
    """Exit codes of failures after which a retry may help."""
    transient_patterns: tuple[str, ...] = ()
    """Texts in the error of such failures. Upper and lower case are the same."""
    idempotent: bool = False
    """Whether the step may be executed again after its worker was lost."""

    def check(self, name: str) -> None:
        """Raise InvalidJob if a step of the stage `name` could not decide what its exit codes say."""
        possible = POSSIBLE.get(name, POSSIBLE[""])
        for code, decision in self.codes(name).items():
            if decision not in possible:
                hint = f"Use one of: {', '.join(sorted(possible))}."
                raise InvalidJob(f"the stage {name} cannot decide {decision}", hint=hint, field="exit_codes")
            if not 0 <= code <= 255:
                raise InvalidJob(f"{code} is not an exit code", hint="Use 0 to 255.", field="exit_codes")

    def delay_of(self, name: str) -> Millis:
        return Millis(DELAYS.get(name, 0) if self.delay is None else self.delay)

    def codes(self, name: str) -> Mapping[int, Decision]:
        return DEFAULT_CODES.get(name, DEFAULT_CODES[""]) if self.exit_codes is None else self.exit_codes

    def retry_delay(self, retries: int) -> Millis:
        """Return the delay before the next retry, after so many."""
        delays = self.retry_delays or RETRY_DELAYS
        return Millis(delays[min(retries, len(delays) - 1)])


class ChainSpec(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The definition of a class. The specification of its job is this struct as a document."""

    stages: Mapping[str, Stage] = {}
    limits: Limits = Limits()
    breaker: BreakerRule = BreakerRule()
    intervals: tuple[Interval, ...] = INTERVALS
    """When to monitor, the interval closest to the deadline first."""
    window: _Duration | None = None
    """The time from arming to the deadline, if the scout gives no deadline."""
    grace: Annotated[int, Meta(ge=0, le=366 * DAY)] = 15 * MINUTE
    """The time from the deadline to the expiry. The lifetime is a limit in any case."""
    good_checks: Annotated[int, Meta(ge=1, le=100)] = 1
    """How many checks in a row must be good before the chain closes."""

    def check(self) -> None:
        """Raise InvalidJob if chains of this class could not work."""
        if ACTION not in self.stages:
            hint = f"Add a stage {ACTION}: what the chain does when it is armed."
            raise InvalidJob("a chain needs an action", hint=hint, field=ACTION)
        for name, stage in self.stages.items():
            stage.check(name)
        if MONITOR in self.stages and VERIFY not in self.stages:
            raise InvalidJob("a chain with a monitor needs a verify", hint="Add a stage verify.", field=MONITOR)
        for name in (VERIFY, MONITOR):
            if name in self.stages and not _can_close(name, self.stages[name]):
                raise InvalidJob(
                    f"the stage {name} can never close the chain: none of its exit codes means good or close",
                    hint='Let one exit code mean "good", for example exit_codes = { 0 = "good", 30 = "retry" }.',
                    field=name,
                )
        if not _are_in_order(self.intervals):
            hint = "List them from the shortest within to the longest, and the last one without within."
            raise InvalidJob("the intervals are not in order", hint=hint, field="intervals")


def _can_close(name: str, stage: Stage) -> bool:
    return not {Decision.GOOD, Decision.CLOSE}.isdisjoint(stage.codes(name).values())


def _are_in_order(intervals: tuple[Interval, ...]) -> bool:
    """Whether each interval but the last has a limit, and the limits rise."""
    if not intervals or intervals[-1].within is not None:
        return False
    limits = [interval.within for interval in intervals[:-1] if interval.within is not None]
    return len(limits) == len(intervals) - 1 and limits == sorted(set(limits))
