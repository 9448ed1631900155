-- name: newest_versions
SELECT w.id, w.version, w.spec, w.created_at FROM json_each(?2) j CROSS JOIN workflows w
ON w.project = ?1 AND w.id = j.value
    AND w.version = (
        SELECT max(n.version) FROM workflows n WHERE n.project = ?1 AND n.id = j.value AND n.deleted_at IS NULL)

-- name: last_numbers
SELECT id, max(version) FROM workflows WHERE project = ? AND id IN (SELECT value FROM json_each(?)) GROUP BY id

-- name: living_versions
SELECT id, version, spec, created_at FROM workflows
WHERE project = ? AND id IN (SELECT value FROM json_each(?)) AND deleted_at IS NULL ORDER BY id, version

-- name: delete_versions
UPDATE workflows SET deleted_at = ?
WHERE project = ? AND id IN (SELECT value FROM json_each(?)) AND deleted_at IS NULL

-- name: jobs_under
-- What is named as these workflows and their steps are; of `a` and `a.b` the longer has the better right to `a.b.c`. What
-- begins with a name and a dot comes before that name and a slash.
SELECT j.id FROM json_each(?2) named CROSS JOIN jobs j
ON j.project = ?1 AND j.id >= named.value AND j.id < named.value || '/'
WHERE (j.id = named.value OR j.id >= named.value || '.') AND NOT EXISTS (
    SELECT 1 FROM workflows w
    WHERE w.project = ?1 AND w.id >= named.value || '.' AND w.id <= j.id AND w.deleted_at IS NULL
        AND (j.id = w.id OR substr(j.id, 1, length(w.id) + 1) = w.id || '.'))

-- name: unstarted_apart
-- Runs of jobs that have not started, without those that are parts of something that goes on.
SELECT r.id FROM (
    SELECT run_id FROM later UNION SELECT run_id FROM ready UNION SELECT run_id FROM holds
    UNION SELECT run_id FROM gated
) AS active JOIN runs r ON r.id = active.run_id
WHERE r.project = ? AND r.job_id IN (SELECT value FROM json_each(?)) AND r.root_id IS NULL
    AND NOT EXISTS (SELECT 1 FROM leases l WHERE l.run_id = r.id)
    AND NOT EXISTS (SELECT 1 FROM trees t WHERE t.run_id = r.id AND t.ended_at IS NULL)

-- name: named_versions
SELECT w.id, w.version, w.spec, w.created_at
FROM json_each(?2) j JOIN json_each(?3) v ON v.key = j.key CROSS JOIN workflows w
ON w.project = ?1 AND w.id = j.value AND w.version = v.value

-- name: page_workflows
SELECT w.id FROM workflows w WHERE w.project = ? AND w.id > ? AND w.deleted_at IS NULL
GROUP BY w.id ORDER BY w.id LIMIT ?

-- name: add_versions
INSERT INTO workflows (project, id, version, spec, created_at) VALUES (?, ?, ?, ?, ?)

-- name: pause_step
INSERT INTO paused_steps (project, workflow_id, step) VALUES (?, ?, ?) ON CONFLICT DO NOTHING

-- name: resume_step
DELETE FROM paused_steps WHERE project = ? AND workflow_id = ? AND step = ?

-- name: paused_steps
SELECT step FROM paused_steps WHERE project = ? AND workflow_id = ?
