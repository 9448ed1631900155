-- name: get_jobs
SELECT id, spec, revision, created_at, updated_at FROM jobs
WHERE project = ? AND id IN (SELECT value FROM json_each(?))

-- name: page_jobs
SELECT id, spec, revision, created_at, updated_at FROM jobs WHERE project = ? AND id > ? ORDER BY id LIMIT ?

-- name: put_jobs
INSERT INTO jobs (project, id, spec, revision, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (project, id)
DO UPDATE SET spec = excluded.spec, revision = excluded.revision, updated_at = excluded.updated_at

-- name: delete_jobs
DELETE FROM jobs WHERE project = ? AND id IN (SELECT value FROM json_each(?)) RETURNING id, revision
