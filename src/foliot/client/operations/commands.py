"""Changes by HTTP. The server records who made them: the owner of the token."""

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, cast

from foliot.client.asynchronous import AsyncClient
from foliot.domain.ids import RunId
from foliot.domain.input.timing import Span, millis
from foliot.domain.input.typed import RunOptions
from foliot.domain.instant import SECOND
from foliot.domain.run.lease import CancelAnswer
from foliot.domain.run.mark import Marked
from foliot.errors import NotFound, RequestRefused
from foliot.service.commands.cancels import CancelledRuns
from foliot.service.commands.dsns import DsnView
from foliot.service.commands.run_request import RunRequest
from foliot.service.commands.tokens import CreatedToken, TokenView
from foliot.service.commands.users import UserView
from foliot.service.queries.pause_view import PauseView
from foliot.service.queries.run_view import RunView
from foliot.service.workers.enrolments import Enrolled, EnrolmentView

_TERMINAL: Final = "terminal"
"""The code of the refusal to cancel what has ended."""
_PHASES: Final = {"queued": CancelAnswer.CANCELLED, "already_pending": CancelAnswer.PENDING}


class HttpRuns:
    def __init__(self, client: AsyncClient) -> None:
        self._runs = client.runs

    async def cancel(self, run_id: str) -> CancelAnswer:
        try:
            cancelled = await self._runs.cancel(run_id)
        except NotFound:
            return CancelAnswer.NOT_FOUND
        except RequestRefused as error:
            return _terminal(error)
        return _PHASES.get(cancelled.phase, CancelAnswer.REQUESTED)

    async def cancel_all(
        self, job: str | None = None, *, status: str | None = None, confirm: bool = False
    ) -> CancelledRuns:
        return await self._runs.cancel_all(job, status=status, confirm=confirm)

    async def retry(self, run_id: str) -> str:
        return (await self._runs.retry(run_id)).id

    async def retry_failed(self, run_id: str) -> str:
        return (await self._runs.retry(run_id, failed=True)).id

    async def mark(self, run_id: str) -> Marked:
        marked = await self._runs.mark(run_id)
        return Marked(marked.answer, RunId(marked.success_id))

    async def wait(self, run_id: str, timeout: Span | None = None) -> RunView:  # noqa: ASYNC109 - as app.runs.wait
        return await self._runs.wait(run_id, timeout)


class HttpJobs:
    def __init__(self, client: AsyncClient) -> None:
        self._jobs = client.jobs

    async def delete(self, job_id: str, *, force: bool = False) -> list[str]:
        deleted = await self._jobs.delete(job_id, force=force)
        if not deleted.deleted:
            await self._jobs.show(job_id)  # raises the error, with a similar name
            raise NotFound("job", job_id)
        return deleted.schedules


class HttpSchedules:
    def __init__(self, client: AsyncClient) -> None:
        self._schedules = client.schedules

    async def pause_named(self, name: str, paused: bool = True) -> list[str]:
        return (await self._schedules.pause_named(name, paused)).schedules

    async def pause_all(self, until: datetime | None = None, note: str = "", _by: str = "") -> PauseView:
        return await self._schedules.pause_all(until, note)

    async def resume_all(self) -> PauseView | None:
        return (await self._schedules.resume_all()).ended

    async def delete(self, schedule_id: str, *, force: bool = False) -> None:
        if not (await self._schedules.delete(schedule_id, force=force)).deleted:
            await self._schedules.get(schedule_id)  # raises the error, with a similar name
            raise NotFound("schedule", schedule_id)


class HttpWorkflows:
    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    async def trigger(self, name: str, request: RunRequest) -> str:
        run = await self._client.jobs.run(
            name,
            request.payload,
            run_at=request.run_at,
            delay=request.delay,
            dedupe_key=request.dedupe_key,
            **cast(RunOptions, request.options),
        )
        return run.id

    async def start(
        self, workflow: str, params: Mapping[str, Any] | None = None, *, version: int | None, request: RunRequest
    ) -> str:
        run = await self._client.workflows.start(workflow, params, version=version, idempotency_key=request.dedupe_key)
        return run.id

    async def rerun(self, execution_id: str, *steps: str, same_version: bool = False) -> str:
        return (await self._client.executions.rerun(execution_id, *steps, same_version=same_version)).id

    async def mark_step(self, execution_id: str, step: str) -> str:
        return (await self._client.executions.mark_step(execution_id, step)).execution_id

    async def approve(self, execution_id: str, step: str, *, by: str | None = None) -> None:
        await self._client.executions.approve(execution_id, step, by=by)

    async def reject(self, execution_id: str, step: str, *, by: str | None = None) -> None:
        await self._client.executions.reject(execution_id, step, by=by)

    async def pause_step(self, workflow_id: str, step: str, paused: bool = True) -> None:
        workflows = self._client.workflows
        await (workflows.pause_step if paused else workflows.resume_step)(workflow_id, step)

    async def delete(self, workflow_id: str, *, force: bool = False) -> list[str]:
        deleted = await self._client.workflows.delete(workflow_id, force=force)
        if not deleted.deleted:
            await self._client.workflows.get(workflow_id)  # raises the error, with a similar name
            raise NotFound("workflow", workflow_id)
        return deleted.schedules


