-- name: add_gated
INSERT INTO foliot.gated (due_at, run_id)
SELECT * FROM unnest($1::bigint[], $2::text[]);

-- name: lock_jobs_of_gated
-- Locked against being renamed, and against the renaming of jobs that their gates name. The gate of a child is in its
-- tree's definition.
SELECT id FROM foliot.jobs
WHERE (project, id) IN (
    SELECT project, job_id FROM foliot.runs WHERE runs.id = ANY ((SELECT $1::text[])::text[]) AND parent_id IS NULL)
ORDER BY id FOR SHARE;

-- name: gated_runs
-- A child is due when its tree lets it start, whenever the tree was planned for.
SELECT run.id, run.job_id,
       CASE WHEN run.parent_id IS NULL THEN coalesce(run.scheduled_for, run.due_at) ELSE run.due_at END,
       (SELECT due_at FROM foliot.gated WHERE gated.run_id = run.id) AS waits_until,
       (SELECT revision FROM foliot.jobs WHERE jobs.project = run.project AND jobs.id = run.job_id), run.definition_id
FROM foliot.runs run WHERE run.id = ANY (ARRAY(
    SELECT run_id FROM foliot.gated WHERE due_at <= $1 ORDER BY due_at, run_id LIMIT $2))
ORDER BY waits_until, run.id;

-- name: cancelled_gated
DELETE FROM foliot.gated WHERE run_id = ANY ((SELECT $1::text[])::text[]) RETURNING run_id;

-- name: postpone
UPDATE foliot.gated SET due_at = new.due_at
FROM unnest((SELECT $1::text[]), (SELECT $2::bigint[])) AS new (run_id, due_at)
WHERE gated.run_id = new.run_id RETURNING gated.run_id;

-- name: passed_runs
SELECT run.id, run.queue, run.priority, run.due_at, run.limits FROM foliot.runs run
WHERE run.id = ANY ((SELECT $1::text[])::text[])
  AND (SELECT true FROM foliot.holds WHERE holds.run_id = run.id AND NOT holds.is_admitted LIMIT 1) IS NULL;

-- name: end_unstarted
UPDATE foliot.runs SET
    status = ended.status, trouble = nullif(ended.status, 'success'), finished_at = greatest($1, runs.created_at),
    reason = ended.reason, exit_code = ended.exit_code, error = ended.error
FROM unnest((SELECT $2::text[]), (SELECT $3::text[]), (SELECT $4::text[]), (SELECT $5::int[]), (SELECT $6::text[]))
     AS ended (id, status, reason, exit_code, error)
WHERE runs.id = ended.id
RETURNING runs.id, runs.attempt;

-- name: add_decisions
INSERT INTO foliot.decisions (run_id, body) SELECT * FROM unnest($1::text[], $2::text[])
ON CONFLICT (run_id) DO UPDATE SET body = excluded.body;
