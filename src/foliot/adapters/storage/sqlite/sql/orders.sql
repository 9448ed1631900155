-- name: outdated_jobs
-- Whether the job does not exist with this revision.
SELECT NOT EXISTS (SELECT 1 FROM jobs WHERE project = ? AND id = ? AND revision = ?)

-- name: key_holder
-- The run that has the key, and whether it has ended. No run: it was removed.
SELECT d.run_id, d.scope, d.expires_at, r.id IS NOT NULL, r.finished_at IS NOT NULL
FROM dedupe d LEFT JOIN runs r ON r.id = d.run_id
WHERE d.project = ? AND d.job_id = ? AND d.key = ?

-- name: take_key
INSERT INTO dedupe (project, job_id, key, run_id, scope, expires_at) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (project, job_id, key)
DO UPDATE SET run_id = excluded.run_id, scope = excluded.scope, expires_at = excluded.expires_at

-- name: mark_candidates
SELECT r.id, r.status, coalesce(l.run_id, t.run_id) IS NOT NULL, r.job_id
FROM runs r LEFT JOIN leases l ON l.run_id = r.id LEFT JOIN trees t ON t.run_id = r.id AND t.ended_at IS NULL
WHERE r.id IN (SELECT value FROM json_each(?))

-- name: take_mark
INSERT INTO dedupe (project, job_id, key, run_id, scope) VALUES (?, ?, ?, ?, 'forever')
ON CONFLICT (project, job_id, key) DO UPDATE SET run_id = excluded.run_id

-- name: substitute
-- The substitute of a marked run, if it still exists.
SELECT d.run_id FROM dedupe d JOIN runs r ON r.id = d.run_id WHERE d.project = ? AND d.job_id = ? AND d.key = ?

-- name: add_substitute
INSERT INTO runs (
    id, project, job_id, queue, priority, trigger, status, reason, due_at, created_at, finished_at, attempt, lost,
    payload, overrides
)
SELECT ?1, project, job_id, queue, priority, ?2, 'success', 'marked', ?3, ?3, ?3, 0, 0, payload, overrides
FROM runs WHERE id = ?4

-- name: reportable_runs
-- The newest run with the key that calls the application's launcher.
SELECT r.id, r.status, r.reason, r.attempt, l.worker_id, l.token, x.executor_run_id, x.started_at IS NOT NULL
FROM runs r LEFT JOIN leases l ON l.run_id = r.id LEFT JOIN launches x ON x.run_id = r.id
WHERE r.tick_key = ? AND r.job_id = 'foliot.launch' AND r.project = ?
ORDER BY r.id DESC LIMIT 1
