-- name: add_events
INSERT INTO events (at, kind, items) VALUES (?, ?, ?)

-- name: create_runs
INSERT INTO runs (
    id, project, job_id, queue, priority, trigger, status, due_at, created_at, attempt, lost,
    payload, overrides, limits, schedule_uid, schedule_id, scheduled_for, tick_key,
    parent_id, root_id, child_key, definition_id
) VALUES (?, ?, ?, ?, ?, ?, 'scheduled', ?, ?, 0, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: put_gated
INSERT INTO gated (due_at, run_id) VALUES (?, ?)

-- name: next_gated
SELECT due_at FROM gated ORDER BY due_at LIMIT 1

-- name: put_later
INSERT INTO later (due_at, run_id) VALUES (?, ?)

-- name: put_ready
INSERT INTO ready (queue, rank, run_id) VALUES (?, ?, ?)

-- name: put_limits
-- The capacity of the newest run is stored.
INSERT INTO limits (key, capacity) VALUES (?, ?)
ON CONFLICT (key) DO UPDATE SET capacity = excluded.capacity WHERE capacity <> excluded.capacity

-- name: add_holds
INSERT INTO holds (key, is_admitted, rank, run_id) VALUES (?, ?, ?, ?)

-- name: held_keys
SELECT DISTINCT key FROM holds WHERE run_id IN (SELECT value FROM json_each(?))

-- name: know_limits
-- DISTINCT: the children of a tree share one document. `WHERE true` separates the join from ON CONFLICT.
INSERT INTO limits (key, capacity)
SELECT j.value ->> 0, j.value ->> 1
FROM (SELECT DISTINCT r.limits FROM json_each(?) named CROSS JOIN runs r ON r.id = named.value) d
CROSS JOIN json_each(d.limits) j
WHERE true
ON CONFLICT (key) DO NOTHING

-- name: request_places
-- LEFT JOIN: a run without limits inserts a null key, which is refused; otherwise it would wait for ever.
INSERT INTO holds (key, is_admitted, rank, run_id)
SELECT j.value ->> 0, 0, r.due_at - r.priority * ?2, r.id
FROM json_each(?1) named CROSS JOIN runs r ON r.id = named.value LEFT JOIN json_each(r.limits) j

-- name: limits_of_runs
SELECT r.id, r.limits FROM json_each(?) j CROSS JOIN runs r ON r.id = j.value

-- name: waiting_keys
-- One index look-up per key, for any number of waiting runs.
WITH RECURSIVE keys (key) AS (
    SELECT min(key) FROM holds
    UNION ALL
    SELECT (SELECT min(h.key) FROM holds h WHERE h.key > keys.key) FROM keys WHERE keys.key IS NOT NULL
)
SELECT key FROM keys
WHERE key IS NOT NULL AND EXISTS (SELECT 1 FROM holds h WHERE h.key = keys.key AND h.is_admitted = 0)

-- name: waiters
SELECT h.rank, h.run_id,
    (SELECT json_group_array(o.key) FROM holds o WHERE o.run_id = h.run_id AND o.is_admitted = 0)
FROM holds h
WHERE h.key = ? AND h.is_admitted = 0 AND (h.rank, h.run_id) > (?, ?)
ORDER BY h.rank, h.run_id LIMIT ?

-- name: capacity
SELECT capacity FROM limits WHERE key = ?

-- name: places_taken
SELECT count(*) FROM holds WHERE key = ? AND is_admitted = 1

-- name: admit_waiters
UPDATE holds SET is_admitted = 1 WHERE run_id IN (SELECT value FROM json_each(?)) AND is_admitted = 0

-- name: admitted_runs
-- Runs that got the overlap key of their schedule, except those that are not due yet or wait for their gate.
SELECT r.id, r.limits IS NOT NULL FROM runs r
WHERE r.id IN (SELECT value FROM json_each(?))
    AND NOT EXISTS (SELECT 1 FROM later l WHERE l.due_at = r.due_at AND l.run_id = r.id)
    AND NOT EXISTS (SELECT 1 FROM gated g WHERE g.run_id = r.id)

-- name: make_ready
INSERT INTO ready (queue, rank, run_id)
SELECT r.queue, r.due_at - r.priority * ?2, r.id FROM json_each(?1) named CROSS JOIN runs r ON r.id = named.value
RETURNING queue

-- name: end_unstarted
UPDATE runs SET status = ?, reason = ?, finished_at = max(?, coalesce(created_at, 0)), exit_code = ?, error = ?
WHERE id = ?
RETURNING attempt

-- name: add_outputs
INSERT INTO outputs (run_id, body) VALUES (?, ?)

-- name: add_notes
INSERT INTO notes (parent_id, run_id)
SELECT r.parent_id, r.id FROM json_each(?) j CROSS JOIN runs r ON r.id = j.value WHERE r.parent_id IS NOT NULL
ON CONFLICT DO NOTHING

-- name: note_trees
-- A note about the tree itself, so that it is settled.
INSERT INTO notes (parent_id, run_id) VALUES (?1, ?1) ON CONFLICT DO NOTHING

-- name: is_watching
SELECT 1 FROM watched LIMIT 1

-- name: keep_endings
INSERT INTO endings (project, job_id, finished_at, run_id, status, reason)
SELECT r.project, r.job_id, r.finished_at, r.id, r.status, r.reason
FROM json_each(?) j CROSS JOIN runs r ON r.id = j.value CROSS JOIN watched w ON w.job_id = r.job_id AND w.project = r.project
ON CONFLICT DO NOTHING

-- name: cancel_candidates
-- An open tree has no worker, but it runs. Status and end agree, unless the row was edited by hand.
SELECT
    r.id, r.finished_at IS NOT NULL AND r.status IS NOT 'scheduled', coalesce(l.run_id, e.run_id) IS NOT NULL,
    coalesce(l.cancel_at, e.cancel_at) IS NOT NULL, r.attempt
FROM runs r LEFT JOIN leases l ON l.run_id = r.id LEFT JOIN trees e ON e.run_id = r.id AND e.ended_at IS NULL
WHERE r.id IN (SELECT value FROM json_each(?))

-- name: leave_later
DELETE FROM later WHERE due_at = (SELECT due_at FROM runs WHERE id = ?1) AND run_id = ?1

-- name: leave_gated
DELETE FROM gated WHERE run_id = ?

-- name: leave_ready
DELETE FROM ready
WHERE (queue, rank, run_id) = (SELECT queue, due_at - priority * ?2, id FROM runs WHERE id = ?1)

-- name: waits_for_place
SELECT 1 FROM holds WHERE run_id = ? AND NOT is_admitted LIMIT 1

-- name: leave_later_anywhere
-- Scans the whole table, for runs that are not in the place that their rows name.
DELETE FROM later WHERE run_id IN (SELECT value FROM json_each(?))

-- name: leave_ready_anywhere
DELETE FROM ready WHERE run_id IN (SELECT value FROM json_each(?))

-- name: release_holds
DELETE FROM holds WHERE run_id = ?

-- name: end_cancelled
UPDATE runs SET status = 'cancelled', reason = 'cancelled', finished_at = max(?, coalesce(created_at, 0)) WHERE id = ?

-- name: request_cancel
UPDATE leases SET cancel_at = ? WHERE run_id = ? AND cancel_at IS NULL

-- name: request_cancel_of_trees
-- state + 1: a decision about the former state is not saved.
UPDATE trees SET cancel_at = ?, state = state + 1 WHERE run_id = ? AND cancel_at IS NULL AND ended_at IS NULL

-- name: held_leases
SELECT token, run_id, worker_id, attempt, started_at, cancel_at, is_bare FROM leases
WHERE token IN (SELECT value FROM json_each(?))

-- name: runs_of_leases
-- The revision is the current one of the job.
SELECT
    l.token, r.job_id, r.lost, r.queue, r.priority, r.due_at, r.limits IS NOT NULL, r.schedule_uid, r.parent_id,
    r.overrides, r.definition_id, (SELECT j.revision FROM jobs j WHERE j.project = r.project AND j.id = r.job_id)
FROM json_each(?) t CROSS JOIN leases l ON l.token = t.value CROSS JOIN runs r ON r.id = l.run_id

-- name: end_leases
DELETE FROM leases WHERE token IN (SELECT value FROM json_each(?))

-- name: saved_endings
SELECT status, reason FROM runs WHERE id = ?1 AND token = ?2
UNION ALL
SELECT status, reason FROM attempts WHERE run_id = ?1 AND token = ?2
UNION ALL
SELECT 'running', NULL FROM leases WHERE run_id = ?1 AND token = ?2 AND worker_id = '@executor'
LIMIT 1

-- name: hand_over_leases
UPDATE leases SET worker_id = '@executor', report_by = ?, progress = NULL, progress_text = NULL, progress_at = NULL
WHERE token = ?

-- name: save_launches
-- A start is reported once; an id replaces an earlier one.
INSERT INTO launches (run_id, executor_run_id, started_at) VALUES (?, ?, ?)
ON CONFLICT (run_id) DO UPDATE SET
    executor_run_id = coalesce(excluded.executor_run_id, executor_run_id),
    started_at = coalesce(started_at, excluded.started_at)

-- name: end_runs
UPDATE runs
SET status = ?, reason = ?, finished_at = ?, started_at = ?, attempt = ?, lost = lost + ?, exit_code = ?, error = ?,
    worker_id = ?, token = ?
WHERE id = ?

-- name: release_places
-- A run keeps the overlap key of its schedule until it ends.
DELETE FROM holds WHERE run_id = ? AND key NOT GLOB ? || '*'

-- name: add_attempts
INSERT INTO attempts (
    run_id, number, token, worker_id, started_at, finished_at, status, reason, exit_code, error
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: retry_runs
UPDATE runs SET attempt = ?, lost = lost + ?, due_at = ?, reason = ?, exit_code = ?, error = ? WHERE id = ?
