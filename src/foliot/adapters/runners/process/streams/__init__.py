"""The standard streams of a run, and the file for its output."""
