-- name: newest_versions
SELECT w.id, w.version, w.spec, w.created_at FROM json_each(?2) j CROSS JOIN workflows w
ON w.project = ?1 AND w.id = j.value
    AND w.version = (SELECT max(n.version) FROM workflows n WHERE n.project = ?1 AND n.id = j.value)

-- name: named_versions
SELECT w.id, w.version, w.spec, w.created_at FROM json_each(?2) j CROSS JOIN workflows w
ON w.project = ?1 AND w.id = j.value ->> 0 AND w.version = j.value ->> 1

-- name: page_workflows
SELECT w.id FROM workflows w WHERE w.project = ? AND w.id > ? GROUP BY w.id ORDER BY w.id LIMIT ?

-- name: add_versions
INSERT INTO workflows (project, id, version, spec, created_at) VALUES (?, ?, ?, ?, ?)

-- name: pause_step
INSERT INTO paused_steps (project, workflow_id, step) VALUES (?, ?, ?) ON CONFLICT DO NOTHING

-- name: resume_step
DELETE FROM paused_steps WHERE project = ? AND workflow_id = ? AND step = ?

-- name: paused_steps
SELECT step FROM paused_steps WHERE project = ? AND workflow_id = ?
