"""Errors of requests that are not allowed."""

from foliot.errors.base import FoliotError


class CredentialsRefused(FoliotError):
    """A name and password, a session or a token was refused. The message does not say which part is wrong."""

    code = "unauthenticated"

    def __init__(self) -> None:
        super().__init__("the credentials were refused", hint="Check the name and the password, or the token.")


class RateLimited(FoliotError):
    """Too many credentials were refused. `retry_after` is in seconds."""

    code = "rate_limited"

    def __init__(self, retry_after: float) -> None:
        seconds = max(1, round(retry_after))
        super().__init__("too many credentials were refused", hint=f"Try again in {seconds} seconds.")
        self.retry_after = seconds
