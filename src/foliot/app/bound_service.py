"""Services as attributes of an application: each call opens the application first, on the event loop of the caller."""

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import wraps
from typing import Any, Generic, TypeVar, cast

from foliot.app.public_methods import PUBLIC_METHODS
from foliot.service.services import Services

Service = TypeVar("Service")
OpenServices = Callable[[], Awaitable[Services]]


def bind_service(kind: type[Service], open_services: OpenServices, select: Callable[[Services], Service]) -> Service:
    """Return a proxy for a service, which is selected from the open services at each call."""
    return cast(Service, _BoundService(kind, open_services, select))


class _BoundService(Generic[Service]):
    """Has the public methods of a service class (`PUBLIC_METHODS`), all asynchronous, and nothing else."""

    def __init__(self, kind: type[Service], open_services: OpenServices, select: Callable[[Services], Service]) -> None:
        self._kind = kind
        self._open = open_services
        self._select = select

    def __getattr__(self, name: str) -> Any:
        if name not in PUBLIC_METHODS[self._kind]:
            raise AttributeError(f"{self._kind.__name__} has no public method {name!r}")
        method = getattr(self._kind, name)
        return self._iterate(name, method) if inspect.isasyncgenfunction(method) else self._call(name, method)

    def __dir__(self) -> list[str]:
        return sorted(PUBLIC_METHODS[self._kind])

    def _call(self, name: str, method: Callable[..., Any]) -> Callable[..., Awaitable[Any]]:
        @wraps(method)
        async def call(*args: Any, **kwargs: Any) -> Any:
            return await getattr(self._select(await self._open()), name)(*args, **kwargs)

        return call

    def _iterate(self, name: str, method: Callable[..., Any]) -> Callable[..., AsyncIterator[Any]]:
        @wraps(method)
        async def iterate(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
            async for item in getattr(self._select(await self._open()), name)(*args, **kwargs):
                yield item

        return iterate
