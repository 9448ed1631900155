"""Roles, and the one table of what each of them may do."""

from collections.abc import Mapping
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


def parse_role(text: object, field: str = "role") -> Role:
    """Return the role of people and programs with this name. Raise InvalidInput for any other text."""
    if isinstance(text, str) and text in PEOPLE:
        return Role(text)
    hint = suggest(str(text), PEOPLE, otherwise=f"Use one of: {', '.join(PEOPLE)}.")
    raise InvalidInput(f"{field} {shown(text)} does not exist", hint=hint, field=field)
