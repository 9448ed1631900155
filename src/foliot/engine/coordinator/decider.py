"""Makes decisions about trees, and loads the rows that they request, with one read for all of them per round."""

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

_CACHE_SIZE: Final = 1_000


class PendingDecision(NamedTuple, Generic[T]):
    """A decision about one tree that is not made yet."""

    kind: TreeKind
    loaded: Loaded
    decide: Callable[[Loaded], T | Wanted]
    """Returns the decision, or what must be loaded before it can be made."""


class TreeDecider:
    """Makes decisions about trees. Caches definitions and bodies, which never change."""

    def __init__(self, store: TreeStore) -> None:
        self._store = store
        self._definitions: _LruCache[DefinitionKey, Any] = _LruCache()
        self._bodies: _LruCache[RunId, Any] = _LruCache()

    async def decide(self, decisions: Mapping[RunId, PendingDecision[T]]) -> dict[RunId, T | Exception]:
        """Return the result of each decision, or the error that prevented it."""
        results: dict[RunId, T | Exception] = {}
        pending = dict(decisions)
        requested: dict[RunId, Wanted] = {}
        while pending:
            wants: dict[RunId, Wanted] = {}
            for run_id, decision in pending.items():
                result = self._try_decide(decision)
                if not isinstance(result, Wanted):
                    results[run_id] = result
                elif result == requested.get(run_id):
                    results[run_id] = RuntimeError(f"tree {run_id} requested the same rows twice")
                else:
                    wants[run_id] = result
            requested = wants
            pending = await self._load({run_id: pending[run_id] for run_id in wants}, wants) if wants else {}
        return results

    def attach(self, tree: Tree, kind: TreeKind, loaded: Loaded) -> Tree | Wanted:
        """Return the tree with its body and compiled definition, or what must be loaded first."""
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

    def cache_body(self, tree: Tree) -> None:
        """Cache the body of a tree that was just opened: it is settled soon."""
        self._bodies.put(tree.run_id, tree.body)

    def drop_body(self, run_id: RunId) -> None:
        self._bodies.remove(run_id)

    def _try_decide(self, decision: PendingDecision[T]) -> T | Wanted | Exception:
        try:
            if decision.loaded.error is not None:
                return decision.loaded.error
            result = decision.decide(decision.loaded)
            while isinstance(result, Wanted) and (known := self._cached_definition(result)) is not None:
                decision = decision._replace(loaded=decision.loaded.merged(Loaded(definitions=known)))
                result = decision.decide(decision.loaded)
        except StorageUnavailable:
            raise
        except Exception as error:
            # Returned, not raised: a tree that cannot be decided must not stop the others.
            return error
        return result

    def _cached_definition(self, wanted: Wanted) -> Mapping[DefinitionKey, Any] | None:
        """Return the requested definition if it is cached and nothing else is requested."""
        key = wanted.definition
        if key is None or wanted != Wanted(run_id=wanted.run_id, definition=key):
            return None
        known = self._definitions.get(key)
        return None if known is None else {key: known}

    async def _load(
        self, decisions: Mapping[RunId, PendingDecision[T]], wants: Mapping[RunId, Wanted]
    ) -> dict[RunId, PendingDecision[T]]:
        found = await self._store.load(list(wants.values()))
        return {
            run_id: decision._replace(loaded=decision.loaded.merged(self._compiled(decision.kind, found[run_id])))
            for run_id, decision in decisions.items()
        }

    def _compiled(self, kind: TreeKind, loaded: Loaded) -> Loaded:
        if not loaded.definitions:
            return loaded
        try:
            compiled = {key: self._compile(kind, key, source) for key, source in loaded.definitions.items()}
        except Exception as cause:
            # A definition that cannot be compiled must not stop the trees of other definitions.
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


class _LruCache(Generic[K, T]):
    """A mapping of limited size that drops the least recently used item."""

    def __init__(self, size: int = _CACHE_SIZE) -> None:
        self._items: OrderedDict[K, T] = OrderedDict()
        self._size = size

    def get(self, key: K) -> T | None:
        if key in self._items:
            self._items.move_to_end(key)
        return self._items.get(key)

    def put(self, key: K, value: T) -> None:
        self._items[key] = value
        self._items.move_to_end(key)
        if len(self._items) > self._size:
            self._items.popitem(last=False)

    def remove(self, key: K) -> None:
        self._items.pop(key, None)
