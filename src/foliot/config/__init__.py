"""Reads and checks the TOML configuration, and converts it to values of the domain.

    files         the main file and what it includes     loading        everything joined
    document      one file as a tree, its problems       sections       [server] [storage] [queue] [retention] ...
    positions     key -> line                            access         [auth]
    environment   ${VAR}, FOLIOT_SERVER_CONCURRENCY=8    declarations   all jobs and workflows of all files as one set
    toml          the syntax, bounded                    jobs, chains   [[jobs]], [[chains]]
    reading       a table, by domain.vocabulary          kinds, work    the kind of a job, and what it executes
    settings      the result                             schedules      [[jobs.schedules]]
    starter       what `foliot init` writes              workflows, steps
    crontab       what `foliot import crontab` writes    inputs         sources of the items of fanouts
    exposure      secrets that are written into a file, for `foliot doctor`
    places        where a definition is written, for pages

Definitions that clients send and read, instead of files:

    definition_text, definition_writing                  as TOML; toml_writing has the syntax
    job_json, workflow_json, json_document               as JSON documents
    job_writing, workflow_writing, chain_writing         from stored definitions to tables, for both

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
