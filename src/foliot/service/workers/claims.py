"""Claims as messages for remote workers."""

from collections.abc import Mapping, Sequence

from foliot.domain.ids import DefinitionId
from foliot.domain.job.definition import Definition
from foliot.domain.run.lane import split_lane
from foliot.domain.run.lease import Claim
from foliot.domain.work.message import Leased, LeasedRun
from foliot.service.workers.names import WireNames


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
