-- name: newest_versions
SELECT newest.id, newest.version, newest.spec, newest.created_at
FROM unnest((SELECT $2::text[])) AS asked (id), LATERAL (
    SELECT id, version, spec, created_at FROM foliot.workflows
    WHERE workflows.project = $1 AND workflows.id = asked.id AND workflows.deleted_at IS NULL
    ORDER BY project DESC, id DESC, version DESC LIMIT 1) AS newest;

-- name: last_numbers
SELECT id, max(version) FROM foliot.workflows
WHERE project = $1 AND id = ANY ((SELECT $2::text[])::text[]) GROUP BY id;

-- name: living_versions
SELECT id, version, spec, created_at FROM foliot.workflows
WHERE project = $1 AND id = ANY ((SELECT $2::text[])::text[]) AND deleted_at IS NULL ORDER BY id, version;

-- name: delete_versions
UPDATE foliot.workflows SET deleted_at = $3
WHERE project = $1 AND id = ANY ((SELECT $2::text[])::text[]) AND deleted_at IS NULL;

-- name: jobs_under
-- What is named as these workflows and their steps are; of `a` and `a.b` the longer has the better right to `a.b.c`.
SELECT jobs.id FROM unnest((SELECT $2::text[])) AS named (id)
JOIN foliot.jobs ON jobs.project = $1 AND (jobs.id = named.id OR starts_with(jobs.id, named.id || '.'))
WHERE NOT EXISTS (
    SELECT FROM foliot.workflows longer
    WHERE longer.project = $1 AND longer.deleted_at IS NULL AND length(longer.id) > length(named.id)
      AND (jobs.id = longer.id OR starts_with(jobs.id, longer.id || '.')));

-- name: unstarted_apart
-- Runs of jobs that have not started, without the children of trees, which go on.
SELECT run.id FROM foliot.runs run
WHERE run.project = $1 AND run.job_id = ANY ((SELECT $2::text[])::text[]) AND run.parent_id IS NULL
  AND run.id = ANY (ARRAY(
    SELECT run_id FROM foliot.later UNION ALL SELECT run_id FROM foliot.ready UNION ALL SELECT run_id FROM foliot.gated
    UNION ALL SELECT run_id FROM foliot.holds WHERE NOT is_admitted));

-- name: named_versions
SELECT known.id, known.version, known.spec, known.created_at
FROM unnest((SELECT $2::text[]), (SELECT $3::int[])) AS asked (id, version)
JOIN foliot.workflows known ON known.project = $1 AND known.id = asked.id AND known.version = asked.version;

-- name: page_workflows
-- Leaping through the index from workflow to workflow.
WITH RECURSIVE listed AS (
    (SELECT id, 1 AS nth FROM foliot.workflows WHERE project = $1 AND id > $2 AND deleted_at IS NULL
     ORDER BY project, id LIMIT 1)
    UNION ALL
    SELECT following.id, listed.nth + 1 FROM listed, LATERAL (
        SELECT id FROM foliot.workflows WHERE project = $1 AND workflows.id > listed.id AND deleted_at IS NULL
        ORDER BY project, id LIMIT 1) AS following
    WHERE listed.nth < $3
)
SELECT id FROM listed;

-- name: add_versions
-- Of two that store the next version at once, the second finds it taken, and looks again.
INSERT INTO foliot.workflows (project, created_at, id, version, spec)
SELECT $1, $2, new.* FROM unnest($3::text[], $4::int[], $5::text[]) AS new (id, version, spec) ORDER BY new.id
ON CONFLICT (project, id, version) DO NOTHING RETURNING id;

-- name: pause_step
INSERT INTO foliot.paused_steps (project, workflow_id, step) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING;

-- name: resume_step
DELETE FROM foliot.paused_steps WHERE project = $1 AND workflow_id = $2 AND step = $3;

-- name: paused_steps
SELECT step FROM foliot.paused_steps WHERE project = $1 AND workflow_id = $2;
