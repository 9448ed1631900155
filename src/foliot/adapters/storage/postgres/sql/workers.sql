-- name: register
INSERT INTO foliot.workers (id, name, queues, slots, registered_at, seen_at, expires_at)
SELECT $1, $2, $3::text[], $4, clock.now, clock.now, clock.now + $5
FROM (SELECT coalesce($6::bigint, foliot.now_ms()) AS now) AS clock
ON CONFLICT (id) DO UPDATE SET
    name = excluded.name, queues = excluded.queues, slots = excluded.slots,
    seen_at = excluded.seen_at, expires_at = excluded.expires_at;

-- name: renew
UPDATE foliot.workers SET seen_at = clock.now, expires_at = clock.now + $2
FROM (SELECT coalesce($3::bigint, foliot.now_ms()) AS now) AS clock
WHERE id = $1 AND expires_at > clock.now
RETURNING clock.now;

-- name: mark_expired
-- Whoever has been found dead stays dead, also should the clock step back.
UPDATE foliot.workers SET expires_at = 0 WHERE expires_at <= $1 AND expires_at <> 0;

-- name: lease_columns
run.id, lease.token, lease.worker_id, run.job_id,
(SELECT job.revision FROM foliot.jobs job WHERE job.project = run.project AND job.id = run.job_id),
lease.attempt, run.lost, run.queue, run.priority, run.due_at, lease.started_at,
convert_to(run.payload, 'UTF8'), convert_to(run.overrides, 'UTF8'),
run.limits, run.schedule_uid, run.schedule_id, run.scheduled_for, run.tick_key, run.root_id, run.role, run.item

-- name: expired_leases
-- A lease whose worker is not there at all is as good as one whose worker has expired.
SELECT {lease_columns} FROM foliot.leases lease JOIN foliot.runs run ON run.id = lease.run_id
WHERE NOT EXISTS (SELECT 1 FROM foliot.workers WHERE workers.id = lease.worker_id AND workers.expires_at > $1)
ORDER BY lease.token LIMIT $2;

-- name: leases_of_worker
SELECT token, run_id, cancel_at FROM foliot.leases WHERE worker_id = $1;

-- name: leases_of_runs
SELECT {lease_columns} FROM foliot.leases lease JOIN foliot.runs run ON run.id = lease.run_id
WHERE lease.run_id = ANY ((SELECT $1::text[])::text[]);

-- name: retire
DELETE FROM foliot.workers WHERE id = $1;

-- name: remove_expired
DELETE FROM foliot.workers
WHERE expires_at <= coalesce($1::bigint, foliot.now_ms())
  AND NOT EXISTS (SELECT 1 FROM foliot.leases WHERE leases.worker_id = workers.id)
RETURNING id;

-- name: all_workers
SELECT id, name, queues, slots, registered_at, seen_at, expires_at > coalesce($1::bigint, foliot.now_ms()) AS is_alive,
       (SELECT count(*) FROM foliot.leases WHERE leases.worker_id = workers.id) AS running
FROM foliot.workers ORDER BY registered_at, id;
