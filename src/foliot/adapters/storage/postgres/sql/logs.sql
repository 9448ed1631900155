-- name: current_tokens
-- The share lock keeps an attempt from ending while its output is being saved.
SELECT token, run_id FROM foliot.leases WHERE run_id = ANY ((SELECT $1::text[])::text[])
ORDER BY token FOR KEY SHARE;

-- name: append_logs
INSERT INTO foliot.log_chunks (run_id, token, seq, at, stream, data)
SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::bytea[])
ON CONFLICT DO NOTHING;

-- name: read_logs
SELECT run_id, token, seq, at, stream, data FROM foliot.log_chunks
WHERE run_id = $1 AND (token, seq) > ($2, $3) ORDER BY run_id, token, seq LIMIT $4;

-- name: last_logs
SELECT run_id, token, seq, at, stream, data FROM foliot.log_chunks
WHERE run_id = $1 ORDER BY run_id DESC, token DESC, seq DESC LIMIT $2;

-- name: log_starts
-- One step into the index for each start, however much it printed.
WITH RECURSIVE starts AS (
    (SELECT token FROM foliot.log_chunks WHERE run_id = $1 ORDER BY run_id, token LIMIT 1)
    UNION ALL
    SELECT (SELECT log_chunks.token FROM foliot.log_chunks
            WHERE log_chunks.run_id = $1 AND log_chunks.token > starts.token
            ORDER BY log_chunks.run_id, log_chunks.token LIMIT 1)
    FROM starts WHERE starts.token IS NOT NULL
)
SELECT token FROM starts WHERE token IS NOT NULL;

-- name: logs_kept_from
SELECT value FROM foliot.meta WHERE key = 'logs_kept_from';

-- name: note_logs_kept_from
INSERT INTO foliot.meta (key, value) VALUES ('logs_kept_from', $1::bigint::text)
ON CONFLICT (key) DO UPDATE SET value = greatest(meta.value::bigint, excluded.value::bigint)::text;
