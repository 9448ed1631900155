-- Arrays are unnested through a sub-select, `unnest((SELECT $1::text[]))`: the planner then expects ten rows, whatever
-- the batch holds, and looks each one up by its key. When it sees the true length it may read the whole table instead.

-- name: create_runs
-- Where all runs of a batch say the same, it is sent once, beside an empty array. With $22 those that may start at once
-- are ready at once, with a rank as `domain.run.run.rank` gives it ($23 is the worth of a step of priority).
WITH stored AS (
    INSERT INTO foliot.runs (id, project, job_id, queue, priority, trigger, status, due_at, created_at,
                             payload, overrides, limits, schedule_uid, schedule_id, scheduled_for, tick_key,
                             parent_id, root_id, child_key, definition_id)
    SELECT new.id, $1, coalesce(new.job_id, $16), coalesce(new.queue, $17), coalesce(new.priority, $18),
           coalesce(new.trigger, $19), 'scheduled', coalesce(new.due_at, $20), $2, coalesce(new.payload, $21),
           new.overrides, new.limits, new.schedule_uid, new.schedule_id, new.scheduled_for, new.tick_key,
           new.parent_id, new.root_id, new.child_key, new.definition_id
    FROM unnest($3::text[], $4::text[], $5::text[], $6::int[], $7::text[], $8::bigint[], $9::text[], $10::text[],
                $11::text[], $12::text[], $13::text[], $14::bigint[], $15::text[], $24::text[], $25::text[],
                $26::text[], $27::text[])
         AS new (id, job_id, queue, priority, trigger, due_at, payload, overrides,
                 limits, schedule_uid, schedule_id, scheduled_for, tick_key, parent_id, root_id, child_key,
                 definition_id)
    ON CONFLICT (id) DO NOTHING
    RETURNING id, queue, priority, due_at, limits
),
placed AS (
    INSERT INTO foliot.ready (queue, rank, run_id)
    SELECT queue, due_at - priority * $23::bigint, id FROM stored WHERE $22 AND due_at <= $2 AND limits IS NULL
)
SELECT id FROM stored;

-- name: create_plain_runs
-- As above, for runs that ask for nothing: new ones, or the statement fails. Whoever gave the ids made them up just
-- now, and looking for each of them first would cost a third more.
WITH clock AS MATERIALIZED (SELECT coalesce($2::bigint, foliot.now_ms()) AS now),
new AS MATERIALIZED (
    SELECT given.id, coalesce(given.job_id, $15) AS job_id, coalesce(given.queue, $16) AS queue,
           coalesce(given.priority, $17) AS priority, coalesce(given.trigger, $18) AS trigger,
           coalesce(given.due_at, $19) AS due_at, coalesce(given.payload, $20) AS payload,
           coalesce(given.overrides, $21) AS overrides, coalesce(given.scheduled_for, $22) AS scheduled_for
    FROM unnest($6::text[], $7::text[], $8::text[], $9::int[], $10::text[], $11::bigint[], $12::text[], $13::text[],
                $14::bigint[])
         AS given (id, job_id, queue, priority, trigger, due_at, payload, overrides, scheduled_for)
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
    VALUES (foliot.event_seq(pg_current_xact_id(), 0), (SELECT now FROM clock), $4, $5)
)
SELECT now FROM clock;

-- name: add_ready
INSERT INTO foliot.ready (queue, rank, run_id)
SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[]);

-- name: add_later
INSERT INTO foliot.later (due_at, run_id)
SELECT * FROM unnest($1::bigint[], $2::text[]);

-- name: take_due
-- ARRAY(...) is evaluated once: as a plain IN (... LIMIT n) the planner may run it again and take more than n.
WITH taken AS (
    DELETE FROM foliot.later WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM foliot.later WHERE due_at <= $1 ORDER BY due_at, run_id LIMIT $2 FOR UPDATE SKIP LOCKED))
    RETURNING run_id
)
SELECT run.id, run.queue, run.priority, run.due_at, run.limits,
       run.schedule_uid IS NOT NULL AND EXISTS (
           SELECT 1 FROM foliot.holds WHERE holds.run_id = run.id AND NOT holds.is_admitted) AS is_waiting