class HttpChains:
    def __init__(self, client: AsyncClient) -> None:
        self._chains = client.chains

    async def stop(self, name: str) -> CancelAnswer:
        try:
            return (await self._chains.stop(name)).phase
        except RequestRefused as error:
            return _terminal(error)

    async def stop_class(self, class_id: str) -> int:
        return (await self._chains.stop_class(class_id)).stopped

    async def resume_class(self, class_id: str) -> None:
        await self._chains.resume_class(class_id)

    async def reset(self, class_id: str, *, actor: str, reason: str) -> None:
        await self._chains.reset_class(class_id, reason)


class HttpDsns:
    def __init__(self, client: AsyncClient) -> None:
        self._dsns = client.dsns

    async def add(self, name: str, dsn: str) -> bool:
        return (await self._dsns.put(name, dsn)).is_new

    async def all(self) -> list[DsnView]:
        return [DsnView(one.name, one.engine, one.updated_at) for one in await self._dsns.all()]

    async def remove(self, name: str) -> None:
        if not (await self._dsns.remove(name)).deleted:
            raise NotFound("DSN", name, known=[one.name for one in await self._dsns.all()])


class HttpTokens:
    def __init__(self, client: AsyncClient) -> None:
        self._tokens = client.tokens

    async def create(
        self,
        *,
        role: str | None = None,
        job: str | None = None,
        name: str | None = None,
        expires: datetime | None = None,
    ) -> CreatedToken:
        created = await self._tokens.create(role, job=job, name=name, expires=expires)
        fields = {field: getattr(created, field) for field in TokenView.__struct_fields__}
        return CreatedToken(TokenView(**fields), created.secret)

    def all(self, *, revoked: bool = False) -> AsyncIterator[TokenView]:
        return self._tokens.each(revoked=revoked)

    async def revoke(self, name: str) -> TokenView:
        return await self._tokens.revoke(name)


class HttpUsers:
    def __init__(self, client: AsyncClient) -> None:
        self._users = client.users

    async def add(self, name: str, password: str, *, role: str) -> UserView:
        return await self._users.add(name, password, role)

    async def all(self) -> list[UserView]:
        return await self._users.all()

    async def set_password(self, name: str, password: str) -> None:
        await self._users.set_password(name, password)

    async def remove(self, name: str) -> None:
        if not (await self._users.remove(name)).deleted:
            raise NotFound("user", name, known=[user.name for user in await self._users.all()])


class HttpEnrolments:
    def __init__(self, client: AsyncClient) -> None:
        self._enrolments = client.enrolments

    async def register(self, name: str, *, labels: Sequence[str] = (), kinds: Sequence[str] = ()) -> Enrolled:
        new = await self._enrolments.register(name, labels=labels, kinds=kinds)
        return Enrolled(_enrolment(new), new.secret)

    async def invite(
        self, name: str, *, labels: Sequence[str] = (), kinds: Sequence[str] = (), valid: Span = 600.0
    ) -> Enrolled:
        given = valid if isinstance(valid, str) else millis(valid, "valid") / SECOND
        new = await self._enrolments.invite(name, labels=labels, kinds=kinds, valid=given)
        return Enrolled(_enrolment(new), new.token)

    async def all(self) -> list[EnrolmentView]:
        return await self._enrolments.all()

    async def disable(self, name: str) -> EnrolmentView:
        return await self._enrolments.disable(name)

    async def enable(self, name: str) -> EnrolmentView:
        return await self._enrolments.enable(name)

    async def pause(self, name: str) -> int:
        return (await self._enrolments.pause_workers(name)).workers

    async def resume(self, name: str) -> int:
        return (await self._enrolments.resume_workers(name)).workers

    async def drain(self, name: str | None = None, *, version: str | None = None) -> int:
        if name is None:
            return (await self._enrolments.drain_version(version or "")).workers
        return (await self._enrolments.drain_workers(name, version=version)).workers

    async def remove(self, name: str) -> None:
        if not (await self._enrolments.remove(name)).deleted:
            raise NotFound("worker", name, known=[one.name for one in await self._enrolments.all()])


def _enrolment(new: EnrolmentView) -> EnrolmentView:
    """Return an enrolment without its secret."""
    return EnrolmentView(**{field: getattr(new, field) for field in EnrolmentView.__struct_fields__})


def _terminal(error: RequestRefused) -> CancelAnswer:
    """Return the answer about what has ended, or raise any other refusal."""
    if error.code != _TERMINAL:
        raise error
    return CancelAnswer.TERMINAL
