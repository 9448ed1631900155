"""What others wrote, made safe to show: names on one line, output of jobs with colours at most.

name with control characters    --shown-->    escapes instead of characters, one line
bytes that a job printed        --Cleaner-->  text; colours stay, all other commands to the terminal are dropped
"""

import codecs
import re
from typing import Final

_COLOUR: Final = re.compile(r"\x1b\[[0-9:;]*m")
_SPECIAL: Final = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # control sequences: colours, cursor, screen, modes
    r"|\x1b[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)"  # strings: titles, links, the clipboard
    r"|\x1b[ -/]*[0-~]?"  # short ones: reset, character sets; and an escape that begins nothing
    r"|\r\n?|[^\n\t -~]",
)
_UNFINISHED: Final = re.compile(r"(?:\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b\x9c]*\x1b?|[ -/]*)|\r)\Z")
_LONGEST: Final = 4_096
"""A sequence that has not ended after so many characters is none."""


def escaped(value: object) -> str:
    """Text on one line in which whatever could move the cursor or turn the reading direction is an escape."""
    text = str(value)
    return text if text.isprintable() else "".join(_printable(char) for char in text)


def _printable(char: str) -> str:
    return char if char.isprintable() else ascii(char)[1:-1]


def counted(number: int, word: str) -> str:
    """1 job, 2 jobs."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


class Cleaner:
    """Turns the bytes of one stream, as they come in pieces, into text for a terminal.

    A carriage return becomes the end of a line: what was printed before it is not overwritten. Bytes that are no
    UTF-8 are shown as escapes.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="backslashreplace")
        self._rest = ""
        self.has_colour = False

    def feed(self, data: bytes, final: bool = False) -> str:
        """The text of all that is complete; the beginning of a sequence waits for the rest of it."""
        text = self._rest + self._decoder.decode(data, final)
        end = len(text) if final else _complete(text)
        self._rest = text[end:]
        return _SPECIAL.sub(self._replace, text[:end])

    def _replace(self, found: re.Match[str]) -> str:
        piece = found[0]
        if piece[0] == "\r":
            return "\n"
        if piece[0] != "\x1b":
            return _printable(piece)
        is_colour = _COLOUR.fullmatch(piece) is not None
        self.has_colour |= is_colour
        return piece if is_colour else ""


def _complete(text: str) -> int:
    """Where the beginning of an unfinished sequence stands, or the end of the text."""
    start = max(0, len(text) - _LONGEST)
    unfinished = _UNFINISHED.search(text, start)
    return len(text) if unfinished is None else unfinished.start()
