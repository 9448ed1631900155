"""Connects all parts. The only package that knows every adapter: a new adapter is a new line in a table here."""

from foliot.wiring.definitions import JsonDocuments, TomlTexts
from foliot.wiring.machine import Descriptors, build_host, environment, node_label, take_descriptors
from foliot.wiring.processes import TREES, build_node, find_server, remote_worker
from foliot.wiring.runners import (
    UNRESTRICTED,
    RunnerPolicy,
    build_notifications,
    build_notifiers,
    build_resolvers,
    build_runners,
)
from foliot.wiring.services import build_jwt_verifier, build_services, open_services
from foliot.wiring.storage import BACKUPS, STORAGES, Adapter, BackUp, OpenStorage, back_up, fault_points, open_storage

__all__ = [
    "BACKUPS",
    "STORAGES",
    "TREES",
    "UNRESTRICTED",
    "Adapter",
    "BackUp",
    "Descriptors",
    "JsonDocuments",
    "OpenStorage",
    "RunnerPolicy",
    "TomlTexts",
    "back_up",
    "build_host",
    "build_jwt_verifier",
    "build_node",
    "build_notifications",
    "build_notifiers",
    "build_resolvers",
    "build_runners",
    "build_services",
    "environment",
    "fault_points",
    "find_server",
    "node_label",
    "open_services",
    "open_storage",
    "remote_worker",
    "take_descriptors",
]
