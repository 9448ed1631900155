-- name: latest_runs
-- ANY: with a constant the planner may scan all ids backwards, expecting to meet the job soon. It may never have run.
SELECT found.id FROM unnest((SELECT $2::text[])) AS asked (job_id), LATERAL (
    SELECT id FROM foliot.runs WHERE runs.project = ANY ((SELECT ARRAY[$1])::text[]) AND runs.job_id = asked.job_id
    ORDER BY project DESC, job_id DESC, id DESC LIMIT 1) AS found;

-- name: failing_jobs
-- For each job its newest failure, unless one of the first 1,000 runs after it has succeeded.
SELECT newest.job_id, newest.run_id FROM unnest((SELECT $2::text[])) AS asked (job_id), LATERAL (
    SELECT asked.job_id, max(found.id) AS run_id FROM unnest(ARRAY['failed', 'timeout']) AS kind (status), LATERAL (
        SELECT runs.id FROM foliot.runs
        WHERE runs.project = ANY ((SELECT ARRAY[$1])::text[]) AND runs.job_id = asked.job_id
              AND runs.trouble = kind.status
        ORDER BY runs.project DESC, runs.job_id DESC, runs.trouble DESC, runs.id DESC LIMIT 1) AS found) AS newest
WHERE newest.run_id IS NOT NULL AND (SELECT true FROM (
    SELECT runs.status FROM foliot.runs
    WHERE runs.project = ANY ((SELECT ARRAY[$1])::text[]) AND runs.job_id = newest.job_id AND runs.id > newest.run_id
    ORDER BY runs.project, runs.job_id, runs.id LIMIT 1000) AS later_runs
    WHERE later_runs.status = 'success' OR later_runs.status = 'partial' LIMIT 1) IS NULL;

-- name: recent_results
-- The newest runs of each job.
SELECT asked.job_id, found.* FROM unnest((SELECT $2::text[])) AS asked (job_id), LATERAL (
    SELECT runs.id, runs.status, runs.started_at, runs.finished_at FROM foliot.runs
    WHERE runs.project = ANY ((SELECT ARRAY[$1])::text[]) AND runs.job_id = asked.job_id
    ORDER BY runs.project DESC, runs.job_id DESC, runs.id DESC LIMIT $3) AS found;

-- name: schedules_of_targets
SELECT {schedule_columns} FROM foliot.schedules
WHERE project = $1 AND job_id = ANY ((SELECT $2::text[])::text[]) AND deleted_at IS NULL ORDER BY id;

-- name: latest_ticks
SELECT scheduled_for, "until", count, outcome, reason, fire_at, revision, run_id, into_tick, key, decided_at
FROM foliot.ticks WHERE uid = $1 ORDER BY uid DESC, scheduled_for DESC LIMIT $2;

-- name: newest_rows
-- The newest rows of each schedule.
SELECT found.* FROM unnest((SELECT $1::text[])) AS asked (uid), LATERAL (
    SELECT ticks.uid, scheduled_for, "until", count, outcome, reason, fire_at, revision, run_id, into_tick, key, decided_at
    FROM foliot.ticks WHERE ticks.uid = asked.uid ORDER BY ticks.uid DESC, scheduled_for DESC LIMIT $2) AS found;

-- name: ran_ticks
-- Planned times that ran, by reason: up to the limit.
SELECT reason, count(*) FROM (
    SELECT found.reason FROM unnest((SELECT $1::text[])) AS asked (uid), LATERAL (
        SELECT reason FROM foliot.ticks
        WHERE ticks.uid = asked.uid AND outcome = 'ran' AND scheduled_for >= $2 AND scheduled_for <= $3
        ORDER BY ticks.uid DESC, scheduled_for DESC LIMIT $4) AS found
    LIMIT $4) AS counted
GROUP BY reason;

-- name: other_ticks
-- Planned times with other outcomes, those that were missed by schedule: up to the limit of rows. A range that is not
-- whole inside the interval is counted by its share. Of each outcome the row before the interval is included if it
-- extends into it.
SELECT outcome, reason, CASE WHEN outcome = 'missed' THEN uid END AS missed_by,
       count(*), sum(share)::bigint, min(scheduled_for), max("until")
