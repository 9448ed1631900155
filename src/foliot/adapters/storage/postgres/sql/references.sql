-- name: jobs_that_name
SELECT id FROM foliot.jobs WHERE project = $1 AND strpos(spec, $2) > 0;

-- name: workflows_that_name
SELECT DISTINCT id FROM foliot.workflows WHERE project = $1 AND strpos(spec, $2) > 0;

-- name: lock_jobs_that_name
SELECT id, spec FROM foliot.jobs WHERE project = $1 AND strpos(spec, $2) > 0 ORDER BY id FOR NO KEY UPDATE;

-- name: change_jobs
UPDATE foliot.jobs SET spec = new.spec
FROM unnest((SELECT $2::text[]), (SELECT $3::text[])) AS new (id, spec)
WHERE jobs.project = $1 AND jobs.id = new.id;

-- name: versions_that_name
SELECT id, version, spec FROM foliot.workflows WHERE project = $1 AND strpos(spec, $2) > 0
ORDER BY id, version FOR NO KEY UPDATE;

-- name: change_versions
UPDATE foliot.workflows SET spec = new.spec
FROM unnest((SELECT $2::text[]), (SELECT $3::int[]), (SELECT $4::text[])) AS new (id, version, spec)
WHERE workflows.project = $1 AND workflows.id = new.id AND workflows.version = new.version;

-- name: raise_revisions
UPDATE foliot.jobs SET revision = revision + 1, updated_at = $1
WHERE project = $2 AND id = ANY ((SELECT $3::text[])::text[]) RETURNING id, revision;

-- name: executions_that_name
-- In the order of the ids, as whoever settles them takes them.
SELECT run_id, jobs FROM foliot.executions WHERE ended_at IS NULL AND project = $1 AND strpos(jobs, $2) > 0
ORDER BY run_id FOR NO KEY UPDATE;

-- name: change_executions
-- What was decided under the old names is not saved any more.
UPDATE foliot.executions SET jobs = new.jobs, state = executions.state + 1
FROM unnest((SELECT $1::text[]), (SELECT $2::text[])) AS new (run_id, jobs)
WHERE executions.run_id = new.run_id;
