"""The program of an isolated interpreter: it waits for one order, calls one function, answers and ends.

    stdin, at the start a socket to the worker --> order, with descriptors for stdout and stderr --> call --> answer

It is run by its path, as a script, and whatever it imports every interpreter pays for: so nothing of Foliot, and no
module of the standard library that only some calls need, before a call needs it.
"""

import _socket  # what `socket` wraps, at a tenth of the price
import ctypes
import json
import os
import sys
from typing import Any, NoReturn

Order = dict[str, Any]

_PR_SET_PDEATHSIG = 1
_SIGKILL = 9
_ENV_START = 47  # of the fields behind the name in /proc/self/stat
_INT = 4
_HEAD = 8
_MISSING = object()
_SCALARS = frozenset({str, int, float, bool, type(None)})


class Refused(Exception):
    """The function was not called, or what it returned cannot be kept."""

    def __init__(self, text: str, reason: str, *, retryable: bool = True) -> None:
        super().__init__(text)
        self.answer = {"error": text, "reason": reason, "retryable": retryable}


def main(parent: int) -> int:
    end_with(parent)
    control = take_control()
    order = receive(control)
    if order is None:
        return 0  # nobody needs us any more
    ourselves = os.getpid()
    answer = carry_out(order)
    flush()
    if os.getpid() == ourselves:  # a fork that the function let return has nothing to say
        send(control, answer)
        tell_who_is_waited_for()
    return 0 if answer.startswith(b'{"output":') else 1


# -- the worker


def take_control() -> tuple[_socket.socket, int]:
    """Take the socket away from where functions look for input. Its inode tells whether it is still there later."""
    control = _socket.socket(fileno=os.dup(0))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return control, os.fstat(control.fileno()).st_ino


