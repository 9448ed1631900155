"""docs/reference/worker-protocol.md shows what a real server answers."""

import pytest

from foliot.domain.access.role import Permission
from foliot.domain.access.signature import SignedRequest, signature_of
from foliot.interfaces.api.resources.all import ROUTES
from tests.interfaces.api.protocol import PAGE, examples, written


@pytest.mark.proves("R1-09")
async def test_each_example_of_the_protocol_is_what_the_server_answers() -> None:
    page = PAGE.read_text()

    assert written(page, await examples()) == page, "run: python -m tests.interfaces.api.protocol"


def test_each_message_of_the_protocol_has_an_example() -> None:
    page = PAGE.read_text()

    messages = [route.path.rpartition("/")[2] for route in ROUTES if route.permission is Permission.WORK]
    assert [name for name in messages if f"### {name}\n" not in page] == []


def test_the_signed_example_has_the_right_signature() -> None:
    body = b'{"worker":"01JQZ8W3F07M4T5V6W8X9YABCD.11111111111111111111111111111111","limit":1}'
    request = SignedRequest("POST", "/api/workers/lease", "", body, 1_767_225_600, "b1c2d3e4f5a69788b1c2d3e4f5a69788")

    assert f"X-Foliot-Signature: {signature_of(request, '00112233445566778899aabbccddeeff' * 2)}\n" in PAGE.read_text()
