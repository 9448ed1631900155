"""The work port over HTTP: a worker without a database (docs/reference/worker-protocol.md)."""
