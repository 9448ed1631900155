"""The operator's limits for jobs: which users they may run as, and which modules they may call."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from foliot.errors import InvalidJob


class SandboxPolicy(NamedTuple):
    """Lists of allowed names. None: no limit."""

    users: frozenset[str] | None = None
    """Users that a job may run as. A job that names none runs as the worker's user."""
    modules: frozenset[str] | None = None
    """Modules whose functions a job may call, including their submodules."""

    @classmethod
    def of(cls, *, users: Iterable[str] | None = None, modules: Iterable[str] | None = None) -> "SandboxPolicy":
        return cls(None if users is None else frozenset(users), None if modules is None else frozenset(modules))

    def check(self, *, user: str | None = None, call: str | None = None) -> None:
        """Raise InvalidJob if the user or the module is not allowed."""
        if user is not None and self.users is not None and user not in self.users:
            raise InvalidJob(
                f"jobs may not run as user {user[:64]!a}",
                hint=f"{_listed(self.users)} The operator of the worker can add it to allow_users in [server].",
                field="user",
            )
        module = (call or "").partition(":")[0]
        if call is not None and self.modules is not None and self.modules.isdisjoint(_with_packages(module)):
            raise InvalidJob(
                f"jobs may not call module {module[:64]!a}",
                hint=f"{_listed(self.modules)} The operator of the worker can add it to allow_modules in [server].",
                field="call",
            )


ANYTHING: Final = SandboxPolicy()


def _with_packages(module: str) -> list[str]:
    """Return the names of a module and of all packages that contain it."""
    parts = module.split(".")
    return [".".join(parts[:length]) for length in range(1, len(parts) + 1)]


def _listed(names: Iterable[str]) -> str:
    named = ", ".join(sorted(names)[:10])
    return f"Allowed: {named}." if named else "Allowed: none."
