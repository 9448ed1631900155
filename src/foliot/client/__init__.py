"""A typed client of the HTTP API, for programs beside a server or on other machines.

asynchronous    AsyncClient     runs, jobs, schedules and so on: one class of resources/ each
synchronous     Client          the same without await: blocking, on an event loop in a thread (loop_thread)
                    |
                    v
transport       Transport       sends requests and follows streams, again if that is safe (retry)
                    |           failures: answers as errors; request: what is sent; address: where to
                    v
http            Http            aiohttp, loaded by the first request
"""

from foliot.client.asynchronous import AsyncClient
from foliot.client.synchronous import Client

__all__ = ["AsyncClient", "Client"]
