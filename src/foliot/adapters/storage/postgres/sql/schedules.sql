-- name: schedule_columns
uid, id, version, revision, opened_at, spec, enabled, paused_at, created_at, updated_at, settled_until, next_run_at,
wake_at, last_scheduled_at, behind_since, ledger_from

-- name: uids_of_ids
-- One look into the index for each name: asked for all at once and in order, the planner may read all schedules.
SELECT found.uid FROM unnest((SELECT $2::text[])) AS asked (id), LATERAL (
    SELECT uid FROM foliot.schedules
    WHERE schedules.project = $1 AND schedules.id = asked.id AND schedules.deleted_at IS NULL LIMIT 1) AS found

-- name: lock_schedules_by_id
-- `deleted_at IS NULL`, written so, would let the planner read the index of all that exist instead of a few uids.
SELECT {schedule_columns} FROM foliot.schedules
WHERE uid = ANY (ARRAY({uids_of_ids})) AND coalesce(deleted_at, 0) = 0 ORDER BY uid FOR NO KEY UPDATE;

-- name: create_schedules
-- With their first revisions. Whatever begins at one moment has all but these columns in common, and often those too.
WITH created AS (
    INSERT INTO foliot.schedules (project, version, revision, enabled, opened_at, created_at, updated_at, settled_until,
                                  uid, id, job_id, spec, next_run_at, wake_at)
    SELECT $1, 1, 1, true, $2, $2, $2, $2, new.uid, new.id, coalesce(new.job_id, $10::text),
           coalesce(new.spec, $11::text), coalesce(new.next_run_at, $12::bigint), coalesce(new.wake_at, $13::bigint)
    FROM unnest($4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::bigint[])
         AS new (uid, id, job_id, spec, next_run_at, wake_at)
    ORDER BY new.id
    ON CONFLICT (project, id) WHERE deleted_at IS NULL DO NOTHING
    RETURNING uid, revision, opened_at, spec
),
begun AS (INSERT INTO foliot.revisions (uid, number, opened_at, spec, tzdata) SELECT created.*, $3 FROM created)
SELECT uid FROM created;

-- name: change_schedules
UPDATE foliot.schedules SET
    version = new.version, job_id = new.job_id, revision = new.revision, opened_at = new.opened_at, spec = new.spec,
    enabled = new.enabled, paused_at = new.paused_at, updated_at = new.updated_at, next_run_at = new.next_run_at,
    wake_at = new.wake_at
FROM unnest((SELECT $1::text[]), (SELECT $2::bigint[]), (SELECT $3::text[]), (SELECT $4::int[]), (SELECT $5::bigint[]),
            (SELECT $6::text[]), (SELECT $7::boolean[]), (SELECT $8::bigint[]), (SELECT $9::bigint[]),
            (SELECT $10::bigint[]), (SELECT $11::bigint[]))
     AS new (uid, version, job_id, revision, opened_at, spec, enabled, paused_at, updated_at, next_run_at, wake_at)
WHERE schedules.uid = new.uid;

-- name: add_revisions
INSERT INTO foliot.revisions (uid, number, opened_at, spec, tzdata)
SELECT new.*, $5 FROM unnest($1::text[], $2::int[], $3::bigint[], $4::text[]) AS new (uid, number, opened_at, spec);

-- name: begin_pauses
INSERT INTO foliot.pauses (uid, since) SELECT uid, since FROM unnest($1::text[], $2::bigint[]) AS new (uid, since)
ON CONFLICT (uid, since) DO UPDATE SET "until" = NULL;

-- name: end_pauses
UPDATE foliot.pauses SET "until" = greatest(since, $2)
WHERE uid = ANY ((SELECT $1::text[])::text[]) AND "until" IS NULL;

-- name: delete_schedules
UPDATE foliot.schedules SET version = version + 1, deleted_at = $2, updated_at = $2, wake_at = NULL
WHERE uid = ANY ((SELECT $1::text[])::text[]);

