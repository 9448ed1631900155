-- Arrays are unnested through a sub-select, `unnest((SELECT $1::text[]))`: the planner then expects ten rows, whatever
-- the batch holds, and looks each one up by its key. When it sees the true length it may read the whole table instead.

-- name: create_runs
-- Where all runs of a batch say the same, it is sent once, beside an empty array. With $22 those that may start at once
-- are ready at once, with a rank as `domain.run.rank` gives it ($23 is the worth of a step of priority).
WITH stored AS (
    INSERT INTO foliot.runs (id, project, job_id, queue, priority, trigger, status, due_at, created_at,
                             payload, overrides, limits, schedule_uid, schedule_id, scheduled_for, tick_key,
                             root_id, role, item)
    SELECT new.id, $1, coalesce(new.job_id, $16), coalesce(new.queue, $17), coalesce(new.priority, $18),
           coalesce(new.trigger, $19), 'scheduled', coalesce(new.due_at, $20), $2, coalesce(new.payload, $21),
           new.overrides, new.limits, new.schedule_uid, new.schedule_id, new.scheduled_for, new.tick_key,
           new.root_id, new.role, new.item
    FROM unnest($3::text[], $4::text[], $5::text[], $6::int[], $7::text[], $8::bigint[], $9::text[], $10::text[],
                $11::text[], $12::text[], $13::text[], $14::bigint[], $15::text[], $24::text[], $25::text[],
                $26::text[])
         AS new (id, job_id, queue, priority, trigger, due_at, payload, overrides,
                 limits, schedule_uid, schedule_id, scheduled_for, tick_key, root_id, role, item)
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

-- name: living_worker
clock AS MATERIALIZED (SELECT coalesce($4::bigint, foliot.now_ms()) AS now),
room AS MATERIALIZED (
    SELECT $3::bigint AS free FROM foliot.workers
    WHERE id = $1 AND expires_at > (SELECT now FROM clock) FOR KEY SHARE
)

-- name: grant_leases
-- The number of the attempt is 0 where the row counts what cannot be (`shapes.Tries`): nobody could count on.
granted AS MATERIALIZED (
    SELECT run.id AS run_id, nextval('foliot.lease_token') AS token, $1::text AS worker_id, run.job_id,
           job.revision,
           CASE WHEN run.attempt BETWEEN 0 AND 999999999 AND run.lost BETWEEN 0 AND 999999999
                THEN run.attempt + 1 ELSE 0 END AS attempt,
           run.lost, run.queue, run.priority, run.due_at,
           greatest((SELECT now FROM clock), run.created_at) AS started_at,
           convert_to(run.payload, 'UTF8'), convert_to(run.overrides, 'UTF8'),
           run.limits, run.schedule_uid, run.schedule_id, run.scheduled_for, run.tick_key,
           run.root_id, run.role, run.item
    FROM foliot.runs run LEFT JOIN foliot.jobs job ON job.project = run.project AND job.id = run.job_id
    WHERE run.id = ANY (ARRAY(SELECT run_id FROM picked))
),
leased AS (
    INSERT INTO foliot.leases (token, run_id, worker_id, attempt, started_at)
    SELECT token, run_id, worker_id, greatest(attempt, 1), started_at FROM granted
),
noted AS (
    INSERT INTO foliot.events (seq, at, kind, items)
    SELECT foliot.event_seq(pg_current_xact_id(), 0), (SELECT now FROM clock), 'runs.started',
           '[["' || string_agg(run_id || '",' || attempt, '],["') || ']]'
    FROM granted HAVING count(*) > 0
)

-- name: claim_runs
-- One queue: rows come from the front of the index, or from behind a place in it; locked ones are passed by.
-- ARRAY(...) is evaluated once: as a plain IN (... LIMIT n) the planner may run it again and claim more than n.
WITH {living_worker},
picked AS (
    DELETE FROM foliot.ready WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM foliot.ready WHERE queue = $2::text AND (rank, run_id) > ($5::bigint, $6::text)
        ORDER BY rank, run_id
        LIMIT coalesce((SELECT free FROM room), 0) FOR UPDATE SKIP LOCKED))
    RETURNING run_id
),
{grant_leases}
SELECT * FROM granted;

