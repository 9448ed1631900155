-- name: due_columns
uid, id, version, created_at, revision, opened_at, spec, settled_until, behind_since

-- name: due_schedules
-- While all schedules are paused, none is due.
SELECT {due_columns} FROM foliot.schedules
WHERE wake_at <= $1 AND NOT EXISTS (
    SELECT 1 FROM foliot.project_pauses p
    WHERE p.project = $3 AND (p."until" IS NULL OR (p.since <= $1 AND p."until" > $1)))
ORDER BY wake_at LIMIT $2;

-- name: due_after_boot
SELECT {due_columns} FROM foliot.schedules
WHERE left(spec, 16) = '{"type":"reboot"' AND deleted_at IS NULL AND created_at < $2
  AND NOT EXISTS (SELECT 1 FROM foliot.boots WHERE boots.uid = schedules.uid AND boots.boot_id = $1)
ORDER BY created_at LIMIT $3;

-- name: add_boots
INSERT INTO foliot.boots (uid, boot_id, at) SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[])
ON CONFLICT DO NOTHING;

-- name: planned_ticks
SELECT uid, scheduled_for, fire_at, revision FROM foliot.planned WHERE uid = ANY ((SELECT $1::text[])::text[])
ORDER BY uid, scheduled_for;

-- name: project_pauses
-- Pauses that end after a moment, and the one that was changed last.
SELECT since, "until", version, paused_by, note, decided, recorded FROM foliot.project_pauses
WHERE project = $1 AND ("until" IS NULL OR "until" > $2
    OR version = (SELECT max(p.version) FROM foliot.project_pauses p WHERE p.project = $1))
ORDER BY since;

-- name: last_successes
-- When another run of the job of each schedule succeeded last.
SELECT asked.uid, (
    SELECT max(recent.finished_at) FROM (
        SELECT e.finished_at, e.run_id FROM foliot.endings e
        WHERE e.project = $1 AND e.job_id = asked.job_id AND e.status = 'success'
        ORDER BY e.finished_at DESC LIMIT 100) AS recent
    JOIN foliot.runs run ON run.id = recent.run_id WHERE run.schedule_uid IS DISTINCT FROM asked.uid)
FROM unnest((SELECT $2::text[]), (SELECT $3::text[])) AS asked (uid, job_id);

-- name: pause_version
SELECT foliot.pause_version($1);

-- name: pauses_since
-- Pauses that overlap unsettled moments.
SELECT pauses.uid, pauses.since, pauses."until"
FROM unnest((SELECT $1::text[]), (SELECT $2::bigint[])) AS asked (uid, since)
JOIN foliot.pauses ON pauses.uid = asked.uid AND (pauses."until" IS NULL OR pauses."until" >= asked.since)
ORDER BY pauses.uid, pauses.since;

-- name: revisions_since
-- The revision of the moment after `since`, and all later ones.
SELECT revisions.uid, revisions.number, revisions.opened_at, revisions.spec
FROM unnest((SELECT $1::text[]), (SELECT $2::bigint[]), (SELECT $3::int[])) AS asked (uid, since, number)
JOIN foliot.revisions ON revisions.uid = asked.uid AND revisions.number >= least(asked.number, coalesce((
    SELECT max(earlier.number) FROM foliot.revisions earlier
    WHERE earlier.uid = asked.uid AND earlier.opened_at <= asked.since), 1))
ORDER BY revisions.uid, revisions.number;

-- name: count_in_flight
SELECT key, count(*) AS runs FROM foliot.holds WHERE key = ANY ((SELECT $1::text[])::text[]) GROUP BY key;

-- name: lock_schedules
-- In the order of uids, so that two schedulers cannot deadlock.
SELECT uid, id, version, settled_until, CASE WHEN uid = ANY ((SELECT $2::text[])::text[]) THEN spec END AS spec
FROM foliot.schedules WHERE uid = ANY ((SELECT $1::text[])::text[]) AND coalesce(deleted_at, 0) = 0
ORDER BY uid FOR NO KEY UPDATE;

-- name: runs_in_flight
SELECT run_id FROM foliot.holds WHERE key = ANY ((SELECT $1::text[])::text[]);

-- name: add_ticks
INSERT INTO foliot.ticks (decided_at, uid, scheduled_for, "until", count, outcome, reason, fire_at, revision, run_id,
                          into_tick, key)
SELECT $1, new.*
FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::text[], $8::bigint[], $9::int[],
            $10::text[], $11::bigint[], $12::text[]) AS new;

-- name: take_planned
DELETE FROM foliot.planned WHERE uid = ANY ((SELECT $1::text[])::text[])
RETURNING uid, scheduled_for, fire_at, revision;

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

-- name: commit_punctual
-- Firings of one tick each whose run starts immediately. Raising the version is the fence: an outdated firing updates
-- no row, and all other rows follow from the updated ones. The rows are given, and so locked, in the order of uids.
-- $30: the version of the pauses of all schedules that the firings were decided with, see pause_version.
WITH clock AS MATERIALIZED (SELECT coalesce($2::bigint, foliot.now_ms()) AS now),
fence AS MATERIALIZED (SELECT foliot.pause_version($1) AS version),
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
      AND (SELECT version FROM fence) = coalesce($30::bigint, (SELECT version FROM fence))
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
                             || '",1]', ',') || ']'
    FROM fired HAVING count(*) > 0
)
SELECT (SELECT now FROM clock) AS now, string_agg(uid, ' ') AS saved FROM fired;

-- name: unpaused_wake
-- Not before the end of a pause of all schedules; null if it has no end.
CASE WHEN NOT EXISTS (SELECT 1 FROM foliot.project_pauses p WHERE p.project = $1 AND p."until" IS NULL)
    THEN greatest(wake_at, (SELECT max(p."until") + 1 FROM foliot.project_pauses p WHERE p.project = $1)) END

-- name: next_wake
SELECT {unpaused_wake} FROM foliot.schedules WHERE wake_at IS NOT NULL ORDER BY wake_at LIMIT 1;

-- name: next_wake_besides
SELECT {unpaused_wake} FROM foliot.schedules
WHERE wake_at IS NOT NULL AND uid <> ALL ((SELECT $2::text[])::text[]) ORDER BY wake_at LIMIT 1;
