-- name: shared_documents
SELECT key, version, body FROM shared_documents WHERE project = ? AND key IN (SELECT value FROM json_each(?))

-- name: add_class
INSERT INTO shared_documents (project, key, version) VALUES (?, ?, 0) ON CONFLICT DO NOTHING RETURNING version

-- name: lock_class
SELECT version, body FROM shared_documents WHERE project = ? AND key = ?

-- name: change_shared
-- The comparison: the document is changed only in the version that was read. Version 0: it may not exist yet.
INSERT INTO shared_documents (project, key, version, body)
SELECT ?1, ?2, ?3 + 1, ?4
WHERE ?3 = 0 OR EXISTS (SELECT 1 FROM shared_documents WHERE project = ?1 AND key = ?2)
ON CONFLICT (project, key) DO UPDATE SET version = version + 1, body = excluded.body WHERE version = ?3

-- name: put_chains
INSERT INTO chains (
    run_id, project, chain_id, class_id, slot, state, outcome, armed_at, deadline, expires_at, closed_at, children,
    tokens, usd
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (run_id) DO UPDATE SET
    state = excluded.state, outcome = excluded.outcome, closed_at = excluded.closed_at, children = excluded.children,
    tokens = excluded.tokens, usd = excluded.usd

-- name: close_chains
UPDATE chains SET state = 'closed', outcome = ?, closed_at = ? WHERE run_id = ? AND state <> 'closed' RETURNING class_id

-- name: asker
-- The run of a lease, and the nearest chain above it, with the key of the step that the run is, or belongs to.
WITH RECURSIVE above (level, job_id, parent_id, child_key) AS (
    SELECT 0, r.job_id, r.parent_id, r.child_key FROM leases l CROSS JOIN runs r ON r.id = l.run_id
    WHERE l.token = ?1 AND l.run_id = ?2 AND l.worker_id = ?3
    UNION ALL
    SELECT a.level + 1, a.job_id, r.parent_id, r.child_key FROM above a CROSS JOIN runs r ON r.id = a.parent_id
    WHERE a.level < ?4 AND NOT EXISTS (SELECT 1 FROM trees t WHERE t.run_id = a.parent_id AND t.kind = 'chain')
)
SELECT a.job_id, t.run_id, a.child_key, a.level > 0, b.body
FROM above a LEFT JOIN trees t ON t.run_id = a.parent_id AND t.kind = 'chain' LEFT JOIN tree_bodies b ON b.run_id = t.run_id
ORDER BY a.level DESC LIMIT 1

-- name: lock_chain
SELECT
    t.run_id, t.kind, t.job_id, t.version, t.state, t.open, t.opened_at, t.root_id, t.depth, t.held, t.progress, t.size,
    t.deadline, t.cancel_at, t.is_ending, r.scheduled_for, NULL
FROM trees t CROSS JOIN runs r ON r.id = t.run_id
WHERE t.run_id = ? AND t.ended_at IS NULL

-- name: lock_asker
SELECT 1 FROM leases WHERE token = ? AND run_id = ? AND worker_id = ?

-- name: begun_steps
SELECT r.id FROM json_each(?) j CROSS JOIN runs r ON r.id = j.value
WHERE EXISTS (SELECT 1 FROM leases l WHERE l.run_id = r.id)
    OR EXISTS (SELECT 1 FROM trees t WHERE t.run_id = r.id AND t.ended_at IS NULL)

-- name: begin_chains
-- The run of a chain that another run has started: it runs at once, without a worker. The one that asked is recorded.
UPDATE runs SET started_at = ?, attempt = 1, worker_id = ?, token = ? WHERE id = ?

-- name: chain_columns
c.run_id, c.chain_id, c.class_id, c.slot, c.state, c.outcome, c.armed_at, c.deadline, c.expires_at, c.closed_at, c.children,
    c.tokens, c.usd

-- name: chains_page
-- Newest first, before a moment and a run. An empty state is any.
SELECT {chain_columns} FROM chains c
WHERE c.project = ?1 AND (c.armed_at, c.run_id) < (?2, ?3) AND (?4 = '' OR c.state = ?4)
ORDER BY c.armed_at DESC, c.run_id DESC LIMIT ?5

-- name: chains_of_class
SELECT {chain_columns} FROM chains c
WHERE c.project = ?1 AND c.class_id = ?6 AND (c.armed_at, c.run_id) < (?2, ?3) AND (?4 = '' OR c.state = ?4)
ORDER BY c.armed_at DESC, c.run_id DESC LIMIT ?5

-- name: open_chains
-- Few chains are open: no query looks for them among all closed ones.
SELECT {chain_columns} FROM chains c INDEXED BY chains_open
WHERE c.project = ?1 AND (c.armed_at, c.run_id) < (?2, ?3) AND (?4 = '' OR c.state = ?4) AND c.state <> 'closed'
    AND (?6 = '' OR c.class_id = ?6)
ORDER BY c.armed_at DESC, c.run_id DESC LIMIT ?5

-- name: get_chain
SELECT {chain_columns} FROM chains c WHERE c.run_id = ?

-- name: find_chain
-- The newest chain with an id: a slot may be used again after its chain was closed.
SELECT run_id FROM chains WHERE project = ? AND chain_id = ? ORDER BY armed_at DESC, run_id DESC LIMIT 1

-- name: chain_tree
SELECT t.progress, b.body FROM trees t CROSS JOIN tree_bodies b ON b.run_id = t.run_id
WHERE t.run_id = ? AND t.kind = 'chain'

-- name: class_jobs
-- The kind is the first field of the stored document.
SELECT id, spec, revision, created_at, updated_at, leads, paused_at, stopped_at FROM jobs
WHERE project = ?1 AND substr(spec, 1, length(?2)) = ?2 ORDER BY id

-- name: class_documents
SELECT key, version, body FROM shared_documents WHERE project = ?1 AND key >= ?2 AND key < ?3 AND version > 0 ORDER BY key
