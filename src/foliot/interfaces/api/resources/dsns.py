"""DSNs: the databases that fanouts may read. They can be written but never read."""

from http import HTTPStatus

from foliot.domain.access.role import Permission
from foliot.errors import NotFound
from foliot.interfaces.api.call import Call
from foliot.interfaces.api.reading import Parameters
from foliot.interfaces.api.resources.table import ROUTES
from foliot.service.answers import Deleted, Dsn, Page, StoredDsn


class DsnBody(Parameters, frozen=True, kw_only=True):
    dsn: str
    """sqlite:////srv/shop.db or postgresql://user:password@host/shop"""


@ROUTES.get("/api/dsns", permission=Permission.ADMINISTER, summary="List the names of the stored DSNs.")
async def list_dsns(call: Call) -> Page[Dsn]:
    found = await call.services.dsns.all()
    return Page(items=[Dsn(name=one.name, engine=one.engine, updated_at=one.updated_at) for one in found], next=None)


@ROUTES.put(
    "/api/dsns/{name}",
    permission=Permission.ADMINISTER,
    summary="Store a DSN, encrypted.",
    errors=(HTTPStatus.SERVICE_UNAVAILABLE,),
    examples=({"dsn": "sqlite:////srv/shop.db"},),
)
async def put_dsn(call: Call, name: str, body: DsnBody) -> StoredDsn:
    is_new = await call.services.dsns.add(name, body.dsn)
    call.status = HTTPStatus.CREATED if is_new else HTTPStatus.OK
    return StoredDsn(name=name, is_new=is_new)


@ROUTES.delete("/api/dsns/{name}", permission=Permission.ADMINISTER, summary="Remove a DSN.")
async def delete_dsn(call: Call, name: str) -> Deleted:
    try:
        await call.services.dsns.remove(name)
    except NotFound:
        return Deleted(deleted=False)
    return Deleted(deleted=True)
