"""The options of classes of chains, and of their stages."""

from collections.abc import Mapping
from typing import Any, Final

from foliot.domain.chain.decision import Decision
from foliot.domain.chain.spec import STAGES, Ceilings
from foliot.domain.instant import DAY, SECOND
from foliot.domain.vocabulary.field import Field, Schema, only, union, without
from foliot.domain.vocabulary.job import DESCRIPTION, IDENTITY, OPTIONS
from foliot.domain.vocabulary.kind import FANOUT_FIELDS, INNER_KIND, KIND_FIELDS
from foliot.domain.vocabulary.readers import (
    FLAG,
    TABLES,
    TEXT,
    TEXTS,
    Reader,
    list_of,
    read_bounded,
    read_number,
    whole,
    word_of,
    wrong,
)
from foliot.domain.vocabulary.schedule import PAYLOAD, POLICY, RULE
from foliot.domain.vocabulary.times import duration
from foliot.errors import InvalidInput

_DECISION: Final = word_of(Decision)
_LONGEST: Final = 366 * DAY / SECOND
_DURATION: Final = duration(1, _LONGEST)
_DELAY: Final = duration(0, _LONGEST)
_COUNT: Final = whole(1, 1_000_000)
_TOKENS: Final = whole(0, 10**15)


def _dollars(value: Any) -> float:
    found = read_number(value)
    if found < 0:
        raise InvalidInput(f"must be 0 or more, not {found:g}", hint="Leave it out for no limit.")
    return found


_DOLLARS: Final = Reader("number", _dollars)


def _codes(value: Any) -> dict[int, Decision]:
    if not isinstance(value, Mapping):
        raise wrong(value, "a table of exit codes", 'Write { 0 = "good", 30 = "retry" }.')
    return {
        read_bounded(int(code) if code.isdecimal() else code, 0, 255): _DECISION(word) for code, word in value.items()
    }


EXIT_CODES: Final = Reader(
    "table of exit codes", _codes, lambda codes: {str(code): word for code, word in codes.items()}
)
STAGE_ONLY: Final = (
    Field("job", TEXT, "The job or workflow that a step of the stage runs, instead of a command."),
    Field(
        "delay",
        _DELAY,
        "How long after its cause a step of the stage begins. By default 3 minutes for `action`, 2 minutes for"
        " `verify`, 0 for others.",
    ),
    *(
        field.means("The delays before retries of the stage.", '["2m", "5m", "12m"]')._replace(
            fills="", read=list_of(_DURATION)
        )
        for field in only(OPTIONS, "retry_delays")
    ),
    Field(
        "exit_codes",
        EXIT_CODES,
        "What each exit code decides. Exit codes that are not listed are failures. The defaults are in"
        " [chains](../howto/run-a-chain.md#what-a-step-decides).",
        is_literal=True,
    ),
    Field(
        "transient_codes",
        list_of(whole(0, 255)),
        "The exit codes of failures after which the step is retried.",
        "[75]",
    ),
    Field("transient_patterns", TEXTS, "Texts in the error of failures after which the step is retried.", "[]"),
    Field(
        "idempotent",
        FLAG,
        "Whether the step may be executed again after its worker was lost. An action that is not is verified instead.",
        "false",
    ),
)
_STEP_OPTIONS: Final = only(
    OPTIONS, "timeout", "queue", "priority", "max_concurrent", "concurrency_key", "concurrency_limit"
)
STAGE: Final = Schema(
    *union(
        only(IDENTITY, "kind"),
        _STEP_OPTIONS,
        *(schema.fields for schema in KIND_FIELDS.values()),
        without(FANOUT_FIELDS, "job"),
        (INNER_KIND,),
        STAGE_ONLY,
    ),
    owner="a stage of [[chains]]",
    hints={"retries": "Use max_retries of the chain.", "after": "Use delay."},
)


