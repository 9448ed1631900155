"""Commands about chains: stop one, stop a whole class, close a breaker."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from foliot.domain.alert import Alert, AlertKind
from foliot.domain.chain.class_state import ClassState, read_class
from foliot.domain.ids import RunId
from foliot.domain.run.lease import CancelAnswer
from foliot.domain.tree.settlement import SharedChange
from foliot.errors import InvalidInput, NotFound
from foliot.ports.chains import ChainClass
from foliot.ports.clock import Clock
from foliot.ports.storage import Storage


class ClassChange(NamedTuple):
    """What follows from a change of the state of a class."""

    alerts: Sequence[Alert] = ()
    cancels: Sequence[RunId] = ()


class ChainService:
    """Stops chains and resets breakers. Steps that ask for more at the same moment are refused."""

    def __init__(self, storage: Storage, clock: Clock) -> None:
        self._storage = storage
        self._clock = clock

    async def stop(self, name: str) -> CancelAnswer:
        """Stop a chain, given by its id or by its run: pending steps are cancelled, a running one is ended."""
        found = await self._storage.queries.chain(name)
        if found is None:
            raise NotFound("chain", name)
        answers = await self._storage.orders.cancel([found.run.id])
        return answers[found.run.id]

    async def stop_class(self, class_id: str) -> int:
        """Stop a class and all its chains, in one transaction. Return how many chains were active."""

        def change(state: ClassState) -> ClassChange:
            state.is_stopped = True
            return ClassChange(cancels=[one.run_id for one in state.active])

        return len((await self._change(class_id, change)).cancels)

    async def resume_class(self, class_id: str) -> None:
        """Let a stopped class arm chains again."""

        def change(state: ClassState) -> ClassChange:
            state.is_stopped = False
            return ClassChange()

        await self._change(class_id, change)

    async def reset(self, class_id: str, *, actor: str, reason: str) -> None:
        """Close the breaker of a class before its cooldown is over."""
        if not reason.strip():
            raise InvalidInput("a reset needs a reason", hint="Say what has been fixed.", field="reason")

        def change(state: ClassState) -> ClassChange:
            was_open, state.failures, state.opened = state.opened is not None, [], None
            alert = Alert(AlertKind.BREAKER_CLOSED, class_id, {"actor": actor, "reason": reason})
            return ClassChange(alerts=[alert] if was_open else [])

        await self._change(class_id, change)

    async def _change(self, class_id: str, change: Callable[[ClassState], ClassChange]) -> ClassChange:
        """Change the state of a class, and return what followed. Begin again if another process has changed it."""
        while True:
            stored = await self._class(class_id)
            state = read_class(stored.document.body)
            made = change(state)
            new = SharedChange(stored.key, stored.document.version, state.encode())
            if await self._storage.orders.change_class(new, made.cancels, made.alerts):
                return made

    async def _class(self, class_id: str) -> ChainClass:
        known = {one.class_id: one for one in await self._storage.queries.chain_classes()}
        if class_id not in known:
            raise NotFound("class", class_id, known=known, hint="List them with: foliot chains")
        return known[class_id]
