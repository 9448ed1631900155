-- name: token_columns
id, name, role, scopes, digest, expires_at, created_at, created_by, last_used_at, revoked_at

-- name: add_token
INSERT INTO foliot.tokens (id, name, role, scopes, digest, expires_at, created_at, created_by)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING RETURNING id;

-- name: get_token
SELECT {token_columns} FROM foliot.tokens WHERE id = $1;

-- name: page_tokens
SELECT {token_columns} FROM foliot.tokens WHERE id > $1 AND ($2::boolean OR revoked_at IS NULL) ORDER BY id LIMIT $3;

-- name: revoke_token
-- An id is preferred to a name.
UPDATE foliot.tokens SET revoked_at = $2 WHERE id = (
    SELECT id FROM foliot.tokens WHERE (id = $1 OR name = $1) AND revoked_at IS NULL ORDER BY id = $1 DESC LIMIT 1
    FOR UPDATE)
RETURNING {token_columns};

-- name: save_token_use
UPDATE foliot.tokens SET last_used_at = $2
WHERE id = $1 AND (last_used_at IS NULL OR last_used_at NOT BETWEEN $3::bigint + 1 AND $2);
