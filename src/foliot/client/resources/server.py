"""The server itself by HTTP: status, explanations, the audit trail and tokens."""

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any, Literal, TypedDict, Unpack

from foliot.client.request import given_only
from foliot.client.resources.base import PAGE, Resource, each_item
from foliot.service.answers import Named, NewToken, Page, SampleAnswer, Version
from foliot.service.commands.audit import AuditView
from foliot.service.commands.tokens import TokenView
from foliot.service.path import ExplainedPath
from foliot.service.queries.cron import CronExplanation
from foliot.service.queries.home_view import HomePage
from foliot.service.queries.overview import OverviewPage
from foliot.service.queries.status import StatusPage
from foliot.service.queries.verified import Verified


class AuditFilters(TypedDict, total=False):
    """Which changes a list has."""

    actor: str | None
    id: str | None
    since: datetime | None
    before: str | None


class AsyncTokens(Resource):
    """Creates, lists and revokes tokens of programs."""

    async def page(self, *, limit: int = PAGE, cursor: str | None = None, revoked: bool = False) -> Page[TokenView]:
        """Return some tokens, oldest first. `revoked`: also those that were revoked."""
        return await self._get(Page[TokenView], "tokens", limit=limit, cursor=cursor, revoked=revoked)

    async def each(self, *, revoked: bool = False) -> AsyncIterator[TokenView]:
        """Yield all tokens, oldest first, and read them page by page."""
        async for token in each_item(lambda cursor: self.page(cursor=cursor, revoked=revoked)):
            yield token

    async def create(
        self,
        role: str | None = None,
        *,
        job: str | None = None,
        name: str | None = None,
        expires: datetime | None = None,
    ) -> NewToken:
        """Create a token with a role, or one that may start one job. Its `secret` cannot be read again."""
        body = given_only(role=role, job=job, name=name, expires=expires)
        # A new token is stored nowhere, so a repetition would create another one.
        return await self._post(NewToken, "tokens", body=body, is_keyed=False)

    async def revoke(self, name: str) -> TokenView:
        """Revoke a token, given by its name or id."""
        return await self._delete(TokenView, "tokens", name)


class AsyncAudit(Resource):
    """Reads who changed what."""

    async def page(
        self, *, limit: int = PAGE, cursor: str | None = None, **filters: Unpack[AuditFilters]
    ) -> Page[AuditView]:
        """Return some changes, newest first."""
        return await self._get(Page[AuditView], "audit", limit=limit, cursor=cursor, **filters)

    async def each(self, **filters: Unpack[AuditFilters]) -> AsyncIterator[AuditView]:
        """Yield all changes, newest first, and read them page by page."""
        async for change in each_item(lambda cursor: self.page(cursor=cursor, **filters)):
            yield change


class AsyncServer(Resource):
    """Reads the state of the server, and explains what it does."""

    async def version(self) -> str:
        """Return the version of the server."""
        return (await self._get(Version, "version")).version

    async def status(self) -> StatusPage:
        """Return whether Foliot works, and what needs attention."""
        return await self._get(StatusPage, "status")

    async def find(self, name: str) -> Named:
        """Return everything about the job with a name, else the schedule, else the run."""
        return await self._get(Named, "find", name=name)

    async def verify(self, since: datetime | None = None) -> Verified:
        """Compare the ledger with the ticks that the schedules should have, by default of the last seven days."""
        return await self._get(Verified, "verify", since=since)

    async def doctor(self) -> dict[str, Any]:
        """Check the installation of the server: configuration, database, clocks and machine."""
        return await self._get(dict[str, Any], "doctor")

    async def test_alerts(self, job: str | None = None) -> list[SampleAnswer]:
        """Send a test message to the targets of a job, or of [notifications], and return what they answer."""
        return (await self._post(Page[SampleAnswer], "alerts", "test", body=given_only(job=job))).items

    async def overview(self) -> OverviewPage:
        """Return running, queued and upcoming runs, and recent failures."""
        return await self._get(OverviewPage, "overview")

    async def home(self) -> HomePage:
        """Return what failed, what runs, what is next, and what is late or missed."""
        return await self._get(HomePage, "home")

    async def explain(
        self, run: str | None = None, *, schedule: str | None = None, at: datetime | None = None
    ) -> ExplainedPath:
        """Explain a run, given by its id, `@last` or `JOB@last`, or a planned time of a schedule, stage by stage."""
        return await self._get(ExplainedPath, "explain", run=run, schedule=schedule, at=at)

    async def explain_cron(
        self,
        expr: str,
        tz: str | None = None,
        *,
        count: int = 5,
        start: datetime | None = None,
        dst: Literal["vixie", "skip", "literal"] = "vixie",
        dom_dow: Literal["or", "and"] = "or",
        key: str | None = None,
        collisions: bool = False,
    ) -> CronExplanation:
        """Explain a cron expression: words, next fire times, clock changes, warnings."""
        return await self._get(
            CronExplanation, "cron", "explain", expr=expr, tz=tz, count=count, start=start, dst=dst, dom_dow=dom_dow,
            key=key, collisions=collisions,
        )  # fmt: skip
