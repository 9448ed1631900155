-- name: get_jobs
SELECT id, spec, revision, created_at, updated_at FROM jobs
WHERE project = ? AND id IN (SELECT value FROM json_each(?))

-- name: get_job
SELECT id, spec, revision, created_at, updated_at FROM jobs WHERE project = ? AND id = ?

-- name: page_jobs
SELECT id, spec, revision, created_at, updated_at FROM jobs WHERE project = ? AND id > ? ORDER BY id LIMIT ?

-- name: put_jobs
INSERT INTO jobs (project, id, spec, revision, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (project, id)
DO UPDATE SET
    spec = excluded.spec, revision = excluded.revision, created_at = excluded.created_at, updated_at = excluded.updated_at

-- name: revision_floor
SELECT value FROM meta WHERE key = 'revision_floor'

-- name: raise_revision_floor
INSERT INTO meta (key, value) VALUES ('revision_floor', ?)
ON CONFLICT (key) DO UPDATE SET value = max(value, excluded.value)

-- name: delete_jobs
DELETE FROM jobs WHERE project = ? AND id IN (SELECT value FROM json_each(?)) RETURNING id, revision
