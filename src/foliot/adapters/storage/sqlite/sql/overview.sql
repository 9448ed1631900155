-- name: latest_runs
-- One look into the index for each job.
SELECT (SELECT r.id FROM runs r WHERE r.project = ?1 AND r.job_id = j.value ORDER BY r.id DESC LIMIT 1) AS run_id
FROM json_each(?2) j WHERE run_id IS NOT NULL

-- name: overrides
SELECT overrides FROM runs WHERE id = ?

-- name: depth
-- Only what is not over is counted, and of that no more than the limit.
SELECT
    (SELECT count(*) FROM (
        SELECT 1 FROM leases UNION ALL SELECT 1 FROM executions WHERE ended_at IS NULL LIMIT :limit)),
    (SELECT count(*) FROM (SELECT 1 FROM ready LIMIT :limit))
        + (SELECT count(*) FROM (
            SELECT DISTINCT h.run_id FROM holds h
            WHERE h.is_admitted = 0 AND NOT EXISTS (
                SELECT 1 FROM runs r JOIN later l ON l.due_at = r.due_at AND l.run_id = r.id WHERE r.id = h.run_id)
                AND NOT EXISTS (SELECT 1 FROM gated g WHERE g.run_id = h.run_id)
            LIMIT :limit)),
    (SELECT count(*) FROM (SELECT 1 FROM later UNION ALL SELECT 1 FROM gated LIMIT :limit))

-- name: upcoming_schedules
SELECT
    uid, id, version, revision, opened_at, spec, enabled, paused_at, created_at, updated_at, settled_until,
    next_run_at, wake_at, last_scheduled_at, behind_since, ledger_from
FROM schedules WHERE wake_at IS NOT NULL ORDER BY wake_at LIMIT ?
