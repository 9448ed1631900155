"""As whom jobs may run, and which modules they may call: what whoever runs a worker allows, whoever wrote the job."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from foliot.errors import InvalidJob


class SandboxPolicy(NamedTuple):
    """Lists of what is allowed. None: all that is possible."""

    users: frozenset[str] | None = None
    """Accounts that a job may name; without one it runs as the worker does."""
    modules: frozenset[str] | None = None
    """Modules whose functions a job may call, each with the modules inside it."""

    @classmethod
    def of(cls, *, users: Iterable[str] | None = None, modules: Iterable[str] | None = None) -> "SandboxPolicy":
        return cls(None if users is None else frozenset(users), None if modules is None else frozenset(modules))

    def check(self, *, user: str | None = None, call: str | None = None) -> None:
        """Refuse with InvalidJob what is not on the lists."""
        if user is not None and self.users is not None and user not in self.users:
            raise InvalidJob(
                f"jobs may not run as user {user[:64]!a}",
                hint=f"{_listed(self.users)} Whoever runs the worker can add it to allow_users in [server].",
                field="user",
            )
        module = (call or "").partition(":")[0]
        if call is not None and self.modules is not None and self.modules.isdisjoint(_around(module)):
            raise InvalidJob(
                f"jobs may not call module {module[:64]!a}",
                hint=f"{_listed(self.modules)} Whoever runs the worker can add it to allow_modules in [server].",
                field="call",
            )


ANYTHING: Final = SandboxPolicy()


def _around(module: str) -> list[str]:
    """A module, and the packages that it is in."""
    parts = module.split(".")
    return [".".join(parts[:length]) for length in range(1, len(parts) + 1)]


def _listed(names: Iterable[str]) -> str:
    named = ", ".join(sorted(names)[:10])
    return f"Allowed: {named}." if named else "None is allowed."