-- name: claim_runs_of_queues
-- Several queues: as many of each as could be needed are locked, the best of all are taken.
WITH {living_worker},
picked AS (
    DELETE FROM foliot.ready WHERE ctid = ANY (ARRAY(
        SELECT candidate.ctid
        FROM unnest((SELECT $2::text[]), (SELECT $5::bigint[]), (SELECT $6::text[])) AS wanted (queue, rank, run_id),
        LATERAL (
            SELECT ctid, rank, run_id FROM foliot.ready
            WHERE ready.queue = wanted.queue AND (ready.rank, ready.run_id) > (wanted.rank, wanted.run_id)
            ORDER BY rank, run_id
            LIMIT coalesce((SELECT free FROM room), 0) FOR UPDATE SKIP LOCKED) AS candidate
        ORDER BY candidate.rank, candidate.run_id LIMIT $3))
    RETURNING run_id
),
{grant_leases}
SELECT * FROM granted;

-- name: claim_named_runs
-- Only runs that somebody has named, as far as they are ready.
WITH {living_worker},
picked AS (
    DELETE FROM foliot.ready WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM foliot.ready
        WHERE run_id = ANY ((SELECT $5::text[])::text[]) AND queue = ANY ((SELECT $2::text[])::text[])
        ORDER BY rank, run_id
        LIMIT coalesce((SELECT free FROM room), 0) FOR UPDATE SKIP LOCKED))
    RETURNING run_id
),
{grant_leases}
SELECT * FROM granted;

-- name: successes
-- The fence and all that plain successes of one worker leave behind: the start and the number of an attempt are in its
-- lease. A token is granted once, so that two sets tell as much as pairs would: the runs are looked up in one go, and
-- the tokens, as IS TRUE keeps the planner from joining them, in a hashed set. With ANY each would be compared with all.
ended AS (
    DELETE FROM foliot.leases
    WHERE run_id = ANY ((SELECT $6::text[])::text[]) AND worker_id = $1
      AND (token IN (SELECT unnest((SELECT $5::bigint[])))) IS TRUE
    RETURNING token, run_id, attempt, started_at
),
saved AS (
    UPDATE foliot.runs SET
        status = 'success', finished_at = greatest((SELECT now FROM clock), ended.started_at),
        reason = NULL, error = NULL, exit_code = $2,
        worker_id = $1, token = ended.token, attempt = ended.attempt, started_at = ended.started_at
    FROM ended WHERE runs.id = ended.run_id
),
kept AS (
    INSERT INTO foliot.endings (project, job_id, finished_at, run_id, status)
    SELECT run.project, run.job_id, greatest((SELECT now FROM clock), ended.started_at), run.id, 'success'
    FROM ended JOIN foliot.runs run ON run.id = ended.run_id
    -- The first condition is asked once: where nobody watches anything, the rest costs nothing.
    WHERE (SELECT true FROM foliot.watched LIMIT 1)
      AND (SELECT true FROM foliot.watched WHERE watched.job_id = run.job_id AND watched.project = run.project)
)

-- name: successes_noted
-- The second event of its transaction, should a claim go along.
INSERT INTO foliot.events (seq, at, kind, items)
SELECT foliot.event_seq(pg_current_xact_id(), 1), (SELECT now FROM clock), 'runs.ended',
       '[["' || string_agg(run_id || '","success",' || attempt, '],["') || ']]'
FROM ended HAVING count(*) > 0

-- name: end_successes
-- One row comes back, with the tokens that were current. With $3 the event is written too, as `notices.succeeded` has
-- it.
WITH clock AS MATERIALIZED (SELECT coalesce($4::bigint, foliot.now_ms()) AS now),
{successes},
noted AS ({successes_noted} AND $3)
SELECT (SELECT now FROM clock), coalesce(array_agg(token), '{}') FROM ended;

-- name: exchange_runs
-- Plain successes are saved and the next runs of one queue claimed, in one statement and so in one commit. The last
-- column says how many of the successes were current; a row comes back also where nothing was claimed.
WITH {living_worker},
{successes},
successes_noted AS ({successes_noted}),
picked AS (
    DELETE FROM foliot.ready WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM foliot.ready WHERE queue = $7::text AND (rank, run_id) > ($8::bigint, $9::text)
        ORDER BY rank, run_id
        LIMIT coalesce((SELECT free FROM room), 0) FOR UPDATE SKIP LOCKED))
    RETURNING run_id
),
{grant_leases}
SELECT granted.*, (SELECT count(*) FROM ended) FROM (VALUES (1)) AS always (one) LEFT JOIN granted ON true;

