-- name: put_dsn
INSERT INTO dsns (name, engine, sealed, updated_at) VALUES (?, ?, ?, ?)
ON CONFLICT (name) DO UPDATE SET engine = excluded.engine, sealed = excluded.sealed, updated_at = excluded.updated_at

-- name: get_dsn
SELECT name, engine, sealed, updated_at FROM dsns WHERE name = ?

-- name: all_dsns
SELECT name, engine, sealed, updated_at FROM dsns ORDER BY name

-- name: remove_dsn
DELETE FROM dsns WHERE name = ?
