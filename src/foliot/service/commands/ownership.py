"""Ownership: a definition is changed and deleted only where it is defined, in its file, application or workflow."""

from collections.abc import Iterable
from typing import Final

from foliot.domain.deploy.deployment import OWNERS
from foliot.errors import OwnedElsewhere

_MAY_BE_STALE: Final = ("file", "app")
"""Owners that may drop a definition without deleting the stored one."""


def refuse_foreign(what: str, changes: Iterable[tuple[str, str, str]]) -> None:
    """Refuse changes (id, stored owner, new owner) of definitions with another owner, all in one error."""
    refused = [(name, OWNERS[owner]) for name, owner, source in changes if owner in OWNERS and owner != source]
    if refused:
        places = ", ".join(dict.fromkeys(place for _, place in refused))
        facts = "; ".join(f'{what} "{name}" is defined {place}' for name, place in refused)
        hint = f"Change it where it is defined: {places}. Pausing is always possible."
        raise OwnedElsewhere(facts, hint=hint, names=[name for name, _ in refused])


def refuse_owned(what: str, name: str, owner: str, *, force: bool) -> None:
    """Refuse to delete what a file or an application defines.

    Foliot cannot check whether the file or the application still has the definition; with `force` the caller states
    that it has not. If it has, its next deployment creates the definition again.
    """
    if owner in OWNERS and not (force and owner in _MAY_BE_STALE):
        left_over = (
            " If it is no longer defined there, use --force (in Python force=True)." if owner in _MAY_BE_STALE else ""
        )
        raise OwnedElsewhere(
            f'{what} "{name}" is defined {OWNERS[owner]}',
            hint=f"Remove it where it is defined.{left_over}",
            names=[name],
        )
