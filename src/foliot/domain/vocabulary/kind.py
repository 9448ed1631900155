"""The options of each kind of job."""

from collections.abc import Mapping
from typing import Final, get_args

from foliot.domain.fanout.spec import FANOUT, RunOn
from foliot.domain.job.kinds.http import read_statuses
from foliot.domain.run.output import OutputMode
from foliot.domain.vocabulary.field import Alias, Field, Schema
from foliot.domain.vocabulary.notification import SLACK_URL, WEBHOOK_URL
from foliot.domain.vocabulary.readers import (
    DOCUMENT,
    DOCUMENTS,
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
    list_of,
    one_of,
    whole,
)
from foliot.domain.vocabulary.times import DURATION, seconds, whole_seconds

_TABLE: Final = TABLES._replace(words="table")
LIMITS: Final = Schema(
    Field("memory", SIZE, "Memory of all processes together if control groups can be used, otherwise of each process."),
    Field(
        "cpu_time",
        whole_seconds(1, 1 << 32),
        "Processor time, in whole seconds.",
        fills="cpu_sec",
        former=("cpu_sec",),
    ),
    Field("files", WHOLE, "Open files."),
    Field("processes", WHOLE, "Processes and threads."),
    Field("file_size", SIZE, "The largest file that a process may write."),
    Field("core", SIZE, "The size of a core dump.", "0"),
    owner="limits",
)
AGENT_ARGS: Final = (
    Field("model", TEXT, "Passed as `--model`."),
    Field("permission_mode", TEXT, "Passed as `--permission-mode`."),
    Field("bare", FLAG, "Passed as `--bare`.", "false"),
    Field("extra_args", TEXTS, "Further arguments, passed unchanged.", "[]"),
)
NOTICES: Final = (
    WEBHOOK_URL.means("The same as `webhook_url` of the job, which has precedence. For every kind of job."),
    SLACK_URL.means("The same as `slack_webhook_url` of the job, which has precedence. For every kind of job."),
)
ARGS: Final = Schema(*AGENT_ARGS, *NOTICES, owner="args")

