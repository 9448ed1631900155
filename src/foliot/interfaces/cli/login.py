"""Who uses the command line: the account of the operating system."""

import os
import pwd
from functools import cache
from pathlib import Path

from foliot.domain.access.actor import Actor, cli_actor


@cache
def login_actor() -> Actor:
    """Return the actor of this process. Variables such as USER are not used: anyone can set them."""
    try:
        return cli_actor(pwd.getpwuid(os.getuid()).pw_name)
    except KeyError:  # usual in containers
        return cli_actor(f"uid-{os.getuid()}")


def deploying_actor(path: Path | None) -> Actor:
    """Return the actor of this process, with the file whose definitions it applies."""
    return login_actor() if path is None else login_actor()._replace(detail=str(path.absolute()))
