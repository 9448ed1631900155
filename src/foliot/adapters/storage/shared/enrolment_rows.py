"""Rows of enrolments, the same for every database."""

from collections.abc import Sequence
from typing import Any

from foliot.adapters.storage.shared.documents import decode_names, encode_names, read_column
from foliot.domain.access.trail import AuditAction, AuditKind, ChangeRecord
from foliot.domain.instant import to_iso
from foliot.domain.run.lease import Order
from foliot.ports.enrolments import NewEnrolment, StoredEnrolment


def enrolment_row(new: NewEnrolment) -> tuple[Any, ...]:
    """Return the columns of a new enrolment, without its creation."""
    names = encode_names(new.labels), encode_names(new.kinds)
    return new.id, new.name, *names, new.sealed, new.join_digest, new.join_expires_at


def enrolment_of(row: Sequence[Any]) -> StoredEnrolment:
    enrolment_id, name, labels, kinds, sealed, digest, *rest = row
    return StoredEnrolment(
        enrolment_id,
        name,
        read_column(decode_names, labels, "enrolment", enrolment_id),
        read_column(decode_names, kinds, "enrolment", enrolment_id),
        None if sealed is None else bytes(sealed),
        None if digest is None else bytes(digest),
        *rest,
    )


def created_enrolment(new: NewEnrolment) -> list[ChangeRecord]:
    expires = None if new.join_expires_at is None else to_iso(new.join_expires_at)
    after = {"labels": list(new.labels), "kinds": list(new.kinds), "join_expires_at": expires}
    return [ChangeRecord(AuditAction.CREATE, AuditKind.WORKER, new.name, None, after)]


def joined_enrolment(name: str) -> list[ChangeRecord]:
    return [ChangeRecord(AuditAction.CHANGE, AuditKind.WORKER, name, {"is_joined": False}, {"is_joined": True})]


def disabled_enrolment(name: str, is_disabled: bool) -> list[ChangeRecord]:
    before, after = {"is_disabled": not is_disabled}, {"is_disabled": is_disabled}
    return [ChangeRecord(AuditAction.CHANGE, AuditKind.WORKER, name, before, after)]


def directed_workers(order: Order, name: str | None, version: str | None, count: int) -> list[ChangeRecord]:
    after = {"order": order.value or "resume", "version": version, "workers": count}
    return [ChangeRecord(AuditAction.CHANGE, AuditKind.WORKER, name or "*", None, after)]


def removed_enrolment(name: str) -> list[ChangeRecord]:
    return [ChangeRecord(AuditAction.DELETE, AuditKind.WORKER, name)]