-- name: take_planned
DELETE FROM foliot.planned WHERE uid = ANY ((SELECT $1::text[])::text[])
RETURNING uid, scheduled_for, fire_at, revision;

-- name: get_schedules
SELECT {schedule_columns} FROM foliot.schedules WHERE uid = ANY (ARRAY({uids_of_ids})) AND coalesce(deleted_at, 0) = 0;

-- name: page_schedules
SELECT {schedule_columns} FROM foliot.schedules
WHERE project = $1 AND deleted_at IS NULL AND ($2::text IS NULL OR id > $2) AND $4::text IS NULL
ORDER BY project, id LIMIT $3;

-- name: page_schedules_of_job
SELECT {schedule_columns} FROM foliot.schedules
WHERE project = $1 AND job_id = $4 AND deleted_at IS NULL AND ($2::text IS NULL OR id > $2)
ORDER BY id LIMIT $3;

-- name: due_schedules
SELECT uid, id, version, created_at, revision, opened_at, spec, settled_until, behind_since
FROM foliot.schedules WHERE wake_at <= $1 ORDER BY wake_at LIMIT $2;

-- name: planned_ticks
SELECT uid, scheduled_for, fire_at, revision FROM foliot.planned WHERE uid = ANY ((SELECT $1::text[])::text[])
ORDER BY uid, scheduled_for;

-- name: pauses_since
-- Pauses that touch what is not settled yet.
SELECT pauses.uid, pauses.since, pauses."until"
FROM unnest((SELECT $1::text[]), (SELECT $2::bigint[])) AS asked (uid, since)
JOIN foliot.pauses ON pauses.uid = asked.uid AND (pauses."until" IS NULL OR pauses."until" >= asked.since)
ORDER BY pauses.uid, pauses.since;

-- name: revisions_since
-- The revision that rules the moment after `since`, and all later ones.
SELECT revisions.uid, revisions.number, revisions.opened_at, revisions.spec
FROM unnest((SELECT $1::text[]), (SELECT $2::bigint[]), (SELECT $3::int[])) AS asked (uid, since, number)
JOIN foliot.revisions ON revisions.uid = asked.uid AND revisions.number >= least(asked.number, coalesce((
    SELECT max(earlier.number) FROM foliot.revisions earlier
    WHERE earlier.uid = asked.uid AND earlier.opened_at <= asked.since), 1))
ORDER BY revisions.uid, revisions.number;

-- name: count_in_flight
SELECT key, count(*) AS runs FROM foliot.holds WHERE key = ANY ((SELECT $1::text[])::text[]) GROUP BY key;

-- name: next_wake
SELECT wake_at FROM foliot.schedules WHERE wake_at IS NOT NULL ORDER BY wake_at LIMIT 1;

-- name: next_wake_besides
SELECT wake_at FROM foliot.schedules
WHERE wake_at IS NOT NULL AND uid <> ALL ((SELECT $1::text[])::text[]) ORDER BY wake_at LIMIT 1;

-- name: lock_schedules
-- Always in the order of the uids, so that two schedulers never wait for each other in a circle.
SELECT uid, id, version, settled_until, CASE WHEN uid = ANY ((SELECT $2::text[])::text[]) THEN spec END AS spec
FROM foliot.schedules WHERE uid = ANY ((SELECT $1::text[])::text[]) AND coalesce(deleted_at, 0) = 0
ORDER BY uid FOR NO KEY UPDATE;

-- name: add_ticks
INSERT INTO foliot.ticks (decided_at, uid, scheduled_for, "until", count, outcome, reason, fire_at, revision, run_id,
                          into_tick, key)
SELECT $1, new.*
FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::text[], $8::bigint[], $9::int[],
            $10::text[], $11::bigint[], $12::text[]) AS new;

-- name: add_planned
INSERT INTO foliot.planned (uid, scheduled_for, fire_at, revision)
SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::int[]);

