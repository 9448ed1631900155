-- name: mark_expired
-- A worker that was found expired stays so, even if the clock steps back.
UPDATE foliot.workers SET expires_at = 0 WHERE expires_at <= $1 AND expires_at <> 0;

-- name: expired_leases
-- A lease whose worker is not stored counts as one whose worker has expired.
SELECT run_id, worker_id, token, attempt FROM foliot.leases lease
WHERE NOT EXISTS (SELECT 1 FROM foliot.workers WHERE workers.id = lease.worker_id AND workers.expires_at > $1)
ORDER BY lease.token LIMIT $2;

-- name: remove_expired
DELETE FROM foliot.workers
WHERE expires_at <= coalesce($1::bigint, foliot.now_ms())
  AND NOT EXISTS (SELECT 1 FROM foliot.leases WHERE leases.worker_id = workers.id)
RETURNING id;

-- name: all_workers
SELECT id, name, queues, slots, registered_at, seen_at, expires_at > coalesce($1::bigint, foliot.now_ms()) AS is_alive,
       (SELECT count(*) FROM foliot.leases WHERE leases.worker_id = workers.id) AS running
FROM foliot.workers ORDER BY registered_at, id;
