-- name: leader
SELECT holder, epoch, expires_at > foliot.now_ms() FROM foliot.leader WHERE name = 'upkeep';

-- name: lead
INSERT INTO foliot.leader AS known (name, holder, epoch, expires_at)
SELECT 'upkeep', $1, 1, clock.now + $2 FROM (SELECT coalesce($3::bigint, foliot.now_ms()) AS now) AS clock
ON CONFLICT (name) DO UPDATE SET
    holder = excluded.holder, expires_at = excluded.expires_at,
    epoch = CASE WHEN known.holder = excluded.holder AND known.expires_at > excluded.expires_at - $2
                 THEN known.epoch ELSE known.epoch + 1 END
    WHERE known.holder = excluded.holder OR known.expires_at <= excluded.expires_at - $2
RETURNING epoch;

-- name: resign
UPDATE foliot.leader SET expires_at = 0 WHERE name = 'upkeep' AND holder = $1;

-- name: current_epoch
-- The lock keeps the epoch current until the transaction ends. A leader that has resigned does not count.
SELECT epoch FROM foliot.leader WHERE name = 'upkeep' AND expires_at > 0 FOR SHARE;

-- name: old_runs
-- Ids begin with the time, so younger runs are not read. Children are removed with their tree.
SELECT id FROM foliot.runs WHERE id < $1 AND status <> 'scheduled' AND finished_at < $2 AND parent_id IS NULL
ORDER BY id LIMIT $3;

-- name: surplus_runs
-- The next few jobs, and their ended runs beyond the newest, without children. A job without surplus is returned with
-- one row without a run. So the limit on rows (runs plus jobs) returns the allowed number of runs, or all of them. Rows
-- are read only of jobs that have more runs than are kept, which the index shows. ANY: see `latest_runs`.
SELECT job.job_id, surplus.id
FROM (WITH RECURSIVE listed AS (
          (SELECT project, job_id, 1 AS nth FROM foliot.runs WHERE project = $1 AND job_id > $2
           ORDER BY project, job_id LIMIT 1)
          UNION ALL
          SELECT following.project, following.job_id, listed.nth + 1 FROM listed, LATERAL (
              SELECT project, job_id FROM foliot.runs WHERE project = listed.project AND job_id > listed.job_id
              ORDER BY project, job_id LIMIT 1) AS following
          WHERE listed.nth < $5)
      SELECT project, job_id FROM listed) AS job
LEFT JOIN LATERAL (
    SELECT id FROM foliot.runs
    WHERE runs.project = ANY (ARRAY[job.project]) AND runs.job_id = job.job_id AND runs.status <> 'scheduled'
      AND runs.parent_id IS NULL
      AND runs.id <= CASE WHEN (SELECT true FROM foliot.runs counted
                                WHERE counted.project = ANY (ARRAY[job.project]) AND counted.job_id = job.job_id
                                ORDER BY counted.project DESC, counted.job_id DESC, counted.id DESC OFFSET $3 LIMIT 1)
                          THEN (SELECT newest.id FROM foliot.runs newest
                                WHERE newest.project = ANY (ARRAY[job.project]) AND newest.job_id = job.job_id
                                  AND newest.status <> 'scheduled' AND newest.parent_id IS NULL
                                ORDER BY newest.project DESC, newest.job_id DESC, newest.id DESC OFFSET $3 LIMIT 1) END
    ORDER BY runs.project, runs.job_id, runs.id LIMIT $4) AS surplus ON true
LIMIT $4 + $5;

-- name: surplus_executions
-- As above, for trees that are not children.
SELECT job.job_id, surplus.run_id
FROM (WITH RECURSIVE listed AS (
          (SELECT project, job_id, 1 AS nth FROM foliot.trees WHERE project = $1 AND job_id > $2
           ORDER BY project, job_id LIMIT 1)
          UNION ALL
          SELECT following.project, following.job_id, listed.nth + 1 FROM listed, LATERAL (
              SELECT project, job_id FROM foliot.trees WHERE project = listed.project AND job_id > listed.job_id
              ORDER BY project, job_id LIMIT 1) AS following
          WHERE listed.nth < $5)
      SELECT project, job_id FROM listed) AS job
