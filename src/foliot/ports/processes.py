"""The processes port: notices that the process of a worker on this machine has ended."""

from typing import Protocol


class Processes(Protocol):
    """Identities of processes. Each is a text that no other process has ever had or will have."""

    @property
    def own(self) -> str:
        """The identity of this process. Empty: it cannot be determined."""
        ...

    def is_gone(self, process: str) -> bool:
        """Return whether a process of this machine has ended. False if that cannot be determined from here."""
        ...
