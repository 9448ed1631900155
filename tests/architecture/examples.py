"""Runs the examples of a Markdown page, in order, in one directory.

A fence with one of these info strings is an example; every other fence is only text.

    python                    executed in a fresh namespace; `await` may stand at the top
    python continued          executed in the namespace of the example before
    python served             executed while `foliot serve` runs beside it; FOLIOT_URL is its address
    python file=app.py        also saved under that name, for the commands that follow
    toml file=foliot.toml     saved under that name; the same for any other text
    console                   lines `$ foliot ...`, each followed by what it prints; if served, also `$ curl ...`
    console exit=1            the same, for commands that end with that status
    console served            the same, while `foliot serve` runs beside them
    console served remote     the same, in another directory, with the address of the server in FOLIOT_URL
    python no-run: reason     not executed, and the reason is there to be read; the same for console

In expected output `...` stands for any text within a line, and alone on a line for any number of lines.
"""

import ast
import asyncio
import inspect
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any, Final
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tests.scenarios.server import Server

FENCE: Final = re.compile(r"(?ms)^(?P<fence>`{3,})(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=fence) *$")
NO_RUN: Final = re.compile(r"(?:python|console) no-run(?:: *(?P<reason>.*))?")
COMMAND_LIMIT: Final = 60
DEFAULT_URL: Final = "http://127.0.0.1:7070"


class ExampleFailed(AssertionError):
    """An example does not do what its page says. The text begins with page and line."""


@dataclass(frozen=True)
class Example:
    page: str
    line: int
    info: str
    body: str

    @property
    def is_python(self) -> bool:
        return self.info.split()[:1] == ["python"]

    @property
    def is_continued(self) -> bool:
        return "continued" in self.info.split()

    @property
    def is_console(self) -> bool:
        return self.info.split()[:1] == ["console"]

    @property
    def is_served(self) -> bool:
        return "served" in self.info.split()

    @property
    def is_remote(self) -> bool:
        return "remote" in self.info.split()

    @property
    def status(self) -> int:
        return next((int(word[5:]) for word in self.info.split() if word.startswith("exit=")), 0)

    @property
    def file(self) -> str | None:
        return next((word.removeprefix("file=") for word in self.info.split() if word.startswith("file=")), None)

    def failure(self, what: str, line: int = 0) -> ExampleFailed:
        return ExampleFailed(f"{self.page}:{self.line + line}: {what}")


def find_examples(page: str, text: str) -> Iterator[Example]:
    """Yield the examples of a page that must run. An example that does not run and gives no reason is an error."""
    for found in FENCE.finditer(text):
        info = found["info"].strip()
        example = Example(page, text.count("\n", 0, found.start()) + 2, info, found["body"])
        skipped = NO_RUN.fullmatch(info)
        if skipped and not skipped["reason"]:
            raise example.failure("no-run needs a reason, as in: python no-run: needs a broker")
        if (example.is_python or example.is_console or example.file) and not skipped:
            yield example


def run_examples(examples: Iterator[Example], directory: Path) -> None:
    """Run examples in order. Modules that a page writes are removed: the next page may have one with the same name."""
    known = set(sys.modules)
    try:
        _run_examples(examples, directory)
    finally:
        for name in set(sys.modules) - known:
            if str(getattr(sys.modules[name], "__file__", None)).startswith(str(directory)):
                del sys.modules[name]


def _run_examples(examples: Iterator[Example], directory: Path) -> None:
    namespace: dict[str, Any] = {}
    with asyncio.Runner() as runner:
        for example in examples:
            if example.file:
                (directory / example.file).write_text(example.body)
            if example.is_console:
                with Server(directory, "serve") if example.is_served else nullcontext() as server:
                    run_console(example, directory, server)
            if example.is_python:
                if not example.is_continued:
                    namespace = {"__name__": "example"}
                with served_at_url(directory) if example.is_served else nullcontext():
                    run_python(example, namespace, runner)


@contextmanager
def served_at_url(directory: Path) -> Iterator[None]:
    """Start a server, and put its address into the environment."""
    with Server(directory, "serve") as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("FOLIOT_URL", server.url)
        yield


def run_python(example: Example, namespace: dict[str, Any], runner: asyncio.Runner) -> None:
    try:
        code = compile_example(example)
        if code.co_flags & inspect.CO_COROUTINE:
            runner.run(eval(code, namespace))
        else:
            exec(code, namespace)
    except Exception as error:
        raise example.failure(f"{type(error).__name__}: {error}") from error


def compile_example(example: Example) -> CodeType:
    """Return the compiled example; a traceback points to the line of the page."""
    source = "\n" * (example.line - 1) + example.body
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    code: CodeType = compile(source, example.page, "exec", flags=flags, dont_inherit=True)
    return code


def run_console(example: Example, directory: Path, server: Server | None = None) -> None:
    for line, command, expected in commands_of(example):
        words = shlex.split(command)
        if words[:1] == ["curl"] and server is not None:
            status, output = 0, call_url(words[1:], server.url)
        elif words[:1] == ["foliot"]:
            remote = {"FOLIOT_URL": server.url} if example.is_remote and server is not None else {}
            status, output = call_foliot(words[1:], directory / "elsewhere" if remote else directory, remote)
        else:
            raise example.failure(f"only foliot commands can be checked, not: {command}", line)
        if status != example.status:
            raise example.failure(f"{command} ended with status {status} and said:\n{output}", line)
        if not matches(expected, output):
            raise example.failure(f"{command} printed:\n{output.rstrip()}\ninstead of:\n{expected}", line)


def commands_of(example: Example) -> Iterator[tuple[int, str, str]]:
    """Yield the offset of the line, the command and the expected output of each `$` line."""
    lines = example.body.splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith("$ ")]
    if not starts or starts[0]:
        raise example.failure("a console example begins with a line that starts with $")
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        yield start, lines[start][2:], "\n".join(lines[start + 1 : end])


def call_foliot(arguments: list[str], directory: Path, variables: Mapping[str, str]) -> tuple[int, str]:
    directory.mkdir(exist_ok=True)
    command = [str(Path(sys.executable).with_name("foliot")), *arguments]
    environment = os.environ | {"PYTHONPATH": str(directory), "COLUMNS": "100", "NO_COLOR": "1", **variables}
    done = subprocess.run(
        command, cwd=directory, env=environment, timeout=COMMAND_LIMIT, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout


def call_url(arguments: list[str], base: str) -> str:
    """Do what curl does with these arguments. Requests for the default address go to the server of the example."""
    method, headers, body, url = "GET", {}, None, ""
    words = iter(arguments)
    for word in words:
        match word:
            case "-s" | "-N":
                pass
            case "-X":
                method = next(words)
            case "-H":
                name, _, value = next(words).partition(": ")
                headers[name] = value
            case "-d":
                body = next(words).encode()
            case _:
                url = word.replace(DEFAULT_URL, base)
    request = Request(url, body, headers, method=method)
    try:
        with urlopen(request, timeout=COMMAND_LIMIT) as answer:
            return str(answer.read().decode())
    except HTTPError as error:
        return error.read().decode()


def matches(expected: str, output: str) -> bool:
    lines = [re.escape(line.rstrip()).replace(r"\.\.\.", ".*") + "\n" for line in expected.strip().splitlines()]
    pattern = "".join(r"(?:.*\n)*?" if line == ".*\n" else line for line in lines)
    actual = "".join(line.rstrip() + "\n" for line in output.strip().splitlines())
    return re.fullmatch(pattern, actual) is not None