_COMMAND: Final = Field("command", TEXT, "A command line for `/bin/sh`.", is_literal=True)
_ARGS: Final = Field("args", _TABLE, "See below.", is_merged=True, table=ARGS)
_IGNORED_ARGS: Final = _ARGS._replace(has_effect=False)
"""For kinds to which no key of `args` means anything."""
_STDIN: Final = Field("stdin", RAW_TEXT, "The standard input.", is_literal=True)
_OUTPUT: Final = Field(
    "output",
    one_of(get_args(OutputMode)),
    "The source of [the output](../howto/run-a-command.md#give-an-output-to-the-next-step): none, the standard output"
    " as text or as JSON, the JSON in the file `$FOLIOT_OUTPUT`, or the last line of the standard output if it is a"
    " JSON object.",
    '"none"',
)
_SUCCESS_CODES: Final = Field("success_codes", list_of(whole(0, 255)), "The exit codes that count as success.", "[0]")
_OUTPUT_CAP: Final = Field("output_cap", SIZE, "How much of the printed output is stored.", '"4MB"')
PROCESS: Final = (
    Field(
        "env",
        PAIRS,
        "Environment variables. Only a few of the worker's own, such as `PATH` and `HOME`, are passed on.",
        "{}",
        is_merged=True,
    ),
    Field("working_dir", TEXT, "The working directory; by default that of the worker."),
    Field("user", TEXT, "The account to run as. Only a worker that runs as root can change it."),
    Field(
        "umask",
        MASK,
        'The umask as text, such as `"022"`: a plain number would be decimal.',
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
        Field(
            "argv", TEXTS, "A program and its arguments, run without a shell. Instead of `command`.", is_literal=True
        ),
        _STDIN,
        _IGNORED_ARGS,
        _OUTPUT,
        _SUCCESS_CODES,
        *PROCESS,
        owner="jobs of kind shell",
    ),
    "http": Schema(
        _COMMAND.means("A URL, `POST https://...`, or the keys below as a JSON object."),
        Field("url", TEXT, "The URL, instead of `command`."),
        Field("method", TEXT, "The method of the request.", '"GET"'),
        Field("headers", PAIRS, "The headers of the request.", "{}", is_merged=True),
        Field("body", RAW_TEXT, "The body of the request, as text."),
        Field("json", DOCUMENT, "The body of the request, sent as JSON."),
        Field(
            "expect_status",
            Reader(
                "status, range or list of them",
                read_statuses,
                lambda ranges: [f"{first}-{last}" for first, last in ranges],
            ),
            'The statuses that count as success: `204`, `"200-299"`, `"2xx"`, `[200, "300-399"]`.',
            '"200-299"',
        ),
        Field("follow", FLAG, "Whether redirects are followed.", "true"),
        Field("max_redirects", WHOLE, "How many redirects are followed.", "5"),
        Field("verify", FLAG, "Whether the certificate is verified.", "true"),
        _IGNORED_ARGS,
        _OUTPUT_CAP.means("How much of the response is stored.", '"32KB"'),
        _OUTPUT.means(
            "The source of the output: none, or the response as text or as JSON, at most 1 MiB."
            ' `"file"` is not available.'
        ),
        owner="jobs of kind http",
    ),
    "python": Schema(
        _COMMAND.means("`module:function`, called in its own process."),
        Field("call", TEXT, "The same as `command`."),
        _IGNORED_ARGS,
        *PROCESS,
        owner="jobs of kind python",
    ),
    "agent": Schema(
        _COMMAND.means("The prompt, passed to the program as one argument."),
        Field("prompt", TEXT, "The same as `command`.", is_literal=True),
        Field(
            "cli",
            TEXTS,
            "The program and its first arguments; by default `FOLIOT_AGENT_CLI` of the worker, otherwise `claude`.",
        ),
        Field("prompt_args", TEXTS, "The arguments before the prompt, which is the last argument.", '["-p"]'),
        _STDIN,
        _ARGS,
        _OUTPUT,
        _SUCCESS_CODES,
        *PROCESS,
        owner="jobs of kind agent",
    ),
}
INNER_KIND: Final = Field(
    "inner_kind",
    TEXT,
    "The kind that executes a job of kind `workflow`, which needs `depends_on`, or the children of a `fanout`: `shell`,"
    " `http`, `python` or `agent`. By default `http` if the command is a JSON object with `method` or `url`, otherwise"
    " `shell`.",
)
REDUCER: Final = Schema(
    Field("command", TEXT, "The command that runs after all items.", is_literal=True),
    Field("run_on", one_of(tuple(RunOn)), "When it runs: see [fanouts](../howto/fan-out.md).", '"success"'),
    Field("inner_kind", TEXT, "The kind that executes it, as for a job.", '"shell"'),
    Field("retries", WHOLE, "How often it is retried, independently of the children.", "0"),
    Field("retry_delay", DURATION, "The delay before each retry.", "30"),
    Field("timeout", DURATION, "Its longest duration. It never has more than what is left of the fanout's `timeout`."),
    owner="reducer",
)
FANOUT_FIELDS: Final = Schema(
    Field("inputs_from", TEXT, "The source of the items: a URI, or `steps.<step>.output` in a workflow."),
    Field("items", DOCUMENTS, "The items themselves, as a list, instead of `inputs_from`."),
    Field("job", TEXT, "The job that runs for each item, instead of a command. It gets the item as its payload."),
    Field("concurrency", WHOLE, "How many items may be running at the same time, on all workers together.", "4"),
    Field(
        "per_item_timeout",
        DURATION,
        "The longest duration of one attempt of one item.",
        aliases=(Alias("per_item_timeout_sec"),),
    ),
    Field("partial_tolerance", NUMBER, "The fraction of items, 0 to 1, that may fail.", "0"),
    Field("item_var", TEXT, "The environment variable that contains the item.", '"FANOUT_ITEM"'),
    Field("max_items", WHOLE, "How many items are accepted.", "1000000"),
    Field("max_item_size", SIZE, "The largest item that is accepted.", '"64KB"'),
    Field("max_input_size", SIZE, "The size of all items together that is accepted.", '"1GB"'),
    Field(
        "reducer",
        _TABLE,
        "A job that runs after all items, see below.",
        table=REDUCER,
    ),
    owner="jobs of kind fanout",
)
GATE_KIND: Final = "workflow"
"""The kind of a job that is declared as a gate; another kind executes it."""
GATE_ALIAS: Final = "gate"
HOMES: Final[Mapping[str, Schema]] = {**KIND_FIELDS, GATE_KIND: Schema(INNER_KIND), FANOUT: FANOUT_FIELDS}
"""Which options belong to which kind."""
