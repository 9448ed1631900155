-- name: expire_request
DELETE FROM foliot.requests WHERE principal = $1 AND key = $2 AND expires_at <= $3;

-- name: begin_request
INSERT INTO foliot.requests (principal, key, digest, resource_id, begun_at, expires_at)
VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING RETURNING key;

-- name: take_over_request
UPDATE foliot.requests SET begun_at = $4
WHERE principal = $1 AND key = $2 AND digest = $3 AND status IS NULL AND begun_at <= $5 RETURNING key;

-- name: request_resource
SELECT resource_id FROM foliot.requests WHERE principal = $1 AND key = $2;

-- name: get_request
SELECT digest, status, body FROM foliot.requests WHERE principal = $1 AND key = $2;

-- name: complete_request
UPDATE foliot.requests SET status = $3, body = $4 WHERE principal = $1 AND key = $2 AND status IS NULL;

-- name: abandon_request
DELETE FROM foliot.requests WHERE principal = $1 AND key = $2 AND status IS NULL;
