"""Host names are looked up beside the loop, and nobody waits for one that is given up."""

import asyncio
import socket
import threading
from ipaddress import ip_address

import pytest

from foliot.adapters.outbound import dns
from foliot.adapters.outbound.dns import SystemNames


async def test_the_system_knows_its_own_name() -> None:
    found = await SystemNames()("localhost")

    assert ip_address("127.0.0.1") in found or ip_address("::1") in found
    assert len(found) == len(set(found))


async def test_a_name_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(OSError):
        await SystemNames()("name.invalid")


async def test_a_look_up_that_is_given_up_leaves_a_thread_that_nobody_waits_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    is_asked, may_answer = threading.Event(), threading.Event()

    def slow(host: str, port: None, **_: object) -> list[object]:
        is_asked.set()
        may_answer.wait(20)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    task = asyncio.create_task(SystemNames()("slow.example"))
    await asyncio.to_thread(is_asked.wait, 20)
    [thread] = [thread for thread in threading.enumerate() if thread.name == "foliot-names"]

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert thread.daemon
    may_answer.set()
    await asyncio.to_thread(thread.join, 20)


async def test_only_so_many_look_ups_go_on_at_once_also_when_they_were_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(dns, "AT_ONCE", 1)
    asked: list[str] = []
    is_asked, may_answer = threading.Event(), threading.Event()

    def slow(host: str, port: None, **_: object) -> list[object]:
        asked.append(host)
        is_asked.set()
        may_answer.wait(20)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    look_up = SystemNames()
    first = asyncio.create_task(look_up("first.example"))
    await asyncio.to_thread(is_asked.wait, 20)
    first.cancel()
    second = asyncio.create_task(look_up("second.example"))
    for _ in range(10):
        await asyncio.sleep(0)
    before = list(asked)
    may_answer.set()

    assert (before, await second, asked) == (["first.example"], (), ["first.example", "second.example"])