FROM (
    SELECT found.* FROM unnest((SELECT $1::text[])) AS asked (uid), unnest((SELECT $2::text[])) AS kind (outcome), LATERAL (
        SELECT ticks.uid, ticks.outcome, reason, scheduled_for, "until",
               CASE WHEN scheduled_for >= $3 AND "until" <= $4 THEN count
                    ELSE greatest(1, trunc(count::float8 * (least("until", $4) - greatest(scheduled_for, $3))
                                           / greatest(1, "until" - scheduled_for))::bigint) END AS share
        FROM foliot.ticks
        WHERE ticks.uid = asked.uid AND ticks.outcome = kind.outcome AND ticks.outcome <> 'ran'
              AND scheduled_for <= $4 AND "until" >= $3 AND scheduled_for >= coalesce((
            SELECT before.scheduled_for FROM foliot.ticks before
            WHERE before.uid = asked.uid AND before.outcome = kind.outcome AND before.outcome <> 'ran'
                  AND before.scheduled_for <= $3
            ORDER BY before.uid DESC, before.outcome DESC, before.scheduled_for DESC LIMIT 1), $3)
        ORDER BY ticks.uid DESC, ticks.outcome DESC, scheduled_for DESC LIMIT $5) AS found
    LIMIT $5) AS counted
GROUP BY outcome, reason, missed_by;

-- name: failed_tick_runs
-- The failed runs of ticks of these schedules that were planned in the interval, counted up to the limit. Failed runs
-- without a schedule are not read.
SELECT count(*) FROM (
    SELECT 1 FROM unnest($1::text[]) AS asked(uid) JOIN foliot.runs ON runs.schedule_uid = asked.uid
    WHERE trouble = 'failed' AND id >= $2 AND parent_id IS NULL AND scheduled_for BETWEEN $3 AND $4
    UNION ALL
    SELECT 1 FROM unnest($1::text[]) AS asked(uid) JOIN foliot.runs ON runs.schedule_uid = asked.uid
    WHERE trouble = 'timeout' AND id >= $2 AND parent_id IS NULL AND scheduled_for BETWEEN $3 AND $4
    LIMIT $5) AS failed;

-- name: living_schedules
SELECT uid, id FROM foliot.schedules WHERE project = $1 AND deleted_at IS NULL;

-- name: newest_ticks
-- One index look-up for each schedule. An empty outcome is any.
SELECT asked.uid, found.scheduled_for FROM unnest((SELECT $1::text[])) AS asked (uid), LATERAL (
    SELECT scheduled_for FROM foliot.ticks
    WHERE ticks.uid = asked.uid AND scheduled_for <= $3 AND ($2::text = '' OR outcome = $2)
    ORDER BY ticks.uid DESC, scheduled_for DESC LIMIT 1) AS found;

-- name: newest_outcomes
SELECT asked.uid, found.scheduled_for FROM unnest((SELECT $1::text[])) AS asked (uid), LATERAL (
    SELECT scheduled_for FROM foliot.ticks
    WHERE ticks.uid = asked.uid AND outcome = $2 AND outcome <> 'ran' AND scheduled_for <= $3
    ORDER BY ticks.uid DESC, outcome DESC, scheduled_for DESC LIMIT 1) AS found;

-- name: search_ticks
-- The row before the interval is included if it extends into it: only that one, or all history would be read.
SELECT scheduled_for, "until", count, outcome, reason, fire_at, revision, run_id, into_tick, key, decided_at
FROM foliot.ticks
WHERE uid = $1 AND ($2::text = '' OR outcome = $2) AND scheduled_for <= $4 AND "until" >= $3 AND scheduled_for >= coalesce(
    (SELECT scheduled_for FROM foliot.ticks WHERE uid = $1 AND scheduled_for <= $3
     ORDER BY uid DESC, scheduled_for DESC LIMIT 1), $3)
ORDER BY uid DESC, scheduled_for DESC LIMIT $5;

-- name: search_outcome
SELECT scheduled_for, "until", count, outcome, reason, fire_at, revision, run_id, into_tick, key, decided_at
FROM foliot.ticks
WHERE uid = $1 AND outcome = $2 AND outcome <> 'ran' AND scheduled_for <= $4 AND "until" >= $3
    AND scheduled_for >= coalesce(
        (SELECT scheduled_for FROM foliot.ticks WHERE uid = $1 AND scheduled_for <= $3
         ORDER BY uid DESC, scheduled_for DESC LIMIT 1), $3)
ORDER BY uid DESC, outcome DESC, scheduled_for DESC LIMIT $5;

