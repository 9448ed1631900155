"""Loading the application that `module:name` names, with errors that point at the code of the user."""

import sys
import traceback
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from foliot.errors import FoliotError, InvalidInput, suggest


def load_app(target: str) -> Any:
    """Return the application that `module:name` names. The current directory is searched first."""
    from foliot.app import Foliot

    module_name, _, attribute = target.partition(":")
    module = _load_module(module_name)
    found = getattr(module, attribute or "app", None)
    if not isinstance(found, Foliot):
        apps = [name for name, value in vars(module).items() if isinstance(value, Foliot)]
        known = f"Its applications are: {', '.join(apps)}." if apps else "Create one in it: app = Foliot(...)."
        hint = suggest(attribute, apps, otherwise=known)
        raise InvalidInput(f"{module_name} has no application named {attribute or 'app'!a}", hint=hint)
    return found


def _load_module(name: str) -> ModuleType:
    sys.path.insert(0, str(Path.cwd()))
    try:
        return import_module(name)
    except FoliotError:
        raise
    except Exception as error:
        # The module is code of the user, which may raise anything.
        if not name.strip(".") or (isinstance(error, ModuleNotFoundError) and _is_within(name, error.name)):
            raise InvalidInput(
                f"module {name!a} does not exist", hint="Write it as in: foliot serve package.module:app"
            ) from None
        raise _broken_module(name, error) from None


def _is_within(name: str, missing: str | None) -> bool:
    """Whether the missing module is `name` or a package around it, not something that it imports."""
    return missing is not None and f"{name}.".startswith(f"{missing}.")


def _broken_module(name: str, error: Exception) -> FoliotError:
    """Print the traceback, beginning in the code of the user, and return an error that names its last line."""
    own = error.__traceback__
    while own is not None and _is_machinery(own.tb_frame.f_code.co_filename):
        own = own.tb_next
    traceback.print_exception(error.with_traceback(own))
    return FoliotError(f"module {name!a} could not be loaded: {type(error).__name__} in {_place(error) or name}")


def _is_machinery(filename: str) -> bool:
    return filename == __file__ or "importlib" in filename


def _place(error: Exception) -> str:
    """Return file and line of the error; in code below the current directory rather than in a library."""
    if isinstance(error, SyntaxError) and error.filename is not None:
        return f"{error.filename}, line {error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    near = [frame for frame in frames if _is_near(frame.filename)]
    return "".join(f"{frame.filename}, line {frame.lineno}" for frame in (near or frames)[-1:])


def _is_near(filename: str) -> bool:
    return Path(filename).is_relative_to(Path.cwd()) and "site-packages" not in filename
