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
