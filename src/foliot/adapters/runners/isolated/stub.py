"""The program of an isolated interpreter: it waits for one request, calls one function, answers and exits.

    stdin, at first a socket to the worker --> request, with descriptors for stdout and stderr --> call --> answer

It runs as a script, by its path. Every import delays every interpreter, so modules of Foliot, and modules of the
standard library that only some calls need, are imported when a call needs them.
"""

import _socket  # takes a tenth of the time of `socket`, which wraps it
import ctypes
import json
import os
import sys
from typing import Any, NoReturn

Request = dict[str, Any]

_PR_SET_PDEATHSIG = 1
_SIGKILL = 9
_ENV_START = 47  # index among the fields after the name in /proc/self/stat
_INT = 4
_LENGTH_SIZE = 8
_MISSING = object()
_SCALARS = frozenset({str, int, float, bool, type(None)})


class Refused(Exception):
    """The function was not called, or what it returned cannot be kept."""

    def __init__(self, text: str, reason: str, *, retryable: bool = True) -> None:
        super().__init__(text)
        self.answer = {"error": text, "reason": reason, "retryable": retryable}


def main(parent: int) -> int:
    exit_with(parent)
    control = take_socket()
    request = receive(control)
    if request is None:
        return 0  # the worker closed the socket: no call will come
    ourselves = os.getpid()
    answer = perform(request)
    flush()
    if os.getpid() == ourselves:  # a child that the function forked and that returned here must not answer
        send(control, answer)
        report_threads()
    return 0 if answer.startswith(b'{"output":') else 1


# -- the worker


def take_socket() -> tuple[_socket.socket, int]:
    """Move the socket away from stdin. Its inode shows later whether the descriptor is still the same file."""
    control = _socket.socket(fileno=os.dup(0))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return control, os.fstat(control.fileno()).st_ino


