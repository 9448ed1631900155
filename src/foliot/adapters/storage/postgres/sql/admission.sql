-- name: known_limits
-- The share lock keeps a limit from being removed while somebody is about to wait for it.
SELECT key, capacity FROM foliot.limits WHERE key = ANY ((SELECT $1::text[])::text[]) ORDER BY key FOR KEY SHARE;

-- name: put_limits
INSERT INTO foliot.limits (key, capacity)
SELECT * FROM unnest($1::text[], $2::int[]) AS new (key, capacity) ORDER BY new.key
ON CONFLICT (key) DO UPDATE SET capacity = excluded.capacity;

-- name: add_holds
INSERT INTO foliot.holds (key, run_id, rank, is_admitted)
SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::boolean[]);

-- name: release_holds
DELETE FROM foliot.holds WHERE run_id = ANY ((SELECT $1::text[])::text[]) RETURNING key;

-- name: release_places
-- What an attempt holds; the overlap key stays until the run is over.
DELETE FROM foliot.holds WHERE run_id = ANY ((SELECT $1::text[])::text[]) AND NOT starts_with(key, $2)
RETURNING key;

-- name: held_keys
SELECT DISTINCT key FROM foliot.holds WHERE run_id = ANY ((SELECT $1::text[])::text[]);

-- name: waiting_keys
-- Every key that somebody waits for, found by leaping through the index from key to key.
WITH RECURSIVE waiting AS (
    (SELECT key FROM foliot.holds WHERE NOT is_admitted ORDER BY key LIMIT 1)
    UNION ALL
    SELECT (SELECT holds.key FROM foliot.holds WHERE NOT holds.is_admitted AND holds.key > waiting.key
            ORDER BY holds.key LIMIT 1)
    FROM waiting WHERE waiting.key IS NOT NULL
)
SELECT key FROM waiting WHERE key IS NOT NULL;

-- name: awaited_keys
SELECT asked.key FROM unnest((SELECT $1::text[])) AS asked (key)
WHERE (SELECT true FROM foliot.holds WHERE holds.key = asked.key AND NOT holds.is_admitted LIMIT 1);

-- name: waiters
-- The first waiters of each key with all the keys they wait for. One waits for the others' keys as well.
SELECT waiting.run_id, min(waiting.rank) AS rank, array_agg(waiting.key ORDER BY waiting.key) AS keys
FROM foliot.holds waiting
WHERE NOT waiting.is_admitted AND waiting.run_id = ANY (ARRAY(
    SELECT candidate.run_id FROM unnest((SELECT $1::text[])) AS wanted (key), LATERAL (
        SELECT run_id FROM foliot.holds WHERE holds.key = wanted.key AND NOT holds.is_admitted
        ORDER BY rank, run_id LIMIT $2) AS candidate))
GROUP BY waiting.run_id ORDER BY 2, 1;

-- name: lock_limits
SELECT key, capacity FROM foliot.limits WHERE key = ANY ((SELECT $1::text[])::text[]) ORDER BY key FOR NO KEY UPDATE;

-- name: places_taken
SELECT key, count(*) AS taken FROM foliot.holds WHERE key = ANY ((SELECT $1::text[])::text[]) AND is_admitted
GROUP BY key;

-- name: admit_waiters
-- Whoever was cancelled meanwhile has no holds any more and does not come back.
UPDATE foliot.holds SET is_admitted = true
WHERE run_id = ANY ((SELECT $1::text[])::text[]) AND key = ANY ((SELECT $2::text[])::text[]) AND NOT is_admitted
RETURNING run_id, key;

-- name: admitted_runs
SELECT run.id, run.queue, run.priority, run.due_at, run.limits FROM foliot.runs run
WHERE run.id = ANY ((SELECT $1::text[])::text[]) AND NOT EXISTS (SELECT 1 FROM foliot.later
WHERE later.run_id = run.id) AND NOT EXISTS (SELECT 1 FROM foliot.gated WHERE gated.run_id = run.id);

-- name: idle_limits
SELECT key FROM foliot.limits
WHERE NOT EXISTS (SELECT 1 FROM foliot.holds WHERE holds.key = limits.key)
ORDER BY key LIMIT $1 FOR UPDATE SKIP LOCKED;

-- name: prune_limits
DELETE FROM foliot.limits
WHERE key = ANY ((SELECT $1::text[])::text[]) AND NOT EXISTS (SELECT 1 FROM foliot.holds WHERE holds.key = limits.key);
