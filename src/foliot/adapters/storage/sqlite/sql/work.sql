-- name: register
INSERT INTO workers (id, name, queues, slots, process, registered_at, seen_at, boot_id, deadline, facts, orders)
SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?6, ?7, ?8, ?9, CASE WHEN count(*) THEN 'pause' ELSE '' END
FROM paused_pools WHERE name IN (?2, ?10)
ON CONFLICT (id) DO UPDATE SET
    name = excluded.name, queues = excluded.queues, slots = excluded.slots, process = excluded.process,
    seen_at = excluded.seen_at, boot_id = excluded.boot_id, deadline = excluded.deadline, facts = excluded.facts

-- name: renew
UPDATE workers SET seen_at = ?, deadline = ?, is_draining = ? WHERE id = ? AND boot_id = ? AND deadline > ?
RETURNING orders

-- name: leases_of_worker
SELECT token, run_id, worker_id, attempt, started_at, cancel_at, is_bare FROM leases WHERE worker_id = ? ORDER BY token

-- name: retire
DELETE FROM workers WHERE id = ?

-- name: claimer
-- A worker that is alive and may have runs.
SELECT facts FROM workers WHERE boot_id = ? AND deadline > ? AND id = ? AND orders = ''

-- name: ready_lanes
-- One index look-up per lane. Usually there is none: most runs need nothing special.
WITH RECURSIVE lanes (name) AS (
    SELECT (SELECT min(queue) FROM ready WHERE queue >= ?1 AND queue < ?2)
    UNION ALL
    SELECT (SELECT min(queue) FROM ready WHERE queue > lanes.name AND queue < ?2) FROM lanes WHERE lanes.name IS NOT NULL
)
SELECT name FROM lanes WHERE name IS NOT NULL

-- name: claim_columns
-- The number of the attempt is 0 if the row has a count out of range (`row_types.Tries`): it could not be increased.
q.rank, q.run_id, q.queue, r.job_id,
CASE WHEN r.attempt BETWEEN 0 AND 999999999 AND r.lost BETWEEN 0 AND 999999999 THEN r.attempt + 1 ELSE 0 END, r.lost,
r.priority, r.due_at, r.created_at, r.payload, r.overrides, r.limits, r.schedule_uid, r.schedule_id, r.scheduled_for,
r.tick_key, r.parent_id, r.child_key, r.definition_id

-- name: pick_ready
-- CROSS JOIN: in SQLite it fixes the join order: the queue comes first and its index gives the rank order.
SELECT {claim_columns} FROM ready q CROSS JOIN runs r ON r.id = q.run_id
WHERE q.queue = ? ORDER BY q.rank, q.run_id LIMIT ?

-- name: pick_ready_of_kinds
-- Of the kinds of a worker that does not have all. A run whose job cannot be read is picked: the worker ends it.
-- The children of a fanout have no job of their own: their kind is in the job of their parent.
SELECT {claim_columns}
FROM ready q
CROSS JOIN runs r ON r.id = q.run_id
LEFT JOIN jobs j ON j.project = r.project AND j.id = r.job_id AND json_valid(j.spec)
LEFT JOIN runs p ON j.id IS NULL AND p.id = r.parent_id
LEFT JOIN jobs f ON f.project = p.project AND f.id = p.job_id AND json_valid(f.spec)
WHERE q.queue = ?1 AND coalesce(
    coalesce(
        j.spec ->> '$.inner_kind', j.spec ->> '$.kind',
        CASE WHEN r.job_id = f.id || '.reducer' THEN f.spec ->> '$.spec.reducer.kind'
             ELSE f.spec ->> '$.spec.inner_kind' END
    ) IN (SELECT value FROM json_each(?3)), true)
ORDER BY q.rank, q.run_id LIMIT ?2

-- name: pick_named
SELECT {claim_columns}
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

-- name: job_revisions
SELECT id, revision FROM jobs WHERE project = ? AND id IN (SELECT value FROM json_each(?))

-- name: add_leases
INSERT INTO leases (token, run_id, worker_id, attempt, started_at, is_bare) VALUES (?, ?, ?, ?, ?, ?)

-- name: current_tokens
SELECT token, run_id FROM leases WHERE token IN (SELECT value FROM json_each(?))

-- name: append_log
INSERT INTO log_chunks (run_id, token, seq, at, stream, data) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (run_id, token, seq) DO NOTHING

-- name: save_progress
UPDATE leases SET progress = report.value ->> 3, progress_text = report.value ->> 4, progress_at = ?2
FROM json_each(?1) report
WHERE leases.run_id = report.value ->> 0 AND leases.worker_id = report.value ->> 1 AND leases.token = report.value ->> 2
RETURNING token
