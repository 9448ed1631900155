"""The chain of the current run, for Python jobs: `current_run().chain`."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from msgspec import Struct

from foliot.domain.chain.decision import Decision
from foliot.domain.chain.message import ChainRequest, Decide, ReadStatus, Spawn, Spend
from foliot.errors import ChainRefused

Duration = float | str | timedelta
Answer = Mapping[str, Any]


def facts_of(answer: Answer) -> Answer:
    """Return the facts of an answer. Raises ChainRefused if it is a refusal."""
    if "code" in answer:
        code = str(answer["code"])
        raise ChainRefused(f"refused ({code}): {answer.get('error')}", hint=str(answer.get("hint", "")), refusal=code)
    return answer


def spawn_request(
    name: str, delay: Duration | None, payload: Any, dedupe_key: str, slot: str, deadline: datetime | str | None
) -> Spawn:
    # Imported here: isolated functions import this module, and few of them start steps.
    from foliot.domain.vocabulary.times import DURATION

    moment = deadline.isoformat() if isinstance(deadline, datetime) else deadline
    span = None if delay is None else DURATION.read(delay)
    return Spawn(name=name, delay=span, payload=payload, dedupe_key=dedupe_key, slot=slot, deadline=moment)


class ChainCalls(Struct, frozen=True, gc=False):
    """Requests to the chain, for functions that may block. Each raises ChainRefused if the chain refuses it."""

    ask: Callable[[ChainRequest], Answer]

    def spawn(
        self,
        name: str,
        *,
        delay: Duration | None = None,
        payload: Any = None,
        dedupe_key: str = "",
        slot: str = "",
        deadline: datetime | str | None = None,
    ) -> Answer:
        """Create a step: a stage of the chain; outside of a chain, one run of a job as a follow-up.

        `delay` is at least one second. Of two open steps with the same name and `dedupe_key` only one is created.
        Returns `run_id`, `step`, `due_at` and `is_new`.
        """
        return facts_of(self.ask(spawn_request(name, delay, payload, dedupe_key, slot, deadline)))

    def close(self, reason: str = "") -> None:
        """Close the chain when this step ends."""
        facts_of(self.ask(Decide(decision=Decision.CLOSE, reason=reason)))

    def monitor(self, reason: str = "") -> None:
        """Check again later."""
        facts_of(self.ask(Decide(decision=Decision.MONITOR, reason=reason)))

    def retry(self, reason: str = "") -> None:
        """Execute the action again."""
        facts_of(self.ask(Decide(decision=Decision.RETRY, reason=reason)))

    def escalate(self, reason: str = "") -> None:
        """Tell a person, and close the chain."""
        facts_of(self.ask(Decide(decision=Decision.ESCALATE, reason=reason)))

    def spend(self, *, tokens: int = 0, usd: float = 0.0) -> Answer:
        """Report what this step has spent. Returns what the chain has spent."""
        return facts_of(self.ask(Spend(tokens=tokens, usd=usd)))

    def status(self) -> Answer:
        """Return what this step is told about its chain."""
        return facts_of(self.ask(ReadStatus()))


class AsyncChainCalls(Struct, frozen=True, gc=False):
    """The same for coroutine functions."""

    ask: Callable[[ChainRequest], Awaitable[Answer]]

    async def spawn(
        self,
        name: str,
        *,
        delay: Duration | None = None,
        payload: Any = None,
        dedupe_key: str = "",
        slot: str = "",
        deadline: datetime | str | None = None,
    ) -> Answer:
        return facts_of(await self.ask(spawn_request(name, delay, payload, dedupe_key, slot, deadline)))

    async def close(self, reason: str = "") -> None:
        facts_of(await self.ask(Decide(decision=Decision.CLOSE, reason=reason)))

    async def monitor(self, reason: str = "") -> None:
        facts_of(await self.ask(Decide(decision=Decision.MONITOR, reason=reason)))

    async def retry(self, reason: str = "") -> None:
        facts_of(await self.ask(Decide(decision=Decision.RETRY, reason=reason)))

    async def escalate(self, reason: str = "") -> None:
        facts_of(await self.ask(Decide(decision=Decision.ESCALATE, reason=reason)))

    async def spend(self, *, tokens: int = 0, usd: float = 0.0) -> Answer:
        return facts_of(await self.ask(Spend(tokens=tokens, usd=usd)))

    async def status(self) -> Answer:
        return facts_of(await self.ask(ReadStatus()))
