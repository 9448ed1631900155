"""Builds what executes jobs, reads inputs of fanouts and sends notifications: a table for each kind of adapter."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from foliot.adapters.clock import SystemClock
from foliot.adapters.notifiers.all import all_notifiers
from foliot.adapters.resolvers.file import FileResolver
from foliot.adapters.resolvers.http import HttpResolver
from foliot.adapters.resolvers.job import JobResolver
from foliot.adapters.resolvers.plugins import WithPlugins
from foliot.adapters.resolvers.sql.resolver import SqlResolver
from foliot.adapters.resolvers.time_limit import SECONDS
from foliot.adapters.runners.agent import AgentRunner
from foliot.adapters.runners.approval import ApprovalRunner
from foliot.adapters.runners.function import Handler
from foliot.adapters.runners.http import HttpRunner
from foliot.adapters.runners.isolated.calls import IsolatedCalls
from foliot.adapters.runners.launcher import LaunchRunner
from foliot.adapters.runners.python import PythonRunner
from foliot.adapters.runners.shell import ShellRunner
from foliot.domain.job.sandbox_policy import ANYTHING, SandboxPolicy
from foliot.domain.notification.settings import NOT_CONFIGURED, NotificationSettings
from foliot.domain.outbound.policy import OPEN, OutboundPolicy
from foliot.domain.workflow.plan import APPROVAL_KIND
from foliot.ports.launcher import RunLauncher
from foliot.ports.listeners import Subscription
from foliot.ports.notifier import LISTENER, Notifications, Notifier
from foliot.ports.resolver import Resolver
from foliot.ports.runner import Runner
from foliot.service.commands.dsns import ConfiguredDsns
from foliot.service.notifications.planner import NotificationPlanner
from foliot.service.notifications.targets import Targets
from foliot.service.services import Services


class RunnerPolicy(NamedTuple):
    """What jobs are allowed to use."""

    outbound: OutboundPolicy = OPEN
    """The addresses that http jobs may call."""
    places: Sequence[Path] | None = None
    """The first directories on the module path of isolated Python jobs; None: the current directory."""
    sandbox_policy: SandboxPolicy = ANYTHING
    """The accounts and modules that jobs may name."""
    file_roots: Sequence[Path] | None = None
    """The directories whose files fanouts may read; None: any."""
    dsns: Mapping[str, str] = {}
    """The databases of the configuration that fanouts may read, in addition to those that are stored."""
    inputs_seconds: float = SECONDS
    """How long reading the items of a fanout may take."""


UNRESTRICTED: Final = RunnerPolicy()


def build_runners(
    functions: Mapping[str, Callable[..., Any]],
    launcher: RunLauncher,
    threads: int,
    policy: RunnerPolicy = UNRESTRICTED,
    *,
    echo: bool = False,
) -> dict[str, Runner]:
    """Build a runner for each kind of job. `echo`: functions in this process print to its own streams as well."""
    handlers = {name: Handler.of(function) for name, function in functions.items()}
    sandbox_policy = policy.sandbox_policy
    isolated = IsolatedCalls(places=policy.places, sandbox_policy=sandbox_policy)
    return {
        "python": PythonRunner(handlers, threads=threads, isolated=isolated, echo=echo),
        "shell": ShellRunner(sandbox_policy=sandbox_policy),
        "agent": AgentRunner(sandbox_policy=sandbox_policy),
        "http": HttpRunner(policy.outbound),
        "launch": LaunchRunner(launcher),
        APPROVAL_KIND: ApprovalRunner(),
    }


def build_resolvers(services: Services, policy: RunnerPolicy = UNRESTRICTED) -> Mapping[str, Resolver]:
    """Build a resolver for each scheme of `inputs_from`, those of installed plug-ins included."""
    seconds = policy.inputs_seconds
    http = HttpResolver(policy.outbound, seconds=seconds)
    dsns = ConfiguredDsns(policy.dsns, services.dsns)
    built_in: dict[str, Resolver] = {
        "file": FileResolver(policy.file_roots, seconds=seconds),
        "http": http,
        "https": http,
        "sql": SqlResolver(dsns, seconds=seconds),
        "job": JobResolver(services.storage.queries, seconds=seconds),
    }
    return WithPlugins(built_in, seconds=seconds)


def build_notifications(
    services: Services, settings: NotificationSettings = NOT_CONFIGURED, policy: RunnerPolicy = UNRESTRICTED
) -> Notifications:
    """Build what a scheduler needs to notify."""
    targets = Targets(services.storage, settings, services.urls)
    planner = NotificationPlanner(services.storage, settings, targets)
    notifiers = build_notifiers(settings, policy.outbound)
    return Notifications(Subscription(LISTENER, planner), notifiers, targets, settings.is_configured)


def build_notifiers(settings: NotificationSettings, policy: OutboundPolicy) -> dict[str, Notifier]:
    """Build a notifier for each kind of target."""
    return all_notifiers(settings, policy, SystemClock())
