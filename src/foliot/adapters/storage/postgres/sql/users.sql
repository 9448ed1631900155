-- name: user_columns
name, role, password, created_at, created_by, changed_at

-- name: add_user
INSERT INTO foliot.users ({user_columns}) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING RETURNING name;

-- name: get_user
SELECT {user_columns} FROM foliot.users WHERE name = $1;

-- name: all_users
SELECT {user_columns} FROM foliot.users ORDER BY name;

-- name: set_password
UPDATE foliot.users SET password = $2, changed_at = $3 WHERE name = $1 RETURNING name;

-- name: remove_user
DELETE FROM foliot.users WHERE name = $1 RETURNING name;

-- name: end_sessions
DELETE FROM foliot.sessions WHERE "user" = $1;

-- name: open_session
-- Only if the password is still the one with which the user logged in. The lock makes a change of the password wait, so
-- that it ends this session.
INSERT INTO foliot.sessions (digest, "user", expires_at, created_at, seen_at)
SELECT $1, known.name, $4, $5, $5
FROM (SELECT name FROM foliot.users WHERE name = $2 AND password = $3 FOR SHARE) AS known
ON CONFLICT DO NOTHING RETURNING digest;

-- name: get_session
SELECT s."user", u.role, s.created_at, s.expires_at, s.seen_at
FROM foliot.sessions s JOIN foliot.users u ON u.name = s."user" WHERE s.digest = $1;

-- name: save_seen
UPDATE foliot.sessions SET seen_at = $2 WHERE digest = $1 AND seen_at NOT BETWEEN $3::bigint + 1 AND $2;

-- name: close_session
DELETE FROM foliot.sessions WHERE digest = $1 RETURNING "user";
