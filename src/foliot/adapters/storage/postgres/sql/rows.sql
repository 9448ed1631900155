-- Arrays are unnested through a sub-select, `unnest((SELECT $1::text[]))`: the planner then expects ten rows for an
-- array of any length, and looks each one up by its key. With the true length it might scan the whole table instead.

-- -- database/transaction.py

-- name: now
SELECT foliot.now_ms();

-- name: add_events
INSERT INTO foliot.events (seq, at, kind, items)
SELECT foliot.event_seq(pg_current_xact_id(), new.nth::int), $1, new.kind, new.items
FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS new (kind, items, nth);

-- -- create.py

-- name: take_keys
INSERT INTO foliot.dedupe (project, job_id, key, run_id, scope, expires_at)
SELECT $1, new.* FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[])
    AS new (job_id, key, run_id, scope, expires_at) ORDER BY new.job_id, new.key
ON CONFLICT (project, job_id, key) DO NOTHING RETURNING run_id;

-- name: lock_keys
-- If several transactions want an expired key, the others wait here for the first.
SELECT dedupe.job_id, dedupe.key FROM foliot.dedupe
JOIN unnest((SELECT $2::text[]), (SELECT $3::text[])) AS asked (job_id, key)
    ON dedupe.project = $1 AND dedupe.job_id = asked.job_id AND dedupe.key = asked.key
ORDER BY dedupe.job_id, dedupe.key FOR UPDATE OF dedupe;

-- name: taken_keys
-- Whether the run that has a key still keeps it: for ever, for a time, or until it has ended. A separate statement, so
-- that it reads the commit that `lock_keys` waited for.
SELECT dedupe.job_id, dedupe.key, dedupe.run_id,
       CASE dedupe.scope
           WHEN 'window' THEN dedupe.expires_at > $4
           WHEN 'active' THEN EXISTS (
               SELECT 1 FROM foliot.runs WHERE runs.id = dedupe.run_id AND runs.status = 'scheduled')
           ELSE true
       END AS is_bound
FROM foliot.dedupe
JOIN unnest((SELECT $2::text[]), (SELECT $3::text[])) AS asked (job_id, key)
    ON dedupe.project = $1 AND dedupe.job_id = asked.job_id AND dedupe.key = asked.key;

-- name: retake_keys
UPDATE foliot.dedupe SET run_id = new.run_id, scope = new.scope, expires_at = new.expires_at
FROM unnest((SELECT $2::text[]), (SELECT $3::text[]), (SELECT $4::text[]), (SELECT $5::text[]), (SELECT $6::bigint[]))
    AS new (job_id, key, run_id, scope, expires_at)
WHERE dedupe.project = $1 AND dedupe.job_id = new.job_id AND dedupe.key = new.key;

-- name: create_runs
-- A value that all runs of a batch have in common is sent once, beside an empty array. With $22, runs that may start
-- now become ready, with the rank of `domain.run.run.rank` ($23 is the weight of one priority step).
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

-- name: existing_runs
SELECT id FROM foliot.runs WHERE id = ANY ((SELECT $1::text[])::text[]);

-- -- place.py

-- name: lock_jobs_of_gated
-- The lock keeps these jobs, and jobs that their gates name, from being renamed. The gate of a child is in the
-- definition of its tree.
SELECT id FROM foliot.jobs
WHERE (project, id) IN (
    SELECT project, job_id FROM foliot.runs WHERE runs.id = ANY ((SELECT $1::text[])::text[]) AND parent_id IS NULL)
ORDER BY id FOR SHARE;

-- name: put_gated
INSERT INTO foliot.gated (due_at, run_id)
SELECT * FROM unnest($1::bigint[], $2::text[]);

-- name: put_later
INSERT INTO foliot.later (due_at, run_id)
SELECT * FROM unnest($1::bigint[], $2::text[]);

-- name: put_ready
INSERT INTO foliot.ready (queue, rank, run_id)
SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[]);

-- name: known_limits
-- The lock keeps a limit from being removed while a run is about to wait for it.
SELECT key, capacity FROM foliot.limits WHERE key = ANY ((SELECT $1::text[])::text[]) ORDER BY key FOR KEY SHARE;

-- name: put_limits
INSERT INTO foliot.limits (key, capacity)
SELECT * FROM unnest($1::text[], $2::int[]) AS new (key, capacity) ORDER BY new.key
ON CONFLICT (key) DO UPDATE SET capacity = excluded.capacity;

