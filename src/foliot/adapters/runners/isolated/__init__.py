"""Calls a function in a separate process, so that it cannot affect the worker or the next call.

    warm pool     interpreters that were started in advance         warm_pool.py
      | take one, or start one if there is none
    interpreter --request--> stub: import, call --answer-->         interpreter.py, channel.py, messages.py, stub.py
      |
    the process exits, its whole tree is ended                      as for every process, see ..process

An interpreter serves one call. The attempt ends when its process ends. The answer, which arrives over a socket, only
says what the function returned or raised. The reasons are in docs/design/isolated-python.md.
"""

from foliot.adapters.runners.isolated.calls import IsolatedCalls
from foliot.adapters.runners.isolated.warm_pool import WarmPool

__all__ = ["IsolatedCalls", "WarmPool"]
