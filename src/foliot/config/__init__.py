"""The configuration file: TOML, read whole, checked whole, and turned into values of the domain.

    files       the main file and what it includes      keys        every key, table by table
    document    one file as a tree                      schema      reading a table by its keys
    positions   key -> line                             readers     TOML value -> value
    expansion   ${VAR}                                  sections    [server] [storage] [queue] [retention] ...
    environment FOLIOT_SERVER_SLOTS=8                   jobs        [[jobs]], their kinds in specs
    workflow_json, workflow_writing                     workflows   [[workflows]], or one of them as JSON, both ways
    problems    all of them, at once                    schedules   [[jobs.schedules]]
    settings    what comes out                          declaring   all jobs of all files as one set
    starter     what `foliot init` writes               loading     everything joined

The file is data: reading it runs nothing and opens nothing but the files it includes.
"""

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
]