def _ceiling(name: str) -> str:
    most: int = getattr(Ceilings(), name)
    return str(most // SECOND if name == "lifetime" else most)


LIMITS: Final = (
    Field("max_depth", _COUNT, "The largest depth. The scout has depth 0, its action 1, the verification 2.", "4"),
    Field("max_children", _COUNT, "How many steps one chain may have, without the scout.", "8"),
    Field("max_retries", whole(0, 1_000_000), "How often one stage is retried.", "3"),
    Field("lifetime", _DURATION, "The longest time from arming to the end.", "5400"),
    Field("max_concurrent", _COUNT, "How many chains of the class may be active.", "3"),
    Field("spawns", _COUNT, "How many steps those of one chain may ask for within `spawn_window`.", "3"),
    Field("spawn_window", _DURATION, "See `spawns`.", "10"),
    Field(
        "class_spawns",
        _COUNT,
        "How many steps those of all chains of the class may ask for within `class_window`.",
        "10",
    ),
    Field("class_window", _DURATION, "See `class_spawns`.", "60"),
    Field("tokens", _TOKENS, "How many tokens one chain may spend."),
    Field("usd", _DOLLARS, "How many dollars one chain may spend."),
    Field("daily_tokens", _TOKENS, "How many tokens all chains of the class may spend on one day (UTC)."),
    Field("daily_usd", _DOLLARS, "How many dollars all chains of the class may spend on one day (UTC)."),
)
BREAKER: Final = Schema(
    Field("failures", whole(1, 100), "After so many failed chains in a row the breaker opens.", "3"),
    Field("window", _DURATION, "The longest time from the first of these failures to the last.", "1800"),
    Field("cooldown", _DURATION, "How long the breaker stays open. Then one chain is tried.", "3600"),
    owner="[chains.breaker]",
)
INTERVAL: Final = Schema(
    Field("every", _DURATION, "The time to the next check."),
    Field(
        "within", _DURATION, "Applies while at most this long is left until the deadline. The last interval has none."
    ),
    owner="[[chains.intervals]]",
)
_TABLE: Final = TABLES._replace(words="table")
_STAGE_DOCS: Final = {
    "scout": "Looks whether there is something to do, within 10 minutes or its `timeout`. Without it every run of the"
    " class arms a chain.",
    "action": "Does it. Required.",
    "verify": "Checks whether it helped. Without it a chain closes after its action.",
    "monitor": "Checks again until the deadline; by default the same as `verify`.",
    "escalate": "Runs once when a person must act, after the alert.",
}
CHAIN_ONLY: Final = (
    Field("window", _DURATION, "The time from arming to the deadline, unless the scout gives a deadline."),
    Field("grace", _DELAY, "How long after the deadline the chain expires. `lifetime` is a limit in any case.", "900"),
    Field("good_checks", whole(1, 100), "How many checks in a row must be good before the chain closes.", "1"),
    Field("breaker", _TABLE, "See below.", "{}", table=BREAKER),
    Field(
        "intervals",
        TABLES,
        "`[[chains.intervals]]`: how often a chain is monitored. By default every minute in the last 10 minutes before"
        " the deadline, every 5 minutes in the last 30, otherwise every 15.",
        is_literal=True,
    ),
    *(Field(name, _TABLE, f"`[chains.{name}]`, a stage. {_STAGE_DOCS[name]}", is_literal=True) for name in STAGES),
    Field(
        "stages",
        _TABLE,
        "`[chains.stages.NAME]`: further stages, started by `foliot chain spawn NAME`.",
        is_literal=True,
    ),
)
IDENTITY_OF_CLASS: Final = (
    *(
        field.means("The permanent id of the class, with the characters of a job id. No job may have the same.")
        for field in only(IDENTITY, "id")
    ),
    *(
        field.means("If false, ticks of the class are skipped with the reason `disabled`.")
        for field in only(IDENTITY, "enabled")
    ),
    *only(DESCRIPTION, "name", "description", "owner", "tags"),
    PAYLOAD.means("The payload of its runs: `data` in the payload of each step, unless the scout finds other data."),
)
CHAIN: Final = Schema(
    *IDENTITY_OF_CLASS,
    *RULE,
    *POLICY,
    *LIMITS,
    *CHAIN_ONLY,
    owner="[[chains]]",
    hints={
        **{field.name: "Write it in a stage, such as [chains.action]." for field in STAGE if field.has_effect},
        "limits": "Write the limits directly below [[chains]].",
        "timeout": "Use lifetime.",
    },
)
CEILINGS: Final = Schema(
    *(
        field.means(f"No class may have a larger {field.name}.", _ceiling(field.name))
        for field in LIMITS
        if field.name in Ceilings.__struct_fields__
    ),
    owner="[chain_ceilings]",
)