LEFT JOIN LATERAL (
    SELECT run_id FROM foliot.trees known
    WHERE known.project = job.project AND known.job_id = job.job_id AND known.ended_at IS NOT NULL AND known.depth = 0
      AND known.run_id <= (SELECT newest.run_id FROM foliot.trees newest
                           WHERE newest.project = job.project AND newest.job_id = job.job_id
                             AND newest.ended_at IS NOT NULL AND newest.depth = 0
                           ORDER BY newest.project DESC, newest.job_id DESC, newest.run_id DESC
                           OFFSET $3 LIMIT 1)
    ORDER BY known.project, known.job_id, known.run_id LIMIT $4) AS surplus ON true
LIMIT $4 + $5;

-- name: old_executions
SELECT run_id FROM foliot.trees WHERE run_id < $1 AND ended_at < $2 AND depth = 0 ORDER BY run_id LIMIT $3;

-- name: surplus_of_workflows
-- The same for named workflows.
SELECT surplus.run_id FROM unnest((SELECT $2::text[])) AS asked (job_id), LATERAL (
    SELECT run_id FROM foliot.trees known
    WHERE known.project = $1 AND known.job_id = asked.job_id AND known.ended_at IS NOT NULL AND known.depth = 0
      AND known.run_id <= (SELECT newest.run_id FROM foliot.trees newest
                           WHERE newest.project = $1 AND newest.job_id = asked.job_id
                             AND newest.ended_at IS NOT NULL AND newest.depth = 0
                           ORDER BY newest.project DESC, newest.job_id DESC, newest.run_id DESC
                           OFFSET $3 LIMIT 1)
    ORDER BY known.project, known.job_id, known.run_id LIMIT $4) AS surplus
LIMIT $4;

-- name: excess_executions
SELECT run_id FROM foliot.trees
WHERE project = $1 AND ended_at IS NOT NULL AND depth = 0
  AND run_id <= (SELECT run_id FROM foliot.trees WHERE project = $1 AND ended_at IS NOT NULL AND depth = 0
                 ORDER BY run_id DESC OFFSET $2 LIMIT 1)
ORDER BY run_id LIMIT $3;

-- name: visible_to_gates
-- Executions with an end that a gate may read: it is in the window of the gate, or is the latest with its status. The
-- window kind `since_last_success` begins at the latest success, however old it is.
-- The first condition is evaluated once: if no job is watched, the rest costs nothing.
SELECT asked.run_id FROM unnest((SELECT $1::text[])) AS asked (run_id)
WHERE (SELECT true FROM foliot.watched LIMIT 1)
  AND (SELECT true FROM foliot.trees WHERE trees.run_id = asked.run_id)
  AND EXISTS (
    SELECT 1
    FROM (SELECT asked.run_id AS id
          UNION ALL
          SELECT child.id FROM foliot.runs child WHERE child.root_id = asked.run_id) AS own
    JOIN foliot.endings known ON known.run_id = own.id
    JOIN foliot.watched ON watched.job_id = known.job_id AND watched.project = known.project
    WHERE known.finished_at > $2 - watched.look_back
       OR known.run_id = (SELECT latest.run_id FROM foliot.endings latest
                          WHERE latest.project = known.project AND latest.job_id = known.job_id
                            AND latest.status = known.status
                          ORDER BY latest.project DESC, latest.job_id DESC, latest.status DESC, latest.finished_at DESC,
                                   latest.run_id DESC
                          LIMIT 1));

-- name: parts_of_runs
-- Children of trees.
SELECT child.id FROM unnest((SELECT $1::text[])) AS parent (id)
JOIN foliot.runs child ON child.parent_id = parent.id AND child.status <> 'scheduled' LIMIT $2;

-- name: delete_runs
DELETE FROM foliot.runs WHERE id = ANY ((SELECT $1::text[])::text[]) AND status <> 'scheduled' RETURNING id;

-- name: delete_runs_outputs
DELETE FROM foliot.outputs WHERE run_id = ANY ((SELECT $1::text[])::text[]);

-- name: delete_runs_attempts
DELETE FROM foliot.attempts WHERE run_id = ANY ((SELECT $1::text[])::text[]);

-- name: delete_runs_logs
DELETE FROM foliot.log_chunks WHERE run_id = ANY ((SELECT $1::text[])::text[]);

-- name: delete_runs_trees
DELETE FROM foliot.trees WHERE run_id = ANY ((SELECT $1::text[])::text[]);

-- name: delete_runs_bodies
DELETE FROM foliot.tree_bodies WHERE run_id = ANY ((SELECT $1::text[])::text[]);

-- name: delete_runs_steps
DELETE FROM foliot.steps WHERE run_id = ANY ((SELECT $1::text[])::text[]);

-- name: delete_runs_chains
DELETE FROM foliot.chains WHERE run_id = ANY ((SELECT $1::text[])::text[]);

