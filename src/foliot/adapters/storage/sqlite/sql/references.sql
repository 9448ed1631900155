-- name: jobs_that_name
SELECT id, spec FROM jobs WHERE project = ? AND instr(spec, ?) > 0

-- name: change_jobs
UPDATE jobs SET spec = ? WHERE project = ? AND id = ?

-- name: versions_that_name
SELECT id, version, spec FROM workflows WHERE project = ? AND instr(spec, ?) > 0

-- name: change_versions
UPDATE workflows SET spec = ? WHERE project = ? AND id = ? AND version = ?

-- name: raise_revisions
UPDATE jobs SET revision = revision + 1, updated_at = ? WHERE project = ? AND id IN (SELECT value FROM json_each(?))
RETURNING id, revision
