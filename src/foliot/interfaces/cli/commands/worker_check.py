"""foliot worker-check: whether a server answers workers as the protocol says."""

import os

import click

from foliot.interfaces.cli.options import json_option
from foliot.interfaces.cli.output import print_note, print_result
from foliot.interfaces.cli.worker_check.checks import CHECKS, SIGNED_CHECKS, CheckFailed, bench_on
from foliot.interfaces.cli.worker_check.server import CheckedServer


@click.command("worker-check")
@click.argument("url")
@json_option("one object per check")
def command(url: str, as_json: bool) -> int:
    """Send correct and wrong messages of a worker to the server at URL, and report each wrong answer.

    The checks create a job with a queue of its own, and remove it. FOLIOT_TOKEN is a token with the role editor;
    FOLIOT_WORKER_ID and FOLIOT_WORKER_SECRET, or FOLIOT_WORKER_TOKEN, are the credentials of the worker. A server in
    development mode needs none.
    """
    environ = os.environ.get
    server = CheckedServer(
        url,
        worker_id=environ("FOLIOT_WORKER_ID", ""),
        secret=environ("FOLIOT_WORKER_SECRET", ""),
        token=environ("FOLIOT_TOKEN", ""),
        worker_token=environ("FOLIOT_WORKER_TOKEN", ""),
    )
    failures, checks = 0, (*CHECKS, *(SIGNED_CHECKS if server.signs else ()))
    with bench_on(server) as bench:
        for check in checks:
            name = check.__name__.replace("_", " ")
            problem = ""
            try:
                check(bench)
            except CheckFailed as error:
                failures, problem = failures + 1, str(error)
            text = f"failed  {name}: {problem}" if problem else f"ok      {name}"
            print_result(text, {"check": name, "is_ok": not problem, "problem": problem}, as_json=as_json)
    print_note(f"{failures} of {len(checks)} checks failed" if failures else f"all {len(checks)} checks passed")
    if not server.signs:
        print_note("without FOLIOT_WORKER_ID and FOLIOT_WORKER_SECRET, signatures were not checked")
    return 1 if failures else 0