-- name: ticks_at
SELECT found.* FROM unnest((SELECT $1::text[]), (SELECT $2::bigint[])) AS asked (uid, planned), LATERAL (
    SELECT uid, scheduled_for, "until", count, outcome, reason, fire_at, revision, run_id, into_tick, key, decided_at
    FROM foliot.ticks WHERE ticks.uid = asked.uid AND ticks.scheduled_for = asked.planned LIMIT 1) AS found;

-- name: runs_of_steps
-- With the stored status, which is the same for all open runs.
SELECT known.step, run.status, run.reason, run.error
FROM (SELECT step, step_run_id FROM foliot.steps WHERE run_id = $1 ORDER BY nth) AS known, LATERAL (
    SELECT status, reason, error FROM foliot.runs WHERE runs.id = known.step_run_id LIMIT 1) AS run;

-- name: awaited_limits
SELECT waiting.run_id, waiting.key, (SELECT capacity FROM foliot.limits WHERE limits.key = waiting.key)
FROM foliot.holds waiting WHERE waiting.run_id = ANY ((SELECT $1::text[])::text[]) AND NOT waiting.is_admitted
ORDER BY waiting.run_id, waiting.key;

-- name: limit_holders
-- The first few holders of each key, in rank order.
SELECT asked.key, first.run_id FROM unnest((SELECT $1::text[])) AS asked (key), LATERAL (
    SELECT run_id FROM foliot.holds WHERE holds.key = asked.key AND holds.is_admitted
    ORDER BY holds.rank, holds.run_id LIMIT $2) AS first;

-- name: is_root
-- A scalar sub-select is looked up for each place; a join might scan all runs.
(SELECT runs.parent_id IS NULL FROM foliot.runs WHERE runs.id = place.run_id)

-- name: depth
-- Counts open runs that are no children, each kind up to the limit.
SELECT (SELECT count(*) FROM (
            SELECT 1 FROM (SELECT run_id FROM foliot.leases
                           UNION ALL SELECT run_id FROM foliot.trees WHERE ended_at IS NULL) AS place
            WHERE {is_root} LIMIT $1) AS running) AS running,
       (SELECT count(*) FROM (SELECT 1 FROM foliot.ready place WHERE {is_root} LIMIT $1) AS ready)
       + (SELECT count(*) FROM (
              SELECT DISTINCT run_id FROM foliot.holds place WHERE NOT is_admitted AND NOT EXISTS (
                  SELECT 1 FROM foliot.later WHERE later.run_id = place.run_id) AND NOT EXISTS (
                  SELECT 1 FROM foliot.gated WHERE gated.run_id = place.run_id) AND {is_root}
              LIMIT $1) AS waiting) AS queued,
       (SELECT count(*) FROM (
            SELECT 1 FROM (SELECT run_id FROM foliot.later UNION ALL SELECT run_id FROM foliot.gated) AS place
            WHERE {is_root} LIMIT $1) AS later) AS scheduled;

-- name: upcoming_schedules
SELECT {schedule_columns} FROM foliot.schedules WHERE wake_at IS NOT NULL ORDER BY wake_at LIMIT $1;

-- name: late_schedules
SELECT {schedule_columns} FROM foliot.schedules WHERE wake_at <= $1 ORDER BY wake_at LIMIT $2;

-- name: behind_schedules
-- Those that were decided in time, but have not caught up.
SELECT {schedule_columns} FROM foliot.schedules WHERE behind_since <= $1 AND wake_at > $1 ORDER BY behind_since LIMIT $2;

-- name: count_late_schedules
-- Late ones and those behind, each counted up to the limit.
SELECT (SELECT count(*) FROM (SELECT 1 FROM foliot.schedules WHERE wake_at <= $1 LIMIT $2) AS late)
       + (SELECT count(*) FROM (
              SELECT 1 FROM foliot.schedules WHERE behind_since <= $1 AND wake_at > $1 LIMIT $2) AS behind);

-- name: clock_faults
SELECT node, kind, size, at FROM foliot.clock_faults ORDER BY at DESC, node, kind LIMIT $1;

-- name: schedules_ahead
-- Reads every schedule: after a clock was set back, and when a person asks.
SELECT {schedule_columns} FROM foliot.schedules WHERE settled_until > $1 AND wake_at IS NOT NULL
ORDER BY settled_until DESC, id LIMIT $2;

