"""The lines that a server prints on a terminal when it starts."""

from collections import Counter
from pathlib import Path

import foliot
from foliot.domain.deploy.deployment import Action, Changes
from foliot.domain.secrets import public_url
from foliot.engine.settings import Role, Settings
from foliot.interfaces.cli.configuration import count_definitions
from foliot.interfaces.cli.render.changes import all_changes
from foliot.interfaces.cli.render.format import moment
from foliot.interfaces.cli.render.table import aligned
from foliot.interfaces.cli.render.text import escaped
from foliot.service.services import Services


async def banner(
    services: Services,
    settings: Settings,
    path: Path | None,
    storage: str | None,
    changes: Changes | None,
    refused: str = "",
    url: str | None = None,
) -> list[str]:
    """Return the lines: configuration, storage, roles, next tick, and how to stop."""
    lines = [("roles", f"{', '.join(settings.roles)}{_capacity(settings)}")]
    if url is not None:
        lines.append(("API", f"{url}/api/docs"))
    if storage is not None:
        lines.insert(0, ("storage", public_url(storage)))
    if path is not None:
        applied = f"{path}{'' if changes is None else _counts(changes)}"
        lines.insert(0, ("configuration", f"not applied: {refused}" if refused else applied))
    # `next_run_at` of a schedule that is behind is in the past; `preview` begins now.
    upcoming = (await services.queries.overview.page()).upcoming
    coming = [(schedule.preview[0], schedule.schedule_id) for schedule in upcoming if schedule.preview]
    lines += [("next", f"{schedule_id} at {moment(at)}") for at, schedule_id in sorted(coming)[:1]]
    return [
        f"Foliot {foliot.__version__}",
        *aligned([("", name, escaped(value)) for name, value in lines]),
        "Ctrl-C stops. From another terminal: foliot top, foliot runs, foliot reload",
    ]


def _capacity(settings: Settings) -> str:
    if Role.WORKER not in settings.roles:
        return ""
    return (
        f" ({settings.slots} slots, {'queues' if len(settings.queues) > 1 else 'queue'} {', '.join(settings.queues)})"
    )


def _counts(changes: Changes) -> str:
    count = Counter(what for what, change in all_changes(changes) if change.action is not Action.REMOVED)
    return f": {count_definitions(jobs=count['job'], workflows=count['workflow'], schedules=count['schedule'])}"
