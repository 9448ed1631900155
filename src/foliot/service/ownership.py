"""A definition is changed and deleted where it was made: in its file, its application or its workflow."""

from collections.abc import Iterable
from typing import Final

from foliot.domain.deployment import OWNERS
from foliot.errors import OwnedElsewhere

_FORGETFUL: Final = ("file", "app")
"""Owners whose definitions may be gone without a word."""


def refuse_foreign(what: str, changes: Iterable[tuple[str, str, str]]) -> None:
    """Refuse changes (id, owner, who wants it) of what somebody else owns: all of them at once."""
    refused = [(name, OWNERS[owner]) for name, owner, source in changes if owner in OWNERS and owner != source]
    if refused:
        places = ", ".join(dict.fromkeys(place for _, place in refused))
        facts = "; ".join(f'{what} "{name}" is defined {place}' for name, place in refused)
        raise OwnedElsewhere(facts, hint=f"Change it where it is defined: {places}. Pausing is always possible.")


def refuse_owned(what: str, name: str, owner: str, *, force: bool) -> None:
    """Refuse to delete what a file or an application defines. Nobody else can tell whether it still does: `force` says
    that it does not. Should it after all, it comes back from there."""
    if owner in OWNERS and not (force and owner in _FORGETFUL):
        left_over = f" If the {what} is gone from there: --force, in code force=True." if owner in _FORGETFUL else ""
        raise OwnedElsewhere(
            f'{what} "{name}" is defined {OWNERS[owner]}', hint=f"Remove it where it is defined.{left_over}"
        )
