-- name: latest_runs
SELECT found.id FROM unnest((SELECT $2::text[])) AS asked (job_id), LATERAL (
    SELECT id FROM foliot.runs WHERE runs.project = $1 AND runs.job_id = asked.job_id
    ORDER BY project DESC, job_id DESC, id DESC LIMIT 1) AS found;

-- name: overrides
SELECT overrides FROM foliot.runs WHERE id = $1;

-- name: depth
-- Only what is not over is counted, and of that no more than the limit.
SELECT (SELECT count(*) FROM (
            SELECT 1 FROM foliot.leases UNION ALL SELECT 1 FROM foliot.executions WHERE ended_at IS NULL LIMIT $1)
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