-- name: delete_runs_items
DELETE FROM foliot.items WHERE run_id = ANY ((SELECT $1::text[])::text[]);

-- name: delete_runs_notes
DELETE FROM foliot.notes WHERE parent_id = ANY ((SELECT $1::text[])::text[]);

-- name: delete_runs_endings
DELETE FROM foliot.endings WHERE run_id = ANY ((SELECT $1::text[])::text[]);

-- name: delete_runs_decisions
DELETE FROM foliot.decisions WHERE run_id = ANY ((SELECT $1::text[])::text[]);

-- name: delete_runs_launches
DELETE FROM foliot.launches WHERE run_id = ANY ((SELECT $1::text[])::text[]);

-- name: delete_runs_keys
-- A key with a window is kept until the window ends, even if its run is removed before.
DELETE FROM foliot.dedupe WHERE run_id = ANY ((SELECT $1::text[])::text[]) AND scope <> 'window' RETURNING run_id;

-- name: next_ledgers
-- Younger schedules have no old ticks: uids contain the time of their creation.
SELECT uid, spec, settled_until,
       (SELECT true FROM foliot.ticks WHERE ticks.uid = schedules.uid AND scheduled_for < $3 LIMIT 1) AS has_old_ticks
FROM foliot.schedules WHERE uid > $1 AND uid < $4 ORDER BY uid LIMIT $2;

-- name: prune_ticks
DELETE FROM foliot.ticks USING (
    SELECT old.uid, old.scheduled_for
    FROM unnest((SELECT $1::text[]), (SELECT $2::bigint[])) AS asked (uid, cut), LATERAL (
        SELECT uid, scheduled_for FROM foliot.ticks WHERE ticks.uid = asked.uid AND ticks."until" < asked.cut
        AND ticks.scheduled_for < asked.cut ORDER BY ticks.uid, ticks.scheduled_for LIMIT $3) AS old
    LIMIT $3) AS doomed
WHERE ticks.uid = doomed.uid AND ticks.scheduled_for = doomed.scheduled_for
RETURNING ticks.uid, ticks."until";

-- name: begin_ledgers
UPDATE foliot.schedules SET ledger_from = greatest(schedules.ledger_from, new.ledger_from)
FROM unnest((SELECT $1::text[]), (SELECT $2::bigint[])) AS new (uid, ledger_from) WHERE schedules.uid = new.uid;

-- name: forgettable_schedules
-- Deleted or exhausted long ago, without ticks and runs.
SELECT uid FROM foliot.schedules
WHERE uid = ANY ((SELECT $1::text[])::text[]) AND wake_at IS NULL
  AND (deleted_at < $2 OR (NOT enabled AND updated_at < $2 AND settled_until < $2 AND next_run_at IS NULL))
  AND NOT EXISTS (SELECT 1 FROM foliot.ticks WHERE ticks.uid = schedules.uid)
  AND NOT EXISTS (SELECT 1 FROM foliot.planned WHERE planned.uid = schedules.uid)
  AND NOT EXISTS (SELECT 1 FROM foliot.runs WHERE runs.schedule_uid = schedules.uid)
ORDER BY uid LIMIT $3 FOR UPDATE SKIP LOCKED;

-- name: forget_revisions
DELETE FROM foliot.revisions WHERE uid = ANY ((SELECT $1::text[])::text[]);

-- name: forget_boots
DELETE FROM foliot.boots WHERE uid = ANY ((SELECT $1::text[])::text[]);

-- name: forget_pauses
DELETE FROM foliot.pauses WHERE uid = ANY ((SELECT $1::text[])::text[]);

-- name: forget_schedules
DELETE FROM foliot.schedules WHERE uid = ANY ((SELECT $1::text[])::text[]);

-- name: idle_limits
SELECT key FROM foliot.limits
WHERE NOT EXISTS (SELECT 1 FROM foliot.holds WHERE holds.key = limits.key)
ORDER BY key LIMIT $1 FOR UPDATE SKIP LOCKED;

-- name: prune_limits
DELETE FROM foliot.limits
WHERE key = ANY ((SELECT $1::text[])::text[]) AND NOT EXISTS (SELECT 1 FROM foliot.holds WHERE holds.key = limits.key);

-- name: prune_logs
DELETE FROM foliot.log_chunks WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM foliot.log_chunks chunk WHERE at < $1 AND NOT EXISTS (
        SELECT 1 FROM foliot.runs WHERE runs.id = chunk.run_id AND runs.status = 'scheduled')
    ORDER BY at LIMIT $2 FOR UPDATE SKIP LOCKED)) RETURNING 1;

