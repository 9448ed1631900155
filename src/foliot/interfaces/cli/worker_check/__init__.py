"""The checks of `foliot worker-check`."""
