-- The output of runs, in a separate file, which grows and shrinks independently of the main one.

CREATE TABLE log_chunks (
    run_id TEXT NOT NULL,
    token INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    stream TEXT NOT NULL CHECK (stream IN ('stdout', 'stderr', 'meta')),
    data BLOB NOT NULL,
    PRIMARY KEY (run_id, token, seq)
) STRICT;
