"""The command line. Each command lives in a module of its own that is loaded when it is called.

Exit codes: 0 done, 1 it could not be done or something is wrong, 2 the call itself was wrong; 141 when whoever read the
answer has gone, see `streams`.
A command returns its exit code, or nothing for 0.
"""

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Final, NoReturn

import click

import foliot
from foliot.errors import FoliotError, InvalidInput
from foliot.interfaces.cli.lazy import lazy_group
from foliot.interfaces.cli.signals import EARLY
from foliot.interfaces.cli.speaking import complain
from foliot.interfaces.cli.streams import answering, make_usable

_SECTIONS: Final = {
    "Begin": {
        "init": "Write a commented starter file.",
        "check": "Say what is wrong in a configuration.",
        "plan": "Show what a configuration would change, and what would fire.",
        "serve": "Run scheduler and worker.",
        "worker": "Run a worker.",
        "reload": "Apply the configuration now.",
    },
    "Look": {
        "top": "Watch what runs and what comes.",
        "jobs": "List jobs, delete them.",
        "schedules": "List schedules, delete them.",
        "workflows": "List workflows, draw them, start executions, answer their questions.",
        "runs": "List runs, newest first.",
        "show": "Tell everything about a run, a job or a schedule.",
        "logs": "Print what a run printed.",
        "next": "Show when an expression fires next.",
    },
    "Act": {
        "trigger": "Start a run of a job or a workflow.",
        "cancel": "End runs.",
        "retry": "Start ended runs again.",
        "mark": "Call runs a success by hand.",
        "pause": "Stop jobs or schedules from firing.",
        "resume": "Let jobs or schedules fire again.",
    },
    "Keep": {
        "verify": "Check the tick ledger against the schedules.",
        "backup": "Copy the database while it is used.",
        "migrate": "Bring the database to this version.",
        "completion": "Print a script that completes commands in a shell.",
    },
}
_SERVING: Final = ("serve", "worker")
_STARVED: Final = "Allow it more memory and threads: see ulimit -v and -u, or MemoryMax= and TasksMax= of systemd."


@click.group(cls=lazy_group(__name__, _SECTIONS), context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(foliot.__version__, prog_name="foliot")
def cli() -> None:
    """Foliot turns planned moments into work that is done, once, and can be proved."""


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line; errors that help instead of tracebacks."""
    given = sys.argv[1:] if arguments is None else arguments
    # Before their modules are loaded: that alone takes longer than some are given.
    with EARLY.held() if given and given[0] in _SERVING else nullcontext():
        _run(given)


def _run(arguments: list[str]) -> NoReturn:
    make_usable()
    try:
        with answering():
            answer = cli.main(arguments, prog_name="foliot", standalone_mode=False)
    except FoliotError as error:
        complain(error.message, error.hint)
        sys.exit(2 if isinstance(error, InvalidInput) else 1)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(error.exit_code)
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else "foliot"
        complain(error.format_message(), f"See: {path} --help")
        sys.exit(error.exit_code)
    except click.Abort:
        sys.exit(130)
    except FileNotFoundError:
        if _is_somewhere():
            raise
        complain("the current directory does not exist any more", "Go to one that does, with: cd")
        sys.exit(1)
    except (MemoryError, RuntimeError) as error:
        if not _is_starved(error):
            raise
        complain(f"the system gives this process too little: {str(error) or 'no memory is left'}", _STARVED)
        sys.exit(1)
    sys.exit(answer if isinstance(answer, int) else 0)


def _is_starved(error: Exception) -> bool:
    """Whether memory or threads are wanting; for the latter Python has no type of its own."""
    return isinstance(error, MemoryError) or str(error) == "can't start new thread"


def _is_somewhere() -> bool:
    """Whether there is a directory that relative paths begin in: it may have been deleted under our feet."""
    try:
        Path.cwd()
    except FileNotFoundError:
        return False
    return True
