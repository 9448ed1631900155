-- name: lock_jobs
SELECT id, spec, revision, created_at, updated_at FROM foliot.jobs
WHERE project = $1 AND id = ANY ((SELECT $2::text[])::text[])
ORDER BY id FOR NO KEY UPDATE;

-- name: raise_revision_floor
INSERT INTO foliot.meta (key, value) VALUES ('revision_floor', $1::int::text)
ON CONFLICT (key) DO UPDATE SET value = greatest(meta.value::int, excluded.value::int)::text;

-- name: put_jobs
-- A new job begins with a higher revision than any that is gone: who remembers one of that id sees that it is another.
-- A moment of its creation that no calendar has was written by somebody else, and is mended.
INSERT INTO foliot.jobs (project, id, spec, revision, created_at, updated_at)
SELECT $1, new.id, new.spec, coalesce((SELECT value::int FROM foliot.meta WHERE key = 'revision_floor'), 0) + 1, $2, $2
FROM unnest($3::text[], $4::text[]) AS new (id, spec) ORDER BY new.id
ON CONFLICT (project, id) DO UPDATE
    SET spec = excluded.spec, revision = jobs.revision + 1, updated_at = excluded.updated_at,
        created_at = CASE WHEN jobs.created_at BETWEEN -62135596800000 AND 253402300799000
                          THEN jobs.created_at ELSE excluded.created_at END;

-- name: get_jobs
SELECT id, spec, revision, created_at, updated_at FROM foliot.jobs
WHERE project = $1 AND id = ANY ((SELECT $2::text[])::text[]);

-- name: page_jobs
SELECT id, spec, revision, created_at, updated_at FROM foliot.jobs WHERE project = $1 AND ($2::text IS NULL OR id > $2)
ORDER BY project, id LIMIT $3;

-- name: delete_jobs
DELETE FROM foliot.jobs WHERE project = $1 AND id = ANY ((SELECT $2::text[])::text[]) RETURNING id, revision;

-- name: schedules_of_jobs
SELECT id FROM foliot.schedules
WHERE project = $1 AND job_id = ANY ((SELECT $2::text[])::text[]) AND deleted_at IS NULL;