-- name: long_leases
SELECT name, expires_at FROM foliot.workers WHERE seen_at > $1 ORDER BY expires_at DESC, id LIMIT $2;

-- name: oldest_leases
-- Tokens increase with time.
SELECT run_id FROM (SELECT run_id, started_at FROM foliot.leases ORDER BY token LIMIT $2) AS oldest
WHERE started_at < $1;

-- name: stopped_jobs
SELECT id FROM foliot.jobs WHERE project = $1 AND stopped_at IS NOT NULL ORDER BY stopped_at DESC LIMIT $2;

-- name: ready_queues
-- One index look-up per queue, whatever the number of runs.
WITH RECURSIVE queues (name) AS (
    (SELECT queue FROM foliot.ready ORDER BY queue LIMIT 1)
    UNION ALL
    SELECT (SELECT queue FROM foliot.ready WHERE queue > queues.name ORDER BY queue LIMIT 1)
    FROM queues WHERE queues.name IS NOT NULL
)
SELECT name FROM queues WHERE name IS NOT NULL LIMIT $1;

-- name: failing_runs
-- Of the given runs the newest of each job, unless a newer run has succeeded: only runs after it are read.
SELECT job_id, id FROM (
    SELECT project, job_id, max(id) AS id FROM foliot.runs
    WHERE id = ANY ((SELECT $1::text[])::text[]) AND parent_id IS NULL AND created_at >= $2
    GROUP BY project, job_id) AS newest
WHERE (SELECT true FROM foliot.runs
       WHERE runs.project = newest.project AND runs.job_id = newest.job_id AND runs.id > newest.id
             AND (runs.status = 'success' OR runs.status = 'partial') LIMIT 1) IS NULL;

-- name: totals
-- Jobs, those of them that are disabled or paused, and deliveries that wait, counted up to the limit.
SELECT (SELECT count(*) FROM foliot.jobs WHERE project = $1 AND enabled IS NOT NULL),
       (SELECT count(*) FROM foliot.jobs
        WHERE project = $1 AND enabled IS NOT NULL AND (NOT enabled OR paused_at IS NOT NULL)),
       (SELECT count(*) FROM (SELECT 1 FROM foliot.deliveries WHERE state = 'pending' LIMIT $2) AS waiting);

-- name: run_times
SELECT id, CASE WHEN schedule_uid IS NOT NULL THEN scheduled_for END, started_at, finished_at, reason
FROM foliot.runs WHERE id = ANY ((SELECT $1::text[])::text[]);

-- name: size_on_disk
SELECT (sum(bytes) FILTER (WHERE NOT is_log))::bigint, (sum(bytes) FILTER (WHERE is_log))::bigint, NULL, 'postgresql'
FROM (
    SELECT pg_total_relation_size(oid) AS bytes, oid = 'foliot.log_chunks'::regclass AS is_log FROM pg_catalog.pg_class
    WHERE relkind = 'r' AND relnamespace = (
        SELECT relnamespace FROM pg_catalog.pg_class WHERE oid = 'foliot.runs'::regclass)) AS tables;

-- -- runs and executions

-- name: shown_status
-- A scalar sub-select is looked up for each run; for EXISTS the planner might scan the whole table.
CASE WHEN run.status <> 'scheduled' THEN run.status
     WHEN lease.cancel_at IS NOT NULL THEN 'cancelling'
     WHEN lease.token IS NOT NULL THEN 'running'
     WHEN (SELECT true FROM foliot.ready WHERE ready.run_id = run.id) THEN 'queued'
     WHEN (SELECT true FROM foliot.later WHERE later.run_id = run.id) THEN 'scheduled'
     WHEN (SELECT true FROM foliot.gated WHERE gated.run_id = run.id) THEN 'scheduled'
     WHEN (SELECT true FROM foliot.holds WHERE holds.run_id = run.id AND NOT is_admitted LIMIT 1) THEN 'queued'
     ELSE coalesce((SELECT CASE WHEN cancel_at IS NULL THEN 'running' ELSE 'cancelling' END
                    FROM foliot.trees WHERE trees.run_id = run.id AND ended_at IS NULL),
                   'scheduled') END

