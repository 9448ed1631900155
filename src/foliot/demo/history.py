"""What people do during the history, and the power failure. Each deed has a moment; `deeds_of` lists them."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final, NamedTuple

from foliot.demo.scene import Story
from foliot.domain.access.actor import Actor, ActorKind
from foliot.domain.ids import JobId
from foliot.domain.instant import DAY, HOUR, MINUTE, SECOND, Instant, Millis, later, to_datetime
from foliot.domain.run.run import Run, Status
from foliot.errors import FoliotError, WrongState
from foliot.ports.pages import RunFilter
from foliot.service.commands.run_request import RunRequest
from foliot.service.services import Services

ANNA: Final = Actor(ActorKind.USER, "anna")
BEN: Final = Actor(ActorKind.USER, "ben")
MIRA: Final = Actor(ActorKind.CLI, "mira")
DEPLOYER: Final = Actor(ActorKind.CLI, "mira")

Do = Callable[[Services], Awaitable[object]]


class Deed(NamedTuple):
    """Something that one person does at one moment."""

    at: Instant
    who: Actor
    do: Do


def deeds_of(story: Story) -> list[Deed]:
    """Return all deeds, in any order."""
    second_day = later(story.begins, DAY)
    failure, _ = power_failure(story)
    deeds = [
        # The attempt that runs when the power fails is lost, and repeated.
        Deed(later(failure, -7 * MINUTE), ANNA, _run("backup-database")),
        Deed(later(second_day, 9 * HOUR), ANNA, _mark_failed("backup-database")),
        Deed(later(second_day, 10 * HOUR), BEN, _run("price-report")),
        Deed(later(second_day, 7 * HOUR), MIRA, _schedule_missing_workflow),
        Deed(later(story.begins, 8 * HOUR), MIRA, _rerun("nightly-etl")),
        Deed(later(story.begins, 11 * DAY + 8 * HOUR), MIRA, _rerun("nightly-etl")),
        Deed(story.ago(21), ANNA, _pause_schedule("thumbnail-cleanup:default")),
        Deed(story.ago(19), ANNA, _resume_schedule("thumbnail-cleanup:default")),
        Deed(story.ago(12), ANNA, _pause_all),
        Deed(story.ago(10), MIRA, _schedule_once),
        Deed(later(story.ago(10), 4 * MINUTE), BEN, _add_reminder),
        Deed(later(story.ago(10), 3 * HOUR + 4 * MINUTE + 20 * SECOND), BEN, _delete_reminder),
        Deed(story.ago(5), ANNA, lambda services: services.jobs.pause("newsletter")),
        Deed(story.ago(3), MIRA, _run("search-index", {"full": True})),
        Deed(story.ago(2.6), BEN, _run("search-index", {"full": True, "reason": "new synonyms"})),
        Deed(later(story.ago(2.6), 5 * MINUTE), BEN, _cancel_running("search-index")),
        Deed(story.ago(1.6), BEN, _retry_failed("legacy-export")),
        Deed(story.ago(1.2), MIRA, _run("list-products")),
        Deed(later(story.ago(1.2), 20 * MINUTE), MIRA, _run("resize-images")),
        Deed(Instant(story.ends - 2 * HOUR), BEN, _retry_failed("legacy-export")),
        Deed(Instant(story.ends - 30 * HOUR), ANNA, _reset_breaker("disk-pressure")),
        Deed(Instant(story.ends - 4 * MINUTE), MIRA, _run("weekly-summary", run_at=later(story.ends, 6 * HOUR))),
    ]
    return [deed for deed in (*deeds, *_releases(story)) if deed.at < story.ends]


def _releases(story: Story) -> list[Deed]:
    """Return the releases of the shop: approved, rejected, one that no one has answered, and one that waits."""
    answers = ((27, "approve"), (20, "approve"), (13, "reject"), (6, "approve"))
    deeds = []
    for number, (days, answer) in enumerate(answers, 1):
        begins = story.ago(days)
        deeds.append(Deed(begins, MIRA, _release(f"4.{number}.0")))
        deeds.append(Deed(later(begins, 50 * MINUTE), BEN if answer == "reject" else ANNA, _answer(answer)))
    return [*deeds, Deed(Instant(story.ends - 3 * HOUR), MIRA, _release("4.5.0"))]


def power_failure(story: Story) -> tuple[Instant, Millis]:
    """Return when the power fails, and for how long. On a morning, when jobs are due every hour."""
    span = Millis(3 * HOUR)
    morning = Instant(story.ago(9) // DAY * DAY + 9 * HOUR + 25 * MINUTE)
    return (morning if morning + span + HOUR < story.ends else Instant(morning - DAY)), span


# -- deeds


def _run(name: str, payload: Any = None, *, run_at: Instant | None = None) -> Do:
    moment = None if run_at is None else to_datetime(run_at)
    return lambda services: services.workflows.trigger(name, RunRequest(payload=payload, run_at=moment))


def _release(version: str) -> Do:
    return lambda services: services.workflows.start("release", {"version": version})


def _answer(answer: str) -> Do:
    async def do(services: Services) -> None:
        for execution in await services.workflows.active("release"):
            verb = services.workflows.approve if answer == "approve" else services.workflows.reject
            # In a short history the power failure may delay a release, which then does not wait for its answer yet.
            with suppress(WrongState):
                await verb(execution.id, "sign-off")

    return do


def _mark_failed(job_id: str) -> Do:
    async def do(services: Services) -> None:
        for run in await _latest(services, job_id, Status.FAILED):
            await services.runs.mark(run.id)

    return do


def _retry_failed(job_id: str) -> Do:
    async def do(services: Services) -> None:
        for run in await _latest(services, job_id, Status.FAILED):
            await services.runs.retry(run.id)

    return do


def _rerun(workflow_id: str) -> Do:
    async def do(services: Services) -> None:
        for run in await _latest(services, workflow_id, Status.FAILED):
            await services.workflows.rerun(run.id)

    return do


def _cancel_running(job_id: str) -> Do:
    async def do(services: Services) -> None:
        for run in await _latest(services, job_id, Status.RUNNING):
            await services.runs.cancel(run.id)

    return do


async def _latest(services: Services, job_id: str, status: Status) -> list[Run]:
    return await services.runs.records(RunFilter(job_id=JobId(job_id), status=status, limit=1))


def _pause_schedule(schedule_id: str) -> Do:
    return lambda services: services.schedules.pause(schedule_id)


def _resume_schedule(schedule_id: str) -> Do:
    return lambda services: services.schedules.resume(schedule_id)


async def _pause_all(services: Services) -> None:
    until = later(services.clock.now(), 2 * HOUR)
    await services.schedules.pause_all(until=to_datetime(until), note="moving the server to another rack")


async def _schedule_missing_workflow(services: Services) -> None:
    """Add a schedule of a workflow that is never deployed: its ticks fail."""
    await services.schedules.upsert("loyalty-import:default", workflow_id="loyalty-import", cron="0 6 * * *")


async def _schedule_once(services: Services) -> None:
    at = to_datetime(Instant(services.clock.now() // MINUTE * MINUTE + 6 * HOUR))
    await services.schedules.upsert("price-report:sale", job_id="price-report", at=at, payload={"sale": "autumn"})


async def _add_reminder(services: Services) -> None:
    """Add a schedule with jitter, to be deleted while a tick waits for its jittered time."""
    await services.schedules.upsert(
        "price-report:reminder", job_id="price-report", every="1h", jitter="29m", jitter_mode="after"
    )


async def _delete_reminder(services: Services) -> None:
    await services.schedules.delete("price-report:reminder")


def _reset_breaker(class_id: str) -> Do:
    async def do(services: Services) -> None:
        try:
            await services.chains.reset(class_id, actor=str(services.actor), reason="logs are rotated every hour now")
        except FoliotError:
            return

    return do
