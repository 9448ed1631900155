-- name: lock_jobs
SELECT id, spec, revision, created_at, updated_at FROM foliot.jobs WHERE project = $1 AND id = ANY ($2::text[])
ORDER BY id FOR NO KEY UPDATE;

-- name: put_jobs
INSERT INTO foliot.jobs (project, id, spec, revision, created_at, updated_at)
SELECT $1, new.id, new.spec, 1, $2, $2 FROM unnest($3::text[], $4::text[]) AS new (id, spec) ORDER BY new.id
ON CONFLICT (project, id) DO UPDATE
    SET spec = excluded.spec, revision = jobs.revision + 1, updated_at = excluded.updated_at;

-- name: get_jobs
SELECT id, spec, revision, created_at, updated_at FROM foliot.jobs WHERE project = $1 AND id = ANY ($2::text[]);

-- name: page_jobs
SELECT id, spec, revision, created_at, updated_at FROM foliot.jobs WHERE project = $1 AND ($2::text IS NULL OR id > $2)
ORDER BY project, id LIMIT $3;

-- name: delete_jobs
DELETE FROM foliot.jobs WHERE project = $1 AND id = ANY ($2::text[]) RETURNING id, revision;

-- name: schedules_of_jobs
SELECT id FROM foliot.schedules WHERE project = $1 AND job_id = ANY ($2::text[]) AND deleted_at IS NULL;
