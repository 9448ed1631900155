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

-- name: passed_runs
SELECT run.id, run.queue, run.priority, run.due_at, run.limits FROM foliot.runs run
WHERE run.id = ANY ((SELECT $1::text[])::text[])
  AND (SELECT true FROM foliot.holds WHERE holds.run_id = run.id AND NOT holds.is_admitted LIMIT 1) IS NULL;

-- name: next_due
SELECT due_at FROM foliot.later ORDER BY due_at LIMIT 1;

-- name: ready_runs
SELECT run_id FROM foliot.ready WHERE queue = $1 ORDER BY rank, run_id LIMIT $2;

-- name: all_workers
SELECT id, name, queues, slots, registered_at, seen_at, expires_at > coalesce($1::bigint, foliot.now_ms()) AS is_alive,
       (SELECT count(*) FROM foliot.leases WHERE leases.worker_id = workers.id) AS running, is_draining,
       facts, orders
FROM foliot.workers ORDER BY registered_at, id;

-- -- gates

-- name: gated_runs
-- The planned time of a child is the time when its tree started it.
SELECT run.id, run.job_id,
       CASE WHEN run.parent_id IS NULL THEN coalesce(run.scheduled_for, run.due_at) ELSE run.due_at END,
       (SELECT due_at FROM foliot.gated WHERE gated.run_id = run.id) AS waits_until,
       (SELECT revision FROM foliot.jobs WHERE jobs.project = run.project AND jobs.id = run.job_id), run.definition_id
FROM foliot.runs run WHERE run.id = ANY (ARRAY(
    SELECT run_id FROM foliot.gated WHERE due_at <= $1 ORDER BY due_at, run_id LIMIT $2))
ORDER BY waits_until, run.id;

-- name: add_decisions
INSERT INTO foliot.decisions (run_id, body) SELECT * FROM unnest($1::text[], $2::text[])
ON CONFLICT (run_id) DO UPDATE SET body = excluded.body;

-- name: postpone
UPDATE foliot.gated SET due_at = new.due_at
FROM unnest((SELECT $1::text[]), (SELECT $2::bigint[])) AS new (run_id, due_at)
WHERE gated.run_id = new.run_id RETURNING gated.run_id;

-- name: dependency_states
-- One look-up for the latest end of each job, and one for its newest runs: a run that is due, or has begun and will be
-- retried, is expected. ANY: see `latest_runs`.
SELECT asked.job_id, latest.run_id, latest.status, latest.finished_at,
       coalesce((SELECT bool_or(newest.finished_at IS NULL AND (newest.due_at <= $4 OR newest.attempt > 0)) FROM (
           SELECT finished_at, due_at, attempt FROM foliot.runs
           WHERE runs.project = ANY ((SELECT ARRAY[$1])::text[]) AND runs.job_id = asked.job_id
           ORDER BY project DESC, job_id DESC, id DESC LIMIT $5) AS newest), false)
FROM unnest((SELECT $2::text[])) AS asked (job_id) LEFT JOIN LATERAL (
    SELECT run_id, status, finished_at FROM foliot.endings
    WHERE endings.project = $1 AND endings.job_id = asked.job_id AND finished_at > $3 AND finished_at <= $4
    ORDER BY project DESC, job_id DESC, finished_at DESC, run_id DESC LIMIT 1) AS latest ON true;

-- name: latest_of_status
-- Compares whole rows and checks the found one afterwards: with a condition on each column the planner may scan all
-- ends of a job backwards until it finds one with that status.
SELECT found.run_id, found.status, found.finished_at
FROM unnest((SELECT $3::text[])) AS asked (status), LATERAL (
    SELECT project, job_id, run_id, status, finished_at FROM foliot.endings
    WHERE (endings.project, endings.job_id, endings.status, finished_at) <= ($1, $2, asked.status, $4)
    ORDER BY project DESC, job_id DESC, status DESC, finished_at DESC, run_id DESC LIMIT 1) AS found
WHERE found.project = $1 AND found.job_id = $2 AND found.status = asked.status
ORDER BY found.finished_at DESC, found.run_id DESC LIMIT 1;

-- name: latest_of_reason
SELECT found.run_id, found.status, found.finished_at
FROM unnest((SELECT $3::text[])) AS asked (status), unnest((SELECT $5::text[])) AS given (reason), LATERAL (
    SELECT project, job_id, run_id, status, reason, finished_at FROM foliot.endings
    WHERE (endings.project, endings.job_id, endings.status, endings.reason, finished_at)
       <= ($1, $2, asked.status, given.reason, $4)
    ORDER BY project DESC, job_id DESC, status DESC, reason DESC, finished_at DESC, run_id DESC LIMIT 1) AS found
WHERE found.project = $1 AND found.job_id = $2 AND found.status = asked.status AND found.reason = given.reason
ORDER BY found.finished_at DESC, found.run_id DESC LIMIT 1;

-- name: decisions
SELECT run_id, body FROM foliot.decisions WHERE run_id = ANY ((SELECT $1::text[])::text[]);
