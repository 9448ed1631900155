"""Trouble on either side of a commit."""

from typing import Final

from foliot.errors import StorageUnavailable


class Crash(BaseException):
    """The process is gone, here and now. No handler in the product catches this."""


class Hiccup(StorageUnavailable):
    """The storage failed and nobody knows whether it had saved. The process lives on."""


PLANTED: Final = (Crash, Hiccup)


class Faults:
    """Counts the commits of one process and strikes at the one it was armed for."""

    def __init__(self) -> None:
        self._left = 0
        self._point = ""
        self._trouble: BaseException | None = None
        self.struck: str | None = None
        """The point at which trouble came last."""

    def arm(self, trouble: BaseException, *, point: str, after: int = 1) -> None:
        """Strike at the n-th time from now that `point` is reached, for example "commit_firings.before_commit"."""
        self._trouble, self._point, self._left = trouble, point, after

    def disarm(self) -> None:
        self._trouble = None

    def __call__(self, point: str) -> None:
        if self._trouble is None or not point.endswith(self._point):
            return
        self._left -= 1
        if self._left <= 0:
            trouble, self._trouble = self._trouble, None
            self.struck = point
            raise trouble
