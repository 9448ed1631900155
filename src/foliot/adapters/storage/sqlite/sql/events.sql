-- name: add_event
INSERT INTO events (at, kind, items) VALUES (?, ?, ?)

-- name: events
SELECT seq, at, kind, items FROM events WHERE seq > ? ORDER BY seq LIMIT ?
