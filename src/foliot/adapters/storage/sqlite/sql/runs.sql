-- name: create_runs
INSERT INTO runs (
    id, project, job_id, queue, priority, trigger, status, due_at, created_at, attempt, lost,
    payload, overrides, limits, schedule_uid, schedule_id, scheduled_for, tick_key,
    parent_id, root_id, child_key, definition_id
) VALUES (?, ?, ?, ?, ?, ?, 'scheduled', ?, ?, 0, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: dedupe_holder
-- Which run has taken the key, and whether it is over; no run: it was removed.
SELECT d.run_id, d.scope, d.expires_at, r.id IS NOT NULL, r.finished_at IS NOT NULL
FROM dedupe d LEFT JOIN runs r ON r.id = d.run_id
WHERE d.project = ? AND d.job_id = ? AND d.key = ?

-- name: take_dedupe_key
INSERT INTO dedupe (project, job_id, key, run_id, scope, expires_at) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (project, job_id, key)
DO UPDATE SET run_id = excluded.run_id, scope = excluded.scope, expires_at = excluded.expires_at

-- name: put_later
INSERT INTO later (due_at, run_id) VALUES (?, ?)

-- name: put_gated
INSERT INTO gated (due_at, run_id) VALUES (?, ?)

-- name: next_gated
SELECT due_at FROM gated ORDER BY due_at LIMIT 1

-- name: leave_gated
DELETE FROM gated WHERE run_id = ?

-- name: next_due
SELECT due_at FROM later ORDER BY due_at LIMIT 1

-- name: put_ready
INSERT INTO ready (queue, rank, run_id) VALUES (?, ?, ?)

-- name: due_runs
-- is_waiting: an earlier run of its schedule is still under way.
SELECT
    l.due_at, r.id, r.queue, r.priority, r.limits IS NOT NULL,
    r.schedule_uid IS NOT NULL AND EXISTS (SELECT 1 FROM holds h WHERE h.run_id = r.id AND h.is_admitted = 0)
FROM later l JOIN runs r ON r.id = l.run_id
WHERE l.due_at <= ? ORDER BY l.due_at, l.run_id LIMIT ?

-- name: release_until
DELETE FROM later WHERE (due_at, run_id) <= (?, ?)

-- name: ready_runs
SELECT run_id FROM ready WHERE queue = ? ORDER BY rank, run_id LIMIT ?

-- name: cancel_candidates
-- An open tree has no worker, but runs. Status and end say the same, unless somebody has changed the row.
SELECT
    r.id, r.finished_at IS NOT NULL AND r.status IS NOT 'scheduled', coalesce(l.run_id, e.run_id) IS NOT NULL,
    coalesce(l.cancel_at, e.cancel_at) IS NOT NULL, r.attempt
FROM runs r LEFT JOIN leases l ON l.run_id = r.id LEFT JOIN trees e ON e.run_id = r.id AND e.ended_at IS NULL
WHERE r.id IN (SELECT value FROM json_each(?))

-- name: request_cancel
UPDATE leases SET cancel_at = ? WHERE run_id = ? AND cancel_at IS NULL

-- name: request_ending
-- state + 1: a decision about the tree as it was before is not saved any more.
UPDATE trees SET cancel_at = ?, state = state + 1 WHERE run_id = ? AND cancel_at IS NULL AND ended_at IS NULL

-- name: cancel_unstarted
UPDATE runs SET status = 'cancelled', reason = 'cancelled', finished_at = max(?, coalesce(created_at, 0)) WHERE id = ?

-- name: leave_later
DELETE FROM later WHERE due_at = (SELECT due_at FROM runs WHERE id = ?1) AND run_id = ?1

-- name: leave_ready
DELETE FROM ready
WHERE (queue, rank, run_id) = (SELECT queue, due_at - priority * ?2, id FROM runs WHERE id = ?1)

-- name: waits_for_place
SELECT 1 FROM holds WHERE run_id = ? AND NOT is_admitted LIMIT 1

-- name: leave_later_anywhere
-- Through all of them: for runs that are not where their rows say.
DELETE FROM later WHERE run_id IN (SELECT value FROM json_each(?))

-- name: leave_ready_anywhere
DELETE FROM ready WHERE run_id IN (SELECT value FROM json_each(?))

-- name: unstarted_runs_of_jobs
-- By way of the tables of what is not over: a job's history may be long.
SELECT r.id FROM (
    SELECT run_id FROM later UNION SELECT run_id FROM ready UNION SELECT run_id FROM holds
    UNION SELECT run_id FROM gated
) AS active JOIN runs r ON r.id = active.run_id
WHERE r.project = ? AND r.job_id IN (SELECT value FROM json_each(?))
    AND NOT EXISTS (SELECT 1 FROM leases l WHERE l.run_id = r.id)
    AND NOT EXISTS (SELECT 1 FROM trees e WHERE e.run_id = r.id AND e.ended_at IS NULL)
