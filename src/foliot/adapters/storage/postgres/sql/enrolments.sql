-- name: enrolment_columns
id, name, labels, kinds, sealed, join_digest, join_expires_at, created_at, created_by, disabled_at, last_used_at

-- name: add_enrolment
INSERT INTO foliot.enrolments (id, name, labels, kinds, sealed, join_digest, join_expires_at, created_at, created_by)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING RETURNING id;

-- name: get_enrolment
SELECT {enrolment_columns} FROM foliot.enrolments WHERE id = $1;

-- name: find_enrolment
SELECT {enrolment_columns} FROM foliot.enrolments WHERE name = $1;

-- name: all_enrolments
SELECT {enrolment_columns} FROM foliot.enrolments ORDER BY name;

-- name: join_enrolment
UPDATE foliot.enrolments SET sealed = $3, join_digest = NULL, join_expires_at = NULL
WHERE id = $1 AND join_digest = $2 AND join_expires_at > $4 AND disabled_at IS NULL RETURNING name;

-- name: set_enrolment_disabled
UPDATE foliot.enrolments SET disabled_at = $2 WHERE name = $1 RETURNING {enrolment_columns};

-- name: remove_enrolment
DELETE FROM foliot.enrolments WHERE name = $1 RETURNING name;

-- name: direct_workers
UPDATE foliot.workers SET orders = $1
WHERE ($2::text IS NULL OR $2::text IN (id, name, facts::json ->> 'pool'))
  AND ($3::text IS NULL OR facts::json ->> 'version' = $3::text)
RETURNING id;

-- name: pause_pool
INSERT INTO foliot.paused_pools (name) VALUES ($1) ON CONFLICT DO NOTHING;

-- name: resume_pool
DELETE FROM foliot.paused_pools WHERE name = $1;

-- name: take_nonce
INSERT INTO foliot.nonces (enrolment_id, nonce, expires_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING nonce;

-- name: expire_nonces
-- Rows that another transaction is deleting are skipped: two transactions must not wait for each other.
DELETE FROM foliot.nonces WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM foliot.nonces WHERE expires_at <= $1 LIMIT 100 FOR UPDATE SKIP LOCKED));

-- name: save_enrolment_use
UPDATE foliot.enrolments SET last_used_at = $2
WHERE id = $1 AND (last_used_at IS NULL OR last_used_at NOT BETWEEN $3::bigint + 1 AND $2);
