-- name: register
INSERT INTO workers (id, name, queues, slots, process, registered_at, seen_at, boot_id, deadline)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?7, ?8)
ON CONFLICT (id) DO UPDATE SET
    name = excluded.name, queues = excluded.queues, slots = excluded.slots, process = excluded.process,
    seen_at = excluded.seen_at, boot_id = excluded.boot_id, deadline = excluded.deadline

-- name: renew
UPDATE workers SET seen_at = ?, deadline = ?, is_draining = ? WHERE id = ? AND boot_id = ? AND deadline > ?

-- name: leases_of_worker
SELECT token, run_id, worker_id, attempt, started_at, cancel_at, is_bare FROM leases WHERE worker_id = ? ORDER BY token

-- name: retire
DELETE FROM workers WHERE id = ?

-- name: is_alive
SELECT boot_id = ? AND deadline > ? FROM workers WHERE id = ?

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