-- name: add_holds
INSERT INTO foliot.holds (key, run_id, rank, is_admitted)
SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::boolean[]);

-- name: held_keys
SELECT DISTINCT key FROM foliot.holds WHERE run_id = ANY ((SELECT $1::text[])::text[]);

-- name: lock_limits
SELECT key, capacity FROM foliot.limits WHERE key = ANY ((SELECT $1::text[])::text[]) ORDER BY key FOR NO KEY UPDATE;

-- -- admit.py

-- name: waiting_keys
-- Every key that a run waits for: one index look-up per key.
WITH RECURSIVE waiting AS (
    (SELECT key FROM foliot.holds WHERE NOT is_admitted ORDER BY key LIMIT 1)
    UNION ALL
    SELECT (SELECT holds.key FROM foliot.holds WHERE NOT holds.is_admitted AND holds.key > waiting.key
            ORDER BY holds.key LIMIT 1)
    FROM waiting WHERE waiting.key IS NOT NULL
)
SELECT key FROM waiting WHERE key IS NOT NULL;

-- name: awaited_keys
SELECT asked.key FROM unnest((SELECT $1::text[])) AS asked (key)
WHERE (SELECT true FROM foliot.holds WHERE holds.key = asked.key AND NOT holds.is_admitted LIMIT 1);

-- name: waiters
-- The first waiting runs of each key, with all keys that they wait for.
SELECT waiting.run_id, min(waiting.rank) AS rank, array_agg(waiting.key ORDER BY waiting.key) AS keys
FROM foliot.holds waiting
WHERE NOT waiting.is_admitted AND waiting.run_id = ANY (ARRAY(
    SELECT candidate.run_id FROM unnest((SELECT $1::text[])) AS wanted (key), LATERAL (
        SELECT run_id FROM foliot.holds WHERE holds.key = wanted.key AND NOT holds.is_admitted
        ORDER BY rank, run_id LIMIT $2) AS candidate))
GROUP BY waiting.run_id ORDER BY 2, 1;

-- name: places_taken
SELECT key, count(*) AS taken FROM foliot.holds WHERE key = ANY ((SELECT $1::text[])::text[]) AND is_admitted
GROUP BY key;

-- name: admit_waiters
-- A run that was cancelled meanwhile has no holds, and is not returned.
UPDATE foliot.holds SET is_admitted = true
WHERE run_id = ANY ((SELECT $1::text[])::text[]) AND key = ANY ((SELECT $2::text[])::text[]) AND NOT is_admitted
RETURNING run_id, key;

-- name: admitted_runs
SELECT run.id, run.queue, run.priority, run.due_at, run.limits FROM foliot.runs run
WHERE run.id = ANY ((SELECT $1::text[])::text[]) AND NOT EXISTS (SELECT 1 FROM foliot.later
WHERE later.run_id = run.id) AND NOT EXISTS (SELECT 1 FROM foliot.gated WHERE gated.run_id = run.id);

-- -- end.py

-- name: end_unstarted
UPDATE foliot.runs SET
    status = ended.status, trouble = nullif(ended.status, 'success'), finished_at = greatest($1, runs.created_at),
    reason = ended.reason, exit_code = ended.exit_code, error = ended.error
FROM unnest((SELECT $2::text[]), (SELECT $3::text[]), (SELECT $4::text[]), (SELECT $5::int[]), (SELECT $6::text[]))
     AS ended (id, status, reason, exit_code, error)
WHERE runs.id = ended.id
RETURNING runs.id, runs.attempt;

-- name: add_outputs
INSERT INTO foliot.outputs (run_id, body) SELECT * FROM unnest($1::text[], $2::text[])
ON CONFLICT (run_id) DO UPDATE SET body = excluded.body;

-- name: add_notes
INSERT INTO foliot.notes (parent_id, run_id)
SELECT parent_id, id FROM foliot.runs WHERE id = ANY ((SELECT $1::text[])::text[]) AND parent_id IS NOT NULL
ON CONFLICT DO NOTHING RETURNING run_id;

-- name: note_trees
-- Notes about the trees themselves.
INSERT INTO foliot.notes (parent_id, run_id) SELECT id, id FROM unnest($1::text[]) AS asked (id) ON CONFLICT DO NOTHING;

