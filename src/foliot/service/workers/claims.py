"""What remote workers want to claim, and the claims that answer them, as messages."""

from collections.abc import Mapping, Sequence
from typing import Final

from foliot.domain.ids import DefinitionId, RunId
from foliot.domain.job.definition import Definition
from foliot.domain.job.job import check_name
from foliot.domain.run.lane import split_lane
from foliot.domain.run.lease import Claim
from foliot.domain.work.message import Claiming, Leased, LeasedRun
from foliot.errors import InvalidInput
from foliot.service.workers.names import WireNames

_MOST_RUNS: Final = 1_000


def known_ids(wanted: Claiming) -> tuple[list[DefinitionId], list[RunId] | None]:
    """Return the definitions that the worker has, and the only runs that it wants. None: any run."""
    only = None if wanted.only is None else [RunId(one) for one in wanted.only]
    return [DefinitionId(one) for one in wanted.known], only


def queues_of(wanted: Claiming) -> tuple[str, ...]:
    for queue in wanted.queues:
        check_name("queues", queue, InvalidInput)
    return wanted.queues


def limit_of(wanted: Claiming) -> int:
    if not 1 <= wanted.limit <= _MOST_RUNS:
        raise InvalidInput(f"limit must be from 1 to {_MOST_RUNS}", hint="Lease a few runs at a time.", field="limit")
    return wanted.limit


def leased_runs(claims: Sequence[Claim], definitions: Mapping[DefinitionId, Definition], names: WireNames) -> Leased:
    """Return leases with the texts of their tokens. Definitions that the worker has are left out by the storage."""
    return Leased(runs=tuple(_run(claim, names.of_lease(claim)) for claim in claims), definitions=definitions)


def _run(claim: Claim, token: str) -> LeasedRun:
    return LeasedRun(
        run_id=claim.run_id,
        token=token,
        job_id=claim.job_id,
        definition_id=claim.definition_id,
        attempt=claim.attempt,
        lost=claim.lost,
        queue=split_lane(claim.queue)[0],
        priority=claim.priority,
        due_at=claim.due_at,
        started_at=claim.started_at,
        payload=claim.payload,
        overrides=claim.overrides,
        limit_keys=claim.limit_keys,
        tick=claim.tick,
        parent_id=claim.parent_id,
        child_key=claim.child_key,
        scheduled_for=claim.scheduled_for,
    )
