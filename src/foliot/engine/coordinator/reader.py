"""Asks decisions again and again, each time with more of what they wanted, until all are made."""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, Final, Generic, NamedTuple, TypeVar

from msgspec.structs import replace

from foliot.domain.ids import RunId
from foliot.domain.run.payload import UNREADABLE
from foliot.domain.tree.kind import Loaded, TreeKind, Wanted
from foliot.domain.tree.tree import DefinitionKey, Tree
from foliot.errors import NotFound, RowUnreadable, StorageUnavailable
from foliot.ports.trees import TreeStore

K = TypeVar("K")
T = TypeVar("T")

_KEPT: Final = 1_000


class Question(NamedTuple, Generic[T]):
    """A decision about one tree that is to be made."""

    kind: TreeKind
    loaded: Loaded
    ask: Callable[[Loaded], T | Wanted]


class TreeReader:
    """Loads what decisions want, in one read for all of them. Keeps definitions and bodies, which never change."""

    def __init__(self, store: TreeStore) -> None:
        self._store = store
        self._definitions: _Recent[DefinitionKey, Any] = _Recent()
        self._bodies: _Recent[RunId, Any] = _Recent()

    async def answer(self, questions: Mapping[RunId, Question[T]]) -> dict[RunId, T | Exception]:
        """Every decision, or why it could not be made."""
        answers: dict[RunId, T | Exception] = {}
        pending = dict(questions)
        asked: dict[RunId, Wanted] = {}
        while pending:
            wants: dict[RunId, Wanted] = {}
            for run_id, question in pending.items():
                answer = self._ask(question)
                if not isinstance(answer, Wanted):
                    answers[run_id] = answer
                elif answer == asked.get(run_id):
                    answers[run_id] = RuntimeError(f"tree {run_id} was given what it wanted, and wants it again")
                else:
                    wants[run_id] = answer
            asked = wants
            pending = await self._load({run_id: pending[run_id] for run_id in wants}, wants) if wants else {}
        return answers

    def attach(self, tree: Tree, kind: TreeKind, loaded: Loaded) -> Tree | Wanted:
        """The tree with its body and its compiled definition, or what must be read for that."""
        body, definition = self._body(tree, kind, loaded), self._definition(tree, kind, loaded)
        needs_definition = definition is None and tree.version > 0
        if body is None or needs_definition:
            needed = tree.definition_key if needs_definition else None
            return Wanted(run_id=tree.run_id, body=body is None, definition=needed)
        return tree._replace(body=body, definition=definition)

    def _body(self, tree: Tree, kind: TreeKind, loaded: Loaded) -> Any:
        body = self._bodies.get(tree.run_id)
        if body is None and loaded.body is not None:
            body = _decoded(kind, tree, loaded.body)
            self._bodies.put(tree.run_id, body)
        return body

    def _definition(self, tree: Tree, kind: TreeKind, loaded: Loaded) -> Any:
        key = tree.definition_key
        definition = self._definitions.get(key) or loaded.definitions.get(key)
        if definition is None and key in loaded.definitions:
            raise NotFound(kind.name, f"{tree.job_id} version {tree.version}")
        return definition

    def remember(self, tree: Tree) -> None:
        """Keep what a tree was opened with: it is settled soon."""
        self._bodies.put(tree.run_id, tree.body)

    def forget(self, run_id: RunId) -> None:
        self._bodies.remove(run_id)

    def _ask(self, question: Question[T]) -> T | Wanted | Exception:
        """One tree that cannot be decided must not stop the others."""
        try:
            if question.loaded.error is not None:
                return question.loaded.error
            answer = question.ask(question.loaded)
            while isinstance(answer, Wanted) and (known := self._known_definition(answer)) is not None:
                question = question._replace(loaded=question.loaded.merged(Loaded(definitions=known)))
                answer = question.ask(question.loaded)
        except StorageUnavailable:
            raise
        except Exception as error:
            return error
        return answer

    def _known_definition(self, wanted: Wanted) -> Mapping[DefinitionKey, Any] | None:
        """The definition that is wanted, if it is all that is wanted and it is at hand."""
        key = wanted.definition
        if key is None or wanted != Wanted(run_id=wanted.run_id, definition=key):
            return None
        known = self._definitions.get(key)
        return None if known is None else {key: known}

    async def _load(
        self, questions: Mapping[RunId, Question[T]], wants: Mapping[RunId, Wanted]
    ) -> dict[RunId, Question[T]]:
        found = await self._store.load(list(wants.values()))
        return {
            run_id: question._replace(loaded=question.loaded.merged(self._compiled(question.kind, found[run_id])))
            for run_id, question in questions.items()
        }

    def _compiled(self, kind: TreeKind, loaded: Loaded) -> Loaded:
        if not loaded.definitions:
            return loaded
        try:
            compiled = {key: self._compile(kind, key, source) for key, source in loaded.definitions.items()}
        except Exception as cause:
            # One definition that cannot be compiled must not stop the trees of all others.
            [(job_id, version, _), *_] = loaded.definitions
            return replace(loaded, error=RowUnreadable(f"version {version} of {kind.name}", job_id, cause))
        return replace(loaded, definitions=compiled)

    def _compile(self, kind: TreeKind, key: DefinitionKey, source: Any) -> Any:
        if source is None:
            return None
        known = self._definitions.get(key)
        if known is None:
            known = kind.compile(source)
            self._definitions.put(key, known)
        return known


def _decoded(kind: TreeKind, tree: Tree, body: bytes) -> Any:
    try:
        return kind.read_body(body)
    except UNREADABLE as cause:
        raise RowUnreadable("execution", tree.run_id, cause) from cause


class _Recent(Generic[K, T]):
    """A mapping that forgets what has not been used for longest."""

    def __init__(self, kept: int = _KEPT) -> None:
        self._items: OrderedDict[K, T] = OrderedDict()
        self._kept = kept

    def get(self, key: K) -> T | None:
        if key in self._items:
            self._items.move_to_end(key)
        return self._items.get(key)

    def put(self, key: K, value: T) -> None:
        self._items[key] = value
        self._items.move_to_end(key)
        if len(self._items) > self._kept:
            self._items.popitem(last=False)

    def remove(self, key: K) -> None:
        self._items.pop(key, None)