-- name: advance_schedules
UPDATE foliot.schedules SET
    version = schedules.version + 1, settled_until = new.settled_until, next_run_at = new.next_run_at,
    wake_at = CASE WHEN schedules.paused_at IS NULL THEN new.wake_at END, behind_since = new.behind_since,
    enabled = schedules.enabled AND NOT new.is_exhausted,
    last_scheduled_at = coalesce(new.last_scheduled_at, schedules.last_scheduled_at)
FROM unnest((SELECT $1::text[]), (SELECT $2::bigint[]), (SELECT $3::bigint[]), (SELECT $4::bigint[]),
            (SELECT $5::bigint[]), (SELECT $6::bigint[]), (SELECT $7::boolean[]))
     AS new (uid, settled_until, next_run_at, wake_at, behind_since, last_scheduled_at, is_exhausted)
WHERE schedules.uid = new.uid;

-- name: settle_punctual
-- Firings of one tick each whose run starts at once. Raising the version is the fence: what is not current is not
-- updated, and all else follows from what was. The rows come in the order of the uids and are locked in that order.
WITH clock AS MATERIALIZED (SELECT coalesce($2::bigint, foliot.now_ms()) AS now),
new AS (
    SELECT given.uid, given.run_id, given.key, coalesce(given.version, $19::bigint) AS version,
           coalesce(given.wake_at, $20::bigint) AS wake_at, coalesce(given.moment, $21::bigint) AS moment,
           coalesce(given.reason, $22::text) AS reason, coalesce(given.revision, $23::int) AS revision,
           coalesce(given.job_id, $24::text) AS job_id, coalesce(given.queue, $25::text) AS queue,
           coalesce(given.priority, $26::int) AS priority, coalesce(given.trigger, $27::text) AS trigger,
           coalesce(given.due_at, $28::bigint) AS due_at, coalesce(given.payload, $29::text) AS payload
    FROM unnest((SELECT $5::text[]), (SELECT $6::text[]), (SELECT $7::text[]), (SELECT $8::bigint[]),
                (SELECT $9::bigint[]), (SELECT $10::bigint[]), (SELECT $11::text[]), (SELECT $12::int[]),
                (SELECT $13::text[]), (SELECT $14::text[]), (SELECT $15::int[]), (SELECT $16::text[]),
                (SELECT $17::bigint[]), (SELECT $18::text[]))
         AS given (uid, run_id, key, version, wake_at, moment, reason, revision, job_id, queue, priority,
                   trigger, due_at, payload)
),
fired AS (
    UPDATE foliot.schedules SET
        version = schedules.version + 1, settled_until = new.moment, last_scheduled_at = new.moment,
        next_run_at = new.wake_at, wake_at = CASE WHEN schedules.paused_at IS NULL THEN new.wake_at END,
        behind_since = NULL
    FROM new
    WHERE schedules.uid = new.uid AND schedules.version = new.version AND coalesce(schedules.deleted_at, 0) = 0
    RETURNING new.*, schedules.id AS schedule_id
),
stored AS (
    INSERT INTO foliot.runs (id, project, job_id, queue, priority, trigger, status, due_at, created_at, payload,
                             schedule_uid, schedule_id, scheduled_for, tick_key)
    SELECT run_id, $1, job_id, queue, priority, trigger, 'scheduled', due_at, (SELECT now FROM clock), payload,
           uid, schedule_id, moment, key
    FROM fired
),
held AS (
    INSERT INTO foliot.holds (key, run_id, rank, is_admitted) SELECT $4 || uid, run_id, moment, true FROM fired
),
placed AS (
    INSERT INTO foliot.ready (queue, rank, run_id)
    SELECT queue, due_at - priority * $3::bigint, run_id FROM fired WHERE due_at <= (SELECT now FROM clock)
),
delayed AS (
    INSERT INTO foliot.later (due_at, run_id) SELECT due_at, run_id FROM fired WHERE due_at > (SELECT now FROM clock)
),
recorded AS (
    INSERT INTO foliot.ticks (uid, scheduled_for, "until", count, outcome, reason, fire_at, revision, run_id, key,
                              decided_at)
    SELECT uid, moment, moment, 1, 'ran', reason, moment, revision, run_id, key, (SELECT now FROM clock) FROM fired
),
noted AS (
    INSERT INTO foliot.events (seq, at, kind, items)
    SELECT foliot.event_seq(pg_current_xact_id(), 0), (SELECT now FROM clock), 'runs.created',
           '[' || string_agg('["' || run_id || '",' || to_json(job_id) || ']', ',') || ']'
    FROM fired HAVING count(*) > 0
    UNION ALL
    SELECT foliot.event_seq(pg_current_xact_id(), 15), (SELECT now FROM clock), 'ticks.settled',
           '[' || string_agg('["' || uid || '",' || moment || ',' || moment || ',"ran","' || reason || '","' || run_id
                             || '"]', ',') || ']'
    FROM fired HAVING count(*) > 0
)
SELECT (SELECT now FROM clock) AS now, string_agg(uid, ' ') AS saved FROM fired;

