-- name: expire_request
DELETE FROM requests WHERE principal = ? AND key = ? AND expires_at <= ?

-- name: begin_request
INSERT INTO requests (principal, key, digest, resource_id, begun_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT DO NOTHING

-- name: take_over_request
UPDATE requests SET begun_at = ?4 WHERE principal = ?1 AND key = ?2 AND digest = ?3 AND status IS NULL AND begun_at <= ?5

-- name: request_resource
SELECT resource_id FROM requests WHERE principal = ? AND key = ?

-- name: get_request
SELECT digest, status, body FROM requests WHERE principal = ? AND key = ?

-- name: complete_request
UPDATE requests SET status = ?3, body = ?4 WHERE principal = ?1 AND key = ?2 AND status IS NULL

-- name: abandon_request
DELETE FROM requests WHERE principal = ? AND key = ? AND status IS NULL
