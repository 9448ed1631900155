-- name: execution_that_names
-- Workflow, version or null, step or null, job.
SELECT named.job_id, trees.run_id, trees.job_id
FROM unnest((SELECT $2::text[]), (SELECT $3::int[]), (SELECT $4::text[]), (SELECT $5::text[]))
     AS named (workflow_id, version, step, job_id)
JOIN foliot.trees ON trees.project = $1 AND trees.job_id = named.workflow_id AND ended_at IS NULL
WHERE (named.version IS NULL OR trees.version = named.version)
  AND (named.step IS NULL
       OR (SELECT true FROM foliot.steps WHERE steps.run_id = trees.run_id AND steps.step = named.step))
ORDER BY trees.run_id LIMIT 1;

-- name: copies_that_name
SELECT tree.run_id, tree.job_id, body.body
FROM foliot.trees tree JOIN foliot.tree_bodies body ON body.run_id = tree.run_id
WHERE tree.ended_at IS NULL AND tree.project = $1 AND strpos(body.body, $2) > 0;

-- name: opening_that_names
-- A leased run of a workflow is an execution that is about to be opened. A job may have the id of a deleted workflow.
SELECT run.id, run.job_id FROM foliot.leases JOIN foliot.runs run ON run.id = leases.run_id
WHERE run.project = $1 AND run.job_id = ANY ((SELECT $2::text[])::text[])
  AND (SELECT true FROM foliot.workflows WHERE workflows.project = $1 AND workflows.id = run.job_id
       AND (deleted_at IS NULL
            OR (SELECT true FROM foliot.jobs WHERE jobs.project = $1 AND jobs.id = run.job_id) IS NULL) LIMIT 1)
LIMIT 1;

-- name: gate_that_names
SELECT run.id, run.job_id FROM foliot.gated JOIN foliot.runs run ON run.id = gated.run_id
WHERE run.project = $1 AND run.job_id = ANY ((SELECT $2::text[])::text[]) LIMIT 1;
