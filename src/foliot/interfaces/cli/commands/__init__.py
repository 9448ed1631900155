"""The commands. Each module parses its options, calls `service`, and passes the answer to `render`."""
