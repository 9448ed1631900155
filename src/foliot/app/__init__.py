"""The application object: jobs and schedules declared in Python, and access to everything that is stored.

registry        Registry        what was declared: jobs, workflows, schedules, listeners
                    ^
lifecycle       Application     opens a storage, applies the declarations to it, and builds nodes
                    |           loop_binding: the event loop it is open on; background: calls from plain code
                    ^
client          Foliot          the same with runs, jobs, schedules and workflows (bound_service); the name for users
"""

from foliot.app.client import Foliot

__all__ = ["Foliot"]