-- name: end_leases
-- The fence: a token that is not current deletes nothing.
DELETE FROM foliot.leases
USING unnest((SELECT $1::bigint[]), (SELECT $2::text[]), (SELECT $3::text[])) AS named (token, run_id, worker_id)
WHERE leases.run_id = named.run_id AND leases.token = named.token AND leases.worker_id = named.worker_id
RETURNING leases.token, leases.run_id, leases.worker_id, leases.attempt, leases.started_at, leases.cancel_at;

-- name: saved_endings
-- How these attempts ended, where that was saved. A run knows its last attempt, the earlier ones are records.
SELECT run.id AS run_id, run.token, run.status, run.reason FROM foliot.runs run
WHERE run.id = ANY ((SELECT $1::text[])::text[]) AND run.token = ANY ((SELECT $2::bigint[])::bigint[])
UNION ALL
SELECT attempt.run_id, attempt.token, attempt.status, attempt.reason FROM foliot.attempts attempt
WHERE attempt.run_id = ANY ((SELECT $1::text[])::text[]) AND attempt.token = ANY ((SELECT $2::bigint[])::bigint[]);

-- name: end_runs
UPDATE foliot.runs SET
    status = ended.status, trouble = nullif(ended.status, 'success'), finished_at = greatest($1, ended.started_at),
    reason = ended.reason, error = ended.error, exit_code = ended.exit_code,
    worker_id = ended.worker_id, token = ended.token, attempt = ended.attempt, started_at = ended.started_at,
    lost = runs.lost + ended.lost
FROM unnest((SELECT $2::text[]), (SELECT $3::bigint[]), (SELECT $4::text[]), (SELECT $5::int[]), (SELECT $6::bigint[]),
            (SELECT $7::int[]), (SELECT $8::text[]), (SELECT $9::text[]), (SELECT $10::text[]), (SELECT $11::int[]))
     AS ended (id, token, worker_id, attempt, started_at, exit_code, status, reason, error, lost)
WHERE runs.id = ended.id;

-- name: add_outputs
INSERT INTO foliot.outputs (run_id, body) SELECT * FROM unnest($1::text[], $2::text[])
ON CONFLICT (run_id) DO UPDATE SET body = excluded.body;

-- name: retry_runs
UPDATE foliot.runs SET
    due_at = again.due_at, attempt = again.attempt, lost = runs.lost + again.lost,
    reason = again.reason, error = again.error, exit_code = again.exit_code
FROM unnest((SELECT $1::text[]), (SELECT $2::bigint[]), (SELECT $3::int[]), (SELECT $4::int[]), (SELECT $5::text[]),
            (SELECT $6::text[]), (SELECT $7::int[]))
     AS again (id, due_at, attempt, lost, reason, error, exit_code)
WHERE runs.id = again.id
RETURNING runs.id, runs.queue, runs.priority, runs.due_at, runs.limits;

-- name: add_attempts
INSERT INTO foliot.attempts (finished_at, run_id, number, token, worker_id, started_at, status, reason, exit_code,
                             error)
SELECT greatest($1, ended.started_at), ended.*
FROM unnest($2::text[], $3::int[], $4::bigint[], $5::text[], $6::bigint[], $7::text[], $8::text[], $9::int[],
            $10::text[]) AS ended (run_id, number, token, worker_id, started_at, status, reason, exit_code, error);

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
                           FROM foliot.executions WHERE executions.run_id = run.id AND ended_at IS NULL),
                          'scheduled') END AS status,
       run.reason, run.queue, run.priority, run.trigger,
       run.schedule_uid, run.schedule_id, run.scheduled_for, run.tick_key, run.payload,
       (SELECT body FROM foliot.outputs WHERE outputs.run_id = run.id),
       run.due_at, run.created_at, coalesce(lease.started_at, run.started_at), run.finished_at,
       coalesce(lease.attempt, run.attempt), run.lost, run.exit_code, run.error,
       coalesce(lease.worker_id, run.worker_id), coalesce(lease.token, run.token), run.root_id, run.role, run.item,
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
    (SELECT run.id FROM foliot.executions place JOIN foliot.runs run ON run.id = place.run_id
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
-- The parts of one run are few, or else are paged by its index; where each stands is asked only of those not over.
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
                     FROM foliot.executions WHERE executions.run_id = run.id AND ended_at IS NULL), 'scheduled') END)
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
