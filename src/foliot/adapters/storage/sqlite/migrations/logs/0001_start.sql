-- What runs print, in a file of its own: it grows and shrinks without touching the truth.

CREATE TABLE log_chunks (
    run_id TEXT NOT NULL,
    token INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    stream TEXT NOT NULL CHECK (stream IN ('stdout', 'stderr', 'meta')),
    data BLOB NOT NULL,
    PRIMARY KEY (run_id, token, seq)
) STRICT;