-- name: keep_endings
INSERT INTO foliot.endings (project, job_id, finished_at, run_id, status, reason)
SELECT run.project, run.job_id, run.finished_at, run.id, run.status, run.reason FROM foliot.runs run
WHERE run.id = ANY ((SELECT $1::text[])::text[])
  AND (SELECT true FROM foliot.watched WHERE watched.job_id = run.job_id AND watched.project = run.project)
ON CONFLICT DO NOTHING;

-- -- cancel.py

-- name: lock_trees
-- In the order of ids, so that two coordinators cannot deadlock.
SELECT run_id, state FROM foliot.trees
WHERE run_id = ANY ((SELECT $1::text[])::text[]) AND coalesce(ended_at, 0) = 0 ORDER BY run_id FOR NO KEY UPDATE;

-- name: leave_later
-- The places of runs that have not started. The transaction that deletes the row owns the run.
DELETE FROM foliot.later WHERE run_id = ANY ((SELECT $1::text[])::text[]) RETURNING run_id;

-- name: leave_gated
DELETE FROM foliot.gated WHERE run_id = ANY ((SELECT $1::text[])::text[]) RETURNING run_id;

-- name: leave_waiting
DELETE FROM foliot.holds WHERE run_id = ANY ((SELECT $1::text[])::text[]) AND NOT is_admitted RETURNING run_id, key;

-- name: leave_ready
DELETE FROM foliot.ready WHERE run_id = ANY ((SELECT $1::text[])::text[]) RETURNING run_id;

-- name: release_holds
DELETE FROM foliot.holds WHERE run_id = ANY ((SELECT $1::text[])::text[]) RETURNING key;

-- name: end_cancelled
UPDATE foliot.runs SET
    status = 'cancelled', trouble = 'cancelled', reason = 'cancelled', finished_at = greatest($2, created_at)
WHERE id = ANY ((SELECT $1::text[])::text[])
RETURNING id, attempt;

-- name: request_cancel
UPDATE foliot.leases SET cancel_at = $2 WHERE run_id = ANY ((SELECT $1::text[])::text[]) AND cancel_at IS NULL
RETURNING run_id;

-- name: leased_runs
SELECT run_id FROM foliot.leases WHERE run_id = ANY ((SELECT $1::text[])::text[]);

-- name: request_cancel_of_trees
-- The higher state makes a concurrent decision outdated.
UPDATE foliot.trees SET cancel_at = $2, state = state + 1
WHERE run_id = ANY ((SELECT $1::text[])::text[]) AND cancel_at IS NULL AND coalesce(ended_at, 0) = 0 RETURNING run_id;

-- name: open_trees
SELECT run_id FROM foliot.trees WHERE run_id = ANY ((SELECT $1::text[])::text[]) AND coalesce(ended_at, 0) = 0;

-- name: run_statuses
SELECT id, status FROM foliot.runs WHERE id = ANY ((SELECT $1::text[])::text[]);

-- -- finish.py

-- name: end_leases
-- The fence: a token that is not current deletes nothing. The stored run decides what the end of an attempt means.
WITH clock AS MATERIALIZED (SELECT coalesce($4::bigint, foliot.now_ms()) AS now)
DELETE FROM foliot.leases
USING unnest((SELECT $1::bigint[]), (SELECT $2::text[]), (SELECT $3::text[])) AS named (token, run_id, worker_id)
JOIN foliot.runs run ON run.id = named.run_id
LEFT JOIN foliot.jobs job ON job.project = run.project AND job.id = run.job_id
WHERE leases.run_id = named.run_id AND leases.token = named.token AND leases.worker_id = named.worker_id
RETURNING leases.token, leases.run_id, leases.worker_id, leases.attempt, leases.started_at, leases.cancel_at,
          leases.is_bare, run.job_id, run.lost, run.queue, run.priority, run.due_at,
          run.limits IS NOT NULL AS has_limits, run.schedule_uid, run.parent_id, job.revision, run.definition_id,
          run.overrides,
          (SELECT now FROM clock) AS now;

