"""The table that every route is declared in."""

from typing import Final

from foliot.interfaces.api.route import Routes

ROUTES: Final = Routes()