def end_with(parent: int) -> None:
    """Be killed when the worker is. One that is gone by now had no time to ask for it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(0)


def receive(control: tuple[_socket.socket, int]) -> Order | None:
    """The order, with its descriptors put in place; None if the worker has closed the socket instead."""
    socket, _ = control
    text, ancillary, _, _ = socket.recvmsg(65_536, _socket.CMSG_SPACE(2 * _INT))
    for place, descriptor in enumerate(passed(ancillary), start=1):
        os.dup2(descriptor, place)
        os.close(descriptor)
    pieces = [text]
    size, have = _HEAD + int.from_bytes(text[:_HEAD], "big"), len(text)
    while have < size:
        piece = socket.recv(size - have)
        if not piece:
            return None
        pieces.append(piece)
        have += len(piece)
    return json.loads(b"".join(pieces)[_HEAD:]) if text else None


def passed(ancillary: list[tuple[int, int, bytes]]) -> list[int]:
    return [
        int.from_bytes(data[start : start + _INT], sys.byteorder)
        for _, _, data in ancillary
        for start in range(0, len(data), _INT)
    ]


def send(control: tuple[_socket.socket, int], answer: bytes) -> None:
    socket, inode = control
    try:
        if os.fstat(socket.fileno()).st_ino != inode:
            raise OSError("its descriptor is another file by now")
        socket.sendall(len(answer).to_bytes(_HEAD, "big") + answer)
        socket.close()
    except OSError as error:
        sys.stderr.write(f"the function closed the channel by which its process answers: {error}\n")


def flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:  # noqa: SIM105 - contextlib would have to be loaded for it
            stream.flush()
        except Exception:  # noqa: S110 - closed or replaced by the function: its own affair
            pass


def tell_who_is_waited_for() -> None:
    threading = sys.modules.get("threading")
    if threading is not None:
        others = [thread for thread in threading.enumerate() if thread is not threading.main_thread()]
        names = ", ".join(thread.name for thread in others if not thread.daemon)
        if names:
            sys.stderr.write(f"the function has returned; its process goes on until these threads end: {names}\n")
            flush()


# -- the call


def carry_out(order: Order) -> bytes:
    """Do what the order says. The answer is JSON; whatever happens is one."""
    try:
        settle_in(order)
        function = find(order["call"])
        check(function, order["payload"])
        result, error = call(function, order["payload"])
        if error is not None:
            is_limit = order["is_memory_limited"] and isinstance(error, MemoryError)
            raise Refused(describe(error), "limit_memory" if is_limit else "exception")
        return b'{"output":' + encode(result, order["largest_output"]) + b"}"
    except Refused as refusal:
        return json.dumps(refusal.answer).encode()
    except BaseException as error:
        # Of an object that fights back, such as a result that raises when it is looked at.
        return json.dumps({"error": describe(error), "reason": "exception"}).encode()


def settle_in(order: Order) -> None:
    """Take on the surroundings of the run."""
    wear(order["variables"])
    os.environ.update(order["variables"])
    if order["umask"] is not None:
        os.umask(order["umask"])
    if order["working_dir"] is not None:
        enter(order["working_dir"])
    # What the worker does not know was named by the job, in PYTHONPATH.
    own = [place for place in sys.path if place not in order["path"]]
    sys.path[:] = dict.fromkeys([*order["first"], *own, *order["path"]])
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(line_buffering=True)  # the log is read while it is written
    sys.meta_path.insert(0, Introduction(order["context"]))


def enter(directory: str) -> None:
    try:
        os.chdir(directory)
    except OSError as error:
        text = (error.strerror or str(error)).lower()
        raise Refused(f"could not enter the working directory {directory!r}: {text}", "launch_failed") from None


def wear(variables: dict[str, str]) -> None:
    """Write the run's id into the environment that others see of this process and of its forks.

    It was started with room for it. Setting variables changes a copy: only what is executed later gets that.
    """
    try:
        block = b"\0" + read("/proc/self/environ")
        start = int(read("/proc/self/stat").rpartition(b")")[2].split()[_ENV_START]) - 1
        memory = os.open("/proc/self/mem", os.O_WRONLY)
        for name, value in variables.items():
            before, found, after = block.partition(b"\0" + os.fsencode(name) + b"=-")
            room, new = after.find(b"\0") + 1, os.fsencode(value)
            if found and len(new) <= room:
                os.pwrite(memory, new.ljust(room, b"\0"), start + len(before) + len(found) - 1)
        os.close(memory)
    except OSError:
        pass  # other systems: nobody could look it up there


def read(path: str) -> bytes:
    with open(path, "rb") as file:  # noqa: PTH123 - pathlib would have to be loaded for it
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
        lack(module, name)
    if not callable(found):
        kind = type(found).__name__
        raise Refused(f'"{target}" cannot be called: it is of type {kind}', "handler_missing")
    return found


def lack(module: str, name: str) -> NoReturn:
    from foliot.errors import suggest

    functions = [known for known, value in vars(sys.modules[module]).items() if callable(value)]
    near = suggest(name, functions, otherwise=f"It was loaded from {getattr(sys.modules[module], '__file__', None)}.")
    raise Refused(f'module "{module}" has no function "{name}". {near}', "handler_missing")


def check(function: Any, payload: Any) -> None:
    """Refuse a payload that the function cannot be called with."""
    if not isinstance(payload, dict):
        return
    from foliot.adapters.runners.function import Handler

    try:
        mismatch = Handler.of(function).mismatch(payload)
    except (TypeError, ValueError):
        return  # not every builtin says what it takes
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
        # Without memory or descriptors nothing can be loaded.
        return type(error).__name__


def encode(result: Any, largest: int) -> bytes:
    """As JSON, by the rules of `encode_result`; that costs an import, so the ordinary goes a shorter way."""
    try:
        if is_plain(result):
            text = json.dumps(result, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
            if len(text) <= largest:
                return text
    except (ValueError, RecursionError):
        pass  # `encode_result` says it better
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


class Introduction:
    """Tells Foliot which run this is, if and when the function imports it."""

    def __init__(self, context: dict[str, Any]) -> None:
        self._context = context

    def find_spec(self, name: str, path: object = None, target: object = None) -> Any:
        if name != "foliot.domain.run.context":
            return None
        from importlib.util import find_spec

        sys.meta_path.remove(self)
        spec = find_spec(name)
        load = spec.loader.exec_module  # type: ignore[union-attr]

        def load_and_tell(module: Any) -> None:
            load(module)
            self._tell(module)

        spec.loader.exec_module = load_and_tell  # type: ignore[union-attr, method-assign]
        return spec

    def _tell(self, module: Any) -> None:
        known = self._context
        tick = None if known["tick"] is None else module.Tick(*known["tick"])
        here = {**known, "tick": tick, "write": write}
        module.dedicate(module.Context(**here))


def write(stream: str, data: bytes) -> None:
    """Add to the log of the run, behind what was printed before."""
    target = sys.stderr if stream == "stderr" else sys.stdout
    target.flush()
    target.buffer.write(data)
    target.buffer.flush()


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
