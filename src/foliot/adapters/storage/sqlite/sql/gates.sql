-- name: gated_runs
-- A step is due when those before it let it start, whenever its execution was planned for.
SELECT
    g.run_id, r.job_id, iif(r.parent_id IS NULL, coalesce(r.scheduled_for, r.due_at), r.due_at), g.due_at,
    (SELECT j.revision FROM jobs j WHERE j.project = r.project AND j.id = r.job_id), r.definition_id
FROM gated g CROSS JOIN runs r ON r.id = g.run_id
WHERE g.due_at <= ? ORDER BY g.due_at, g.run_id LIMIT ?

-- name: postpone
UPDATE gated SET due_at = ? WHERE run_id = ?

-- name: passed_runs
-- is_waiting: an earlier run of its schedule is still under way.
SELECT
    r.id, r.queue, r.priority, r.due_at, r.limits IS NOT NULL,
    r.schedule_uid IS NOT NULL AND EXISTS (SELECT 1 FROM holds h WHERE h.run_id = r.id AND h.is_admitted = 0)
FROM runs r WHERE r.id IN (SELECT value FROM json_each(?))

-- name: end_unstarted
UPDATE runs SET status = ?, reason = ?, finished_at = max(?, coalesce(created_at, 0)), exit_code = ?, error = ?
WHERE id = ?
RETURNING attempt

-- name: add_decisions
INSERT INTO decisions (run_id, body) VALUES (?, ?) ON CONFLICT (run_id) DO UPDATE SET body = excluded.body