FROM foliot.runs run WHERE run.id = ANY (ARRAY(SELECT run_id FROM taken));

-- name: next_due
SELECT due_at FROM foliot.later ORDER BY due_at LIMIT 1;

-- name: ready_runs
SELECT run_id FROM foliot.ready WHERE queue = $1 ORDER BY rank, run_id LIMIT $2;

-- name: cancelled_later
-- Where a run stands while it has not started. Who deletes its place owns it.
DELETE FROM foliot.later WHERE run_id = ANY ((SELECT $1::text[])::text[]) RETURNING run_id;

-- name: cancelled_ready
DELETE FROM foliot.ready WHERE run_id = ANY ((SELECT $1::text[])::text[]) RETURNING run_id;

-- name: cancelled_waiting
DELETE FROM foliot.holds WHERE run_id = ANY ((SELECT $1::text[])::text[]) AND NOT is_admitted RETURNING run_id, key;

-- name: request_cancel
UPDATE foliot.leases SET cancel_at = $2 WHERE run_id = ANY ((SELECT $1::text[])::text[]) AND cancel_at IS NULL
RETURNING run_id;

-- name: leased_runs
SELECT run_id FROM foliot.leases WHERE run_id = ANY ((SELECT $1::text[])::text[]);

-- name: run_statuses
SELECT id, status FROM foliot.runs WHERE id = ANY ((SELECT $1::text[])::text[]);

-- name: end_cancelled
UPDATE foliot.runs SET
    status = 'cancelled', trouble = 'cancelled', reason = 'cancelled', finished_at = greatest($2, created_at)
WHERE id = ANY ((SELECT $1::text[])::text[])
RETURNING id, attempt;

-- name: unstarted_runs_of_jobs
SELECT run.id FROM foliot.runs run
WHERE run.project = $1 AND run.job_id = ANY ((SELECT $2::text[])::text[]) AND run.id = ANY (ARRAY(
    SELECT run_id FROM foliot.later UNION ALL SELECT run_id FROM foliot.ready UNION ALL SELECT run_id FROM foliot.gated
    UNION ALL SELECT run_id FROM foliot.holds WHERE NOT is_admitted));

-- name: get_runs
-- A sub-select that gives a value is looked up for each run; EXISTS might be answered by reading the whole table.
SELECT run.id, run.job_id,
       CASE WHEN run.status <> 'scheduled' THEN run.status
            WHEN lease.cancel_at IS NOT NULL THEN 'cancelling'
            WHEN lease.token IS NOT NULL THEN 'running'
            WHEN (SELECT true FROM foliot.ready WHERE ready.run_id = run.id) THEN 'queued'
            WHEN (SELECT true FROM foliot.later WHERE later.run_id = run.id) THEN 'scheduled'
            WHEN (SELECT true FROM foliot.gated WHERE gated.run_id = run.id) THEN 'scheduled'
            WHEN (SELECT true FROM foliot.holds WHERE holds.run_id = run.id AND NOT is_admitted LIMIT 1) THEN 'queued'
            ELSE coalesce((SELECT CASE WHEN cancel_at IS NULL THEN 'running' ELSE 'cancelling' END
                           FROM foliot.trees WHERE trees.run_id = run.id AND ended_at IS NULL),
                          'scheduled') END AS status,
       run.reason, run.queue, run.priority, run.trigger,
       run.schedule_uid, run.schedule_id, run.scheduled_for, run.tick_key, run.payload,
       (SELECT body FROM foliot.outputs WHERE outputs.run_id = run.id),
       run.due_at, run.created_at, coalesce(lease.started_at, run.started_at), run.finished_at,
       coalesce(lease.attempt, run.attempt), run.lost, run.exit_code, run.error,
       coalesce(lease.worker_id, run.worker_id), coalesce(lease.token, run.token), run.parent_id, run.root_id,
       run.child_key,
       run.overrides, run.limits
FROM foliot.runs run
LEFT JOIN foliot.leases lease ON lease.run_id = run.id
WHERE run.id = ANY ((SELECT $1::text[])::text[]);

