"""RunInfo a function in a process of its own, so that nothing it does can touch the worker or the next call.

    spares      interpreters that wait, started ahead      spares.py
      | take, or start one if there is none
    interpreter --order--> stub: import, call --answer-->   interpreter.py, channel.py, order.py, stub.py
      |
    the process ends, its whole tree is gone               as for every process, see ..process

An interpreter serves one call. The end of the attempt is the end of its process; the answer, which comes over a socket
of its own, says only what the function returned or raised. Why it is so: docs/design/isolated-python.md.
"""

from foliot.adapters.runners.isolated.calls import IsolatedCalls
from foliot.adapters.runners.isolated.warm_pool import WarmPool

__all__ = ["IsolatedCalls", "WarmPool"]