-- name: get_runs
SELECT run.id, run.job_id,
       {shown_status} AS status,
       run.reason, run.queue, run.priority, run.trigger,
       run.schedule_uid, run.schedule_id, run.scheduled_for, run.tick_key, run.payload,
       (SELECT body FROM foliot.outputs WHERE outputs.run_id = run.id),
       run.due_at, run.created_at, coalesce(lease.started_at, run.started_at), run.finished_at,
       coalesce(lease.attempt, run.attempt), run.lost, run.exit_code, run.error,
       coalesce(lease.worker_id, run.worker_id), coalesce(lease.token, run.token), run.parent_id, run.root_id,
       run.child_key,
       run.overrides, run.limits, lease.progress, lease.progress_text, lease.progress_at
FROM foliot.runs run
LEFT JOIN foliot.leases lease ON lease.run_id = run.id
WHERE run.id = ANY ((SELECT $1::text[])::text[]);

-- name: get_brief_runs
-- The columns of `get_runs`, without payload, output and options, which may be large.
SELECT run.id, run.job_id, {shown_status} AS status, run.reason, run.queue, run.priority, run.trigger,
       run.schedule_uid, run.schedule_id, run.scheduled_for, run.tick_key, NULL, NULL,
       run.due_at, run.created_at, coalesce(lease.started_at, run.started_at), run.finished_at,
       coalesce(lease.attempt, run.attempt), run.lost, run.exit_code, left(run.error, 500),
       coalesce(lease.worker_id, run.worker_id), coalesce(lease.token, run.token), run.parent_id, run.root_id,
       run.child_key, NULL, NULL, lease.progress, lease.progress_text, lease.progress_at
FROM foliot.runs run
LEFT JOIN foliot.leases lease ON lease.run_id = run.id
WHERE run.id = ANY ((SELECT $1::text[])::text[]);

-- name: run_states
SELECT run.id, {shown_status} AS status, coalesce(lease.started_at, run.started_at), run.finished_at
FROM foliot.runs run
LEFT JOIN foliot.leases lease ON lease.run_id = run.id
WHERE run.id = ANY ((SELECT $1::text[])::text[]);

-- name: page_project
-- All pages have the same parameters. A page begins below an id, or below '~', which is above all ids. In pages of one
-- job or schedule, ANY in the first condition leaves only one index in the right order: with `=` the planner might use
-- the index of all ids, and scan all runs.
SELECT id FROM foliot.runs
WHERE project = $1 AND id < coalesce($2::text, '~') AND ($6::text IS NULL OR status = $6)
  AND ($4::text IS NULL OR job_id = $4) AND $5::text IS NULL
ORDER BY id DESC LIMIT $3;

-- name: page_job
-- Any status, or success, which is in no index. A success is usually found soon, and retention limits the rest.
SELECT id FROM foliot.runs
WHERE project = ANY ((SELECT ARRAY[$1])::text[]) AND job_id = $4 AND id < coalesce($2::text, '~')
  AND ($6::text IS NULL OR status = $6) AND $5::text IS NULL
ORDER BY project DESC, job_id DESC, id DESC LIMIT $3;

-- name: page_roots
-- Any status, or success, of runs that are no children.
SELECT id FROM foliot.runs
WHERE project = ANY ((SELECT ARRAY[$1])::text[]) AND parent_id IS NULL AND id < coalesce($2::text, '~')
  AND ($6::text IS NULL OR status = $6) AND $4::text IS NULL AND $5::text IS NULL
ORDER BY project DESC, id DESC LIMIT $3;

-- name: page_roots_trouble
SELECT id FROM foliot.runs
WHERE trouble = ANY ((SELECT ARRAY[$6])::text[]) AND parent_id IS NULL AND id < coalesce($2::text, '~')
  AND project = $1 AND $4::text IS NULL AND $5::text IS NULL
ORDER BY trouble DESC, id DESC LIMIT $3;

-- name: known_uids
-- A schedule that was deleted and created again has several uids.
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

