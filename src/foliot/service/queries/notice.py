"""What all notices of `status` have in common: a code, a state, and values without text."""

from enum import StrEnum

import msgspec


class State(StrEnum):
    """The state of a notice. The state of the page is that of its most severe notice."""

    WELL = "well"
    ATTENTION = "attention"
    DOWN = "down"


class BaseNotice(msgspec.Struct, frozen=True, kw_only=True, tag_field="code"):
    """The tag is the code."""
