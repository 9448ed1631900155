"""Running as another user: who that is, and why it may be refused."""

import os
import pwd
from collections.abc import Mapping
from typing import NamedTuple

from foliot.errors import InvalidJob

ROOT = "root"


class Account(NamedTuple):
    """A user of this system, with all groups that a login would give."""

    name: str
    uid: int
    gid: int
    groups: tuple[int, ...]
    home: str
    shell: str

    @property
    def is_ours(self) -> bool:
        """Whether the worker has these rights already, so that nothing has to be changed."""
        return self.uid == os.geteuid()

    def variables(self) -> Mapping[str, str]:
        return {"HOME": self.home, "USER": self.name, "LOGNAME": self.name, "SHELL": self.shell or "/bin/sh"}


def find_account(name: str) -> Account:
    """Look a user up, or refuse with InvalidJob. May wait for a directory on the network."""
    try:
        entry = pwd.getpwnam(name)
    except (KeyError, ValueError):
        raise InvalidJob(
            f"user {name[:64]!a} does not exist on this machine",
            hint="Give the name of an account that the worker's machine knows, not a number.",
            field="user",
        ) from None
    if entry.pw_uid == 0 and name != ROOT:
        raise InvalidJob(
            f"user {name[:64]!a} is root by another name",
            hint='Write "root" if the job shall have all rights, or name an ordinary account.',
            field="user",
        )
    _check_rights(entry)
    groups = tuple(os.getgrouplist(name, entry.pw_gid))
    return Account(name, entry.pw_uid, entry.pw_gid, groups, entry.pw_dir, entry.pw_shell)


def _check_rights(entry: pwd.struct_passwd) -> None:
    if os.geteuid() not in {0, entry.pw_uid}:
        raise InvalidJob(
            f'the worker cannot run jobs as user "{entry.pw_name}"',
            hint=f'Run the worker as root or as "{entry.pw_name}", or leave out `user`.',
            field="user",
        )
