-- name: set_capacity
-- The newest run knows best how many may be under way.
INSERT INTO limits (key, capacity) VALUES (?, ?)
ON CONFLICT (key) DO UPDATE SET capacity = excluded.capacity WHERE capacity <> excluded.capacity

-- name: know_limits
INSERT INTO limits (key, capacity)
SELECT j.value ->> 0, j.value ->> 1 FROM runs r, json_each(r.limits) j WHERE r.id = ?
ON CONFLICT (key) DO NOTHING

-- name: ask_places
-- LEFT JOIN: who names no limit asks for no key, which is refused; it would wait for ever.
INSERT INTO holds (key, is_admitted, rank, run_id)
SELECT j.value ->> 0, 0, r.due_at - r.priority * ?2, r.id FROM runs r LEFT JOIN json_each(r.limits) j WHERE r.id = ?1

-- name: limits_of_runs
SELECT r.id, r.limits FROM json_each(?) j CROSS JOIN runs r ON r.id = j.value

-- name: hold_overlap_key
INSERT INTO holds (key, is_admitted, rank, run_id) VALUES (?, ?, ?, ?)

-- name: keys_of_runs
SELECT DISTINCT key FROM holds WHERE run_id IN (SELECT value FROM json_each(?))

-- name: capacity
SELECT capacity FROM limits WHERE key = ?

-- name: count_admitted
SELECT count(*) FROM holds WHERE key = ? AND is_admitted = 1

-- name: waiting_runs
SELECT h.rank, h.run_id,
    (SELECT json_group_array(o.key) FROM holds o WHERE o.run_id = h.run_id AND o.is_admitted = 0)
FROM holds h
WHERE h.key = ? AND h.is_admitted = 0 AND (h.rank, h.run_id) > (?, ?)
ORDER BY h.rank, h.run_id LIMIT ?

-- name: admit_run
UPDATE holds SET is_admitted = 1 WHERE run_id = ? AND is_admitted = 0

-- name: make_ready
INSERT INTO ready (queue, rank, run_id) SELECT queue, due_at - priority * ?2, id FROM runs WHERE id = ?1
RETURNING queue

-- name: admitted_by_schedule
-- Runs whose turn it is on their schedule: those not due yet are in later, and stay there; so do those that wait for
-- their gate.
SELECT r.id, r.limits IS NOT NULL FROM runs r
WHERE r.id IN (SELECT value FROM json_each(?))
    AND NOT EXISTS (SELECT 1 FROM later l WHERE l.due_at = r.due_at AND l.run_id = r.id)
    AND NOT EXISTS (SELECT 1 FROM gated g WHERE g.run_id = r.id)

-- name: release_all_places
DELETE FROM holds WHERE run_id = ?

-- name: release_limits
-- A run keeps its place on its schedule until it is over.
DELETE FROM holds WHERE run_id = ? AND key NOT GLOB ? || '*'

-- name: waiting_keys
-- One step into the index per key, however many wait for it.
WITH RECURSIVE keys (key) AS (
    SELECT min(key) FROM holds
    UNION ALL
    SELECT (SELECT min(h.key) FROM holds h WHERE h.key > keys.key) FROM keys WHERE keys.key IS NOT NULL
)
SELECT key FROM keys
WHERE key IS NOT NULL AND EXISTS (SELECT 1 FROM holds h WHERE h.key = keys.key AND h.is_admitted = 0)
