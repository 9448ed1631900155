"""The application object: jobs and schedules as Python code, and a door to everything that runs.

declaring   Declarations        what was said: jobs, workflows, schedules, listeners
                 ^
opening     Application         the same on a storage: applied to it, and carried out by a node
            (seat)              on which event loop it is open
                 ^
asking      Foliot              the same with everything that can be asked of it; the one name for users
"""

from foliot.app.asking import Foliot

__all__ = ["Foliot"]
