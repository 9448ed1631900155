-- name: audit_columns
seq, at, actor, detail, action, kind, id, before, after

-- name: add_audit
INSERT INTO audit (at, actor, detail, action, kind, id, before, after) VALUES (?, ?, ?, ?, ?, ?, ?, ?)

-- name: audit_of_all
SELECT {audit_columns} FROM audit WHERE at >= ?1 AND (at, seq) < (?2, ?3) ORDER BY at DESC, seq DESC LIMIT ?4

-- name: audit_of_actor
SELECT {audit_columns} FROM audit WHERE actor = ?1 AND at >= ?2 AND (at, seq) < (?3, ?4)
ORDER BY at DESC, seq DESC LIMIT ?5

-- name: audit_of_id
SELECT {audit_columns} FROM audit
WHERE id = ?1 AND (?2 IS NULL OR actor = ?2) AND at >= ?3 AND (at, seq) < (?4, ?5)
ORDER BY at DESC, seq DESC LIMIT ?6

-- name: latest_audit
SELECT {audit_columns} FROM audit WHERE seq IN (
    SELECT (
        SELECT a.seq FROM audit a
        WHERE a.id = named.value AND a.kind = ?1 AND a.action IN (SELECT value FROM json_each(?3))
        ORDER BY a.at DESC, a.seq DESC LIMIT 1
    ) FROM json_each(?2) AS named
)
