"""The methods of services that an application has. Their other methods are for modules of Foliot."""

from collections.abc import Mapping
from typing import Final

from foliot.service.commands.jobs import JobService
from foliot.service.commands.launches import LaunchService
from foliot.service.commands.maps import MapService
from foliot.service.commands.runs import RunService
from foliot.service.commands.schedules import ScheduleService
from foliot.service.commands.workflows import WorkflowService

PUBLIC_METHODS: Final[Mapping[type, frozenset[str]]] = {
    RunService: frozenset(
        {"attempts", "cancel", "cancel_all", "follow", "get", "logs", "mark", "output", "page", "retry"}
        | {"retry_failed", "wait"}
    ),
    LaunchService: frozenset({"report"}),
    JobService: frozenset(
        {"add_dependency", "delete", "dependencies", "is_running", "page", "pause", "remove_dependency", "resume"}
        | {"wait"}
    ),
    ScheduleService: frozenset(
        {"delete", "get", "pause", "pause_all", "resume", "resume_all", "ticks", "upsert", "upsert_many"}
    ),
    WorkflowService: frozenset(
        {"active", "approve", "delete", "deploy", "document", "execution", "mark_step", "pause_step", "reject"}
        | {"rerun", "resume_step", "start", "status"}
    ),
    MapService: frozenset({"results"}),
}
