-- name: register_worker
INSERT INTO workers (id, name, queues, slots, registered_at, seen_at, boot_id, deadline)
VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6, ?7)
ON CONFLICT (id) DO UPDATE SET
    name = excluded.name, queues = excluded.queues, slots = excluded.slots,
    seen_at = excluded.seen_at, boot_id = excluded.boot_id, deadline = excluded.deadline

-- name: renew_worker
UPDATE workers SET seen_at = ?, deadline = ? WHERE id = ? AND boot_id = ? AND deadline > ?

-- name: retire_worker
DELETE FROM workers WHERE id = ?

-- name: remove_expired
DELETE FROM workers
WHERE (boot_id <> ? OR deadline <= ?) AND NOT EXISTS (SELECT 1 FROM leases l WHERE l.worker_id = workers.id)

-- name: all_workers
SELECT
    w.id, w.name, w.queues, w.slots, w.registered_at, w.seen_at, w.boot_id = ? AND w.deadline > ?,
    (SELECT count(*) FROM leases l WHERE l.worker_id = w.id)
FROM workers w ORDER BY w.registered_at, w.id
