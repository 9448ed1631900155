"""Reads and checks the TOML configuration, and converts it to values of the domain.

    files         the main file and what it includes     loading        everything joined
    document      one file as a tree, its problems       sections       [server] [storage] [queue] [retention] ...
    positions     key -> line                            declarations   all jobs and workflows of all files as one set
    environment   ${VAR}, FOLIOT_SERVER_CONCURRENCY=8    jobs, kinds    [[jobs]]
    reading       a table, by domain.vocabulary          schedules      [[jobs.schedules]]
    settings      the result                             workflows, steps
    starter       what `foliot init` writes              workflow_json, workflow_writing: one of them as JSON
    crontab       what `foliot import crontab` writes
    exposure      secrets that are written into a file, for `foliot doctor`

Every key, its names and what it means are in `domain.vocabulary`.
The file is data: reading it executes nothing and opens only the files it includes.
"""

from foliot.config.exposure import written_secrets
from foliot.config.loading import load
from foliot.config.settings import (
    Configuration,
    Loaded,
    OutboundSettings,
    QueueSettings,
    RetentionSettings,
    ServerSettings,
)
from foliot.config.starter import STARTER
from foliot.errors import Place, Problem, Severity

__all__ = [
    "STARTER",
    "Configuration",
    "Loaded",
    "OutboundSettings",
    "Place",
    "Problem",
    "QueueSettings",
    "RetentionSettings",
    "ServerSettings",
    "Severity",
    "load",
    "written_secrets",
]
