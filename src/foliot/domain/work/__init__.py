"""The messages of remote workers (docs/reference/worker-protocol.md)."""
