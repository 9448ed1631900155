-- name: add_delivery
INSERT INTO deliveries (id, target, owner, run_id, receiver, document, due_at, created_at, state, attempts)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, 'pending', 0)
ON CONFLICT (id) DO NOTHING

-- name: take_deliveries
UPDATE deliveries SET due_at = ?5
WHERE id IN (
    SELECT id FROM (
        SELECT id, due_at, row_number() OVER (PARTITION BY receiver ORDER BY due_at, id) AS nth
        FROM deliveries
        WHERE state = 'pending' AND due_at <= ?1 AND receiver NOT IN (SELECT value FROM json_each(?2))
    ) WHERE nth <= ?3 ORDER BY due_at, id LIMIT ?4)
RETURNING id, target, owner, run_id, receiver, document, state, attempts, due_at, created_at, finished_at, answer

-- name: settle_delivery
UPDATE deliveries
SET state = ?2, answer = ?3, due_at = coalesce(?4, due_at), attempts = attempts + 1,
    finished_at = CASE WHEN ?2 = 'pending' THEN NULL ELSE ?5 END
WHERE id = ?1 AND state = 'pending'

-- name: next_delivery
SELECT min(due_at) FROM deliveries WHERE state = 'pending'

-- name: get_deliveries
SELECT id, target, owner, run_id, receiver, document, state, attempts, due_at, created_at, finished_at, answer
FROM deliveries WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id

-- name: failed_deliveries
SELECT id, target, owner, run_id, receiver, document, state, attempts, due_at, created_at, finished_at, answer
FROM deliveries AS d
WHERE state = 'failed' AND finished_at >= ?1 AND NOT EXISTS (
    SELECT 1 FROM deliveries AS later
    WHERE later.state = 'delivered' AND later.receiver = d.receiver AND later.finished_at > d.finished_at)
ORDER BY finished_at DESC, id LIMIT ?2
