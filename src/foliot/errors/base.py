"""The base class of all errors, and functions that put values into messages and hints."""

from collections.abc import Iterable
from typing import Any, ClassVar


class FoliotError(Exception):
    """The base class of all errors that Foliot raises on purpose. It has `code`, `message` and `hint`."""

    code: ClassVar[str] = "error"
    request_id: str = ""
    """The id of the request in the log of the server, if a client raises what a server answered."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def add_context(self, what: str) -> None:
        """Put the name of the item that the error is about in front of the message."""
        self.message = f"{what}: {self.message}"

    def __str__(self) -> str:
        return f"{self.message}\n  {self.hint}" if self.hint else self.message

    def __reduce__(self) -> tuple[Any, ...]:
        # Process pools pickle errors. The default reduction calls the class with the message alone, which fails for
        # subclasses that take other arguments.
        return _restored, (type(self), self.args), self.__dict__


def _restored(kind: type[FoliotError], args: tuple[Any, ...]) -> FoliotError:
    return kind.__new__(kind, *args)


def suggest(name: str, known: Iterable[str], *, otherwise: str = "") -> str:
    """Return a hint with the known word closest to `name`, or `otherwise` if no word is close."""
    by_folded = {word.casefold(): word for word in known}
    close = closest(name[:64].casefold(), by_folded)
    return otherwise if close is None else f'Did you mean "{by_folded[close]}"?'


def closest(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """Return the known word that is most like `name`, or None if no word is close."""
    from difflib import get_close_matches  # half a megabyte, for errors only

    return next(iter(get_close_matches(name, known, n=1, cutoff=cutoff)), None)


def shown(value: object) -> str:
    """Return any value as short ASCII text for a message."""
    try:
        return shortened(ascii(value), 64)
    except Exception:  # a repr may raise anything, and Python refuses to convert very long integers to text
        return f"a value of type {type(value).__name__}"


def shortened(text: str, most: int = 200) -> str:
    """Return the text, with its middle left out if it has more than `most` characters."""
    return text if len(text) <= most else f"{text[: most // 2]}...{text[-most // 2 :]}"
