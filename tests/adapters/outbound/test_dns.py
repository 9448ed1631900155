"""Host names are looked up in threads, and a cancelled look-up blocks nothing."""

import asyncio
import socket
import threading
from ipaddress import ip_address

import pytest

from foliot.adapters.outbound import dns
from foliot.adapters.outbound.dns import SystemResolver


async def test_localhost_is_resolved() -> None:
    found = await SystemResolver()("localhost")

    assert ip_address("127.0.0.1") in found or ip_address("::1") in found
    assert len(found) == len(set(found))


async def test_a_missing_name_raises_an_error() -> None:
    with pytest.raises(OSError):
        await SystemResolver()("name.invalid")


async def test_a_cancelled_look_up_leaves_only_a_daemon_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    is_asked, may_answer = threading.Event(), threading.Event()

    def slow(host: str, port: None, **_: object) -> list[object]:
        is_asked.set()
        may_answer.wait(20)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    task = asyncio.create_task(SystemResolver()("slow.example"))
    await asyncio.to_thread(is_asked.wait, 20)
    [thread] = [thread for thread in threading.enumerate() if thread.name == "foliot-dns"]

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert thread.daemon
    may_answer.set()
    await asyncio.to_thread(thread.join, 20)


async def test_concurrent_look_ups_are_limited_including_cancelled_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(dns, "CONCURRENCY", 1)
    asked: list[str] = []
    is_asked, may_answer = threading.Event(), threading.Event()

    def slow(host: str, port: None, **_: object) -> list[object]:
        asked.append(host)
        is_asked.set()
        may_answer.wait(20)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    look_up = SystemResolver()
    first = asyncio.create_task(look_up("first.example"))
    await asyncio.to_thread(is_asked.wait, 20)
    first.cancel()
    second = asyncio.create_task(look_up("second.example"))
    for _ in range(10):
        await asyncio.sleep(0)
    before = list(asked)
    may_answer.set()

    assert (before, await second, asked) == (["first.example"], (), ["first.example", "second.example"])