def exit_with(parent: int) -> None:
    """Ask the kernel to kill this process when the worker dies, and exit if it is dead already."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(0)


def receive(control: tuple[_socket.socket, int]) -> Request | None:
    """Receive the request and install its descriptors as stdout and stderr; None if the worker closed the socket."""
    socket, _ = control
    text, ancillary, _, _ = socket.recvmsg(65_536, _socket.CMSG_SPACE(2 * _INT))
    for place, descriptor in enumerate(descriptors_in(ancillary), start=1):
        os.dup2(descriptor, place)
        os.close(descriptor)
    pieces = [text]
    size, have = _LENGTH_SIZE + int.from_bytes(text[:_LENGTH_SIZE], "big"), len(text)
    while have < size:
        piece = socket.recv(size - have)
        if not piece:
            return None
        pieces.append(piece)
        have += len(piece)
    return json.loads(b"".join(pieces)[_LENGTH_SIZE:]) if text else None


def descriptors_in(ancillary: list[tuple[int, int, bytes]]) -> list[int]:
    return [
        int.from_bytes(data[start : start + _INT], sys.byteorder)
        for _, _, data in ancillary
        for start in range(0, len(data), _INT)
    ]


def send(control: tuple[_socket.socket, int], answer: bytes) -> None:
    socket, inode = control
    try:
        if os.fstat(socket.fileno()).st_ino != inode:
            raise OSError("its descriptor is another file now")
        socket.sendall(len(answer).to_bytes(_LENGTH_SIZE, "big") + answer)
        socket.close()
    except OSError as error:
        sys.stderr.write(f"the function closed the socket for the answer of its process: {error}\n")


def flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:  # noqa: SIM105 - it would need to import contextlib
            stream.flush()
        except Exception:  # noqa: S110 - the function may have closed or replaced it
            pass


def report_threads() -> None:
    threading = sys.modules.get("threading")
    if threading is not None:
        others = [thread for thread in threading.enumerate() if thread is not threading.main_thread()]
        names = ", ".join(thread.name for thread in others if not thread.daemon)
        if names:
            sys.stderr.write(f"the function has returned; its process continues until these threads end: {names}\n")
            flush()


# -- the call


def perform(request: Request) -> bytes:
    """Call the function and return the answer as JSON, also if anything fails."""
    try:
        prepare(request)
        function = find(request["call"])
        check(function, request["payload"])
        result, error = call(function, request["payload"])
        if error is not None:
            is_limit = request["is_memory_limited"] and isinstance(error, MemoryError)
            raise Refused(describe(error), "limit_memory" if is_limit else "exception")
        return b'{"output":' + encode(result, request["largest_output"]) + b"}"
    except Refused as refusal:
        return json.dumps(refusal.answer).encode()
    except BaseException as error:
        # For example a result that raises when it is encoded.
        return json.dumps({"error": describe(error), "reason": "exception"}).encode()


def prepare(request: Request) -> None:
    """Set variables, umask, directory and module path of the run."""
    set_visible_variables(request["variables"])
    os.environ.update(request["variables"])
    if request["umask"] is not None:
        os.umask(request["umask"])
    if request["working_dir"] is not None:
        enter(request["working_dir"])
    # Directories that the worker does not have come from the PYTHONPATH of the job.
    own = [place for place in sys.path if place not in request["path"]]
    sys.path[:] = dict.fromkeys([*request["first"], *own, *request["path"]])
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(line_buffering=True)  # the log is followed while the function runs
    sys.meta_path.insert(0, RunContextHook(request["context"]))


def enter(directory: str) -> None:
    try:
        os.chdir(directory)
    except OSError as error:
        text = (error.strerror or str(error)).lower()
        raise Refused(f"could not enter the working directory {directory!r}: {text}", "launch_failed") from None


def set_visible_variables(variables: dict[str, str]) -> None:
    """Write the run's id into the initial environment, which /proc shows for this process and its forks.

    The process was started with placeholders for it. Setting os.environ changes a copy, which only exec passes on.
    """
    try:
        block = b"\0" + read("/proc/self/environ")
        start = int(read("/proc/self/stat").rpartition(b")")[2].split()[_ENV_START]) - 1
        memory = os.open("/proc/self/mem", os.O_WRONLY)
        for name, value in variables.items():
            before, found, after = block.partition(b"\0" + os.fsencode(name) + b"=-")
            space, new = after.find(b"\0") + 1, os.fsencode(value)
            if found and len(new) <= space:
                os.pwrite(memory, new.ljust(space, b"\0"), start + len(before) + len(found) - 1)
        os.close(memory)
    except OSError:
        pass  # other systems have no /proc to show it


def read(path: str) -> bytes:
    with open(path, "rb") as file:  # noqa: PTH123 - it would need to import pathlib
        return file.read()


def find(target: str) -> Any:
    module, _, name = target.partition(":")
    try:
        __import__(module)
        found = getattr(sys.modules[module], name, _MISSING)
    except BaseException as error:
        if isinstance(error, ModuleNotFoundError) and f"{module}.".startswith(f"{error.name}."):
            places = ", ".join(place for place in sys.path if not place.endswith(".zip"))
            raise Refused(f'module "{module}" does not exist. Searched: {places}', "handler_missing") from None
        raise Refused(f'could not import "{module}"\n{describe(error)}', "exception") from None
    if found is _MISSING:
        refuse_missing(module, name)
    if not callable(found):
        kind = type(found).__name__
        raise Refused(f'"{target}" is not callable: it is of type {kind}', "handler_missing")
    return found


def refuse_missing(module: str, name: str) -> NoReturn:
    from foliot.errors import suggest

    functions = [known for known, value in vars(sys.modules[module]).items() if callable(value)]
    near = suggest(name, functions, otherwise=f"It was loaded from {getattr(sys.modules[module], '__file__', None)}.")
    raise Refused(f'module "{module}" has no function "{name}". {near}', "handler_missing")


def check(function: Any, payload: Any) -> None:
    """Raise Refused if the function cannot be called with the payload."""
    if not isinstance(payload, dict):
        return
    from foliot.adapters.runners.function import Handler

    try:
        mismatch = Handler.of(function).mismatch(payload)
    except (TypeError, ValueError):
        return  # not every builtin has a signature
    if mismatch is not None:
        raise Refused(mismatch, "payload", retryable=False)


def call(function: Any, payload: Any) -> tuple[Any, BaseException | None]:
    try:
        if payload is None:
            result = function()
        elif isinstance(payload, dict):
            result = function(**payload)
        else:
            result = function(payload)
        if hasattr(type(result), "__await__"):
            import asyncio

            return asyncio.run(awaited(result))
        return result, None
    except BaseException as error:
        return None, error


async def awaited(result: Any) -> tuple[Any, BaseException | None]:
    try:
        return await result, None
    except BaseException as error:
        return None, error


def describe(error: BaseException) -> str:
    try:
        from foliot.adapters.runners.function import describe as describe_fully

        return describe_fully(error)
    except BaseException:
        # Without memory or descriptors, no module can be imported.
        return type(error).__name__


def encode(result: Any, largest: int) -> bytes:
    """Return the result as JSON, by the rules of `encode_result`. Plain results avoid importing it."""
    try:
        if is_plain(result):
            text = json.dumps(result, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
            if len(text) <= largest:
                return text
    except (ValueError, RecursionError):
        pass  # `encode_result` gives a better message
    from foliot.domain.run.payload import encode_result
    from foliot.errors import InvalidRun

    try:
        return encode_result(result) or b"null"
    except InvalidRun as refusal:
        raise Refused(str(refusal), "output", retryable=False) from None


def is_plain(value: Any) -> bool:
    kind = type(value)
    if kind in _SCALARS:
        return True
    if kind is dict:
        return all(type(key) is str and is_plain(item) for key, item in value.items())
    return (kind is list or kind is tuple) and all(map(is_plain, value))


class RunContextHook:
    """Import hook that sets `current_run()` if and when the function imports Foliot."""

    def __init__(self, context: dict[str, Any]) -> None:
        self._context = context

    def find_spec(self, name: str, path: object = None, target: object = None) -> Any:
        if name != "foliot.domain.run.context":
            return None
        from importlib.util import find_spec

        sys.meta_path.remove(self)
        spec = find_spec(name)
        load = spec.loader.exec_module  # type: ignore[union-attr]

        def load_and_set(module: Any) -> None:
            load(module)
            self._set_run(module)

        spec.loader.exec_module = load_and_set  # type: ignore[union-attr, method-assign]
        return spec

    def _set_run(self, module: Any) -> None:
        known = self._context
        tick = None if known["tick"] is None else module.Tick(*known["tick"])
        here = {**known, "tick": tick, "write": write, "report": report, "read_results": read_results}
        here |= {"_ask_chain": ask_chain, "_ask_chain_async": ask_chain_async}
        module.dedicate(module.Context(**here))


def write(stream: str, data: bytes) -> None:
    """Add to the log of the run, after what was printed before."""
    target = sys.stderr if stream == "stderr" else sys.stdout
    target.flush()
    target.buffer.write(data)
    target.buffer.flush()


def report(progress: Any) -> None:
    """Send progress to the worker."""
    from foliot.channel.progress import send_progress

    send_progress(progress)


def read_results(failed: bool) -> Any:
    """Read results of a fanout from the worker."""
    from foliot.channel.results import ChannelResults

    return ChannelResults(failed=failed)


def ask_chain(request: Any) -> Any:
    """Ask the chain of the run, by the worker."""
    from foliot.channel.chains import ask_chain as ask

    return ask(request)


async def ask_chain_async(request: Any) -> Any:
    import asyncio

    return await asyncio.to_thread(ask_chain, request)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
