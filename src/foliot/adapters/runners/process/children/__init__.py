"""The processes of a run: which ones exist, which run each belongs to, and when the first one exits."""
