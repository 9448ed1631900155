"""The resolvers: one module for each scheme of `inputs_from`, with its own limits and guards.

    source --pieces of bytes--> texts (lines, a JSON array, JSON lines) --items--> batches of documents

`texts` splits bytes into items, `batches` encodes them and enforces the limits, `time_limit` ends a source that takes
too long. Resolvers of other packages are found by `plugins`.
"""