-- name: page_project
-- The pages have the same parameters, whatever they need. A page begins below an id, or below '~', which is above all.
-- Where a page is of something, ANY in its first condition leaves but one index that gives its order: for `=`, the
-- index of all ids would do, and lead through all runs to those that are asked for.
SELECT id FROM foliot.runs
WHERE project = $1 AND id < coalesce($2::text, '~') AND ($6::text IS NULL OR status = $6)
  AND ($4::text IS NULL OR job_id = $4) AND $5::text IS NULL
ORDER BY id DESC LIMIT $3;

-- name: page_job
-- Of any status, or successes: no index may name those. They are mostly near, and retention bounds the others.
SELECT id FROM foliot.runs
WHERE project = ANY ((SELECT ARRAY[$1])::text[]) AND job_id = $4 AND id < coalesce($2::text, '~')
  AND ($6::text IS NULL OR status = $6) AND $5::text IS NULL
ORDER BY project DESC, job_id DESC, id DESC LIMIT $3;

-- name: known_uids
-- A schedule that was deleted and created again has several.
SELECT uid FROM foliot.schedules WHERE project = $1 AND id = $5 AND deleted_at IS NULL
UNION ALL SELECT uid FROM foliot.schedules WHERE project = $1 AND id = $5 AND deleted_at IS NOT NULL

-- name: page_schedule
SELECT found.id FROM ({known_uids}) AS known, LATERAL (
    SELECT id FROM foliot.runs
    WHERE schedule_uid = ANY (ARRAY[known.uid]) AND id < coalesce($2::text, '~')
      AND ($4::text IS NULL OR job_id = $4) AND ($6::text IS NULL OR status = $6)
    ORDER BY schedule_uid DESC, id DESC LIMIT $3) AS found
ORDER BY found.id DESC LIMIT $3;

-- name: page_trouble
SELECT id FROM foliot.runs
WHERE project = ANY ((SELECT ARRAY[$1])::text[]) AND trouble = $6 AND id < coalesce($2::text, '~')
  AND $4::text IS NULL AND $5::text IS NULL
ORDER BY project DESC, trouble DESC, id DESC LIMIT $3;

-- name: page_job_trouble
SELECT id FROM foliot.runs
WHERE project = ANY ((SELECT ARRAY[$1])::text[]) AND job_id = $4 AND trouble = $6
  AND id < coalesce($2::text, '~') AND $5::text IS NULL
ORDER BY project DESC, job_id DESC, trouble DESC, id DESC LIMIT $3;

-- name: page_schedule_trouble
SELECT found.id FROM ({known_uids}) AS known, LATERAL (
    SELECT id FROM foliot.runs
    WHERE schedule_uid = ANY (ARRAY[known.uid]) AND trouble = $6 AND id < coalesce($2::text, '~')
      AND ($4::text IS NULL OR job_id = $4)
    ORDER BY schedule_uid DESC, trouble DESC, id DESC LIMIT $3) AS found
ORDER BY found.id DESC LIMIT $3;

