-- name: enrolment_columns
id, name, labels, kinds, sealed, join_digest, join_expires_at, created_at, created_by, disabled_at, last_used_at

-- name: add_enrolment
INSERT INTO enrolments (id, name, labels, kinds, sealed, join_digest, join_expires_at, created_at, created_by)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT DO NOTHING RETURNING id

-- name: get_enrolment
SELECT {enrolment_columns} FROM enrolments WHERE id = ?1

-- name: find_enrolment
SELECT {enrolment_columns} FROM enrolments WHERE name = ?1

-- name: all_enrolments
SELECT {enrolment_columns} FROM enrolments ORDER BY name

-- name: join_enrolment
UPDATE enrolments SET sealed = ?3, join_digest = NULL, join_expires_at = NULL
WHERE id = ?1 AND join_digest = ?2 AND join_expires_at > ?4 AND disabled_at IS NULL RETURNING name

-- name: set_enrolment_disabled
UPDATE enrolments SET disabled_at = ?2 WHERE name = ?1 RETURNING {enrolment_columns}

-- name: remove_enrolment
DELETE FROM enrolments WHERE name = ?1 RETURNING name

-- name: direct_workers
UPDATE workers SET orders = ?1
WHERE (?2 IS NULL OR ?2 IN (id, name, facts ->> '$.pool')) AND (?3 IS NULL OR facts ->> '$.version' = ?3)
RETURNING id

-- name: pause_pool
INSERT INTO paused_pools (name) VALUES (?1) ON CONFLICT DO NOTHING

-- name: resume_pool
DELETE FROM paused_pools WHERE name = ?1

-- name: take_nonce
INSERT INTO nonces (enrolment_id, nonce, expires_at) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING RETURNING nonce

-- name: expire_nonces
DELETE FROM nonces WHERE (enrolment_id, nonce) IN (
    SELECT enrolment_id, nonce FROM nonces WHERE expires_at <= ?1 LIMIT 100)

-- name: save_enrolment_use
UPDATE enrolments SET last_used_at = ?2 WHERE id = ?1 AND (last_used_at IS NULL OR last_used_at NOT BETWEEN ?3 + 1 AND ?2)
