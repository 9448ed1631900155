"""The user that a job runs as, and the reasons to refuse one."""

import os
import pwd
from collections.abc import Mapping
from typing import NamedTuple

from foliot.errors import InvalidJob

ROOT = "root"


class Account(NamedTuple):
    """A user of this system, with all groups that a login would have."""

    name: str
    uid: int
    gid: int
    groups: tuple[int, ...]
    home: str
    shell: str

    @property
    def is_ours(self) -> bool:
        """Whether the worker runs as this user already."""
        return self.uid == os.geteuid()

    def variables(self) -> Mapping[str, str]:
        return {"HOME": self.home, "USER": self.name, "LOGNAME": self.name, "SHELL": self.shell or "/bin/sh"}


def find_account(name: str) -> Account:
    """Look up a user, or raise InvalidJob. May wait for a directory service on the network."""
    try:
        entry = pwd.getpwnam(name)
    except (KeyError, ValueError):
        raise InvalidJob(
            f"user {name[:64]!a} does not exist on this machine",
            hint="Use the name of an account on the worker's machine, not a number.",
            field="user",
        ) from None
    if entry.pw_uid == 0 and name != ROOT:
        raise InvalidJob(
            f"user {name[:64]!a} has the user id of root",
            hint='Write "root" if the job needs all rights, or use an ordinary account.',
            field="user",
        )
    _check_rights(entry)
    groups = tuple(os.getgrouplist(name, entry.pw_gid))
    return Account(name, entry.pw_uid, entry.pw_gid, groups, entry.pw_dir, entry.pw_shell)


def _check_rights(entry: pwd.struct_passwd) -> None:
    if os.geteuid() not in {0, entry.pw_uid}:
        raise InvalidJob(
            f'the worker cannot run jobs as user "{entry.pw_name}"',
            hint=f'Run the worker as root or as "{entry.pw_name}", or remove `user`.',
            field="user",
        )
