-- name: item_count
SELECT first + count FROM items WHERE run_id = ? AND is_last

-- name: remove_items
DELETE FROM items WHERE run_id = ?

-- name: add_items
INSERT INTO items (run_id, first, count, is_last, body) VALUES (?, ?, ?, ?, ?)

-- name: items_between
-- The first row is the one that contains the first item.
SELECT first, body FROM items
WHERE run_id = ?1 AND first >= (SELECT max(i.first) FROM items i WHERE i.run_id = ?1 AND i.first <= ?2) AND first < ?3
ORDER BY first

-- name: children
SELECT
    r.child_key, r.id,
    CASE WHEN r.status <> 'scheduled' THEN r.status
         WHEN EXISTS (SELECT 1 FROM leases l WHERE l.run_id = r.id) THEN 'running'
         WHEN EXISTS (SELECT 1 FROM trees t WHERE t.run_id = r.id AND t.ended_at IS NULL) THEN 'running'
         ELSE 'queued' END,
    r.reason, r.exit_code, r.error, r.attempt, r.started_at, r.finished_at, r.payload, o.body
FROM runs r LEFT JOIN outputs o ON o.run_id = r.id
WHERE r.parent_id = ?1 AND r.child_key > ?2 ORDER BY r.child_key LIMIT ?3

-- name: unsuccessful_children
SELECT
    r.child_key, r.id,
    CASE WHEN r.status <> 'scheduled' THEN r.status
         WHEN EXISTS (SELECT 1 FROM leases l WHERE l.run_id = r.id) THEN 'running'
         WHEN EXISTS (SELECT 1 FROM trees t WHERE t.run_id = r.id AND t.ended_at IS NULL) THEN 'running'
         ELSE 'queued' END,
    r.reason, r.exit_code, r.error, r.attempt, r.started_at, r.finished_at, r.payload, o.body
FROM runs r LEFT JOIN outputs o ON o.run_id = r.id
WHERE r.parent_id = ?1 AND r.child_key > ?2 AND r.status <> 'scheduled' AND r.status <> 'success'
ORDER BY r.child_key LIMIT ?3
