"""Untrusted text, made safe for a terminal.

name with control characters    --escaped-->  one line, with escapes instead of control characters
output of a job (bytes)         --Cleaner-->  text with colours, without all other control sequences
"""

import codecs
import re
from typing import Final

_COLOUR: Final = re.compile(r"\x1b\[[0-9:;]*m")
_SPECIAL: Final = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # control sequences: colours, cursor, screen, modes
    r"|\x1b[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)"  # strings: titles, links, the clipboard
    r"|\x1b[ -/]*[0-~]?"  # short ones: reset, character sets; and a lone escape
    r"|\r\n?|[^\n\t -~]",
)
_UNFINISHED: Final = re.compile(r"(?:\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b\x9c]*\x1b?|[ -/]*)|\r)\Z")
_LONGEST: Final = 4_096
"""After this many characters an unfinished sequence is treated as text."""


def escaped(value: object) -> str:
    """Return one line of text, with escapes for characters that move the cursor or change the text direction."""
    text = str(value)
    return text if text.isprintable() else "".join(_printable(char) for char in text)


def _printable(char: str) -> str:
    return char if char.isprintable() else ascii(char)[1:-1]


def counted(number: int, word: str) -> str:
    """Return `1 job`, `2 jobs`."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


class Cleaner:
    """Turns the bytes of one stream, piece by piece, into text for a terminal.

    A carriage return becomes a line feed, so that it does not overwrite what was printed before. Bytes that are not
    UTF-8 become escapes.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="backslashreplace")
        self._rest = ""
        self.has_colour = False

    def feed(self, data: bytes, final: bool = False) -> str:
        """Return the text of the bytes so far; the beginning of a control sequence is kept until it is complete."""
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
    """Return the index of an unfinished sequence at the end, or the length of the text."""
    start = max(0, len(text) - _LONGEST)
    unfinished = _UNFINISHED.search(text, start)
    return len(text) if unfinished is None else unfinished.start()
