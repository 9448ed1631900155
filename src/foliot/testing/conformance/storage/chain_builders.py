"""Chains for contract tests: opened, settled and asked by the real rules, on any storage."""

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any, Final, TypeVar

import msgspec

from foliot.domain.alert import Alert
from foliot.domain.chain.class_state import ClassState, class_key, read_class
from foliot.domain.chain.kind import ChainKind
from foliot.domain.chain.message import ChainRequest
from foliot.domain.chain.spec import CHAIN
from foliot.domain.chain.state import Chain
from foliot.domain.events import EventKind
from foliot.domain.ids import IdSource, JobId, RunId, Token
from foliot.domain.job.job import JobSpec, Options
from foliot.domain.run.lane import TREES_QUEUE
from foliot.domain.run.lease import Claim, Finish
from foliot.domain.run.outcome import Outcome, Success
from foliot.domain.run.run import NewRun
from foliot.domain.tree.kind import NOTHING_LOADED, Loaded, SharedDocument, Start, Wanted
from foliot.domain.tree.settlement import Opening, Settlement
from foliot.ports.chains import ChainDetails
from foliot.ports.storage import Storage
from foliot.testing.builders import a_run_id
from foliot.testing.conformance.storage.scene import Scene

T = TypeVar("T")

DISK: Final = JobId("disk")
KIND: Final = ChainKind()
_ids: Final = IdSource(count(10**12).__next__)
_SHARED: Final = RunId("-")


def a_class(**spec: Any) -> JobSpec:
    """Build a class with the stages scout, action and verify."""
    stages = {"scout": {}, "action": {}, "verify": {}, **spec.pop("stages", {})}
    known = {name: {"kind": "stage", **given} for name, given in stages.items() if given is not None}
    return JobSpec(kind=CHAIN, spec={"stages": known, **spec}, options=Options(queue=TREES_QUEUE))


async def put_class(scene: Scene, job_id: str = DISK, **spec: Any) -> None:
    await scene.storage.definitions.put_jobs([(JobId(job_id), a_class(**spec))], at=scene.now)


async def start_chain(scene: Scene, job_id: str = DISK, payload: Any = None) -> RunId:
    """Create a run of the class, and open it."""
    opening = await prepare_opening(scene, job_id, payload)
    assert await scene.storage.trees.open([opening], at=scene.now) == []
    return opening.tree.run_id


async def prepare_opening(scene: Scene, job_id: str = DISK, payload: Any = None) -> Opening:
    """Create a run of the class, claim it, and decide how it is opened."""
    document = None if payload is None else msgspec.json.encode(payload)
    run = NewRun(a_run_id(), JobId(job_id), scene.now, document, Options(queue=TREES_QUEUE))
    await scene.create(run)
    worker = await scene.standby()
    claimed = await scene.storage.work.claim(worker.id, [TREES_QUEUE], 1, only=[run.id], at=scene.now)
    [claim] = claimed.claims
    start = Start(claim, claimed.definitions[claim.definition_id])
    return await _decided(scene, run.id, lambda loaded: KIND.begin(start, loaded, scene.now, _ids))


async def settlements(scene: Scene, storage: Storage | None = None) -> list[Settlement]:
    """Decide about all chains with notes, without saving."""
    source = storage or scene.storage
    found = await source.trees.unsettled(1_000, notes_per_tree=1_000, at=scene.now)
    decided: list[Settlement] = []
    for one in found.trees:
        body = (await source.trees.load([Wanted(run_id=one.tree.run_id, body=True)], at=scene.now))[one.tree.run_id]
        assert body.body is not None
        tree = one.tree._replace(body=KIND.read_body(body.body))

        def decide(loaded: Loaded, tree: Any = tree, notes: Any = one.notes) -> Settlement | Wanted:
            return KIND.decide(tree, notes, loaded, scene.now, _ids)

        decided.append(await _decided(scene, tree.run_id, decide))
    return decided


async def settle_chains(scene: Scene) -> None:
    """Settle until nothing changes."""
    while decided := await settlements(scene):
        if not await scene.storage.trees.settle(decided, at=scene.now):
            break


async def _decided(scene: Scene, run_id: RunId, decide: Callable[[Loaded], T | Wanted]) -> T:
    loaded = NOTHING_LOADED
    while isinstance(result := decide(loaded), Wanted):
        loaded = loaded.merged((await scene.storage.trees.load([result], at=scene.now))[run_id])
    return result


async def step_claims(scene: Scene, run_id: RunId) -> dict[str, Claim]:
    """Claim all steps of the chain that are due, and return the claims by stage key."""
    await scene.release()
    details = await read_details(scene, run_id)
    found = await scene.claim(only=[step.run_id for step in details.chain.open_steps])
    return {claim.child_key: claim for claim in found if claim.child_key is not None}


async def end_step(scene: Scene, claim: Claim, code: int | None = 0, outcome: Outcome | None = None) -> None:
    """End a step with an exit code or an outcome, and settle what follows."""
    ended = outcome or Success(exit_code=code)
    assert await scene.finish(Finish(claim.run_id, claim.worker_id, claim.token, ended)) == []
    await settle_chains(scene)


async def arm_chain(scene: Scene, job_id: str = DISK, slot: str = "main") -> RunId:
    """Start a chain and let its scout trigger."""
    run_id = await start_chain(scene, job_id)
    claims = await step_claims(scene, run_id)
    report = msgspec.json.encode({"decision": "trigger", "slot": slot})
    await end_step(scene, claims["scout.1"], outcome=Success(output=report))
    return run_id


async def begin_action(scene: Scene, run_id: RunId, after: int = 180_000) -> Claim:
    """Let time pass until the action is due, and claim it."""
    scene.clock.advance(after)
    return (await step_claims(scene, run_id))["action.1"]


async def ask(
    scene: Scene, claim: Claim, request: ChainRequest, *, storage: Storage | None = None, token: Token | None = None
) -> Mapping[str, Any] | None:
    work = (storage or scene.storage).work
    return await work.ask_chain(claim.run_id, claim.worker_id, token or claim.token, request, at=scene.now)


async def read_details(scene: Scene, name: str) -> ChainDetails:
    found = await scene.storage.queries.chain(name)
    assert found is not None
    return found


async def read(scene: Scene, run_id: RunId) -> Chain:
    return (await read_details(scene, run_id)).chain


async def document(scene: Scene, class_id: str = DISK) -> SharedDocument:
    loaded = await scene.storage.trees.load([Wanted(run_id=_SHARED, shared=class_key(class_id))], at=scene.now)
    shared = loaded[_SHARED].shared
    assert shared is not None
    return shared


async def class_state(scene: Scene, class_id: str = DISK) -> ClassState:
    return read_class((await document(scene, class_id)).body)


async def alerts(scene: Scene) -> list[Alert]:
    events = await scene.storage.queries.events(after=0, limit=10_000)
    return [Alert.of_item(item) for event in events if event.kind is EventKind.ALERT_RAISED for item in event.items]


def codes(answers: Sequence[Mapping[str, Any] | None]) -> list[str]:
    """Return the code of each refusal, and "new" or "same" for each created or found step."""
    return ["stale" if one is None else one.get("code", "new" if one.get("is_new") else "same") for one in answers]