-- name: page_running
-- Open runs are found through the small tables of their places. $7: only runs that are no children. There is a statement
-- for each pair of tables: PostgreSQL often plans such a statement at each execution, which costs more than executing it.
SELECT live.id FROM (
    (SELECT run.id FROM foliot.leases place JOIN foliot.runs run ON run.id = place.run_id
     WHERE (place.cancel_at IS NOT NULL) = ($6 = 'cancelling')
       AND run.project = $1 AND ($2::text IS NULL OR place.run_id < $2)
       AND ($4::text IS NULL OR run.job_id = $4) AND ($5::text IS NULL OR run.schedule_id = $5)
       AND (NOT $7::boolean OR run.parent_id IS NULL)
     ORDER BY place.run_id DESC LIMIT $3)
    UNION ALL
    (SELECT run.id FROM foliot.trees place JOIN foliot.runs run ON run.id = place.run_id
     WHERE (place.cancel_at IS NOT NULL) = ($6 = 'cancelling')
       AND place.ended_at IS NULL AND run.project = $1 AND ($2::text IS NULL OR place.run_id < $2)
       AND ($4::text IS NULL OR run.job_id = $4) AND ($5::text IS NULL OR run.schedule_id = $5)
       AND (NOT $7::boolean OR run.parent_id IS NULL)
     ORDER BY place.run_id DESC LIMIT $3)) AS live
ORDER BY live.id DESC LIMIT $3;

-- name: page_queued
SELECT live.id FROM (
    (SELECT run.id FROM foliot.ready place JOIN foliot.runs run ON run.id = place.run_id
     WHERE $6 = 'queued' AND run.project = $1 AND ($2::text IS NULL OR place.run_id < $2)
       AND ($4::text IS NULL OR run.job_id = $4) AND ($5::text IS NULL OR run.schedule_id = $5)
       AND (NOT $7::boolean OR run.parent_id IS NULL)
     ORDER BY place.run_id DESC LIMIT $3)
    UNION ALL
    (SELECT DISTINCT run.id FROM foliot.holds place JOIN foliot.runs run ON run.id = place.run_id
     WHERE $6 = 'queued' AND NOT place.is_admitted AND run.project = $1 AND ($2::text IS NULL OR place.run_id < $2)
       AND ($4::text IS NULL OR run.job_id = $4) AND ($5::text IS NULL OR run.schedule_id = $5)
       AND (NOT $7::boolean OR run.parent_id IS NULL)
       AND NOT EXISTS (SELECT 1 FROM foliot.later WHERE later.run_id = place.run_id)
       AND NOT EXISTS (SELECT 1 FROM foliot.gated WHERE gated.run_id = place.run_id)
     ORDER BY run.id DESC LIMIT $3)) AS live
ORDER BY live.id DESC LIMIT $3;

-- name: page_scheduled
SELECT live.id FROM (
    (SELECT run.id FROM foliot.gated place JOIN foliot.runs run ON run.id = place.run_id
     WHERE $6 = 'scheduled' AND run.project = $1 AND ($2::text IS NULL OR place.run_id < $2)
       AND ($4::text IS NULL OR run.job_id = $4) AND ($5::text IS NULL OR run.schedule_id = $5)
       AND (NOT $7::boolean OR run.parent_id IS NULL)
     ORDER BY place.run_id DESC LIMIT $3)
    UNION ALL
    (SELECT run.id FROM foliot.later place JOIN foliot.runs run ON run.id = place.run_id
     WHERE $6 = 'scheduled' AND run.project = $1 AND ($2::text IS NULL OR place.run_id < $2)
       AND ($4::text IS NULL OR run.job_id = $4) AND ($5::text IS NULL OR run.schedule_id = $5)
       AND (NOT $7::boolean OR run.parent_id IS NULL)
     ORDER BY place.run_id DESC LIMIT $3)) AS live
ORDER BY live.id DESC LIMIT $3;

-- name: page_parts
-- The runs of one tree are found by its index; places are looked up only for open runs.
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

-- name: nth_run_before
SELECT id FROM foliot.runs WHERE id >= $1 AND id < $2 ORDER BY id DESC LIMIT 1 OFFSET $3;

-- name: are_columns_sound
(r.due_at BETWEEN $4::bigint AND $5::bigint AND r.created_at BETWEEN $4::bigint AND $5::bigint
    AND coalesce(r.started_at, 0) BETWEEN $4::bigint AND $5::bigint AND coalesce(r.finished_at, 0) BETWEEN $4::bigint AND $5::bigint
    AND coalesce(r.scheduled_for, 0) BETWEEN $4::bigint AND $5::bigint
    AND r.attempt BETWEEN 0 AND $6::bigint AND r.lost BETWEEN 0 AND $6::bigint
    AND (r.schedule_uid IS NULL
        OR (r.schedule_id IS NOT NULL AND r.scheduled_for IS NOT NULL AND r.tick_key IS NOT NULL))
    AND (r.status = 'success' OR r.status = 'failed' OR r.status = 'timeout' OR r.status = 'cancelled'
        OR r.status = 'partial' OR r.status = 'skipped' OR r.status = 'scheduled')
    AND (r.status <> 'scheduled' OR NOT EXISTS (SELECT 1 FROM foliot.leases l WHERE l.run_id = r.id)))

