"""Errors of requests to a server, as `foliot.client` raises them."""

from foliot.errors.base import FoliotError


class ServerUnavailable(FoliotError):
    """The server could not be reached, or its answer could not be read. It may work next time."""

    code = "server_unavailable"
    was_sent = True
    """Whether the server may have received the request. False: no connection was made."""


class RequestRefused(FoliotError):
    """The server refused a request, and its `code` belongs to no other class of errors. `status` is that of HTTP."""

    code = "request_refused"

    def __init__(self, message: str, *, hint: str = "", code: str = "", status: int = 0, field: str = "") -> None:
        super().__init__(message, hint=hint)
        if code:
            vars(self)["code"] = code  # the class has the code of other errors, this one that of the answer
        self.status = status
        self.field = field


class Forbidden(RequestRefused):
    """The role of the token does not allow the request. The hint names the role that does."""

    code = "forbidden"
