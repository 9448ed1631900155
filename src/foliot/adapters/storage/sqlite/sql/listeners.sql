-- name: newest_event
SELECT coalesce(max(seq), 0) FROM events

-- name: is_listener
SELECT EXISTS (SELECT 1 FROM listeners WHERE name = ?)

-- name: hold_listener
INSERT INTO listeners (name, position, holder, boot_id, deadline)
VALUES (?1, (SELECT coalesce(max(seq), 0) FROM events), ?2, ?3, ?4 + ?5)
ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, boot_id = excluded.boot_id, deadline = excluded.deadline
    WHERE holder = excluded.holder OR boot_id <> excluded.boot_id OR deadline <= ?4
RETURNING position

-- name: advance_listener
UPDATE listeners SET position = max(position, ?3) WHERE name = ?1 AND holder = ?2

-- name: release_listener
UPDATE listeners SET deadline = 0 WHERE name = ? AND holder = ?
