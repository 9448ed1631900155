"""Chains in memory: the real rules, without a storage. Time passes when a test says so."""

from collections.abc import Mapping
from itertools import count
from typing import Any

import msgspec

from foliot.domain.alert import Alert
from foliot.domain.chain.class_state import ClassState, class_key, read_class
from foliot.domain.chain.kind import ChainKind
from foliot.domain.chain.message import ChainRequest, Spawn
from foliot.domain.chain.request import Asker, answer
from foliot.domain.chain.spec import ChainSpec
from foliot.domain.chain.state import Chain, ChainRecord, ChainStep, read_chain
from foliot.domain.chain.step import ChainBody
from foliot.domain.ids import IdSource, JobId, RunId
from foliot.domain.instant import Instant
from foliot.domain.job.definition import Definition
from foliot.domain.run.run import Ended, NewRun, Status
from foliot.domain.tree.kind import ChildEnd, ChildRun, Loaded, SharedDocument, Start
from foliot.domain.tree.settlement import Effects, Opening, Settlement
from foliot.domain.tree.tree import Note, Notes, Tree
from foliot.testing.builders import a_claim
from foliot.testing.clock import START

CLASS = JobId("disk")
KIND = ChainKind()


class World:
    """One class, and its chains."""

    def __init__(self, **spec: Any) -> None:
        stages = {"scout": {}, "action": {}, "verify": {}, **spec.pop("stages", {})}
        self.spec = msgspec.convert(
            {"stages": {name: given for name, given in stages.items() if given is not None}, **spec},
            ChainSpec,
            str_keys=True,
        )
        self.now = Instant(START)
        self.shared = SharedDocument(0, None)
        self.trees: dict[RunId, Tree] = {}
        self.records: dict[RunId, ChainRecord] = {}
        self.runs: dict[RunId, NewRun] = {}
        """Steps that have not ended."""
        self.begun: dict[RunId, Instant] = {}
        self.ended: dict[RunId, Ended] = {}
        self.notes: dict[RunId, dict[str, ChildEnd]] = {}
        self.alerts: list[Alert] = []
        self._progress: dict[RunId, bytes | None] = {}
        self._ids = IdSource(count(1).__next__)

    # -- what happens

    def start(self, payload: Any = None) -> RunId:
        document = None if payload is None else msgspec.json.encode(payload)
        claim = a_claim(run_id=RunId(self._ids.make(self.now)), job_id=CLASS, payload=document, started_at=self.now)
        spec = msgspec.to_builtins(self.spec, str_keys=True)
        start = Start(claim, Definition(id=claim.definition_id, kind="chain", spec=spec))
        opening = KIND.begin(start, Loaded(shared=self.shared), self.now, self._ids)
        assert isinstance(opening, Opening)
        self._save(opening.tree._replace(body=_body(opening.body)), opening.runs, (), opening.ended, opening.effects)
        return claim.run_id

    def arm(self, slot: str = "main", **report: Any) -> RunId:
        """Start a chain whose scout triggers."""
        run_id = self.start()
        self.end(run_id, "scout.1", output={"decision": "trigger", "slot": slot, **report})
        return run_id

    def begin(self, run_id: RunId, key: str) -> ChainStep:
        """Let a step begin, at its time."""
        step = self.step(run_id, key)
        self.now = max(self.now, step.due_at)
        self.begun[step.run_id] = self.now
        return step

    def end(
        self,
        run_id: RunId,
        key: str,
        code: int | None = 0,
        *,
        status: Status = Status.SUCCESS,
        reason: str | None = None,
        error: str | None = None,
        output: Any = None,
    ) -> None:
        """Let a step begin, if it has not, and end; then settle."""
        step = self.step(run_id, key)
        if step.run_id not in self.begun:
            self.begin(run_id, key)
        document = None if output is None else msgspec.json.encode(output)
        self.finish(step, ChildEnd(status, reason, error, code, document, self.begun[step.run_id]), run_id)
        self.settle()

    def fail(self, run_id: RunId, key: str, code: int = 1, reason: str = "exit_code", error: str = "broken") -> None:
        self.end(run_id, key, code, status=Status.FAILED, reason=reason, error=error)

    def finish(self, step: ChainStep, end: ChildEnd, run_id: RunId) -> None:
        self.runs.pop(step.run_id)
        self.begun.pop(step.run_id, None)
        self.notes.setdefault(run_id, {})[step.key] = end

    def ask(self, run_id: RunId, key: str, request: ChainRequest) -> Mapping[str, Any]:
        tree, step = self.trees[run_id], self.step(run_id, key)
        answered = answer(
            request,
            Asker(step.run_id, CLASS, key),
            tree,
            self.shared,
            self.now,
            self._ids,
            begun=frozenset(self.begun) | {step.run_id},
        )
        if answered.settlement is not None:
            one = answered.settlement
            self._save(one.tree, one.runs, one.cancels, one.ended, one.effects)
        self.settle()
        return answered.answer

    def spawn(self, run_id: RunId, step: str, name: str, **fields: Any) -> Mapping[str, Any]:
        return self.ask(run_id, step, Spawn(name=name, **fields))

    def stop(self, run_id: RunId) -> None:
        self.trees[run_id] = self.trees[run_id]._replace(cancel_at=self.now)
        self.notes.setdefault(run_id, {})
        self.settle()

    def wait(self, span: int) -> None:
        self.now = Instant(self.now + span)
        self.settle()

    def settle(self) -> None:
        """Settle chains with notes, and overdue ones, until nothing is left."""
        while due := [tree for tree in self.trees.values() if self._is_due(tree)]:
            for tree in due:
                self._settle(tree)

    def _is_due(self, tree: Tree) -> bool:
        return tree.run_id in self.notes or (tree.is_overdue(self.now) and not tree.is_ending)

    def _settle(self, tree: Tree) -> None:
        ends = self.notes.pop(tree.run_id, {})
        notes = Notes([Note(RunId(key), key, end.status) for key, end in ends.items()])
        open_steps = [step for step in read_chain(tree.progress).open_steps if step.key not in ends]
        children = {step.key: ChildRun(step.run_id, step.run_id in self.begun) for step in open_steps}
        loaded = Loaded(shared=self.shared, ends=ends, children=children)
        one = KIND.decide(tree, notes, loaded, self.now, self._ids)
        assert isinstance(one, Settlement)
        self._save(one.tree, one.runs, one.cancels, one.ended, one.effects)

    def _save(self, tree: Tree, runs: Any, cancels: Any, ended: Ended | None, effects: Effects | None) -> None:
        assert effects is not None
        if effects.shared is not None:
            assert (effects.shared.key, effects.shared.version) == (class_key(CLASS), self.shared.version)
            self.shared = SharedDocument(self.shared.version + 1, effects.shared.body)
        if effects.record is not None:
            self.records[tree.run_id] = effects.record
        self.alerts += effects.alerts
        self.trees[tree.run_id] = tree
        for run in runs:
            assert run.id not in self.runs
            self.runs[run.id] = run
        if ended is not None:
            self.ended[tree.run_id] = ended
            del self.trees[tree.run_id]
        self._progress[tree.run_id] = tree.progress
        for wake in effects.wakes:
            self.notes.setdefault(wake, {})
        for run_id in cancels:
            self._cancel(tree, run_id)

    def _cancel(self, tree: Tree, run_id: RunId) -> None:
        if run_id in self.runs:
            step = next(one for one in read_chain(tree.progress).steps if one.run_id == run_id)
            self.finish(
                step, ChildEnd(Status.CANCELLED, "cancelled", None, None, None, self.begun.get(run_id)), tree.run_id
            )

    # -- what is

    @property
    def class_state(self) -> ClassState:
        return read_class(self.shared.body)

    def chain(self, run_id: RunId) -> Chain:
        return read_chain(self._progress[run_id])

    def step(self, run_id: RunId, key: str) -> ChainStep:
        step = self.chain(run_id).step(key)
        assert step is not None, f"{key} is none of {[one.key for one in self.chain(run_id).steps]}"
        return step

    def open_keys(self, run_id: RunId) -> list[str]:
        return [step.key for step in self.chain(run_id).open_steps]

    def kinds(self) -> list[str]:
        return [alert.kind for alert in self.alerts]

    def restart(self) -> None:
        """Read everything again, as a new process does."""
        self.trees = {
            run_id: tree._replace(body=_body(msgspec.json.encode(tree.body))) for run_id, tree in self.trees.items()
        }
        self.shared = SharedDocument(
            self.shared.version, None if self.shared.body is None else self.class_state.encode()
        )


def _body(document: bytes) -> ChainBody:
    return KIND.read_body(document)
