"""What administrators manage by HTTP: users with passwords, remote workers, and DSNs."""

from collections.abc import Sequence

from foliot.client.request import given_only
from foliot.client.resources.base import Resource
from foliot.service.answers import Deleted, DirectedWorkers, Done, Dsn, InvitedWorker, NewEnrolment, Page, StoredDsn
from foliot.service.commands.users import UserView
from foliot.service.workers.enrolments import EnrolmentView


class AsyncUsers(Resource):
    """Adds, lists and removes people who log in."""

    async def all(self) -> list[UserView]:
        """Return all users by name."""
        return (await self._get(Page[UserView], "users")).items

    async def add(self, name: str, password: str, role: str) -> UserView:
        """Add a user."""
        body = {"name": name, "password": password, "role": role}
        # A password is not stored with the answer for a repetition.
        return await self._post(UserView, "users", body=body, is_keyed=False)

    async def set_password(self, name: str, password: str) -> Done:
        """Set the password of a user. All sessions of the user end."""
        return await self._put(Done, "users", name, "password", body={"password": password})

    async def remove(self, name: str) -> Deleted:
        """Remove a user. All sessions of the user end."""
        return await self._delete(Deleted, "users", name)


class AsyncEnrolments(Resource):
    """Enrols, disables and removes remote workers."""

    async def all(self) -> list[EnrolmentView]:
        """Return all enrolments by name."""
        return (await self._get(Page[EnrolmentView], "enrolments")).items

    async def register(
        self, name: str, *, labels: Sequence[str] = (), kinds: Sequence[str] = (), server: str | None = None
    ) -> NewEnrolment:
        """Enrol a worker. Its `secret` cannot be read again. `server`: the URL in the `environment` of the answer."""
        body = {"name": name, "labels": list(labels), "kinds": list(kinds), **given_only(server=server)}
        # A secret is not stored with the answer for a repetition.
        return await self._post(NewEnrolment, "enrolments", body=body, is_keyed=False)

    async def invite(
        self, name: str, *, labels: Sequence[str] = (), kinds: Sequence[str] = (), valid: float | str = "10m"
    ) -> InvitedWorker:
        """Enrol a worker that gets its secret with the `token` of the answer, once."""
        body = {"name": name, "labels": list(labels), "kinds": list(kinds), "valid": valid}
        return await self._post(InvitedWorker, "enrolments", "invite", body=body, is_keyed=False)

    async def disable(self, name: str) -> EnrolmentView:
        """Refuse the requests of a worker from now on."""
        return await self._post(EnrolmentView, "enrolments", name, "disable")

    async def enable(self, name: str) -> EnrolmentView:
        """Accept the requests of a disabled worker again."""
        return await self._post(EnrolmentView, "enrolments", name, "enable")

    async def remove(self, name: str) -> Deleted:
        """Remove an enrolment. Requests with its secret are refused from now on."""
        return await self._delete(Deleted, "enrolments", name)

    async def pause_workers(self, name: str) -> DirectedWorkers:
        """Give workers no new runs until they are resumed: the one with this name or id, or all of an enrolment."""
        return await self._post(DirectedWorkers, "workers", name, "pause")

    async def resume_workers(self, name: str) -> DirectedWorkers:
        """Give paused workers runs again."""
        return await self._post(DirectedWorkers, "workers", name, "resume")

    async def drain_workers(self, name: str, *, version: str | None = None) -> DirectedWorkers:
        """Let workers finish their runs and stop. `version`: only those with this version of the code."""
        return await self._post(DirectedWorkers, "workers", name, "drain", body=given_only(version=version))

    async def drain_version(self, version: str) -> DirectedWorkers:
        """Let all workers with a version of the code finish their runs and stop, for a rolling update."""
        return await self._post(DirectedWorkers, "workers", "drain", body={"version": version})


class AsyncDsns(Resource):
    """Stores, lists and removes the databases that fanouts may read."""

    async def all(self) -> list[Dsn]:
        """Return the names of the stored DSNs. Their texts cannot be read."""
        return (await self._get(Page[Dsn], "dsns")).items

    async def put(self, name: str, dsn: str) -> StoredDsn:
        """Store a DSN, encrypted. One with this name is replaced."""
        return await self._put(StoredDsn, "dsns", name, body={"dsn": dsn})

    async def remove(self, name: str) -> Deleted:
        """Remove a DSN."""
        return await self._delete(Deleted, "dsns", name)