-- name: runs_in_flight
SELECT run_id FROM foliot.holds WHERE key = ANY ((SELECT $1::text[])::text[]);

-- name: existing_runs
SELECT id FROM foliot.runs WHERE id = ANY ((SELECT $1::text[])::text[]);

-- name: ticks
-- Two looks into the index: the row before, if it reaches in, and those that begin inside.
SELECT * FROM (
    SELECT scheduled_for, "until", count, outcome, reason, fire_at, revision, run_id, into_tick
    FROM foliot.ticks WHERE uid = $1 AND scheduled_for <= $2 ORDER BY uid DESC, scheduled_for DESC LIMIT 1) AS before
WHERE scheduled_for < $2 AND "until" > $2 AND $2 < $3
UNION ALL
(SELECT scheduled_for, "until", count, outcome, reason, fire_at, revision, run_id, into_tick
 FROM foliot.ticks WHERE uid = $1 AND scheduled_for > $2 AND scheduled_for <= $3 ORDER BY uid, scheduled_for LIMIT $4)
ORDER BY scheduled_for LIMIT $4;

-- name: tick_keys
SELECT scheduled_for, key FROM foliot.ticks
WHERE uid = $1 AND scheduled_for > $2 AND scheduled_for <= $3 AND key IS NOT NULL ORDER BY uid, scheduled_for LIMIT $4;

-- name: shared_runs
SELECT run_id FROM foliot.ticks WHERE uid = $1 AND scheduled_for > $2 AND run_id IS NOT NULL
GROUP BY run_id HAVING count(*) > 1;

-- name: ledgers
SELECT {schedule_columns}, deleted_at FROM foliot.schedules
WHERE project = $1 AND ($2::text IS NULL OR uid > $2) AND $4::text[] IS NULL ORDER BY uid LIMIT $3;

-- name: ledgers_of
-- Twice the same names, because what exists and what existed have an index each.
SELECT {schedule_columns}, deleted_at FROM foliot.schedules
WHERE ($2::text IS NULL OR uid > $2)
  AND ((project = $1 AND id = ANY ((SELECT $4::text[])::text[]) AND deleted_at IS NULL)
       OR (project = $1 AND id = ANY ((SELECT $4::text[])::text[]) AND deleted_at IS NOT NULL))
ORDER BY uid LIMIT $3;

-- name: revisions
SELECT uid, number, opened_at, spec FROM foliot.revisions WHERE uid = ANY ((SELECT $1::text[])::text[])
ORDER BY uid, number;

-- name: pauses
SELECT uid, since, "until" FROM foliot.pauses WHERE uid = ANY ((SELECT $1::text[])::text[]) ORDER BY uid, since;
