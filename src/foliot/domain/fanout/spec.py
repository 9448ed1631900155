"""A fanout as it is stored: the fields of its own beside those of the job that its children are."""

from collections.abc import Mapping
from enum import StrEnum
from fractions import Fraction
from typing import Annotated, Any, Final

from msgspec import Meta, Struct

from foliot.domain.instant import DAY, SECOND, Millis
from foliot.domain.run.retry import Retry

FANOUT: Final = "fanout"
"""The kind of the job whose runs are fanouts."""
ITEMS: Final = "items"
"""The field with given items."""
DEFAULT_ITEM_VAR: Final = "FANOUT_ITEM"
MAX_CONCURRENCY: Final = 10_000


class RunOn(StrEnum):
    """When the reducer runs. Never after a cancellation."""

    SUCCESS = "success"
    """The children have succeeded, or as many as the tolerance asks for."""
    ANY_SUCCESS = "any_success"
    """At least one child has succeeded."""
    ALWAYS = "always"


class Reducer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A job that runs once, after all children. It inherits environment, working directory and user of the fanout."""

    kind: str = "shell"
    spec: Mapping[str, Any] = {}
    run_on: RunOn = RunOn.SUCCESS
    retry: Retry = Retry()
    timeout: Millis | None = None


class FanoutFields(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The fields of a fanout. All other fields of its specification are those of its children."""

    inner_kind: str = "shell"
    inputs_from: str | None = None
    items: Any = None
    """The items themselves: a list, or text with one item per line. A template of a step has become its value."""
    concurrency: Annotated[int, Meta(ge=1, le=MAX_CONCURRENCY)] = 4
    per_item_timeout: Annotated[int, Meta(gt=0, le=366 * DAY)] | None = None
    partial_tolerance: Annotated[float, Meta(ge=0, le=1)] = 0.0
    item_var: Annotated[str, Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] = DEFAULT_ITEM_VAR
    window: Annotated[int, Meta(ge=1 * SECOND, le=366 * DAY)] = DAY
    max_items: Annotated[int, Meta(ge=1, le=10_000_000)] = 1_000_000
    max_item_size: Annotated[int, Meta(ge=1, le=128 * 1024)] = 64 * 1024
    max_input_size: Annotated[int, Meta(ge=1, le=1 << 34)] = 1 << 30
    child_options: Mapping[str, Any] = {}
    """How children are handled, as fields of `Options`. The options of the job are those of the parent."""
    reducer: Reducer | None = None
    job: str | None = None
    """The registered job that the children are runs of, instead of an inner kind (`app.map`)."""
    rerun_of: str | None = None
    """The fanout whose failed items are the items of this one."""

    def __post_init__(self) -> None:
        sources = [self.inputs_from is not None, self.items is not None, self.rerun_of is not None]
        if sum(sources) > 1:
            raise ValueError("give either `inputs_from` or `items`")

    @property
    def tolerance(self) -> Fraction:
        """The exact fraction that was written: 0.1 is one tenth, not the nearest binary number."""
        return Fraction(str(self.partial_tolerance))


OWN_FIELDS: Final = frozenset(FanoutFields.__struct_fields__)


def inner_spec(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that belong to the children."""
    return {name: value for name, value in spec.items() if name not in OWN_FIELDS}
