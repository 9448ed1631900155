-- name: register
INSERT INTO foliot.workers (id, name, queues, slots, process, registered_at, seen_at, expires_at, facts, orders)
SELECT $1, $2::text, $3::text[], $4, $5, clock.now, clock.now, clock.now + $6, $8,
       CASE WHEN EXISTS (SELECT FROM foliot.paused_pools WHERE name IN ($2::text, $9::text)) THEN 'pause' ELSE '' END
FROM (SELECT coalesce($7::bigint, foliot.now_ms()) AS now) AS clock
ON CONFLICT (id) DO UPDATE SET
    name = excluded.name, queues = excluded.queues, slots = excluded.slots, process = excluded.process,
    seen_at = excluded.seen_at, expires_at = excluded.expires_at, facts = excluded.facts;

-- name: renew
UPDATE foliot.workers SET seen_at = clock.now, expires_at = clock.now + $2, is_draining = $3
FROM (SELECT coalesce($4::bigint, foliot.now_ms()) AS now) AS clock
WHERE id = $1 AND expires_at > clock.now
RETURNING clock.now, orders;

-- name: leases_of_worker
SELECT token, run_id, cancel_at FROM foliot.leases WHERE worker_id = $1;

-- name: retire
DELETE FROM foliot.workers WHERE id = $1;

-- name: living_worker
clock AS MATERIALIZED (SELECT coalesce($2::bigint, foliot.now_ms()) AS now),
living AS MATERIALIZED (
    SELECT true FROM foliot.workers WHERE id = $1 AND expires_at > (SELECT now FROM clock) AND orders = '' FOR KEY SHARE
)

-- name: grant_leases
-- The number of the attempt is 0 if the row has a count out of range (`row_types.Tries`).
granted AS MATERIALIZED (
    SELECT run.id AS run_id, nextval('foliot.lease_token') AS token, $1::text AS worker_id, run.job_id,
           job.revision,
           CASE WHEN run.attempt BETWEEN 0 AND 999999999 AND run.lost BETWEEN 0 AND 999999999
                THEN run.attempt + 1 ELSE 0 END AS attempt,
           run.lost, run.queue, run.priority, run.due_at,
           greatest((SELECT now FROM clock), run.created_at) AS started_at,
           convert_to(run.payload, 'UTF8'), convert_to(run.overrides, 'UTF8'),
           run.limits, run.schedule_uid, run.schedule_id, run.scheduled_for, run.tick_key,
           run.parent_id, run.child_key, run.definition_id
    FROM foliot.runs run LEFT JOIN foliot.jobs job ON job.project = run.project AND job.id = run.job_id
    WHERE run.id = ANY (ARRAY(SELECT run_id FROM picked))
),
leased AS (
    INSERT INTO foliot.leases (token, run_id, worker_id, attempt, started_at, is_bare)
    SELECT token, run_id, worker_id, greatest(attempt, 1), started_at,
           parent_id IS NULL AND limits IS NULL AND schedule_uid IS NULL
    FROM granted
),
noted AS (
    INSERT INTO foliot.events (seq, at, kind, items)
    SELECT foliot.event_seq(pg_current_xact_id(), 0), (SELECT now FROM clock), 'runs.started',
           '[["' || string_agg(run_id || '",' || attempt, '],["') || ']]'
    FROM granted HAVING count(*) > 0
)

-- name: claim_runs
-- One queue: from the front of the index, or after a position in it; locked rows are skipped.
-- ARRAY(...) is evaluated once: as a plain IN (... LIMIT n) the planner may run it again and claim more than n.
WITH {living_worker},
picked AS (
    DELETE FROM foliot.ready WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM foliot.ready WHERE queue = $4::text AND (rank, run_id) > ($5::bigint, $6::text)
        ORDER BY rank, run_id
        LIMIT coalesce((SELECT $3::bigint FROM living), 0) FOR UPDATE SKIP LOCKED))
    RETURNING run_id
),
{grant_leases}
SELECT * FROM granted;

-- name: claim_runs_of_queues
-- Several queues: locks as many of each as could be needed, and takes the first of all.
WITH {living_worker},
picked AS (
    DELETE FROM foliot.ready WHERE ctid = ANY (ARRAY(
        SELECT candidate.ctid
        FROM unnest((SELECT $4::text[]), (SELECT $5::bigint[]), (SELECT $6::text[])) AS wanted (queue, rank, run_id),
        LATERAL (
            SELECT ctid, rank, run_id FROM foliot.ready
            WHERE ready.queue = wanted.queue AND (ready.rank, ready.run_id) > (wanted.rank, wanted.run_id)
            ORDER BY rank, run_id
            LIMIT coalesce((SELECT $3::bigint FROM living), 0) FOR UPDATE SKIP LOCKED) AS candidate
        ORDER BY candidate.rank, candidate.run_id LIMIT $3))
    RETURNING run_id
),
{grant_leases}
SELECT * FROM granted;

