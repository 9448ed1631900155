"""Signed requests of enrolled workers."""

from starlette.requests import Request

from foliot.domain.access.principal import Principal
from foliot.domain.access.signature import SignedRequest, read_signature_headers
from foliot.errors import BadSignature
from foliot.interfaces.api.reading import read_content
from foliot.service.workers.enrolments import EnrolmentService


async def signer_of(enrolments: EnrolmentService, request: Request, most: int) -> tuple[Principal, bytes]:
    """Return who has signed a request, and its body, which the signature covers. The body of a request with a wrong
    clock or of a worker that is not enrolled is not read."""
    headers = read_signature_headers(request.headers)
    if headers is None:
        raise BadSignature
    candidate = await enrolments.find_candidate(headers)
    content = await read_content(request, most)
    signed = SignedRequest(
        request.method,
        request.scope["path"],
        request.scope["query_string"].decode("latin-1"),
        content,
        headers.timestamp,
        headers.nonce,
    )
    return await enrolments.verify(candidate, signed), content
