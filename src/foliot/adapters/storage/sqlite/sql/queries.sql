-- name: latest_runs
-- One look into the index for each job.
SELECT (SELECT r.id FROM runs r WHERE r.project = ?1 AND r.job_id = j.value ORDER BY r.id DESC LIMIT 1) AS run_id
FROM json_each(?2) j WHERE run_id IS NOT NULL

-- name: depth
-- Only what is not over is counted, and of that no more than the limit.
SELECT
    (SELECT count(*) FROM (
        SELECT 1 FROM leases UNION ALL SELECT 1 FROM trees WHERE ended_at IS NULL LIMIT :limit)),
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

-- name: list_schedules
SELECT
    uid, id, version, revision, opened_at, spec, enabled, paused_at, created_at, updated_at, settled_until,
    next_run_at, wake_at, last_scheduled_at, behind_since, ledger_from
FROM schedules WHERE project = ? AND deleted_at IS NULL AND id > ? ORDER BY id LIMIT ?

-- name: list_schedules_of_job
SELECT
    uid, id, version, revision, opened_at, spec, enabled, paused_at, created_at, updated_at, settled_until,
    next_run_at, wake_at, last_scheduled_at, behind_since, ledger_from
FROM schedules WHERE project = ? AND job_id = ? AND deleted_at IS NULL AND id > ? ORDER BY id LIMIT ?

-- name: schedules_of_targets
SELECT
    s.uid, s.id, s.version, s.revision, s.opened_at, s.spec, s.enabled, s.paused_at, s.created_at, s.updated_at,
    s.settled_until, s.next_run_at, s.wake_at, s.last_scheduled_at, s.behind_since, s.ledger_from
FROM json_each(?2) j CROSS JOIN schedules s ON s.project = ?1 AND s.job_id = j.value
WHERE s.deleted_at IS NULL ORDER BY s.id

-- name: runs_of_steps
-- The stored status: of a run that is not over it says only that.
SELECT s.step, r.status, r.reason, r.error FROM steps s CROSS JOIN runs r ON r.id = s.step_run_id WHERE s.run_id = ?

-- name: awaited_limits
SELECT h.run_id, h.key, l.capacity
FROM json_each(?) j CROSS JOIN holds h ON h.run_id = j.value LEFT JOIN limits l ON l.key = h.key
WHERE h.is_admitted = 0 ORDER BY h.run_id, h.key

-- name: limit_holders
-- The first few of each key, in the order in which they got their places.
SELECT j.value, k.value FROM json_each(?1) j, json_each((
    SELECT json_group_array(first.run_id) FROM (
        SELECT h.run_id FROM holds h WHERE h.key = j.value AND h.is_admitted = 1
        ORDER BY h.rank, h.run_id LIMIT ?2) AS first)) k

-- name: latest_ticks
SELECT scheduled_for, until, count, outcome, reason, fire_at, revision, run_id, into_tick, key, decided_at FROM ticks
WHERE uid = ? ORDER BY scheduled_for DESC LIMIT ?
