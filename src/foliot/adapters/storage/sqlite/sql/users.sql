-- name: user_columns
name, role, password, created_at, created_by, changed_at

-- name: add_user
INSERT INTO users ({user_columns}) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING

-- name: get_user
SELECT {user_columns} FROM users WHERE name = ?

-- name: all_users
SELECT {user_columns} FROM users ORDER BY name

-- name: set_password
UPDATE users SET password = ?2, changed_at = ?3 WHERE name = ?1

-- name: remove_user
DELETE FROM users WHERE name = ?

-- name: end_sessions
DELETE FROM sessions WHERE user = ?

-- name: open_session
-- Only if the password is still the one with which the user logged in.
INSERT INTO sessions (digest, user, expires_at, created_at, seen_at)
SELECT ?1, name, ?4, ?5, ?5 FROM users WHERE name = ?2 AND password = ?3

-- name: get_session
SELECT s.user, u.role, s.created_at, s.expires_at, s.seen_at FROM sessions s JOIN users u ON u.name = s.user
WHERE s.digest = ?

-- name: save_seen
UPDATE sessions SET seen_at = ?2 WHERE digest = ?1 AND seen_at NOT BETWEEN ?3 + 1 AND ?2

-- name: close_session
DELETE FROM sessions WHERE digest = ? RETURNING user
