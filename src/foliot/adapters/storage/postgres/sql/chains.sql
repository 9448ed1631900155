-- name: shared_documents
SELECT key, version, body FROM foliot.shared_documents
WHERE project = $1 AND key = ANY ((SELECT $2::text[])::text[]);

-- name: add_class
INSERT INTO foliot.shared_documents (project, key, version) VALUES ($1, $2, 0) ON CONFLICT DO NOTHING RETURNING version;

-- name: add_classes
-- Ascending, like the locks.
INSERT INTO foliot.shared_documents (project, key, version)
SELECT $1, asked.key, 0 FROM unnest((SELECT $2::text[])) AS asked (key) ORDER BY asked.key
ON CONFLICT DO NOTHING;

-- name: lock_class
SELECT version, body FROM foliot.shared_documents WHERE project = $1 AND key = $2 FOR NO KEY UPDATE;

-- name: lock_classes
-- In the order of keys, so that two coordinators cannot deadlock.
SELECT key, version FROM foliot.shared_documents
WHERE project = $1 AND key = ANY ((SELECT $2::text[])::text[]) ORDER BY key FOR NO KEY UPDATE;

-- name: change_shared
UPDATE foliot.shared_documents SET version = shared_documents.version + 1, body = new.body
FROM unnest((SELECT $2::text[]), (SELECT $3::text[])) AS new (key, body)
WHERE shared_documents.project = $1 AND shared_documents.key = new.key;

-- name: put_chains
INSERT INTO foliot.chains (run_id, project, chain_id, class_id, slot, state, outcome, armed_at, deadline, expires_at,
                           closed_at, children, tokens, usd)
SELECT run_id, project, chain_id, class_id, slot, state, outcome, armed_at, deadline, expires_at, closed_at, children,
       tokens, usd::double precision
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[],
            $9::bigint[], $10::bigint[], $11::bigint[], $12::int[], $13::bigint[], $14::text[])
     AS new (run_id, project, chain_id, class_id, slot, state, outcome, armed_at, deadline, expires_at, closed_at,
             children, tokens, usd)
ON CONFLICT (run_id) DO UPDATE SET
    state = excluded.state, outcome = excluded.outcome, closed_at = excluded.closed_at, children = excluded.children,
    tokens = excluded.tokens, usd = excluded.usd;

-- name: close_chains
UPDATE foliot.chains SET state = 'closed', outcome = $1, closed_at = $2 WHERE run_id = $3 AND state <> 'closed'
RETURNING class_id;

-- name: asker
-- The run of a lease, and the nearest chain above it, with the key of the step that the run is, or belongs to.
WITH RECURSIVE above (level, job_id, parent_id, child_key) AS (
    SELECT 0, run.job_id, run.parent_id, run.child_key FROM foliot.leases JOIN foliot.runs run ON run.id = leases.run_id
    WHERE leases.token = $1 AND leases.run_id = $2 AND leases.worker_id = $3
    UNION ALL
    SELECT above.level + 1, above.job_id, run.parent_id, run.child_key
    FROM above JOIN foliot.runs run ON run.id = above.parent_id
    WHERE above.level < $4
      AND NOT EXISTS (SELECT 1 FROM foliot.trees WHERE trees.run_id = above.parent_id AND trees.kind = 'chain')
)
SELECT above.job_id, tree.run_id, above.child_key, above.level > 0,
       (SELECT body FROM foliot.tree_bodies WHERE tree_bodies.run_id = tree.run_id)
FROM above LEFT JOIN foliot.trees tree ON tree.run_id = above.parent_id AND tree.kind = 'chain'
ORDER BY above.level DESC LIMIT 1;

-- name: lock_chain
SELECT tree.run_id, tree.kind, tree.job_id, tree.version, tree.state, tree.open, tree.opened_at, tree.root_id,
       tree.depth, tree.held, tree.progress, tree.size, tree.deadline, tree.cancel_at, tree.is_ending,
       (SELECT scheduled_for FROM foliot.runs WHERE runs.id = tree.run_id), NULL::bigint
FROM foliot.trees tree WHERE tree.run_id = $1 AND tree.ended_at IS NULL FOR NO KEY UPDATE;

-- name: lock_asker
-- Until the transaction ends, the lease can neither be lost nor end.
SELECT true FROM foliot.leases WHERE token = $1 AND run_id = $2 AND worker_id = $3 FOR SHARE;

-- name: begun_steps
SELECT run.id FROM unnest((SELECT $1::text[])) AS asked (id) JOIN foliot.runs run ON run.id = asked.id
WHERE (SELECT true FROM foliot.leases WHERE leases.run_id = run.id)
   OR (SELECT true FROM foliot.trees WHERE trees.run_id = run.id AND trees.ended_at IS NULL);

-- name: begin_chains
-- The run of a chain that another run has started: it runs at once, without a worker. The one that asked is recorded.
UPDATE foliot.runs SET started_at = $1, attempt = 1, worker_id = $2, token = nextval('foliot.lease_token') WHERE id = $3;

-- name: chain_columns
c.run_id, c.chain_id, c.class_id, c.slot, c.state, c.outcome, c.armed_at, c.deadline, c.expires_at, c.closed_at, c.children,
       c.tokens, c.usd;

-- name: chains_page
-- Newest first, before a moment and a run. An empty state is any.
SELECT {chain_columns} FROM foliot.chains c
WHERE c.project = $1 AND (c.armed_at, c.run_id) < ($2, $3) AND ($4 = '' OR c.state = $4)
ORDER BY c.project DESC, c.armed_at DESC, c.run_id DESC LIMIT $5;

-- name: chains_of_class
SELECT {chain_columns} FROM foliot.chains c
WHERE c.project = $1 AND c.class_id = $6 AND (c.armed_at, c.run_id) < ($2, $3) AND ($4 = '' OR c.state = $4)
ORDER BY c.project DESC, c.class_id DESC, c.armed_at DESC, c.run_id DESC LIMIT $5;

-- name: open_chains
-- Few chains are open: no query looks for them among all closed ones.
SELECT {chain_columns} FROM foliot.chains c
WHERE c.project = $1 AND (c.armed_at, c.run_id) < ($2, $3) AND ($4 = '' OR c.state = $4) AND c.state <> 'closed'
  AND ($6 = '' OR c.class_id = $6)
ORDER BY c.project DESC, c.armed_at DESC, c.run_id DESC LIMIT $5;

-- name: get_chain
SELECT {chain_columns} FROM foliot.chains c WHERE c.run_id = $1;

-- name: find_chain
-- The newest chain with an id: a slot may be used again after its chain was closed.
SELECT run_id FROM foliot.chains WHERE project = $1 AND chain_id = $2
ORDER BY project DESC, chain_id DESC, armed_at DESC, run_id DESC LIMIT 1;

-- name: chain_tree
SELECT tree.progress, (SELECT body FROM foliot.tree_bodies WHERE tree_bodies.run_id = tree.run_id)
FROM foliot.trees tree WHERE tree.run_id = $1 AND tree.kind = 'chain';

-- name: class_jobs
-- The kind is the first field of the stored document.
SELECT id, spec, revision, created_at, updated_at, leads, paused_at, stopped_at FROM foliot.jobs
WHERE project = $1 AND starts_with(spec, $2) ORDER BY id;

-- name: class_documents
SELECT key, version, body FROM foliot.shared_documents
WHERE project = $1 AND key >= $2 AND key < $3 AND version > 0 ORDER BY key;