-- name: doubtful_runs
-- A sound run without documents is not returned. A run with a lease is: columns of the lease are shown.
SELECT r.id, {are_columns_sound} IS NOT TRUE, r.payload, r.overrides, r.limits, o.body
FROM foliot.runs r LEFT JOIN foliot.outputs o ON o.run_id = r.id
WHERE r.id >= $1 AND r.id < $2 AND (
    r.payload IS NOT NULL OR r.overrides IS NOT NULL OR r.limits IS NOT NULL OR o.body IS NOT NULL
    OR {are_columns_sound} IS NOT TRUE)
ORDER BY r.id DESC LIMIT $3;

-- name: children_in_order
SELECT id FROM foliot.runs WHERE parent_id = $1 AND id > $2 ORDER BY parent_id, id LIMIT $3;

-- name: launches
SELECT executor_run_id, started_at FROM foliot.launches WHERE run_id = $1;

-- name: page_children
-- The children of one run are found by their index; places are looked up only for open runs.
SELECT id FROM foliot.runs run
WHERE parent_id = $7 AND project = $1 AND ($2::text IS NULL OR id < $2)
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
ORDER BY parent_id DESC, id DESC LIMIT $3;

-- name: page_children_trouble
-- Only the children that ended without success are read and sorted. OFFSET 0: in one query with the ORDER BY, the planner
-- might walk through all runs in the order of their ids.
SELECT id FROM (
    SELECT id FROM foliot.runs
    WHERE parent_id = $7 AND trouble = $6 AND project = $1 AND id < coalesce($2::text, '~')
      AND ($4::text IS NULL OR job_id = $4) AND ($5::text IS NULL OR schedule_id = $5)
    OFFSET 0) AS found
ORDER BY id DESC LIMIT $3;

-- name: attempts
SELECT run_id, number, token, worker_id, started_at, finished_at, status, reason, exit_code, error
FROM foliot.attempts WHERE run_id = $1
UNION ALL
SELECT id, attempt, token, worker_id, started_at, finished_at, status, reason, exit_code, error
FROM foliot.runs WHERE id = $1 AND finished_at IS NOT NULL AND token IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM foliot.attempts WHERE attempts.run_id = runs.id AND attempts.token = runs.token)
ORDER BY number;

-- name: tree_kinds
SELECT run_id, kind FROM foliot.trees WHERE run_id = ANY ((SELECT $1::text[])::text[]);

-- name: get_executions
SELECT tree.run_id, tree.job_id, tree.version, tree.state, tree.open, body.body,
       run.schedule_uid, run.schedule_id, run.scheduled_for, run.tick_key,
       tree.opened_at, tree.deadline, tree.cancel_at, tree.is_ending,
       (SELECT revision FROM foliot.jobs WHERE jobs.project = tree.project AND jobs.id = tree.job_id)
FROM unnest((SELECT $1::text[])) AS asked (run_id)
JOIN foliot.trees tree ON tree.run_id = asked.run_id JOIN foliot.runs run ON run.id = asked.run_id
LEFT JOIN foliot.tree_bodies body ON body.run_id = asked.run_id
WHERE tree.kind = 'graph' ORDER BY tree.run_id;

-- name: active_executions
SELECT run_id FROM foliot.trees WHERE ended_at IS NULL AND run_id > $1 AND kind = 'graph' ORDER BY run_id LIMIT $2;

-- name: active_of_workflow
SELECT run_id FROM foliot.trees
WHERE project = $1 AND job_id = $2 AND kind = 'graph' AND ended_at IS NULL AND run_id > $3
ORDER BY project, job_id, run_id LIMIT $4;

-- -- the ledger

-- name: ticks
-- Two index look-ups: the row before, if it extends into the interval, and the rows that begin inside.
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

