"""Routes: each is declared beside its handler, and the router, OpenAPI and the reference are made of the same table.

    @ROUTES.get("/api/jobs/{job_id}", permission=Permission.READ, summary="Return a job.")
    async def get_job(call: Call, job_id: str) -> JobView: ...

The types of `query`, `body` and the answer are those of the handler's signature. A route without a permission cannot be
declared.
"""

import inspect
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final, Literal, TypeVar, get_type_hints

from foliot.domain.access.principal import Principal
from foliot.domain.access.role import PEOPLE, Permission

Public = Literal["public"]
PUBLIC: Final[Public] = "public"
"""The permission of routes that answer anyone."""
MAX_BODY: Final = 1 << 20
_PARAMETER: Final = re.compile(r"\{(\w+)\}")
_ANY: Final = "{}"

Handler = TypeVar("Handler", bound=Callable[..., Awaitable[Any]])


@dataclass(frozen=True, kw_only=True)
class Route:
    """One method of one path."""

    method: str
    path: str
    permission: Permission | Public
    summary: str
    handler: Callable[..., Awaitable[Any]]
    query: Any = None
    """The type of its query; None: it has none."""
    body: Any = None
    """The type of its body; None: it has none."""
    answer: Any = None
    """The type of its answer; None: an empty answer."""
    status: HTTPStatus = HTTPStatus.OK
    errors: tuple[HTTPStatus, ...] = ()
    """The statuses of errors, besides those that every route has."""
    examples: tuple[Any, ...] = ()
    """Examples of bodies, which tests send."""
    media_type: str = "application/json"
    """The type of its answer."""
    max_body: int = MAX_BODY
    job_parameter: str = ""
    """The parameter with the job that it starts: a principal that may start this job needs no other permission."""
    is_repeatable: bool = True
    """Whether its answer may be stored for requests with an Idempotency-Key. One with a secret is not."""
    streams: bool = False
    """Whether its answer is a stream of events, which ends when the server stops."""

    @property
    def parameters(self) -> list[str]:
        return _PARAMETER.findall(self.path)

    @property
    def name(self) -> str:
        """A unique name: that of its handler."""
        return self.handler.__name__

    @property
    def tag(self) -> str:
        """The module of its handler, which is the noun that it is about."""
        return self.handler.__module__.rpartition(".")[2].replace("_", " ")

    @property
    def role(self) -> str:
        """The least role that may call it."""
        if self.permission == PUBLIC:
            return PUBLIC
        other = "run" if self.permission is Permission.REPORT else "worker"
        return next((str(role) for role in PEOPLE if role.may(self.permission)), other)

    def allows(self, principal: Principal, parameters: Mapping[str, str]) -> bool:
        if self.permission == PUBLIC or principal.may(self.permission):
            return True
        return bool(self.job_parameter) and principal.may_trigger(parameters[self.job_parameter])


@dataclass
class _Node:
    """A part of a path, and what follows it."""

    below: "dict[str, _Node]" = field(default_factory=dict)
    methods: dict[str, Route] = field(default_factory=dict)


@dataclass(frozen=True)
class Found:
    """The routes of a path, by method, and the values of its parameters."""

    methods: Mapping[str, Route]
    values: tuple[str, ...]


class Routes:
    """All routes. Paths are exact: no second spelling of a path finds a route."""

    def __init__(self) -> None:
        self._routes: list[Route] = []
        self._root = _Node()

    def __iter__(self) -> Iterator[Route]:
        return iter(self._routes)

    def add(
        self, method: str, path: str, *, permission: Permission | Public, summary: str, **facts: Any
    ) -> Callable[[Handler], Handler]:
        if permission != PUBLIC and not isinstance(permission, Permission):
            raise TypeError(f"{method} {path} has no permission")

        def declare(handler: Handler) -> Handler:
            hints = get_type_hints(handler)
            given = {"query": hints.get("query"), "body": hints.get("body"), "answer": hints["return"]}
            route = Route(
                method=method, path=path, permission=permission, summary=summary, handler=handler, **{**given, **facts}
            )
            _check(route)
            self._insert(route)
            return handler

        return declare

    def get(self, path: str, **facts: Any) -> Callable[[Handler], Handler]:
        return self.add("GET", path, **facts)

    def post(self, path: str, **facts: Any) -> Callable[[Handler], Handler]:
        return self.add("POST", path, **facts)

    def put(self, path: str, **facts: Any) -> Callable[[Handler], Handler]:
        return self.add("PUT", path, **facts)

    def delete(self, path: str, **facts: Any) -> Callable[[Handler], Handler]:
        return self.add("DELETE", path, **facts)

    def find(self, path: str) -> Found | None:
        """Return the routes of a path. A fixed part has precedence over a parameter."""
        node, values = self._root, []
        for part in path.split("/")[1:]:
            inner = node.below.get(part)
            if inner is None:
                inner = node.below.get(_ANY)
                if inner is None or not part:
                    return None
                values.append(part)
            node = inner
        return Found(node.methods, tuple(values)) if node.methods else None

    def _insert(self, route: Route) -> None:
        node = self._root
        for part in _PARAMETER.sub(_ANY, route.path).split("/")[1:]:
            node = node.below.setdefault(part, _Node())
        if route.method in node.methods:
            raise TypeError(f"{route.method} {route.path} is declared twice")
        node.methods[route.method] = route
        self._routes.append(route)


def _check(route: Route) -> None:
    """Refuse a handler whose parameters are not those of its path."""
    taken = list(inspect.signature(route.handler).parameters)
    wanted = ["call", *route.parameters]
    wanted += [name for name in ("query", "body") if getattr(route, name) is not None]
    if taken != wanted:
        raise TypeError(f"{route.name} must take {', '.join(wanted)}")