-- name: note_logs_kept_from
INSERT INTO foliot.meta (key, value) VALUES ('logs_kept_from', $1::bigint::text)
ON CONFLICT (key) DO UPDATE SET value = greatest(meta.value::bigint, excluded.value::bigint)::text;

-- name: prune_events
-- Reads only the oldest rows: numbers and times increase together.
DELETE FROM foliot.events WHERE seq = ANY (ARRAY(
    SELECT oldest.seq FROM (SELECT seq, at FROM foliot.events ORDER BY seq LIMIT $2) AS oldest WHERE oldest.at < $1))
RETURNING 1;

-- name: prune_deliveries
DELETE FROM foliot.deliveries WHERE id = ANY (ARRAY(
    SELECT id FROM foliot.deliveries WHERE finished_at IS NOT NULL AND finished_at < $1 ORDER BY finished_at LIMIT $2));

-- name: prune_audit
DELETE FROM foliot.audit WHERE seq = ANY (ARRAY(SELECT seq FROM foliot.audit WHERE at < $1 ORDER BY at LIMIT $2))
RETURNING 1;

-- name: prune_requests
DELETE FROM foliot.requests WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM foliot.requests WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2));

-- name: prune_sessions
DELETE FROM foliot.sessions WHERE digest = ANY (ARRAY(
    SELECT digest FROM foliot.sessions WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2));

-- name: prune_keys
DELETE FROM foliot.dedupe WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM foliot.dedupe WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED))
RETURNING 1;

-- name: next_items
-- Runs with items, and whether each exists. Ids begin with the time, so nothing younger than the cut is read.
SELECT i.run_id, EXISTS (SELECT 1 FROM foliot.runs r WHERE r.id = i.run_id) FROM foliot.items i
WHERE i.first = 0 AND i.run_id > $1 AND i.run_id < $2 ORDER BY i.run_id LIMIT $3;

-- name: prune_items
-- The first items last: they are how the next piece finds the run.
DELETE FROM foliot.items WHERE run_id = $1 AND first = ANY (ARRAY(
    SELECT first FROM foliot.items WHERE run_id = $1 ORDER BY first DESC LIMIT $2))
AND NOT EXISTS (SELECT 1 FROM foliot.runs WHERE id = $1);

-- -- check

-- name: min_code
SELECT value FROM foliot.meta WHERE key = 'min_code';

-- -- expired workers

-- name: probe
INSERT INTO foliot.meta (key, value) VALUES ('probed_at', foliot.now_ms()::text)
ON CONFLICT (key) DO UPDATE SET value = excluded.value;

-- name: save_clock_fault
INSERT INTO foliot.clock_faults (node, kind, size, at) VALUES ($1, $2, $3, $4)
ON CONFLICT (node, kind) DO UPDATE SET size = excluded.size, at = excluded.at;

-- name: prune_clock_faults
-- Processes come and go, each with its own label.
DELETE FROM foliot.clock_faults WHERE (node, kind) IN (
    SELECT node, kind FROM foliot.clock_faults ORDER BY at DESC, node, kind OFFSET 100);

-- name: mark_expired
-- A worker that has expired stays expired, even if the clock is set back.
UPDATE foliot.workers SET expires_at = 0 WHERE expires_at <= $1 AND expires_at <> 0;

-- name: worker_processes
SELECT id, process FROM foliot.workers WHERE process <> '' AND expires_at > 0;

-- name: expire_workers
UPDATE foliot.workers SET expires_at = 0 WHERE id = ANY ((SELECT $1::text[])::text[]);

-- name: expired_leases
-- A lease without a stored worker counts as expired. The executor does not expire, but its leases end by cancellation
-- and timeout.
SELECT run_id, worker_id, token, attempt, cancel_at IS NOT NULL FROM foliot.leases lease
WHERE CASE
    WHEN worker_id = '@executor' THEN cancel_at IS NOT NULL OR report_by <= $1
    ELSE NOT EXISTS (SELECT 1 FROM foliot.workers WHERE workers.id = lease.worker_id AND workers.expires_at > $1)
END
ORDER BY lease.token LIMIT $2;

-- name: remove_expired_workers
DELETE FROM foliot.workers
WHERE expires_at <= coalesce($1::bigint, foliot.now_ms())
  AND NOT EXISTS (SELECT 1 FROM foliot.leases WHERE leases.worker_id = workers.id)
RETURNING id;
