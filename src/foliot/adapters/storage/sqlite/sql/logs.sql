-- name: current_tokens
SELECT token, run_id FROM leases WHERE token IN (SELECT value FROM json_each(?))

-- name: append_chunks
INSERT INTO log_chunks (run_id, token, seq, at, stream, data) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (run_id, token, seq) DO NOTHING

-- name: read_chunks
SELECT run_id, token, seq, at, stream, data FROM log_chunks
WHERE run_id = ? AND (token, seq) > (?, ?) ORDER BY token, seq LIMIT ?

-- name: last_chunks
SELECT run_id, token, seq, at, stream, data FROM log_chunks
WHERE run_id = ? ORDER BY token DESC, seq DESC LIMIT ?

-- name: log_starts
-- One step into the index for each start, however much it printed.
WITH RECURSIVE starts (token) AS (
    SELECT min(token) FROM log_chunks WHERE run_id = ?1
    UNION ALL
    SELECT (SELECT min(c.token) FROM log_chunks c WHERE c.run_id = ?1 AND c.token > starts.token) FROM starts
    WHERE starts.token IS NOT NULL
)
SELECT token FROM starts WHERE token IS NOT NULL

-- name: logs_kept_from
SELECT value FROM meta WHERE key = 'logs_kept_from'

-- name: note_logs_kept_from
INSERT INTO meta (key, value) VALUES ('logs_kept_from', ?)
ON CONFLICT (key) DO UPDATE SET value = max(value, excluded.value)

-- name: walk_chunks
SELECT rowid, run_id, at FROM log_chunks WHERE rowid > ? ORDER BY rowid LIMIT ?

-- name: unfinished_runs
SELECT id FROM runs WHERE id IN (SELECT value FROM json_each(?)) AND finished_at IS NULL

-- name: remove_chunks
DELETE FROM log_chunks WHERE rowid IN (SELECT value FROM json_each(?))

-- name: remove_chunks_of_runs
DELETE FROM log_chunks WHERE run_id IN (SELECT value FROM json_each(?))
