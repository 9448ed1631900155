-- name: latest_runs
SELECT found.id FROM unnest((SELECT $2::text[])) AS asked (job_id), LATERAL (
    SELECT id FROM foliot.runs WHERE runs.project = $1 AND runs.job_id = asked.job_id
    ORDER BY project DESC, job_id DESC, id DESC LIMIT 1) AS found;

-- name: depth
-- Only what is not over is counted, and of that no more than the limit.
SELECT (SELECT count(*) FROM (
            SELECT 1 FROM foliot.leases UNION ALL SELECT 1 FROM foliot.trees WHERE ended_at IS NULL LIMIT $1)
            AS running) AS running,
       (SELECT count(*) FROM (SELECT 1 FROM foliot.ready LIMIT $1) AS ready)
       + (SELECT count(*) FROM (
              SELECT DISTINCT run_id FROM foliot.holds WHERE NOT is_admitted AND NOT EXISTS (
                  SELECT 1 FROM foliot.later WHERE later.run_id = holds.run_id) AND NOT EXISTS (
                  SELECT 1 FROM foliot.gated WHERE gated.run_id = holds.run_id)
              LIMIT $1) AS waiting) AS queued,
       (SELECT count(*) FROM (SELECT 1 FROM foliot.later UNION ALL SELECT 1 FROM foliot.gated LIMIT $1) AS later)
       AS scheduled;

-- name: upcoming_schedules
SELECT {schedule_columns} FROM foliot.schedules WHERE wake_at IS NOT NULL ORDER BY wake_at LIMIT $1;

-- name: list_schedules
SELECT {schedule_columns} FROM foliot.schedules
WHERE project = $1 AND deleted_at IS NULL AND id > $2 ORDER BY project, id LIMIT $3;

-- name: list_schedules_of_job
SELECT {schedule_columns} FROM foliot.schedules
WHERE project = $1 AND job_id = $2 AND deleted_at IS NULL AND id > $3 ORDER BY id LIMIT $4;

-- name: schedules_of_targets
SELECT {schedule_columns} FROM foliot.schedules
WHERE project = $1 AND job_id = ANY ((SELECT $2::text[])::text[]) AND deleted_at IS NULL ORDER BY id;

-- name: runs_of_steps
-- The stored status: of a run that is not over it says only that.
SELECT known.step, run.status, run.reason, run.error
FROM (SELECT step, step_run_id FROM foliot.steps WHERE run_id = $1 ORDER BY nth) AS known, LATERAL (
    SELECT status, reason, error FROM foliot.runs WHERE runs.id = known.step_run_id LIMIT 1) AS run;

-- name: awaited_limits
SELECT waiting.run_id, waiting.key, (SELECT capacity FROM foliot.limits WHERE limits.key = waiting.key)
FROM foliot.holds waiting WHERE waiting.run_id = ANY ((SELECT $1::text[])::text[]) AND NOT waiting.is_admitted
ORDER BY waiting.run_id, waiting.key;

-- name: limit_holders
-- The first few of each key, in the order in which they got their places.
SELECT asked.key, first.run_id FROM unnest((SELECT $1::text[])) AS asked (key), LATERAL (
    SELECT run_id FROM foliot.holds WHERE holds.key = asked.key AND holds.is_admitted
    ORDER BY holds.rank, holds.run_id LIMIT $2) AS first;

-- name: latest_ticks
SELECT scheduled_for, "until", count, outcome, reason, fire_at, revision, run_id, into_tick, key, decided_at
FROM foliot.ticks WHERE uid = $1 ORDER BY uid DESC, scheduled_for DESC LIMIT $2;
