-- name: get_schedules
SELECT
    uid, id, version, revision, opened_at, spec, enabled, paused_at, created_at, updated_at, settled_until,
    next_run_at, wake_at, last_scheduled_at, behind_since, ledger_from
FROM schedules WHERE project = ? AND deleted_at IS NULL AND id IN (SELECT value FROM json_each(?))

-- name: page_schedules
SELECT
    uid, id, version, revision, opened_at, spec, enabled, paused_at, created_at, updated_at, settled_until,
    next_run_at, wake_at, last_scheduled_at, behind_since, ledger_from
FROM schedules WHERE project = ? AND deleted_at IS NULL AND id > ? ORDER BY id LIMIT ?

-- name: page_schedules_of_job
SELECT
    uid, id, version, revision, opened_at, spec, enabled, paused_at, created_at, updated_at, settled_until,
    next_run_at, wake_at, last_scheduled_at, behind_since, ledger_from
FROM schedules WHERE project = ? AND job_id = ? AND deleted_at IS NULL AND id > ? ORDER BY id LIMIT ?

-- name: schedules_of_jobs
SELECT
    uid, id, version, revision, opened_at, spec, enabled, paused_at, created_at, updated_at, settled_until,
    next_run_at, wake_at, last_scheduled_at, behind_since, ledger_from
FROM schedules WHERE project = ? AND deleted_at IS NULL AND job_id IN (SELECT value FROM json_each(?))

-- name: next_wake
SELECT wake_at FROM schedules WHERE wake_at IS NOT NULL ORDER BY wake_at LIMIT 1

-- name: next_wake_besides
SELECT wake_at FROM schedules WHERE wake_at IS NOT NULL AND uid NOT IN (SELECT value FROM json_each(?))
ORDER BY wake_at LIMIT 1

-- name: create_schedules
-- Whatever begins at one moment has all but a few columns in common.
INSERT INTO schedules (
    uid, id, project, version, job_id, revision, opened_at, spec, enabled, created_at, updated_at, settled_until,
    next_run_at, wake_at
) VALUES (?1, ?2, ?3, 1, ?4, 1, ?5, ?6, 1, ?5, ?5, ?5, ?7, ?8)

-- name: newest_schedule
SELECT coalesce(max(rowid), 0) FROM schedules

-- name: begin_revisions
-- The first ones of the schedules that this transaction has created: rows are numbered in the order they are added.
INSERT INTO revisions (uid, number, opened_at, spec, tzdata)
SELECT uid, revision, opened_at, spec, ?2 FROM schedules WHERE rowid > ?1

-- name: change_schedules
UPDATE schedules SET
    version = ?2, job_id = ?3, revision = ?4, opened_at = ?5, spec = ?6, enabled = ?7, paused_at = ?8, updated_at = ?9,
    next_run_at = ?10, wake_at = ?11
WHERE uid = ?1

-- name: add_revisions
INSERT INTO revisions (uid, number, opened_at, spec, tzdata) VALUES (?, ?, ?, ?, ?)

-- name: revisions
SELECT uid, number, opened_at, spec FROM revisions
WHERE uid IN (SELECT value FROM json_each(?)) ORDER BY uid, number

-- name: begin_pause
-- A pause that began and ended at this very moment covered nothing.
INSERT INTO pauses (uid, since, until) VALUES (?, ?, NULL) ON CONFLICT (uid, since) DO UPDATE SET until = NULL

-- name: end_pause
-- A clock that was set back must not end a pause before it began.
UPDATE pauses SET until = max(?, since) WHERE uid = ? AND until IS NULL

-- name: pauses
SELECT uid, since, until FROM pauses WHERE uid IN (SELECT value FROM json_each(?)) ORDER BY uid, since

-- name: planned
SELECT uid, scheduled_for, fire_at, revision FROM planned
WHERE uid IN (SELECT value FROM json_each(?)) ORDER BY uid, scheduled_for

-- name: clear_planned
DELETE FROM planned WHERE uid IN (SELECT value FROM json_each(?))

-- name: delete_schedules
UPDATE schedules SET deleted_at = ?, updated_at = ?, wake_at = NULL, version = version + 1 WHERE uid = ?
