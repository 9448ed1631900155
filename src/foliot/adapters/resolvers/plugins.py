"""Resolvers of other packages: entry points of the group `foliot.resolvers`.

    [project.entry-points."foliot.resolvers"]
    s3 = "my_package.s3:S3Resolver"

The name is the scheme; the object is called without arguments and returns a `ports.resolver.Resolver`. It is loaded
when the first fanout uses it. The limits of fanouts apply to its items like to all others.
"""

import asyncio
from collections.abc import AsyncGenerator, Collection, Iterator, Mapping, Sequence
from contextlib import aclosing
from functools import cached_property
from typing import TYPE_CHECKING

from foliot.adapters.resolvers.batches import Batches
from foliot.adapters.resolvers.time_limit import SECONDS, limited
from foliot.domain.fanout.inputs import PLUGINS
from foliot.errors import InputsError, InputsUnavailable, InvalidInput, shortened
from foliot.ports.resolver import Resolver, ResolveRequest

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


def find_plugins(taken: Collection[str], *, seconds: float = SECONDS) -> dict[str, "PluginResolver"]:
    """Return a resolver for each installed scheme, except those that are taken."""
    from importlib.metadata import entry_points  # slow to import, and a megabyte

    found = {point.name: PluginResolver(point, seconds=seconds) for point in entry_points(group=PLUGINS)}
    return {scheme: resolver for scheme, resolver in found.items() if scheme not in taken}


class WithPlugins(Mapping[str, Resolver]):
    """Resolvers by scheme: the given ones and those of installed packages, which are looked for when one is needed."""

    def __init__(self, built_in: Mapping[str, Resolver], *, seconds: float = SECONDS) -> None:
        self._built_in = built_in
        self._seconds = seconds

    @cached_property
    def _all(self) -> Mapping[str, Resolver]:
        return {**self._built_in, **find_plugins(self._built_in, seconds=self._seconds)}

    def __getitem__(self, scheme: str) -> Resolver:
        return self._built_in[scheme] if scheme in self._built_in else self._all[scheme]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)


class PluginResolver:
    """Loads a resolver on first use, and enforces the limits of fanouts."""

    def __init__(self, point: "EntryPoint", *, seconds: float = SECONDS) -> None:
        self._point = point
        self._seconds = seconds
        self._resolver: Resolver | None = None

    def check(self, uri: str) -> None:
        try:
            self._load().check(uri)
        except InputsError as error:
            raise InvalidInput(error.message, hint=error.hint, field="inputs_from") from None

    def resolve(self, request: ResolveRequest) -> AsyncGenerator[Sequence[bytes]]:
        return limited(self._batches(request), self._seconds)

    async def _batches(self, request: ResolveRequest) -> AsyncGenerator[Sequence[bytes]]:
        resolver = await asyncio.to_thread(self._load)
        counted = Batches(request.limits)
        try:
            async with aclosing(resolver.resolve(request)) as batches:
                async for batch in batches:
                    for document in batch:
                        counted.add_document(document)
                    yield counted.take()
        except (InputsError, InvalidInput):
            raise
        except Exception as error:  # code of another package
            raise self._failed("failed", error) from error

    def _load(self) -> Resolver:
        if self._resolver is None:
            try:
                self._resolver = self._point.load()()
            except Exception as error:  # the import runs code of another package
                raise self._failed("could not be loaded", error) from error
        assert self._resolver is not None
        return self._resolver

    def _failed(self, what: str, error: Exception) -> InputsUnavailable:
        hint = f"It is {self._point.value}, an entry point of the group {PLUGINS}."
        reason = shortened(f"{type(error).__name__}: {error}")
        return InputsUnavailable(f'the resolver for "{self._point.name}" {what}: {reason}', hint=hint)
