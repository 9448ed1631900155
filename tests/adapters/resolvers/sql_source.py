"""DSNs for tests."""

from foliot.errors import NotFound


class FixedDsns:
    """Fills `ports.dsns.DsnSource`."""

    def __init__(self, **dsns: str) -> None:
        self._dsns = dsns

    async def find(self, name: str) -> str:
        if name not in self._dsns:
            raise NotFound("DSN", name, known=self._dsns)
        return self._dsns[name]
