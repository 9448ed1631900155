-- name: due_runs
-- is_waiting: an earlier run of its schedule has not ended.
SELECT
    r.id, r.queue, r.priority, l.due_at, r.limits IS NOT NULL,
    r.schedule_uid IS NOT NULL AND EXISTS (SELECT 1 FROM holds h WHERE h.run_id = r.id AND h.is_admitted = 0)
FROM later l JOIN runs r ON r.id = l.run_id
WHERE l.due_at <= ? ORDER BY l.due_at, l.run_id LIMIT ?

-- name: release_until
DELETE FROM later WHERE (due_at, run_id) <= (?, ?)

-- name: passed_runs
-- is_waiting: an earlier run of its schedule has not ended.
SELECT
    r.id, r.queue, r.priority, r.due_at, r.limits IS NOT NULL,
    r.schedule_uid IS NOT NULL AND EXISTS (SELECT 1 FROM holds h WHERE h.run_id = r.id AND h.is_admitted = 0)
FROM runs r WHERE r.id IN (SELECT value FROM json_each(?))

-- name: next_due
SELECT due_at FROM later ORDER BY due_at LIMIT 1

-- name: ready_runs
SELECT run_id FROM ready WHERE queue = ? ORDER BY rank, run_id LIMIT ?

-- name: all_workers
SELECT
    w.id, w.name, w.queues, w.slots, w.registered_at, w.seen_at, w.boot_id = ? AND w.deadline > ?,
    (SELECT count(*) FROM leases l WHERE l.worker_id = w.id), w.is_draining, w.facts, w.orders
FROM workers w ORDER BY w.registered_at, w.id

-- name: gated_runs
-- A step is due when its execution starts it, whatever moment the execution was planned for.
SELECT
    g.run_id, r.job_id, iif(r.parent_id IS NULL, coalesce(r.scheduled_for, r.due_at), r.due_at), g.due_at,
    (SELECT j.revision FROM jobs j WHERE j.project = r.project AND j.id = r.job_id), r.definition_id
FROM gated g CROSS JOIN runs r ON r.id = g.run_id
WHERE g.due_at <= ? ORDER BY g.due_at, g.run_id LIMIT ?

-- name: add_decisions
INSERT INTO decisions (run_id, body) VALUES (?, ?) ON CONFLICT (run_id) DO UPDATE SET body = excluded.body

-- name: postpone
UPDATE gated SET due_at = ? WHERE run_id = ?

-- name: latest_ending
SELECT run_id, status, finished_at FROM endings
WHERE project = ? AND job_id = ? AND finished_at > ? AND finished_at <= ?
ORDER BY finished_at DESC, run_id DESC LIMIT 1

-- name: is_expected
-- A run that is due, or has begun and will be retried. Open runs are among the newest.
SELECT EXISTS (
    SELECT 1 FROM (
        SELECT r.finished_at, r.due_at, r.attempt FROM runs r
        WHERE r.project = ?1 AND r.job_id = ?2 ORDER BY r.id DESC LIMIT ?4
    ) WHERE finished_at IS NULL AND (due_at <= ?3 OR attempt > 0)
)

-- name: latest_of_status
SELECT run_id, status, finished_at FROM endings
WHERE project = ? AND job_id = ? AND status = ? AND finished_at <= ?
ORDER BY finished_at DESC, run_id DESC LIMIT 1

-- name: latest_of_reason
SELECT run_id, status, finished_at FROM endings
WHERE project = ? AND job_id = ? AND status = ? AND reason = ? AND finished_at <= ?
ORDER BY finished_at DESC, run_id DESC LIMIT 1

-- name: decisions
SELECT d.run_id, d.body FROM decisions d WHERE d.run_id IN (SELECT value FROM json_each(?))
