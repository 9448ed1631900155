-- name: outdated_jobs
-- Those of the given jobs, each with a revision, that do not exist with this revision.
SELECT made.job_id, made.revision FROM unnest($2::text[], $3::bigint[]) AS made (job_id, revision)
WHERE NOT EXISTS (
    SELECT FROM foliot.jobs AS job WHERE job.project = $1 AND job.id = made.job_id AND job.revision = made.revision
);

-- name: create_plain_runs
-- As `create_runs`, for plain runs. It fails if one of them exists: ids are new, and a look-up for each of them would
-- take a third more time. It does nothing if one of the jobs ($23, with the revisions $24) is outdated.
WITH outdated AS MATERIALIZED (
    SELECT FROM unnest($23::text[], $24::bigint[]) AS made (job_id, revision)
    WHERE NOT EXISTS (
        SELECT FROM foliot.jobs AS job WHERE job.project = $1 AND job.id = made.job_id AND job.revision = made.revision
    )
),
clock AS MATERIALIZED (SELECT coalesce($2::bigint, foliot.now_ms()) AS now),
new AS MATERIALIZED (
    SELECT given.id, coalesce(given.job_id, $15) AS job_id, coalesce(given.queue, $16) AS queue,
           coalesce(given.priority, $17) AS priority, coalesce(given.trigger, $18) AS trigger,
           coalesce(given.due_at, $19) AS due_at, coalesce(given.payload, $20) AS payload,
           coalesce(given.overrides, $21) AS overrides, coalesce(given.scheduled_for, $22) AS scheduled_for
    FROM unnest($6::text[], $7::text[], $8::text[], $9::int[], $10::text[], $11::bigint[], $12::text[], $13::text[],
                $14::bigint[])
         AS given (id, job_id, queue, priority, trigger, due_at, payload, overrides, scheduled_for)
    WHERE NOT EXISTS (SELECT FROM outdated)
),
stored AS (
    INSERT INTO foliot.runs (id, project, job_id, queue, priority, trigger, status, due_at, created_at, payload,
                             overrides, scheduled_for)
    SELECT id, $1, job_id, queue, priority, trigger, 'scheduled', due_at, (SELECT now FROM clock), payload, overrides,
           scheduled_for
    FROM new
),
placed AS (
    INSERT INTO foliot.ready (queue, rank, run_id)
    SELECT queue, due_at - priority * $3::bigint, id FROM new WHERE due_at <= (SELECT now FROM clock)
),
delayed AS (
    INSERT INTO foliot.later (due_at, run_id) SELECT due_at, id FROM new WHERE due_at > (SELECT now FROM clock)
),
noted AS (
    INSERT INTO foliot.events (seq, at, kind, items)
    SELECT foliot.event_seq(pg_current_xact_id(), 0), (SELECT now FROM clock), $4, $5
    WHERE NOT EXISTS (SELECT FROM outdated)
)
SELECT now, EXISTS (SELECT FROM outdated) AS is_outdated FROM clock;

-- name: end_marked
UPDATE foliot.runs SET
    status = 'success', reason = 'marked', exit_code = NULL, error = NULL,
    finished_at = greatest($2, created_at)
WHERE id = ANY ((SELECT $1::text[])::text[])
RETURNING id, attempt;

-- name: take_mark
-- If two transactions mark the same run, the second one waits here for the first.
INSERT INTO foliot.dedupe (project, job_id, key, run_id, scope)
SELECT project, job_id, $2, $3, 'forever' FROM foliot.runs WHERE id = $1
ON CONFLICT (project, job_id, key) DO NOTHING
RETURNING run_id;

-- name: substitute
-- A separate statement, so that it reads the commit that `take_mark` waited for.
SELECT dedupe.run_id, (SELECT true FROM foliot.runs WHERE runs.id = dedupe.run_id) AS is_kept
FROM foliot.runs run JOIN foliot.dedupe
    ON dedupe.project = run.project AND dedupe.job_id = run.job_id AND dedupe.key = $2
WHERE run.id = $1 FOR UPDATE OF dedupe;

-- name: retake_mark
UPDATE foliot.dedupe SET run_id = $3 FROM foliot.runs run
WHERE run.id = $1 AND dedupe.project = run.project AND dedupe.job_id = run.job_id AND dedupe.key = $2;

-- name: add_substitute
INSERT INTO foliot.runs (id, project, job_id, queue, priority, trigger, status, reason, due_at, created_at,
                         finished_at, payload, overrides)
SELECT $2, project, job_id, queue, priority, $3, 'success', 'marked', $4, $4, $4, payload, overrides
FROM foliot.runs WHERE id = $1
RETURNING job_id;

-- name: reportable_runs
-- The newest run with the key that calls the application's launcher.
SELECT run.id, run.status, run.reason, run.attempt, lease.worker_id, lease.token, launch.executor_run_id,
       launch.started_at IS NOT NULL
FROM foliot.runs run
LEFT JOIN foliot.leases lease ON lease.run_id = run.id
LEFT JOIN foliot.launches launch ON launch.run_id = run.id
WHERE run.tick_key = $1 AND run.job_id = 'foliot.launch' AND run.project = $2
ORDER BY run.id DESC LIMIT 1;