-- name: page_live
-- Runs that are not over are found through the small tables that say where they stand.
SELECT live.id FROM (
    (SELECT run.id FROM foliot.leases place JOIN foliot.runs run ON run.id = place.run_id
     WHERE $6 IN ('running', 'cancelling') AND (place.cancel_at IS NOT NULL) = ($6 = 'cancelling')
       AND run.project = $1 AND ($2::text IS NULL OR place.run_id < $2)
       AND ($4::text IS NULL OR run.job_id = $4) AND ($5::text IS NULL OR run.schedule_id = $5)
     ORDER BY place.run_id DESC LIMIT $3)
    UNION ALL
    (SELECT run.id FROM foliot.trees place JOIN foliot.runs run ON run.id = place.run_id
     WHERE $6 IN ('running', 'cancelling') AND (place.cancel_at IS NOT NULL) = ($6 = 'cancelling')
       AND place.ended_at IS NULL AND run.project = $1 AND ($2::text IS NULL OR place.run_id < $2)
       AND ($4::text IS NULL OR run.job_id = $4) AND ($5::text IS NULL OR run.schedule_id = $5)
     ORDER BY place.run_id DESC LIMIT $3)
    UNION ALL
    (SELECT run.id FROM foliot.ready place JOIN foliot.runs run ON run.id = place.run_id
     WHERE $6 = 'queued' AND run.project = $1 AND ($2::text IS NULL OR place.run_id < $2)
       AND ($4::text IS NULL OR run.job_id = $4) AND ($5::text IS NULL OR run.schedule_id = $5)
     ORDER BY place.run_id DESC LIMIT $3)
    UNION ALL
    (SELECT DISTINCT run.id FROM foliot.holds place JOIN foliot.runs run ON run.id = place.run_id
     WHERE $6 = 'queued' AND NOT place.is_admitted AND run.project = $1 AND ($2::text IS NULL OR place.run_id < $2)
       AND ($4::text IS NULL OR run.job_id = $4) AND ($5::text IS NULL OR run.schedule_id = $5)
       AND NOT EXISTS (SELECT 1 FROM foliot.later WHERE later.run_id = place.run_id)
       AND NOT EXISTS (SELECT 1 FROM foliot.gated WHERE gated.run_id = place.run_id)
     ORDER BY run.id DESC LIMIT $3)
    UNION ALL
    (SELECT run.id FROM foliot.gated place JOIN foliot.runs run ON run.id = place.run_id
     WHERE $6 = 'scheduled' AND run.project = $1 AND ($2::text IS NULL OR place.run_id < $2)
       AND ($4::text IS NULL OR run.job_id = $4) AND ($5::text IS NULL OR run.schedule_id = $5)
     ORDER BY place.run_id DESC LIMIT $3)
    UNION ALL
    (SELECT run.id FROM foliot.later place JOIN foliot.runs run ON run.id = place.run_id
     WHERE $6 = 'scheduled' AND run.project = $1 AND ($2::text IS NULL OR place.run_id < $2)
       AND ($4::text IS NULL OR run.job_id = $4) AND ($5::text IS NULL OR run.schedule_id = $5)
     ORDER BY place.run_id DESC LIMIT $3)) AS live
ORDER BY live.id DESC LIMIT $3;

-- name: page_parts
-- The runs of one tree are found by its index; where each one is, is asked only of those that are not over.
SELECT id FROM foliot.runs run
WHERE root_id = $7 AND project = $1 AND ($2::text IS NULL OR id < $2)
  AND ($4::text IS NULL OR job_id = $4) AND ($5::text IS NULL OR schedule_id = $5)
  AND ($6::text IS NULL OR $6 = CASE
      WHEN run.status <> 'scheduled' THEN run.status
      WHEN (SELECT true FROM foliot.leases WHERE leases.run_id = run.id AND cancel_at IS NULL) THEN 'running'
      WHEN (SELECT true FROM foliot.leases WHERE leases.run_id = run.id) THEN 'cancelling'
      WHEN (SELECT true FROM foliot.ready WHERE ready.run_id = run.id) THEN 'queued'
      WHEN (SELECT true FROM foliot.later WHERE later.run_id = run.id) THEN 'scheduled'
      WHEN (SELECT true FROM foliot.gated WHERE gated.run_id = run.id) THEN 'scheduled'
      WHEN (SELECT true FROM foliot.holds WHERE holds.run_id = run.id AND NOT is_admitted LIMIT 1) THEN 'queued'
      ELSE coalesce((SELECT CASE WHEN cancel_at IS NULL THEN 'running' ELSE 'cancelling' END
                     FROM foliot.trees WHERE trees.run_id = run.id AND ended_at IS NULL), 'scheduled') END)
ORDER BY root_id DESC, id DESC LIMIT $3;

-- name: attempts
SELECT run_id, number, token, worker_id, started_at, finished_at, status, reason, exit_code, error
FROM foliot.attempts WHERE run_id = $1
UNION ALL
SELECT id, attempt, token, worker_id, started_at, finished_at, status, reason, exit_code, error
FROM foliot.runs WHERE id = $1 AND finished_at IS NOT NULL AND token IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM foliot.attempts WHERE attempts.run_id = runs.id AND attempts.token = runs.token)
ORDER BY number;

-- name: overrides
SELECT overrides FROM foliot.runs WHERE id = $1;