-- name: saved_endings
-- How these attempts ended, if that was saved: the last attempt in the run, earlier ones in records.
SELECT run.id AS run_id, run.token, run.status, run.reason FROM foliot.runs run
WHERE run.id = ANY ((SELECT $1::text[])::text[]) AND run.token = ANY ((SELECT $2::bigint[])::bigint[])
UNION ALL
SELECT attempt.run_id, attempt.token, attempt.status, attempt.reason FROM foliot.attempts attempt
WHERE attempt.run_id = ANY ((SELECT $1::text[])::text[]) AND attempt.token = ANY ((SELECT $2::bigint[])::bigint[])
UNION ALL
SELECT run_id, token, 'running', NULL FROM foliot.leases
WHERE run_id = ANY ((SELECT $1::text[])::text[]) AND token = ANY ((SELECT $2::bigint[])::bigint[])
  AND worker_id = '@executor';

-- name: hand_over_leases
-- The leases of these attempts have just been ended.
INSERT INTO foliot.leases (token, run_id, worker_id, attempt, started_at, cancel_at, is_bare, report_by)
SELECT token, run_id, '@executor', attempt, started_at, cancel_at, is_bare = 1, report_by
FROM unnest($1::bigint[], $2::text[], $3::int[], $4::bigint[], $5::bigint[], $6::int[], $7::bigint[])
     AS given (token, run_id, attempt, started_at, cancel_at, is_bare, report_by);

-- name: save_launches
-- A start is reported once; an id replaces an earlier one.
INSERT INTO foliot.launches (run_id, executor_run_id, started_at)
SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[])
ON CONFLICT (run_id) DO UPDATE SET
    executor_run_id = coalesce(excluded.executor_run_id, launches.executor_run_id),
    started_at = coalesce(launches.started_at, excluded.started_at);

-- name: end_runs
WITH saved AS (
    UPDATE foliot.runs SET
        status = ended.status, trouble = nullif(ended.status, 'success'), finished_at = greatest($1, ended.started_at),
        reason = ended.reason, error = ended.error, exit_code = ended.exit_code,
        worker_id = ended.worker_id, token = ended.token, attempt = ended.attempt, started_at = ended.started_at,
        lost = runs.lost + ended.lost
    FROM unnest((SELECT $2::text[]), (SELECT $3::bigint[]), (SELECT $4::text[]), (SELECT $5::int[]),
                (SELECT $6::bigint[]), (SELECT $7::int[]), (SELECT $8::text[]), (SELECT $9::text[]),
                (SELECT $10::text[]), (SELECT $11::int[]))
         AS ended (id, token, worker_id, attempt, started_at, exit_code, status, reason, error, lost)
    WHERE runs.id = ended.id
    RETURNING runs.project, runs.job_id, runs.finished_at, runs.id, runs.status, runs.reason
)
INSERT INTO foliot.endings (project, job_id, finished_at, run_id, status, reason)
SELECT saved.* FROM saved
-- The first condition is evaluated once: if no job is watched, the rest costs nothing.
WHERE (SELECT true FROM foliot.watched LIMIT 1)
  AND (SELECT true FROM foliot.watched WHERE watched.job_id = saved.job_id AND watched.project = saved.project)
ON CONFLICT DO NOTHING;

-- name: release_places
-- The places of an attempt; the overlap key is kept until the run ends.
DELETE FROM foliot.holds WHERE run_id = ANY ((SELECT $1::text[])::text[]) AND NOT starts_with(key, $2)
RETURNING key;

-- name: add_attempts
INSERT INTO foliot.attempts (finished_at, run_id, number, token, worker_id, started_at, status, reason, exit_code,
                             error)
SELECT greatest($1, ended.started_at), ended.*
FROM unnest($2::text[], $3::int[], $4::bigint[], $5::text[], $6::bigint[], $7::text[], $8::text[], $9::int[],
            $10::text[]) AS ended (run_id, number, token, worker_id, started_at, status, reason, exit_code, error);

-- name: retry_runs
UPDATE foliot.runs SET
    due_at = again.due_at, attempt = again.attempt, lost = runs.lost + again.lost,
    reason = again.reason, error = again.error, exit_code = again.exit_code
FROM unnest((SELECT $1::text[]), (SELECT $2::bigint[]), (SELECT $3::int[]), (SELECT $4::int[]), (SELECT $5::text[]),
            (SELECT $6::text[]), (SELECT $7::int[]))
     AS again (id, due_at, attempt, lost, reason, error, exit_code)
WHERE runs.id = again.id
RETURNING runs.id, runs.queue, runs.priority, runs.due_at, runs.limits;
