"""Writes a stored job as the JSON document that it can be read from (`config.job_json`)."""

from collections.abc import Mapping
from typing import Any

import msgspec

from foliot.config.workflow_writing import (
    Written,
    unwritable_fields,
    write_changed,
    write_definition,
    write_schedules,
)
from foliot.domain.fanout.spec import FANOUT
from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.job.job import JobSpec
from foliot.domain.notification.rule import Notify
from foliot.domain.schedule.schedule import ScheduleSpec
from foliot.domain.secrets import HIDDEN, public_value
from foliot.domain.vocabulary.field import only
from foliot.domain.vocabulary.job import DESCRIPTION, IDENTITY
from foliot.domain.vocabulary.kind import KIND_FIELDS
from foliot.domain.vocabulary.notification import NOTIFY

URL_OPTIONS = ("webhook_url", "slack_webhook_url")
_HEAD = (*only(IDENTITY, "enabled"), *only(DESCRIPTION, "name", "pause_after_failures", "payload"))


def write_job(job_id: JobId, spec: JobSpec, schedules: Mapping[ScheduleId, ScheduleSpec]) -> Written | None:
    """Return the document of a job with these of its schedules. None: it is a function, or another job that no document
    can contain."""
    is_known = spec.runner == FANOUT or spec.runner in KIND_FIELDS
    if not is_known or unwritable_fields(spec):
        return None
    written = {
        "id": job_id,
        **write_changed(_HEAD, spec, JobSpec(kind=spec.kind)),
        **write_definition(spec),
        **_notify(spec.notify),
        # A document without it means 1.
        "max_concurrent": spec.options.max_concurrent or 0,
        **({"schedules": [*write_schedules(job_id, schedules)]} if schedules else {}),
    }
    document: Written = msgspec.json.decode(msgspec.json.encode(written))
    return document


def _notify(notify: Notify) -> Written:
    """Return the options about notifications. URLs are stored encrypted, so they are masked in any case."""
    given = write_changed(NOTIFY, notify, Notify())
    return {name: HIDDEN if name in URL_OPTIONS else value for name, value in given.items()}


def public_job(document: Written) -> Written:
    """Return a document with stars for values that may be secrets."""
    shown: dict[str, Any] = {name: public_value(name, value) for name, value in document.items()}
    if "schedules" in document:
        each = document["schedules"]
        shown["schedules"] = [{key: public_value(key, value) for key, value in one.items()} for one in each]
    return shown
