-- name: held_leases
SELECT token, run_id, worker_id, attempt, started_at, cancel_at, is_bare FROM leases
WHERE token IN (SELECT value FROM json_each(?))

-- name: leased_runs
-- What is stored about leased runs; the revision is that of the job now.
SELECT
    l.token, r.job_id, r.lost, r.queue, r.priority, r.due_at, r.limits IS NOT NULL, r.schedule_uid, r.parent_id,
    r.overrides, r.definition_id, (SELECT j.revision FROM jobs j WHERE j.project = r.project AND j.id = r.job_id)
FROM json_each(?) t CROSS JOIN leases l ON l.token = t.value CROSS JOIN runs r ON r.id = l.run_id

-- name: end_leases
DELETE FROM leases WHERE token IN (SELECT value FROM json_each(?))

-- name: end_runs
UPDATE runs
SET status = ?, reason = ?, finished_at = ?, started_at = ?, attempt = ?, lost = lost + ?, exit_code = ?, error = ?,
    worker_id = ?, token = ?
WHERE id = ?

-- name: add_outputs
INSERT INTO outputs (run_id, body) VALUES (?, ?)

-- name: retry_runs
UPDATE runs SET attempt = ?, lost = lost + ?, due_at = ?, reason = ?, exit_code = ?, error = ? WHERE id = ?

-- name: add_attempts
INSERT INTO attempts (
    run_id, number, token, worker_id, started_at, finished_at, status, reason, exit_code, error
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: saved_ending
SELECT status, reason FROM runs WHERE id = ?1 AND token = ?2
UNION ALL
SELECT status, reason FROM attempts WHERE run_id = ?1 AND token = ?2
LIMIT 1
