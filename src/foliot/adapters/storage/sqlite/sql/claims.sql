-- name: is_alive
SELECT boot_id = ? AND deadline > ? FROM workers WHERE id = ?

-- name: pick_ready
-- CROSS JOIN: in SQLite it fixes the order, the queue comes first and its index gives the rank order.
-- The number of the attempt is 0 where the row counts what cannot be (`shapes.Tries`): nobody could count on.
SELECT
    q.rank, q.run_id, q.queue, r.job_id,
    CASE WHEN r.attempt BETWEEN 0 AND 999999999 AND r.lost BETWEEN 0 AND 999999999 THEN r.attempt + 1 ELSE 0 END, r.lost, r.priority, r.due_at, r.created_at,
    r.payload, r.overrides, r.limits, r.schedule_uid, r.schedule_id, r.scheduled_for, r.tick_key,
    r.parent_id, r.child_key, r.definition_id
FROM ready q CROSS JOIN runs r ON r.id = q.run_id
WHERE q.queue = ? ORDER BY q.rank, q.run_id LIMIT ?

-- name: pick_named
SELECT
    q.rank, q.run_id, q.queue, r.job_id,
    CASE WHEN r.attempt BETWEEN 0 AND 999999999 AND r.lost BETWEEN 0 AND 999999999 THEN r.attempt + 1 ELSE 0 END, r.lost, r.priority, r.due_at, r.created_at,
    r.payload, r.overrides, r.limits, r.schedule_uid, r.schedule_id, r.scheduled_for, r.tick_key,
    r.parent_id, r.child_key, r.definition_id
FROM json_each(?1) j
CROSS JOIN runs r ON r.id = j.value
CROSS JOIN ready q ON q.queue = r.queue AND q.rank = r.due_at - r.priority * ?2 AND q.run_id = r.id
WHERE r.queue IN (SELECT value FROM json_each(?3))
ORDER BY q.rank, q.run_id LIMIT ?4

-- name: take_ready
DELETE FROM ready WHERE queue = ? AND (rank, run_id) <= (?, ?)

-- name: take_named
DELETE FROM ready WHERE rank = ? AND run_id = ? AND queue = ?

-- name: take_tokens
UPDATE counters SET value = value + ? WHERE name = 'token' RETURNING value

-- name: add_leases
INSERT INTO leases (token, run_id, worker_id, attempt, started_at, is_bare) VALUES (?, ?, ?, ?, ?, ?)

-- name: job_revisions
SELECT id, revision FROM jobs WHERE project = ? AND id IN (SELECT value FROM json_each(?))

-- name: leases_of_worker
SELECT token, run_id, worker_id, attempt, started_at, cancel_at, is_bare FROM leases WHERE worker_id = ? ORDER BY token

-- name: expired_leases
SELECT l.run_id, l.worker_id, l.token, l.attempt FROM leases l LEFT JOIN workers w ON w.id = l.worker_id
WHERE w.id IS NULL OR w.boot_id <> ? OR w.deadline <= ?
ORDER BY l.token LIMIT ?

-- name: definitions_of_jobs
SELECT id, spec, revision FROM jobs WHERE project = ? AND id IN (SELECT value FROM json_each(?))

-- name: definitions_of_versions
SELECT w.id, w.version, w.spec FROM json_each(?2) j
CROSS JOIN workflows w ON w.project = ?1 AND w.id = j.value ->> 0 AND w.version = j.value ->> 1

-- name: definitions_of_trees
SELECT run_id, body FROM tree_bodies WHERE run_id IN (SELECT value FROM json_each(?))
