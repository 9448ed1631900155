-- name: audit_columns
seq, at, actor, detail, action, kind, id, before, after

-- name: add_audit
INSERT INTO foliot.audit (at, actor, detail, action, kind, id, before, after)
SELECT * FROM unnest(
    $1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[]
);

-- name: audit_of_all
SELECT {audit_columns} FROM foliot.audit WHERE at >= $1 AND (at, seq) < ($2::bigint, $3::bigint)
ORDER BY at DESC, seq DESC LIMIT $4;

-- name: audit_of_actor
SELECT {audit_columns} FROM foliot.audit WHERE actor = $1 AND at >= $2 AND (at, seq) < ($3::bigint, $4::bigint)
ORDER BY at DESC, seq DESC LIMIT $5;

-- name: audit_of_id
SELECT {audit_columns} FROM foliot.audit
WHERE id = $1 AND ($2::text IS NULL OR actor = $2) AND at >= $3 AND (at, seq) < ($4::bigint, $5::bigint)
ORDER BY at DESC, seq DESC LIMIT $6;

-- name: latest_audit
SELECT found.* FROM unnest($2::text[]) AS named (id) CROSS JOIN LATERAL (
    SELECT {audit_columns} FROM foliot.audit a
    WHERE a.id = named.id AND a.kind = $1 AND a.action = ANY ($3::text[])
    ORDER BY a.at DESC, a.seq DESC LIMIT 1
) AS found;
