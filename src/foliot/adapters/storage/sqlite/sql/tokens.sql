-- name: token_columns
id, name, role, scopes, digest, expires_at, created_at, created_by, last_used_at, revoked_at

-- name: add_token
INSERT INTO tokens (id, name, role, scopes, digest, expires_at, created_at, created_by) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO NOTHING

-- name: get_token
SELECT {token_columns} FROM tokens WHERE id = ?

-- name: page_tokens
SELECT {token_columns} FROM tokens WHERE id > ?1 AND (?2 OR revoked_at IS NULL) ORDER BY id LIMIT ?3

-- name: revoke_token
-- An id is preferred to a name.
UPDATE tokens SET revoked_at = ?2 WHERE id = (
    SELECT id FROM tokens WHERE (id = ?1 OR name = ?1) AND revoked_at IS NULL ORDER BY id = ?1 DESC LIMIT 1
)
RETURNING {token_columns}

-- name: save_token_use
UPDATE tokens SET last_used_at = ?2 WHERE id = ?1 AND (last_used_at IS NULL OR last_used_at NOT BETWEEN ?3 + 1 AND ?2)
