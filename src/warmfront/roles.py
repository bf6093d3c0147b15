"""The roles of users and API keys, from the fewest to the most permissions."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """A role of a user. Each role includes the permissions of the roles before it."""

    READER = "reader"  #: read problems, leaderboards, their own submissions and those shared with them
    AUTHOR = "author"  #: also submit kernels, make X-rays and share results
    OPERATOR = "operator"  #: also see every submission, control VMs, and submit their own problems
    ADMIN = "admin"  #: also manage users, keys, teams, budgets and invitations

    def includes(self, needed: Role) -> bool:
        """Return whether this role has the permissions of `needed`.

        Example:
            >>> Role.ADMIN.includes(Role.OPERATOR), Role.READER.includes(Role.AUTHOR)
            (True, False)
        """
        return _ORDER.index(self) >= _ORDER.index(needed)


_ORDER = list(Role)
