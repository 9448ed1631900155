"""What a job of each kind says."""

from collections.abc import Mapping
from typing import Final, get_args

from foliot.domain.job.kinds.http import read_statuses
from foliot.domain.run.output import OutputMode
from foliot.domain.vocabulary.field import Alias, Field, Schema
from foliot.domain.vocabulary.readers import (
    DOCUMENT,
    FLAG,
    MASK,
    NUMBER,
    PAIRS,
    PYTHON_MASK,
    RAW_TEXT,
    SIZE,
    TABLES,
    TEXT,
    TEXTS,
    WHOLE,
    Reader,
    one_of,
)
from foliot.domain.vocabulary.times import DURATION, seconds, whole_seconds

_TABLE: Final = TABLES._replace(words="table")
LIMITS: Final = Schema(
    Field("memory", SIZE, "Of each process, or of all together where control groups can be used."),
    Field(
        "cpu_time",
        whole_seconds(1, 1 << 32),
        "Processor time, in whole seconds.",
        fills="cpu_sec",
        former=("cpu_sec",),
    ),
    Field("files", WHOLE, "Open files."),
    Field("processes", WHOLE, "Processes and threads."),
    Field("file_size", SIZE, "The largest file that may be written."),
    Field("core", SIZE, "The size of a core dump.", "0"),
    owner="limits",
)
AGENT_ARGS: Final = (
    Field("model", TEXT, "Passed as `--model`."),
    Field("permission_mode", TEXT, "Passed as `--permission-mode`."),
    Field("bare", FLAG, "Passed as `--bare`.", "false"),
    Field("extra_args", TEXTS, "Passed as they are.", "[]"),
)
NOTICES: Final = (
    Field("webhook_url", TEXT, "Notices arrive with a later version."),
    Field("slack_webhook_url", TEXT, "Notices arrive with a later version."),
)
ARGS: Final = Schema(*AGENT_ARGS, *NOTICES, owner="args")

_COMMAND: Final = Field("command", TEXT, "A command line for `/bin/sh`.", is_literal=True)
_ARGS: Final = Field("args", _TABLE, "See below.", is_merged=True, table=ARGS)
_STDIN: Final = Field("stdin", RAW_TEXT, "What it reads.", is_literal=True)
_OUTPUT: Final = Field(
    "output",
    one_of(get_args(OutputMode)),
    "What becomes [its output](../howto/run-a-command.md#give-an-output-to-the-next-step): nothing, what it prints as"
    " text or as JSON, or the JSON that it writes into `$FOLIOT_OUTPUT`.",
    '"none"',
)
_OUTPUT_CAP: Final = Field("output_cap", SIZE, "How much of what it prints is kept.", '"4MB"')
PROCESS: Final = (
    Field(
        "env",
        PAIRS,
        "Variables. Of the worker's own variables, only a few harmless ones such as `PATH` and `HOME` are passed on.",
        "{}",
        is_merged=True,
    ),
    Field("working_dir", TEXT, "Where it runs; without it, where the worker was started."),
    Field("user", TEXT, "The account it runs as. Only a worker that runs as root can do this."),
    Field(
        "umask",
        MASK,
        'As text, such as `"022"`: a number in a file does not show that its digits are octal.',
        in_python=PYTHON_MASK,
    ),
    Field("limits", _TABLE, "See below.", "{}", is_merged=True, table=LIMITS),
    Field(
        "kill_after",
        seconds(0, 300),
        "The time between TERM and KILL when a run is stopped.",
        "2",
        fills="grace",
        former=("grace_sec", "grace"),
    ),
    _OUTPUT_CAP,
)
KIND_FIELDS: Final[Mapping[str, Schema]] = {
    "shell": Schema(
        _COMMAND,
        Field("argv", TEXTS, "A program and its arguments instead, without a shell.", is_literal=True),
        _STDIN,
        _ARGS,
        _OUTPUT,
        *PROCESS,
        owner="jobs of kind shell",
    ),
    "http": Schema(
        _COMMAND.means("A URL, `POST https://...`, or the keys below as a JSON object."),
        Field("url", TEXT, "The URL instead of `command`."),
        Field("method", TEXT, "The method of the request.", '"GET"'),
        Field("headers", PAIRS, "The headers of the request.", "{}", is_merged=True),
        Field("body", RAW_TEXT, "The body of the request as text."),
        Field("json", DOCUMENT, "A body that is sent as JSON."),
        Field(
            "expect_status",
            Reader(
                "status, range or list of them",
                read_statuses,
                lambda ranges: [f"{first}-{last}" for first, last in ranges],
            ),
            'What counts as success: `204`, `"200-299"`, `"2xx"`, `[200, "300-399"]`.',
            '"200-299"',
        ),
        Field("follow", FLAG, "Whether redirects are followed.", "true"),
        Field("max_redirects", WHOLE, "How many redirects are followed.", "5"),
        Field("verify", FLAG, "Whether the certificate must be good.", "true"),
        _ARGS,
        _OUTPUT_CAP.means("How much of the answer is kept.", '"32KB"'),
        _OUTPUT.means(
            "What becomes its output: nothing, or the answer as text or as JSON, of at most 1 MiB."
            ' `"file"` is not for this kind.'
        ),
        owner="jobs of kind http",
    ),
    "python": Schema(
        _COMMAND.means("`module:function`, called in a process of its own."),
        Field("call", TEXT, "The same as `command`."),
        _ARGS,
        *PROCESS,
        owner="jobs of kind python",
    ),
    "agent": Schema(
        _COMMAND.means("The prompt, given to the program as one argument."),
        Field("prompt", TEXT, "The same as `command`.", is_literal=True),
        Field(
            "cli",
            TEXTS,
            "The program and its first arguments; without it, `FOLIOT_AGENT_CLI` of the worker, else `claude`.",
        ),
        Field("prompt_args", TEXTS, "The arguments right before the prompt, which is the last argument.", '["-p"]'),
        _STDIN,
        _ARGS,
        _OUTPUT,
        *PROCESS,
        owner="jobs of kind agent",
    ),
}
INNER_KIND: Final = Field(
    "inner_kind",
    TEXT,
    "Only of kind `workflow`, which must have `depends_on`: `shell`, `http`, `python`, `agent`. Without it a command"
    " that is a JSON object with `method` or `url` is `http`, any other `shell`.",
)
REDUCER: Final = Schema(
    Field("command", TEXT, "What runs at the end.", is_literal=True),
    Field("run_on", one_of(("success", "always", "any_success")), "When it runs."),
    owner="reducer",
)
LATER_KINDS: Final[Mapping[str, Schema]] = {
    "fanout": Schema(
        Field("inputs_from", TEXT, "Where the items of a fanout come from."),
        Field("concurrency", WHOLE, "How many items at once."),
        Field(
            "per_item_timeout",
            DURATION,
            "How long the run of one item may take.",
            aliases=(Alias("per_item_timeout_sec"),),
        ),
        Field("partial_tolerance", NUMBER, "Which fraction of the items may fail."),
        Field("item_var", TEXT, "The variable that holds the item."),
        Field(
            "reducer",
            _TABLE,
            "What runs at the end: `command`, and `run_on`: `success`, `always` or `any_success`.",
            table=REDUCER,
        ),
        owner="jobs of kind fanout",
    ),
}
GATE_KIND: Final = "workflow"
"""A job of this kind is a gate by name; its work is that of another kind."""
GATE_ALIAS: Final = "gate"
HOMES: Final[Mapping[str, Schema]] = {**KIND_FIELDS, GATE_KIND: Schema(INNER_KIND), **LATER_KINDS}
"""Which options belong to which kind."""
