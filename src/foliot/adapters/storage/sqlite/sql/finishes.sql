-- name: held_leases
SELECT token, run_id, worker_id, cancel_at FROM leases WHERE token IN (SELECT value FROM json_each(?))

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
