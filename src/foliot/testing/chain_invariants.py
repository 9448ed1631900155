"""Checks the invariants of chains. Reads only through the port, so it works with any adapter."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from itertools import pairwise
from typing import Final

from foliot.domain.chain.class_state import ClassState, read_class
from foliot.domain.chain.spec import ESCALATE, SCOUT, Limits
from foliot.domain.chain.state import MOVES, Chain, ChainRecord, ChainState
from foliot.domain.ids import RunId
from foliot.domain.run.run import Run, Status
from foliot.ports.chains import ChainDetails, ChainFilter
from foliot.ports.storage import Storage

_PAGE: Final = 500


async def check_chains(storage: Storage, runs: Mapping[RunId, Run], noted: Collection[RunId]) -> list[str]:
    """Return everything that is wrong with chains. `noted`: runs whose ends are still to be settled."""
    faults: list[str] = []
    records = await read_records(storage)
    faults += check_slots(records)
    states = {one.class_id: read_class(one.document.body) for one in await storage.queries.chain_classes()}
    limits: dict[str, Limits] = {}
    for record in records:
        details = await storage.queries.chain(record.run_id)
        if details is None:
            faults.append(f"C5 chain {record.chain_id}: its tree {record.run_id} does not exist")
            continue
        limits[record.class_id] = details.body.spec.limits
        faults += check_chain(details, record, states.get(record.class_id, ClassState()), runs, noted)
    for class_id, state in states.items():
        faults += check_class(class_id, state, limits.get(class_id), {one.run_id: one for one in records})
    return faults


async def read_records(storage: Storage) -> list[ChainRecord]:
    page = await storage.queries.chains_page(ChainFilter(limit=_PAGE))
    records = [*page.chains]
    while page.next is not None:
        page = await storage.queries.chains_page(ChainFilter(limit=_PAGE, before=page.next))
        records += page.chains
    return records


def check_slots(records: Collection[ChainRecord]) -> Iterator[str]:
    taken = Counter((one.class_id, one.slot) for one in records if one.state is not ChainState.CLOSED)
    for (class_id, slot), count in taken.items():
        if count > 1:
            yield f"C2 class {class_id}: {count} open chains have the slot {slot}"


def check_class(
    class_id: str, state: ClassState, limits: Limits | None, records: Mapping[RunId, ChainRecord]
) -> Iterator[str]:
    if limits is not None and len(state.active) > limits.max_concurrent:
        yield f"C1 class {class_id}: {len(state.active)} active chains, and max_concurrent is {limits.max_concurrent}"
    for active in state.active:
        record = records.get(active.run_id)
        if record is None or record.state is ChainState.CLOSED:
            yield f"C5 class {class_id}: chain {active.chain_id} is active, and its record is {record}"
    if sum(one.is_probe for one in state.active) > 1:
        yield f"B3 class {class_id}: two chains are tried after the cooldown"


def check_chain(
    details: ChainDetails,
    record: ChainRecord,
    state: ClassState,
    runs: Mapping[RunId, Run],
    noted: Collection[RunId],
) -> Iterator[str]:
    chain, name = details.chain, record.chain_id
    if record.state is ChainState.CLOSED:
        yield from check_closed(name, record.run_id, state, runs)
        if chain.state is not ChainState.CLOSED:
            return  # it was ended without its rules, because a part of it could not be read
    yield from check_limits(name, chain, details.body.spec.limits)
    yield from check_moves(name, chain)
    yield from check_steps(name, details, noted)
    facts = (chain.id, chain.slot, chain.state, chain.outcome, chain.children, chain.tokens)
    if facts != (name, record.slot, record.state, record.outcome, record.children, record.tokens):
        yield f"C4 chain {name}: its record says {record}, and it is {facts}"
    is_active = state.find(record.run_id) is not None
    if is_active != chain.is_armed:
        yield f"C5 chain {name}: {chain.state}, and its class {'lists' if is_active else 'does not list'} it"
    if (chain.state is ChainState.CLOSED) != details.run.status.is_terminal:
        yield f"C4 chain {name}: {chain.state}, and its run is {details.run.status}"
    if chain.is_armed and not chain.open_steps:
        yield f"C5 chain {name}: {chain.state} without an open step"


def check_closed(name: str, run_id: RunId, state: ClassState, runs: Mapping[RunId, Run]) -> Iterator[str]:
    left = [run.id for run in runs.values() if run.parent_id == run_id and not run.status.is_terminal]
    if left:
        yield f"C5 chain {name}: closed, and {left} are not"
    if state.find(run_id) is not None:
        yield f"C5 chain {name}: closed, and its class lists it"


def check_limits(name: str, chain: Chain, limits: Limits) -> Iterator[str]:
    """Check the limits. The step that tells people is exempt: no limit may forbid it."""
    ruled = [step for step in chain.steps if step.stage not in (SCOUT, ESCALATE)]
    if len(ruled) > limits.max_children:
        yield f"C1 chain {name}: {len(ruled)} steps, and max_children is {limits.max_children}"
    deep = [step.key for step in ruled if step.depth > limits.max_depth]
    if deep:
        yield f"C1 chain {name}: {deep} are deeper than max_depth = {limits.max_depth}"
    if any(count > limits.max_retries for count in chain.retries.values()):
        yield f"C1 chain {name}: {chain.retries} retries, and max_retries is {limits.max_retries}"
    keys = Counter((step.stage, step.window) for step in chain.open_steps)
    if any(count > 1 for count in keys.values()):
        yield f"C2 chain {name}: two open steps of {keys}"
    for step in chain.steps:
        if chain.expires_at is not None and step.depth > 0 and step.due_at >= chain.expires_at:
            yield f"C6 chain {name}: {step.key} was planned after the expiry"
    rates = [sum(0 <= one - first < limits.spawn_window for one in chain.spawned) for first in chain.spawned]
    if max(rates, default=0) > limits.spawns:
        yield f"C1 chain {name}: steps were asked for at {chain.spawned}, and spawns is {limits.spawns}"


def check_moves(name: str, chain: Chain) -> Iterator[str]:
    states = [ChainState.IDLE, *(move.state for move in chain.moves)]
    wrong = [(before, after) for before, after in pairwise(states) if after not in MOVES[before]]
    if wrong or states[-1] is not chain.state:
        yield f"C4 chain {name}: {states}, and it is {chain.state}"
    times = [move.at for move in chain.moves]
    if times != sorted(times):
        yield f"S2 chain {name}: its states changed at {times}"


def check_steps(name: str, details: ChainDetails, noted: Collection[RunId]) -> Iterator[str]:
    """Check that each step has its run, at the depth below its parent, and that no end was forgotten."""
    chain = details.chain
    for step in chain.steps:
        parent = chain.step(step.parent)
        if parent is not None and step.depth > parent.depth + 1:
            yield f"C3 chain {name}: {step.key} has depth {step.depth}, and follows from {parent.key}"
        run = details.steps.get(step.run_id)
        if run is None:
            if step.status is not Status.CANCELLED:
                yield f"C5 chain {name}: the run of {step.key} does not exist"
        elif run.status.is_terminal and step.status is None and run.id not in noted:
            yield f"C5 chain {name}: {step.key} is {run.status}, and there is no note of it"
        elif step.status is not None and run.status is not step.status:
            yield f"C4 chain {name}: {step.key} is {run.status}, and the chain says {step.status}"
        if run is not None and step.depth > 0 and _began_late(run, chain):
            yield f"S2 chain {name}: {step.key} started after the expiry"


def _began_late(run: Run, chain: Chain) -> bool:
    """Whether a step was executed after the expiry. A worker that claims one ends it as cancelled."""
    if run.started_at is None or chain.expires_at is None or run.status is Status.CANCELLED:
        return False
    return run.started_at >= chain.expires_at
