-- name: put_dsn
INSERT INTO foliot.dsns (name, engine, sealed, updated_at) VALUES ($1, $2, $3, $4)
ON CONFLICT (name) DO UPDATE SET engine = excluded.engine, sealed = excluded.sealed, updated_at = excluded.updated_at
RETURNING xmax = 0;

-- name: get_dsn
SELECT name, engine, sealed, updated_at FROM foliot.dsns WHERE name = $1;

-- name: all_dsns
SELECT name, engine, sealed, updated_at FROM foliot.dsns ORDER BY name;

-- name: remove_dsn
DELETE FROM foliot.dsns WHERE name = $1 RETURNING name;
