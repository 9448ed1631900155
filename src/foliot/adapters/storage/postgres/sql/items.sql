-- name: item_count
SELECT first + count FROM foliot.items WHERE run_id = $1 AND is_last;

-- name: lock_lease
-- Until the transaction ends, the lease can neither be lost nor end.
SELECT true FROM foliot.leases WHERE run_id = $1 AND token = $2 AND worker_id = $3 FOR SHARE;

-- name: remove_items
DELETE FROM foliot.items WHERE run_id = $1;

-- name: add_items
INSERT INTO foliot.items (run_id, first, count, is_last, body) VALUES ($1, $2, $3, $4, $5);

-- name: items_between
-- For each run, the rows from the one that contains the first item.
SELECT asked.run_id, own.first, own.body
FROM unnest((SELECT $1::text[]), (SELECT $2::int[]), (SELECT $3::int[])) AS asked (run_id, first, stop), LATERAL (
    SELECT items.first, items.body FROM foliot.items
    WHERE items.run_id = asked.run_id AND items.first < asked.stop AND items.first >= (
        SELECT max(before.first) FROM foliot.items before
        WHERE before.run_id = asked.run_id AND before.first <= asked.first)) AS own
ORDER BY asked.run_id, own.first;

-- name: children
SELECT
    r.child_key, r.id,
    CASE WHEN r.status <> 'scheduled' THEN r.status
         WHEN EXISTS (SELECT 1 FROM foliot.leases l WHERE l.run_id = r.id) THEN 'running'
         WHEN EXISTS (SELECT 1 FROM foliot.trees t WHERE t.run_id = r.id AND t.ended_at IS NULL) THEN 'running'
         ELSE 'queued' END,
    r.reason, r.exit_code, r.error, r.attempt, r.started_at, r.finished_at, r.payload, o.body
FROM foliot.runs r LEFT JOIN foliot.outputs o ON o.run_id = r.id
WHERE r.parent_id = $1 AND r.child_key > $2 ORDER BY r.child_key LIMIT $3;

-- name: children_by_key
SELECT
    r.child_key, r.id,
    CASE WHEN r.status <> 'scheduled' THEN r.status
         WHEN l.token IS NOT NULL THEN 'running'
         WHEN EXISTS (SELECT 1 FROM foliot.trees t WHERE t.run_id = r.id AND t.ended_at IS NULL) THEN 'running'
         ELSE 'queued' END,
    r.reason, r.exit_code, r.error, coalesce(l.attempt, r.attempt), coalesce(l.started_at, r.started_at), r.finished_at,
    r.payload, o.body
FROM foliot.runs r LEFT JOIN foliot.outputs o ON o.run_id = r.id LEFT JOIN foliot.leases l ON l.run_id = r.id
WHERE r.parent_id = $1 AND r.child_key = ANY ((SELECT $2::text[])::text[]);

-- name: unsuccessful_children
SELECT
    r.child_key, r.id,
    CASE WHEN r.status <> 'scheduled' THEN r.status
         WHEN EXISTS (SELECT 1 FROM foliot.leases l WHERE l.run_id = r.id) THEN 'running'
         WHEN EXISTS (SELECT 1 FROM foliot.trees t WHERE t.run_id = r.id AND t.ended_at IS NULL) THEN 'running'
         ELSE 'queued' END,
    r.reason, r.exit_code, r.error, r.attempt, r.started_at, r.finished_at, r.payload, o.body
FROM foliot.runs r LEFT JOIN foliot.outputs o ON o.run_id = r.id
WHERE r.parent_id = $1 AND r.child_key > $2 AND r.trouble IS NOT NULL
ORDER BY r.child_key LIMIT $3;

-- name: results
-- Keys of items begin with a digit, that of the reducer with a letter.
SELECT r.child_key, r.id, r.status, r.exit_code, r.error, r.payload, octet_length(o.body)
FROM foliot.runs r LEFT JOIN foliot.outputs o ON o.run_id = r.id
WHERE r.parent_id = $1 AND r.child_key > $2 AND r.child_key < ':' AND r.status <> 'scheduled'
ORDER BY r.child_key LIMIT $3;

-- name: failed_results
SELECT r.child_key, r.id, r.status, r.exit_code, r.error, r.payload, octet_length(o.body)
FROM foliot.runs r LEFT JOIN foliot.outputs o ON o.run_id = r.id
WHERE r.parent_id = $1 AND r.child_key > $2 AND r.child_key < ':' AND r.trouble IS NOT NULL
AND r.trouble NOT IN ('partial', 'skipped')
ORDER BY r.child_key LIMIT $3;

-- name: named_results
SELECT r.child_key, r.id, r.status, r.exit_code, r.error, r.payload, octet_length(o.body)
FROM foliot.runs r LEFT JOIN foliot.outputs o ON o.run_id = r.id
WHERE r.parent_id = $1 AND r.child_key = ANY ((SELECT $2::text[])::text[]) AND r.status <> 'scheduled'
ORDER BY r.child_key LIMIT $3;

-- name: outputs_of_runs
SELECT run_id, body FROM foliot.outputs WHERE run_id = ANY ((SELECT $1::text[])::text[]);

-- name: parent_of_lease
SELECT t.run_id FROM foliot.leases l JOIN foliot.runs r ON r.id = l.run_id JOIN foliot.trees t ON t.run_id = r.parent_id
WHERE l.token = $1 AND l.run_id = $2 AND l.worker_id = $3 AND t.kind = $4;

-- name: last_child_key
-- Keys of items are digits, which are below ':'.
SELECT child_key FROM foliot.runs WHERE parent_id = $1 AND child_key < ':' ORDER BY parent_id DESC, child_key DESC LIMIT 1;

-- name: running_children
-- Few runs are open at a time, whatever the number of children. A scalar sub-select is looked up for each of them.
SELECT count(*) FROM (
    SELECT 1 FROM (SELECT run_id FROM foliot.leases
                   UNION ALL SELECT run_id FROM foliot.trees WHERE ended_at IS NULL) AS place
    WHERE (SELECT runs.parent_id = $1 AND runs.child_key < ':' FROM foliot.runs WHERE runs.id = place.run_id)
    LIMIT $2) AS running;

-- name: running_child_keys
SELECT child_key FROM (
    SELECT (SELECT runs.child_key FROM foliot.runs WHERE runs.id = place.run_id AND runs.parent_id = $1) AS child_key
    FROM (SELECT run_id FROM foliot.leases
          UNION ALL SELECT run_id FROM foliot.trees WHERE ended_at IS NULL) AS place) AS running
WHERE child_key > $2 AND child_key < ':' ORDER BY child_key LIMIT $3;

-- name: items_from
-- The first row is the one that contains the first item.
SELECT first, body FROM foliot.items
WHERE run_id = $1 AND first < $3 AND first >= (
    SELECT max(before.first) FROM foliot.items before WHERE before.run_id = $1 AND before.first <= $2)
ORDER BY first;

-- name: get_fanout
SELECT tree.run_id, tree.progress, (SELECT body FROM foliot.tree_bodies WHERE tree_bodies.run_id = tree.run_id),
       tree.opened_at, tree.deadline, tree.is_ending
FROM foliot.trees tree WHERE tree.run_id = $1 AND tree.kind = 'fanout';