-- name: claim_runs_of_kinds
-- As `claim_runs_of_queues`, from the front, for a worker that has not all kinds. A run whose job cannot be read is
-- claimed: the worker ends it. The children of a fanout have no job of their own: their kind is in the job of their
-- parent. Definitions begin with their kind; the expressions cannot fail, whatever is stored.
WITH {living_worker},
picked AS (
    DELETE FROM foliot.ready WHERE ctid = ANY (ARRAY(
        SELECT ready.ctid
        FROM foliot.ready JOIN foliot.runs run ON run.id = ready.run_id
        LEFT JOIN foliot.jobs job ON job.project = run.project AND job.id = run.job_id
        LEFT JOIN foliot.runs parent ON job.id IS NULL AND parent.id = run.parent_id
        LEFT JOIN foliot.jobs fanout ON fanout.project = parent.project AND fanout.id = parent.job_id
        WHERE ready.queue = ANY ((SELECT $4::text[])::text[])
          AND coalesce(
              CASE WHEN job.spec LIKE '{"kind":"workflow"%' THEN substring(job.spec FROM '"inner_kind":"([^"]*)"')
                   WHEN job.spec IS NOT NULL THEN substring(job.spec FROM '^{"kind":"([^"]*)"')
                   WHEN run.job_id = fanout.id || '.reducer'
                   THEN substring(fanout.spec FROM '"reducer":{"kind":"([^"]*)"')
                   ELSE substring(fanout.spec FROM '"inner_kind":"([^"]*)"') END
              = ANY ((SELECT $5::text[])::text[]), true)
        ORDER BY ready.rank, ready.run_id
        LIMIT coalesce((SELECT $3::bigint FROM living), 0) FOR UPDATE OF ready SKIP LOCKED))
    RETURNING run_id
),
{grant_leases}
SELECT * FROM granted;

-- name: facts_of_worker
SELECT facts FROM foliot.workers WHERE id = $1;

-- name: ready_lanes
-- One index look-up per lane.
WITH RECURSIVE lanes (name) AS (
    SELECT (SELECT queue FROM foliot.ready WHERE queue >= $1 AND queue < $2 ORDER BY queue LIMIT 1)
    UNION ALL
    SELECT (SELECT queue FROM foliot.ready WHERE queue > lanes.name AND queue < $2 ORDER BY queue LIMIT 1)
    FROM lanes WHERE lanes.name IS NOT NULL
)
SELECT name FROM lanes WHERE name IS NOT NULL;

-- name: claim_named_runs
-- Only named runs that are ready.
WITH {living_worker},
picked AS (
    DELETE FROM foliot.ready WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM foliot.ready
        WHERE run_id = ANY ((SELECT $5::text[])::text[]) AND queue = ANY ((SELECT $4::text[])::text[])
        ORDER BY rank, run_id
        LIMIT coalesce((SELECT $3::bigint FROM living), 0) FOR UPDATE SKIP LOCKED))
    RETURNING run_id
),
{grant_leases}
SELECT * FROM granted;

-- -- finish and exchange

-- name: success_leases
-- The fence of plain successes of one worker. A token is granted once, so two sets are as exact as pairs. IS TRUE keeps
-- the planner from joining the tokens: it puts them into a hashed set, while ANY would compare each with all of them.
DELETE FROM foliot.leases
WHERE run_id = ANY ((SELECT $5::text[])::text[]) AND worker_id = $1
  AND (token IN (SELECT unnest((SELECT $4::bigint[])))) IS TRUE

-- name: success_rows
-- The start and the number of an attempt are in its lease.
saved AS (
    UPDATE foliot.runs SET
        status = 'success', finished_at = greatest((SELECT now FROM clock), ended.started_at),
        reason = NULL, error = NULL, exit_code = $3,
        worker_id = $1, token = ended.token, attempt = ended.attempt, started_at = ended.started_at
    FROM ended WHERE runs.id = ended.run_id
),
kept AS (
    INSERT INTO foliot.endings (project, job_id, finished_at, run_id, status)
    SELECT run.project, run.job_id, greatest((SELECT now FROM clock), ended.started_at), run.id, 'success'
    FROM ended JOIN foliot.runs run ON run.id = ended.run_id
    -- The first condition is evaluated once: if no job is watched, the rest costs nothing.
    WHERE (SELECT true FROM foliot.watched LIMIT 1)
      AND (SELECT true FROM foliot.watched WHERE watched.job_id = run.job_id AND watched.project = run.project)
)

