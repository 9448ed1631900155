"""The command: runs one measurement or all of them, and writes the page that shows them."""

import argparse
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Final

from bench import page
from bench.places import Places
from bench.results import Results
from bench.scale import Scale
from bench.tables import Table

Measurement = Callable[[Places, Scale], Iterable[Table]]

MEASUREMENTS: Final = {
    "enqueue": "runs enqueued one after another, by 100 callers, in bulk",
    "drain": "no-op runs drained by one worker",
    "shell": "commands by `foliot worker` and by `xargs -P`",
    "schedules": "10,000 schedules due in the same second, and adding schedules",
    "workflows": "from one step of a workflow to the next, in bare commits",
    "latency": "from enqueue to start, one run at a time",
    "fanout": "children a second, a large fanout, and a job beside a fanout",
    "hold": "an idle server; a million schedules: memory, disk, processor time",
    "history": "the cost of a run and of `foliot verify` while history grows",
    "start": "importing, and start to first job",
    "api": "requests by HTTP, streams, ticks beside requests, lists beside a long history",
    "cron": "the next moment of a cron expression",
}
PROGRAMS: Final = {
    "spawn": "processes a second, by the shell runner alone",
    "isolated": "Python functions in processes of their own",
    "workers": "no-op runs drained by a remote worker beside a local one",
}
"""Not on the page: tools for working on one part."""
_TIMES: Final = "`all` takes about 22 minutes, with --quick about 4, on two cores with nothing else running."


def main() -> None:
    if len(sys.argv) > 1 and sys.argv[1] in PROGRAMS:
        subprocess.run([sys.executable, "-m", f"bench.{sys.argv[1]}", *sys.argv[2:]], check=True)
        return
    options = _parse()
    results = Results(Path(options.json))
    if options.measurement == "page":
        _write_page(results)
        return
    scale = Scale(is_quick=options.quick, rounds=options.rounds, synchronous=options.synchronous, items=options.items)
    with Places() as places:
        for name in list(MEASUREMENTS) if options.measurement == "all" else [options.measurement]:
            _measure(name, places, scale, results)


def _measure(name: str, places: Places, scale: Scale, results: Results) -> None:
    print(f"{name} ...", file=sys.stderr)
    began = time.monotonic()
    measure: Measurement = import_module(f"bench.{name}").measure
    tables = list(measure(places, scale))
    section = results.save(name, _command(name), tables, is_quick=scale.is_quick)
    print(f"## {name}", section.to_markdown(), sep="\n\n", end="\n\n", flush=True)
    print(f"{name} took {time.monotonic() - began:.0f} s", file=sys.stderr)


def _command(name: str) -> str:
    """Return the command that measures this section alone."""
    return shlex.join(["scripts/bench", *(name if word == "all" else word for word in sys.argv[1:])])


def _write_page(results: Results) -> None:
    missing = page.write(results)
    print("written:", *(path.relative_to(page.ROOT) for path in page.PAGES))
    if missing:
        print("not measured without --quick, left as they were:", *missing)


def _parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    lines = [f"  {name:10} {what}" for name, what in MEASUREMENTS.items()]
    lines += [
        "  all        all of these",
        "  page       write the tables of full size into docs/design/performance.md and the README",
    ]
    lines += [f"  {name:10} {what}; further arguments go to it" for name, what in PROGRAMS.items()]
    parser = argparse.ArgumentParser(
        prog="scripts/bench",
        description="Measure Foliot beside its limits and its peers.\n\n" + "\n".join(lines),
        epilog=_TIMES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("measurement", choices=["all", *MEASUREMENTS, "page", *PROGRAMS], metavar="measurement")
    parser.add_argument("--quick", action="store_true", help="small and one round: orders of magnitude")
    parser.add_argument("--rounds", type=int, help="how often each contender is measured (default 1 to 5, quick 1)")
    parser.add_argument("--items", type=int, help="items of the largest fanout (default 200000, quick 10000)")
    parser.add_argument("--synchronous", choices=["FULL", "NORMAL"], default="FULL", help="SQLite's durability")
    parser.add_argument("--json", default="build/bench.json", help="where the figures go (default build/bench.json)")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
