"""The entry point of the command line, and the list of its commands.

Exit codes: 0 success, 1 failure or a problem was found, 2 usage error; 130 after Ctrl-C, 141 when the reader of the
output has closed it (see `streams`). A command returns its exit code, or None for 0.
"""

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Final, NoReturn

import click

import foliot
from foliot.errors import FoliotError, InvalidInput
from foliot.interfaces.cli.command_group import lazy_group
from foliot.interfaces.cli.output import print_error, print_failure, problems_as_json
from foliot.interfaces.cli.server.signals import EARLY
from foliot.interfaces.cli.streams import guarded_output, repair_streams

_SECTIONS: Final = {
    "Setup": {
        "init": "Write a commented starter configuration.",
        "import": "Convert a crontab to a configuration.",
        "check": "Check a configuration for problems.",
        "plan": "Show what a configuration would change, and what would fire.",
        "demo": "Create a shop with a month of history, and serve it.",
        "serve": "Run a scheduler and a worker.",
        "worker": "Run a worker, or manage remote ones.",
        "reload": "Apply the configuration now.",
        "dsn": "Register databases that fanouts may read.",
        "alert": "Try out where notifications go.",
        "user": "Add, list and remove people who log in.",
        "token": "Create, list and revoke tokens of programs.",
        "routes": "List the routes of the HTTP API.",
    },
    "Inspect": {
        "status": "Show whether Foliot is working and what needs attention.",
        "top": "Watch running, queued and upcoming runs.",
        "jobs": "List or delete jobs.",
        "schedules": "List or delete schedules.",
        "workflows": "List, draw and start workflows, and approve steps.",
        "chains": "Show classes of chains, breakers and chains; stop them.",
        "runs": "List runs, newest first.",
        "ticks": "List planned ticks and their outcomes, newest first.",
        "show": "Show everything about a run, a job or a schedule.",
        "explain": "Explain why a run or a tick is as it is, stage by stage.",
        "logs": "Print the output of a run.",
        "next": "Show when a cron expression fires next.",
    },
    "Control": {
        "trigger": "Start a run of a job or a workflow.",
        "cancel": "Cancel runs.",
        "retry": "Repeat runs that have ended.",
        "mark": "Mark runs as successful.",
        "pause": "Pause jobs or schedules.",
        "resume": "Resume paused jobs or schedules.",
    },
    "Inside a job": {
        "progress": "Report how far the run has come.",
        "results": "Print what the children of a fanout returned.",
        "chain": "Decide what follows in a chain, or start a follow-up.",
    },
    "Maintenance": {
        "audit": "List who changed what.",
        "doctor": "Check this installation and suggest fixes.",
        "worker-check": "Check what a server answers to workers.",
        "verify": "Check the tick ledger against the schedules.",
        "backup": "Copy the database while it is in use.",
        "migrate": "Create or upgrade the database.",
        "completion": "Print a script for shell completion.",
    },
}
_HOMES: Final = {
    "serve": "serve:serve",
    "demo": "demo:demo",
    "worker-check": "worker_check:command",
    "import": "import_crontab:command",
    "workflows": "workflows.listing:command",
    **{name: f"control:{name}" for name in ("cancel", "retry", "mark", "pause", "resume")},
    "backup": "database:backup",
    "migrate": "database:migrate",
}
_SERVER_COMMANDS: Final = ("serve", "worker")
_MORE_RESOURCES: Final = "Allow more memory and threads: see ulimit -v and -u, or MemoryMax= and TasksMax= of systemd."


@click.group(cls=lazy_group(_SECTIONS, _HOMES), context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(foliot.__version__, prog_name="foliot")
def cli() -> None:
    """Foliot is a job scheduler: schedules, workflows, workers, and a ledger of every tick."""


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit. Expected errors are printed with a hint, without a traceback; with `--json` as
    JSON, also if the arguments are wrong."""
    given = sys.argv[1:] if arguments is None else arguments
    # Before the modules of a server are loaded: a signal may come while that is still going on.
    with EARLY.held() if given and given[0] in _SERVER_COMMANDS else nullcontext(), problems_as_json("--json" in given):
        _run(given)


def _run(arguments: list[str]) -> NoReturn:
    repair_streams()
    try:
        with guarded_output():
            answer = cli.main(arguments, prog_name="foliot", standalone_mode=False)
    except FoliotError as error:
        print_failure(error)
        sys.exit(2 if isinstance(error, InvalidInput) else 1)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(error.exit_code)
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else "foliot"
        # Click writes the choices of a missing option on lines of their own.
        print_error(" ".join(error.format_message().split()), f"See: {path} --help", code="usage")
        sys.exit(error.exit_code)
    except click.Abort:
        sys.exit(130)
    except FileNotFoundError:
        if _has_working_directory():
            raise
        hint = "Change to an existing one with: cd"
        print_error("the current directory does not exist any more", hint, code="directory_missing")
        sys.exit(1)
    except (MemoryError, RuntimeError) as error:
        if not _is_out_of_resources(error):
            raise
        missing = str(error) or "no memory is left"
        print_error(f"the system gives this process too little: {missing}", _MORE_RESOURCES, code="out_of_resources")
        sys.exit(1)
    sys.exit(answer if isinstance(answer, int) else 0)


def _is_out_of_resources(error: Exception) -> bool:
    """Whether memory or threads are exhausted; Python has no exception type for the latter."""
    return isinstance(error, MemoryError) or str(error) == "can't start new thread"


def _has_working_directory() -> bool:
    """Whether the current directory exists: it may have been deleted since the shell entered it."""
    try:
        Path.cwd()
    except FileNotFoundError:
        return False
    return True
