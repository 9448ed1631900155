-- name: get_runs
SELECT
    id, job_id, shown_status, reason, queue, priority, trigger, schedule_uid, schedule_id, scheduled_for, tick_key,
    payload, output, due_at, created_at, started_at, finished_at, attempt, lost, exit_code, error, worker_id, token,
    parent_id, root_id, child_key,
    (SELECT overrides FROM runs r WHERE r.id = shown_runs.id), (SELECT limits FROM runs r WHERE r.id = shown_runs.id)
FROM shown_runs WHERE id IN (SELECT value FROM json_each(?))

-- name: page_runs
-- The filters below are put between these two pieces, joined by AND. +project: all runs are of one project, so an
-- index that begins with it leads, by itself, to all of them.
SELECT
    id, job_id, shown_status, reason, queue, priority, trigger, schedule_uid, schedule_id, scheduled_for, tick_key,
    payload, output, due_at, created_at, started_at, finished_at, attempt, lost, exit_code, error, worker_id, token,
    parent_id, root_id, child_key,
    (SELECT overrides FROM runs r WHERE r.id = shown_runs.id), (SELECT limits FROM runs r WHERE r.id = shown_runs.id)
FROM shown_runs WHERE +project = :project AND id < :before

-- name: page_ids
-- The same for whoever reads the runs by their ids.
SELECT id FROM shown_runs WHERE +project = :project AND id < :before

-- name: newest_first
ORDER BY id DESC LIMIT :limit

-- name: of_job
project = :project AND job_id = :job_id

-- name: of_schedule
project = :project AND schedule_id = :schedule_id

-- name: of_root
root_id = :root_id

-- name: success
status = 'success'

-- name: rare_status
status = :status AND status <> 'scheduled' AND status <> 'success'

-- name: running
id IN (
    SELECT run_id FROM leases WHERE cancel_at IS NULL
    UNION ALL SELECT run_id FROM trees WHERE ended_at IS NULL AND cancel_at IS NULL
)

-- name: cancelling
id IN (
    SELECT run_id FROM leases WHERE cancel_at IS NOT NULL
    UNION ALL SELECT run_id FROM trees WHERE ended_at IS NULL AND cancel_at IS NOT NULL
)

-- name: scheduled
id IN (SELECT run_id FROM later UNION ALL SELECT run_id FROM gated)

-- name: queued
id IN (SELECT run_id FROM ready UNION SELECT run_id FROM holds WHERE is_admitted = 0) AND shown_status = 'queued'

-- name: attempts
SELECT run_id, number, token, worker_id, started_at, finished_at, status, reason, exit_code, error
FROM attempts WHERE run_id = ?1
UNION ALL
SELECT id, attempt, token, worker_id, started_at, finished_at, status, reason, exit_code, error
FROM runs WHERE id = ?1 AND token IS NOT NULL AND finished_at IS NOT NULL
ORDER BY number

-- name: overrides
SELECT overrides FROM runs WHERE id = ?
