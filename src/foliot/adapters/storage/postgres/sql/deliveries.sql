-- name: add_delivery
INSERT INTO foliot.deliveries (id, target, owner, run_id, receiver, document, due_at, created_at, state, attempts)
SELECT new.id, new.target, new.owner, new.run_id, new.receiver, new.document, clock.now, clock.now, 'pending', 0
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
        AS new (id, target, owner, run_id, receiver, document),
    (SELECT coalesce($7::bigint, foliot.now_ms()) AS now) AS clock
ON CONFLICT (id) DO NOTHING
RETURNING id;

-- name: take_deliveries
-- The inner query chooses without locks; the one around it leaves out rows that another process takes at this moment.
UPDATE foliot.deliveries AS taken SET due_at = $5
FROM (
    SELECT id FROM foliot.deliveries
    WHERE state = 'pending' AND due_at <= $1 AND id = ANY (ARRAY(
        SELECT id FROM (
            SELECT id, due_at, row_number() OVER (PARTITION BY receiver ORDER BY due_at, id) AS nth
            FROM foliot.deliveries
            WHERE state = 'pending' AND due_at <= $1 AND receiver <> ALL ($2::text[])
        ) AS due WHERE nth <= $3 ORDER BY due_at, id LIMIT $4))
    FOR UPDATE SKIP LOCKED
) AS free
WHERE taken.id = free.id
RETURNING taken.id, taken.target, taken.owner, taken.run_id, taken.receiver, taken.document, taken.state,
    taken.attempts, taken.due_at, taken.created_at, taken.finished_at, taken.answer;

-- name: settle_delivery
UPDATE foliot.deliveries
SET state = $2::text, answer = $3, due_at = coalesce($4::bigint, due_at), attempts = attempts + 1,
    finished_at = CASE WHEN $2::text = 'pending' THEN NULL ELSE $5::bigint END
WHERE id = $1 AND state = 'pending';

-- name: next_delivery
SELECT min(due_at) FROM foliot.deliveries WHERE state = 'pending';

-- name: get_deliveries
SELECT id, target, owner, run_id, receiver, document, state, attempts, due_at, created_at, finished_at, answer
FROM foliot.deliveries WHERE id = ANY ($1::text[]) ORDER BY id;

-- name: failed_deliveries
SELECT id, target, owner, run_id, receiver, document, state, attempts, due_at, created_at, finished_at, answer
FROM foliot.deliveries AS d
WHERE state = 'failed' AND finished_at >= $1 AND NOT EXISTS (
    SELECT 1 FROM foliot.deliveries AS later
    WHERE later.state = 'delivered' AND later.receiver = d.receiver AND later.finished_at > d.finished_at)
ORDER BY finished_at DESC, id LIMIT $2;
