"""Rows of tokens, the same for every database."""

from collections.abc import Sequence
from typing import Any

from foliot.adapters.storage.shared.documents import decode_names, read_column
from foliot.domain.access.trail import AuditAction, AuditKind, ChangeRecord
from foliot.domain.instant import to_iso
from foliot.ports.tokens import NewToken, StoredToken


def token_of(row: Sequence[Any]) -> StoredToken:
    """Read the columns id, name, role, scopes, digest, expires_at, created_at, created_by, last_used_at, revoked_at."""
    token_id, name, role, scopes, digest, *rest = row
    return StoredToken(token_id, name, role, read_column(decode_names, scopes, "token", token_id), bytes(digest), *rest)


def created_token(token: NewToken) -> list[ChangeRecord]:
    expires = None if token.expires_at is None else to_iso(token.expires_at)
    after = {"role": token.role, "scopes": list(token.scopes), "expires_at": expires, "token_id": token.id}
    return [ChangeRecord(AuditAction.CREATE, AuditKind.TOKEN, token.name, None, after)]


def revoked_token(token: StoredToken) -> list[ChangeRecord]:
    return [ChangeRecord(AuditAction.REVOKE, AuditKind.TOKEN, token.name, {"token_id": token.id})]
