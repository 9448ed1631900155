"""Roles, and the one table of what each of them may do."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final

from foliot.errors import InvalidInput, shown, suggest


class Permission(StrEnum):
    """What a request needs. Each route and command needs exactly one."""

    READ = "read"
    """Lists, pages, logs and events."""
    OPERATE = "operate"
    """Trigger, cancel, retry, mark, pause, resume, approve and reject. Parameters of runs are data, never code."""
    EDIT = "edit"
    """Create, change and delete jobs, schedules and workflows. A job runs code as the user of the worker, so this is
    the permission to run code."""
    ADMINISTER = "administer"
    """Tokens, users, DSNs, workers, the audit trail and the settings of the server."""
    WORK = "work"
    """Claim, renew, append output and finish, only for runs that the worker holds."""
    REPORT = "report"
    """What a running attempt sends about its own run. No role has it, only the token of the attempt."""


class Role(StrEnum):
    """A role of people and programs (each can do more than the one before), or of a remote worker."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    EDITOR = "editor"
    ADMIN = "admin"
    WORKER = "worker"

    def may(self, permission: Permission) -> bool:
        return permission in PERMISSIONS[self]


PERMISSIONS: Final[Mapping[Role, frozenset[Permission]]] = {
    Role.VIEWER: frozenset({Permission.READ}),
    Role.OPERATOR: frozenset({Permission.READ, Permission.OPERATE}),
    Role.EDITOR: frozenset({Permission.READ, Permission.OPERATE, Permission.EDIT}),
    Role.ADMIN: frozenset({Permission.READ, Permission.OPERATE, Permission.EDIT, Permission.ADMINISTER}),
    Role.WORKER: frozenset({Permission.WORK}),
}

PEOPLE: Final = (Role.VIEWER, Role.OPERATOR, Role.EDITOR, Role.ADMIN)
"""The roles of people and programs, from the least to the most."""
CREDENTIAL_ROLES: Final = (*PEOPLE, Role.WORKER)
"""The roles of tokens and certificates, which workers may have too."""


def parse_role(text: object, field: str = "role", *, known: Sequence[Role] = PEOPLE) -> Role:
    """Return the role with this name. Raise InvalidInput for a text that is none of the known ones."""
    if isinstance(text, str) and text in known:
        return Role(text)
    hint = suggest(str(text), known, otherwise=f"Use one of: {', '.join(known)}.")
    raise InvalidInput(f"{field} {shown(text)} does not exist", hint=hint, field=field)