-- name: successes_noted
-- It may be the second event of its transaction, after that of a claim.
INSERT INTO foliot.events (seq, at, kind, items)
SELECT foliot.event_seq(pg_current_xact_id(), 1), (SELECT now FROM clock), 'runs.ended',
       '[["' || string_agg(run_id || '","success",' || attempt, '],["') || ']]'
FROM ended HAVING count(*) > 0

-- name: end_bare_successes
-- As `end_successes`, of bare runs: no parent, limits or schedule.
WITH clock AS MATERIALIZED (SELECT coalesce($2::bigint, foliot.now_ms()) AS now),
ended AS ({success_leases} AND is_bare RETURNING token, run_id, attempt, started_at),
{success_rows},
noted AS ({successes_noted})
SELECT ARRAY(SELECT token FROM ended), '{}'::text[], false;

-- name: end_successes
-- Returns one row: the tokens that were current, the limits with free places, and whether there are notes. The event is
-- that of `event_items.ended`.
WITH clock AS MATERIALIZED (SELECT coalesce($2::bigint, foliot.now_ms()) AS now),
ended AS ({success_leases} RETURNING token, run_id, attempt, started_at, is_bare),
{success_rows},
released AS (
    DELETE FROM foliot.holds USING ended WHERE NOT ended.is_bare AND holds.run_id = ended.run_id RETURNING holds.key
),
added_notes AS (
    INSERT INTO foliot.notes (parent_id, run_id)
    SELECT run.parent_id, run.id FROM ended JOIN foliot.runs run ON run.id = ended.run_id
    WHERE NOT ended.is_bare AND run.parent_id IS NOT NULL
    ON CONFLICT DO NOTHING RETURNING run_id
),
noted AS ({successes_noted})
SELECT ARRAY(SELECT token FROM ended), ARRAY(SELECT DISTINCT key FROM released), EXISTS (SELECT FROM added_notes);

-- name: exchange_runs
-- Saves plain successes of bare runs and claims the next runs of one queue, in one statement and therefore one commit.
-- Returns at least one row; its last column is the number of successes that were saved.
WITH {living_worker},
ended AS ({success_leases} AND is_bare RETURNING token, run_id, attempt, started_at),
{success_rows},
successes_noted AS ({successes_noted}),
picked AS (
    DELETE FROM foliot.ready WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM foliot.ready WHERE queue = $7::text AND (rank, run_id) > ($8::bigint, $9::text)
        ORDER BY rank, run_id
        LIMIT coalesce((SELECT $6::bigint FROM living), 0) FOR UPDATE SKIP LOCKED))
    RETURNING run_id
),
{grant_leases}
SELECT granted.*, (SELECT count(*) FROM ended) FROM (VALUES (1)) AS always (one) LEFT JOIN granted ON true;

-- -- append_log

-- name: current_tokens
-- The lock keeps an attempt from ending while its output is being saved.
SELECT token, run_id FROM foliot.leases WHERE run_id = ANY ((SELECT $1::text[])::text[])
ORDER BY token FOR KEY SHARE;

-- name: append_log
INSERT INTO foliot.log_chunks (run_id, token, seq, at, stream, data)
SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::bytea[])
ON CONFLICT DO NOTHING;

-- name: save_progress
-- The rows are locked in the order in which ended attempts are deleted: by run, as in the index.
WITH report AS MATERIALIZED (
    SELECT named.*
    FROM unnest((SELECT $1::text[]), (SELECT $2::text[]), (SELECT $3::bigint[]), (SELECT $4::text[]),
                (SELECT $5::text[])) AS named (run_id, worker_id, token, fraction, text)
    JOIN foliot.leases lease ON lease.run_id = named.run_id
    WHERE lease.token = named.token AND lease.worker_id = named.worker_id
    ORDER BY lease.run_id FOR NO KEY UPDATE OF lease
)
UPDATE foliot.leases SET
    progress = report.fraction::double precision, progress_text = report.text, progress_at = coalesce($6::bigint, foliot.now_ms())
FROM report WHERE leases.run_id = report.run_id AND leases.token = report.token
RETURNING leases.token;