-- name: recent_ticks
-- For each schedule the last row before the moment, and the first ones after it.
SELECT known.uid, t.scheduled_for, t."until", t.count, t.outcome, t.reason, t.fire_at, t.revision, t.run_id, t.into_tick, t.key
FROM unnest($1::text[]) AS known (uid), LATERAL (
    (SELECT * FROM foliot.ticks WHERE uid = known.uid AND scheduled_for < $2
     ORDER BY uid DESC, scheduled_for DESC LIMIT 1)
    UNION ALL
    (SELECT * FROM foliot.ticks WHERE uid = known.uid AND scheduled_for >= $2
     ORDER BY uid, scheduled_for LIMIT $3 + 1)) AS t
ORDER BY known.uid, t.scheduled_for;

-- name: recent_runs
-- For each schedule the last run before the id, and the first ones after it. The index has the uid, not the name.
SELECT known.uid, r.id, r.job_id, r.schedule_uid, r.schedule_id, r.scheduled_for, r.tick_key, r.finished_at
FROM unnest($2::text[], $3::text[]) AS known (uid, id), LATERAL (
    (SELECT * FROM foliot.runs WHERE schedule_uid = known.uid AND id < $4 AND project = $1
     ORDER BY schedule_uid DESC, id DESC LIMIT 1)
    UNION ALL
    (SELECT * FROM foliot.runs WHERE schedule_uid = known.uid AND id >= $4 AND project = $1
     ORDER BY schedule_uid, id LIMIT $5 + 1)) AS r
ORDER BY known.uid;

-- name: launched_runs
SELECT id, job_id, schedule_uid, schedule_id, scheduled_for, tick_key, finished_at
FROM foliot.runs WHERE id = ANY ((SELECT $1::text[])::text[]);

-- name: ledgers
SELECT {schedule_columns}, deleted_at FROM foliot.schedules
WHERE project = $1 AND uid > $2 ORDER BY uid LIMIT $3;

-- name: ledgers_of
-- The names occur twice, because existing and deleted schedules have separate indexes.
SELECT {schedule_columns}, deleted_at FROM foliot.schedules
WHERE uid > $2
  AND ((project = $1 AND id = ANY ((SELECT $4::text[])::text[]) AND deleted_at IS NULL)
       OR (project = $1 AND id = ANY ((SELECT $4::text[])::text[]) AND deleted_at IS NOT NULL))
ORDER BY uid LIMIT $3;

-- name: boots
SELECT uid, at FROM foliot.boots WHERE uid = ANY ((SELECT $1::text[])::text[]) AND at IS NOT NULL ORDER BY uid, at;

-- name: pauses
SELECT uid, since, "until" FROM foliot.pauses WHERE uid = ANY ((SELECT $1::text[])::text[]) ORDER BY uid, since;

-- -- logs and events

-- name: read_log
SELECT run_id, token, seq, at, stream, data FROM foliot.log_chunks
WHERE run_id = $1 AND (token, seq) > ($2, $3) ORDER BY run_id, token, seq LIMIT $4;

-- name: tail_log
SELECT run_id, token, seq, at, stream, data FROM foliot.log_chunks
WHERE run_id = $1 ORDER BY run_id DESC, token DESC, seq DESC LIMIT $2;

-- name: log_starts
-- One index look-up per attempt, whatever the size of its output.
WITH RECURSIVE starts AS (
    (SELECT token FROM foliot.log_chunks WHERE run_id = $1 ORDER BY run_id, token LIMIT 1)
    UNION ALL
    SELECT (SELECT log_chunks.token FROM foliot.log_chunks
            WHERE log_chunks.run_id = $1 AND log_chunks.token > starts.token
            ORDER BY log_chunks.run_id, log_chunks.token LIMIT 1)
    FROM starts WHERE starts.token IS NOT NULL
)
SELECT token FROM starts WHERE token IS NOT NULL;

-- name: logs_kept_from
SELECT value FROM foliot.meta WHERE key = 'logs_kept_from';

-- name: events
-- Below the oldest open transaction no event can appear later.
SELECT seq, at, kind, items FROM (
    SELECT seq, at, kind, items, sum(octet_length(items)) OVER (ORDER BY seq) - octet_length(items) AS bytes_before
    FROM (
        SELECT seq, at, kind, items FROM foliot.events
        WHERE seq > $1 AND seq < foliot.event_seq(pg_snapshot_xmin(pg_current_snapshot()), 0) ORDER BY seq LIMIT $2
    ) AS next
) AS measured
WHERE bytes_before < $3 ORDER BY seq;

-- name: has_events
SELECT 1 FROM foliot.events WHERE seq > $1 LIMIT 1;
