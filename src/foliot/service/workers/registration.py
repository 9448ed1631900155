"""Which worker a principal may register: its labels and kinds are those of its enrolment, or fewer."""

from typing import Final

from foliot.domain.access.actor import Actor, ActorKind
from foliot.domain.ids import WorkerId
from foliot.domain.job.job import check_name
from foliot.domain.run.lease import Worker, WorkerFacts
from foliot.domain.work.message import Register
from foliot.errors import InvalidInput, LabelRefused
from foliot.ports.enrolments import StoredEnrolment

_MOST_SLOTS: Final = 100_000
_LONGEST_NAME: Final = 200
_COMMON_NAME: Final = "CN="


def pool_of(actor: Actor) -> str:
    """Return the name of the enrolment, and of the pool, of a principal. That of a certificate is its common name:
    CN=gpu-1,O=Example is gpu-1."""
    if actor.kind is not ActorKind.CERTIFICATE:
        return actor.name
    names = [part.removeprefix(_COMMON_NAME) for part in actor.name.split(",") if part.startswith(_COMMON_NAME)]
    return names[0] if len(names) == 1 else actor.name


def allowed_worker(
    worker_id: WorkerId,
    sent: Register,
    enrolment: StoredEnrolment | None,
    principal: str,
    *,
    may_use_any_label: bool,
) -> Worker:
    """Return the worker to register. A token or a certificate has the labels of the enrolment with its name, if there
    is one."""
    for field, names in (("queues", sent.queues), ("labels", sent.labels or ()), ("kinds", sent.kinds)):
        for name in names:
            check_name(field, name, InvalidInput)
    if not sent.queues or not 1 <= sent.slots <= _MOST_SLOTS:
        raise InvalidInput("a worker has at least one queue and one slot", hint="Leave both out.", field="slots")
    for field, text in (("name", sent.name), ("version", sent.version), ("environment", sent.environment)):
        if not (text.isprintable() and len(text) <= _LONGEST_NAME):
            problem = f"the {field} is not printable, or too long"
            raise InvalidInput(problem, hint=f"Use up to {_LONGEST_NAME} characters.", field=field)
    given = () if enrolment is None else enrolment.labels
    labels = given if sent.labels is None else sent.labels
    if not may_use_any_label:
        _check_allowed("label", labels, given)
        if enrolment is not None and enrolment.kinds:
            _check_allowed("kind", sent.kinds, enrolment.kinds)
    kinds = sent.kinds or (() if enrolment is None else enrolment.kinds)
    return _worker(worker_id, sent, principal, labels, kinds)


def _worker(
    worker_id: WorkerId, sent: Register, principal: str, labels: tuple[str, ...], kinds: tuple[str, ...]
) -> Worker:
    facts = WorkerFacts(
        labels=labels,
        kinds=kinds,
        is_remote=True,
        pool=principal,
        version=sent.version,
        environment=sent.environment,
    )
    return Worker(worker_id, sent.name or principal or "remote", sent.queues, sent.slots, facts=facts)


def _check_allowed(what: str, wanted: tuple[str, ...], allowed: tuple[str, ...]) -> None:
    if refused := [name for name in wanted if name not in allowed]:
        raise LabelRefused(
            f'this worker may not use the {what} "{refused[0]}"',
            hint=f"Its enrolment has: {', '.join(allowed) or 'none'}. An administrator registers it with others.",
        )
