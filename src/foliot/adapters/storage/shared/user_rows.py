"""Entries of the audit trail about users, the same for every database."""

from foliot.domain.access.trail import AuditAction, AuditKind, ChangeRecord
from foliot.ports.users import NewUser


def created_user(user: NewUser) -> list[ChangeRecord]:
    return [ChangeRecord(AuditAction.CREATE, AuditKind.USER, user.name, None, {"role": user.role})]


def about_user(action: AuditAction, name: str) -> list[ChangeRecord]:
    return [ChangeRecord(action, AuditKind.USER, name)]
