-- name: take_keys
INSERT INTO foliot.dedupe (project, job_id, key, run_id, scope, expires_at)
SELECT $1, new.* FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[])
    AS new (job_id, key, run_id, scope, expires_at) ORDER BY new.job_id, new.key
ON CONFLICT (project, job_id, key) DO NOTHING RETURNING run_id;

-- name: lock_keys
-- Of several that want a key which may be free, the others wait here for the first.
SELECT dedupe.job_id, dedupe.key FROM foliot.dedupe
JOIN unnest((SELECT $2::text[]), (SELECT $3::text[])) AS asked (job_id, key)
    ON dedupe.project = $1 AND dedupe.job_id = asked.job_id AND dedupe.key = asked.key
ORDER BY dedupe.job_id, dedupe.key FOR UPDATE OF dedupe;

-- name: taken_keys
-- Whether the run that has a key still binds it: for ever, for a time, or until it is over. Asked in a statement of its
-- own, which sees the run that the one that was waited for has made.
SELECT dedupe.job_id, dedupe.key, dedupe.run_id,
       CASE dedupe.scope
           WHEN 'window' THEN dedupe.expires_at > $4
           WHEN 'active' THEN EXISTS (
               SELECT 1 FROM foliot.runs WHERE runs.id = dedupe.run_id AND runs.status = 'scheduled')
           ELSE true
       END AS is_bound
FROM foliot.dedupe
JOIN unnest((SELECT $2::text[]), (SELECT $3::text[])) AS asked (job_id, key)
    ON dedupe.project = $1 AND dedupe.job_id = asked.job_id AND dedupe.key = asked.key;

-- name: retake_keys
UPDATE foliot.dedupe SET run_id = new.run_id, scope = new.scope, expires_at = new.expires_at
FROM unnest((SELECT $2::text[]), (SELECT $3::text[]), (SELECT $4::text[]), (SELECT $5::text[]), (SELECT $6::bigint[]))
    AS new (job_id, key, run_id, scope, expires_at)
WHERE dedupe.project = $1 AND dedupe.job_id = new.job_id AND dedupe.key = new.key;
