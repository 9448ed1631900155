-- name: newest_event
-- Below the oldest open transaction no event can appear later.
SELECT foliot.event_seq(pg_snapshot_xmin(pg_current_snapshot()), 0) - 1;

-- name: is_listener
SELECT EXISTS (SELECT 1 FROM foliot.listeners WHERE name = $1);

-- name: hold_listener
INSERT INTO foliot.listeners AS known (name, position, holder, expires_at)
SELECT $1, foliot.event_seq(pg_snapshot_xmin(pg_current_snapshot()), 0) - 1, $2, clock.now + $3
FROM (SELECT coalesce($4::bigint, foliot.now_ms()) AS now) AS clock
ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
    WHERE known.holder = excluded.holder OR known.expires_at <= excluded.expires_at - $3
RETURNING position;

-- name: advance_listener
UPDATE foliot.listeners SET position = greatest(position, $3) WHERE name = $1 AND holder = $2 RETURNING name;

-- name: release_listener
UPDATE foliot.listeners SET expires_at = 0 WHERE name = $1 AND holder = $2;
