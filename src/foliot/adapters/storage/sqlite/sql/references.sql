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

-- name: executions_that_name
SELECT run_id, jobs FROM executions WHERE ended_at IS NULL AND project = ? AND instr(jobs, ?) > 0

-- name: change_executions
-- What was decided under the old names is not saved any more.
UPDATE executions SET jobs = ?, state = state + 1 WHERE run_id = ?
