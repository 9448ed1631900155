"""Ending the processes of a run, and cleaning up inside a cancelled task."""
