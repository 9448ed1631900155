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

-- name: children_by_key
SELECT
    r.child_key, r.id,
    CASE WHEN r.status <> 'scheduled' THEN r.status
         WHEN l.token IS NOT NULL THEN 'running'
         WHEN EXISTS (SELECT 1 FROM trees t WHERE t.run_id = r.id AND t.ended_at IS NULL) THEN 'running'
         ELSE 'queued' END,
    r.reason, r.exit_code, r.error, coalesce(l.attempt, r.attempt), coalesce(l.started_at, r.started_at), r.finished_at,
    r.payload, o.body
FROM json_each(?2) j CROSS JOIN runs r ON r.parent_id = ?1 AND r.child_key = j.value
LEFT JOIN outputs o ON o.run_id = r.id LEFT JOIN leases l ON l.run_id = r.id

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

-- name: results
-- Keys of items begin with a digit, that of the reducer with a letter.
SELECT r.child_key, r.id, r.status, r.exit_code, r.error, r.payload, length(o.body)
FROM runs r LEFT JOIN outputs o ON o.run_id = r.id
WHERE r.parent_id = ?1 AND r.child_key > ?2 AND r.child_key < ':' AND r.status <> 'scheduled'
ORDER BY r.child_key LIMIT ?3

-- name: failed_results
SELECT r.child_key, r.id, r.status, r.exit_code, r.error, r.payload, length(o.body)
FROM runs r LEFT JOIN outputs o ON o.run_id = r.id
WHERE r.parent_id = ?1 AND r.child_key > ?2 AND r.child_key < ':' AND r.status <> 'scheduled' AND r.status <> 'success'
AND r.status NOT IN ('partial', 'skipped')
ORDER BY r.child_key LIMIT ?3

-- name: named_results
SELECT r.child_key, r.id, r.status, r.exit_code, r.error, r.payload, length(o.body)
FROM json_each(?2) j CROSS JOIN runs r ON r.parent_id = ?1 AND r.child_key = j.value
LEFT JOIN outputs o ON o.run_id = r.id
WHERE r.status <> 'scheduled' ORDER BY r.child_key LIMIT ?3

-- name: outputs_of_runs
SELECT run_id, body FROM outputs WHERE run_id IN (SELECT value FROM json_each(?))

-- name: parent_of_lease
SELECT t.run_id FROM leases l CROSS JOIN runs r ON r.id = l.run_id CROSS JOIN trees t ON t.run_id = r.parent_id
WHERE l.token = ? AND l.run_id = ? AND l.worker_id = ? AND t.kind = ?

-- name: last_child_key
-- Keys of items are digits, which are below ':'.
SELECT child_key FROM runs WHERE parent_id = ? AND child_key < ':' ORDER BY child_key DESC LIMIT 1

-- name: running_children
-- Few runs are open at a time, whatever the number of children.
SELECT count(*) FROM (
    SELECT 1 FROM (SELECT run_id FROM leases UNION ALL SELECT run_id FROM trees WHERE ended_at IS NULL) p
    CROSS JOIN runs r ON r.id = p.run_id WHERE +r.parent_id = ?1 AND r.child_key < ':' LIMIT ?2)

-- name: running_child_keys
SELECT r.child_key FROM (SELECT run_id FROM leases UNION ALL SELECT run_id FROM trees WHERE ended_at IS NULL) p
CROSS JOIN runs r ON r.id = p.run_id
WHERE +r.parent_id = ?1 AND r.child_key > ?2 AND r.child_key < ':' ORDER BY r.child_key LIMIT ?3

-- name: items_from
-- The first row is the one that contains the first item.
SELECT first, body FROM items
WHERE run_id = ?1 AND first >= (SELECT max(i.first) FROM items i WHERE i.run_id = ?1 AND i.first <= ?2) AND first < ?3
ORDER BY first

-- name: get_fanout
SELECT t.run_id, t.progress, b.body, t.opened_at, t.deadline, t.is_ending
FROM trees t CROSS JOIN tree_bodies b ON b.run_id = t.run_id WHERE t.run_id = ? AND t.kind = 'fanout'
