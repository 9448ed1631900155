"""Reads server-sent events."""

from collections.abc import AsyncIterable, AsyncIterator
from typing import NamedTuple


class Frame(NamedTuple):
    data: str
    id: str = ""
    event: str = ""


async def read_frames(lines: AsyncIterable[bytes]) -> AsyncIterator[Frame | None]:
    """Yield the frames of a stream of lines, and None for a comment, which shows that the connection works.

    A frame that is not complete at the end is left out.
    """
    fields: dict[str, str] = {}
    async for line in lines:
        text = line.decode().rstrip("\r\n")
        if text.startswith(":"):
            yield None
        elif text:
            name, _, value = text.partition(":")
            fields[name] = value.removeprefix(" ")
        else:
            if "data" in fields:
                yield Frame(fields["data"], fields.get("id", ""), fields.get("event", ""))
            fields = {}
