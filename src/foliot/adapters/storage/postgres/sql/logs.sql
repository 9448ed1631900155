-- name: current_tokens
-- The share lock keeps an attempt from ending while its output is being saved.
SELECT token, run_id FROM foliot.leases WHERE token = ANY ($1::bigint[]) ORDER BY token FOR KEY SHARE;

-- name: append_logs
INSERT INTO foliot.log_chunks (run_id, token, seq, at, stream, data)
SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::bytea[])
ON CONFLICT DO NOTHING;

-- name: read_logs
SELECT run_id, token, seq, at, stream, data FROM foliot.log_chunks
WHERE run_id = $1 AND (token, seq) > ($2, $3) ORDER BY run_id, token, seq LIMIT $4;
