-- name: lock_jobs_of_trees
-- The lock keeps these jobs from being renamed or deleted, and jobs that their versions name from being renamed.
SELECT id, revision FROM foliot.jobs
WHERE project = $1 AND id = ANY ((SELECT $2::text[])::text[]) ORDER BY id FOR SHARE;

-- name: continue_without_worker
-- The run continues without a lease; the worker that claimed it stays recorded.
UPDATE foliot.runs SET
    token = lease.token, worker_id = lease.worker_id, attempt = lease.attempt, started_at = lease.started_at,
    reason = NULL, error = NULL, exit_code = NULL
FROM unnest((SELECT $1::text[]), (SELECT $2::bigint[]), (SELECT $3::text[]), (SELECT $4::int[]), (SELECT $5::bigint[]))
     AS lease (id, token, worker_id, attempt, started_at)
WHERE runs.id = lease.id;

-- name: add_trees
INSERT INTO foliot.trees (run_id, project, kind, job_id, version, state, open, opened_at, root_id, depth, held,
                          progress, size, deadline, cancel_at, is_ending)
SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::int[], $6::bigint[], $7::int[], $8::bigint[],
                     $9::text[], $10::int[], $11::text[], $12::text[], $13::int[], $14::bigint[], $15::bigint[],
                     $16::boolean[]);

-- name: add_bodies
INSERT INTO foliot.tree_bodies (run_id, body) SELECT * FROM unnest($1::text[], $2::text[]);

-- name: add_steps
INSERT INTO foliot.steps (run_id, step, nth, waiting, blockers, result, step_run_id, reason)
SELECT * FROM unnest($1::text[], $2::text[], $3::int[], $4::int[], $5::text[], $6::text[], $7::text[], $8::text[]);

-- name: opened_tokens
-- Tokens of runs that were opened, or that ended because their job had been deleted.
SELECT run.token FROM foliot.runs run
WHERE run.id = ANY ((SELECT $1::text[])::text[]) AND run.token = ANY ((SELECT $2::bigint[])::bigint[])
  AND (run.status = 'cancelled' OR (SELECT true FROM foliot.trees WHERE trees.run_id = run.id));

-- -- unsettled, load, steps

-- name: unsettled_trees
-- Trees with notes after $3 (one index look-up per tree, for any number of notes) and, if there is room, trees past
-- their deadline. Returns at least one row, with the time.
WITH RECURSIVE clock AS MATERIALIZED (SELECT coalesce($1::bigint, foliot.now_ms()) AS now),
noted AS (
    (SELECT parent_id FROM foliot.notes WHERE parent_id > $3 ORDER BY parent_id LIMIT 1)
    UNION ALL
    SELECT (SELECT notes.parent_id FROM foliot.notes WHERE notes.parent_id > noted.parent_id
            ORDER BY notes.parent_id LIMIT 1)
    FROM noted WHERE noted.parent_id IS NOT NULL
),
found AS MATERIALIZED (
    (SELECT parent_id AS run_id, true AS has_notes FROM noted
     WHERE (SELECT true FROM foliot.trees WHERE trees.run_id = noted.parent_id AND ended_at IS NULL) LIMIT $2)
    UNION ALL
    (SELECT run_id, false FROM foliot.trees
     WHERE deadline <= (SELECT now FROM clock) AND deadline IS NOT NULL AND ended_at IS NULL AND NOT is_ending
     ORDER BY deadline LIMIT $2)
),
chosen AS MATERIALIZED (
    SELECT run_id, bool_or(has_notes) AS has_notes FROM found GROUP BY run_id ORDER BY 2 DESC, 1 LIMIT $2
)
SELECT (SELECT now FROM clock), known.* FROM (VALUES (1)) AS always (one) LEFT JOIN (
    SELECT tree.run_id, tree.kind, tree.job_id, tree.version, tree.state, tree.open, tree.opened_at, tree.root_id,
           tree.depth, tree.held, tree.progress, tree.size, tree.deadline, tree.cancel_at, tree.is_ending,
           run.scheduled_for,
           (SELECT revision FROM foliot.jobs WHERE jobs.project = tree.project AND jobs.id = tree.job_id) AS revision,
           ARRAY(SELECT step FROM foliot.paused_steps paused
                 WHERE paused.project = tree.project AND paused.workflow_id = tree.job_id) AS paused,
           chosen.has_notes
    FROM chosen JOIN foliot.trees tree ON tree.run_id = chosen.run_id JOIN foliot.runs run ON run.id = chosen.run_id
) AS known ON true
ORDER BY known.run_id;

-- name: notes_of_trees
-- At most $2 of each tree, oldest first. A note about the tree itself has no key.
SELECT asked.run_id AS parent_id, note.run_id, note.child_key, note.status, note.exit_code, note.duration
FROM unnest((SELECT $1::text[])) AS asked (run_id), LATERAL (
    SELECT notes.run_id, CASE WHEN notes.run_id <> notes.parent_id THEN run.child_key END AS child_key, run.status,
           run.exit_code, run.finished_at - run.started_at AS duration
    FROM foliot.notes JOIN foliot.runs run ON run.id = notes.run_id
    WHERE notes.parent_id = asked.run_id ORDER BY notes.parent_id, notes.run_id LIMIT $2) AS note
ORDER BY asked.run_id, note.run_id;

-- name: states_of_trees
-- OFFSET 0 prevents a join: for some large trees the planner might scan all steps of all trees.
SELECT asked.run_id, own.step, own.waiting, own.blockers, own.result, own.step_run_id, own.reason
FROM unnest((SELECT $1::text[])) AS asked (run_id), LATERAL (
    SELECT step, waiting, blockers, result, step_run_id, reason, nth FROM foliot.steps
    WHERE steps.run_id = asked.run_id OFFSET 0) AS own
ORDER BY asked.run_id, own.nth;

-- name: named_states
SELECT steps.run_id, steps.step, steps.waiting, steps.blockers, steps.result, steps.step_run_id, steps.reason
FROM unnest((SELECT $1::text[]), (SELECT $2::text[])) AS asked (run_id, step)
JOIN foliot.steps ON steps.run_id = asked.run_id AND steps.step = asked.step;

-- name: outputs
SELECT steps.run_id, steps.step, steps.result, steps.step_run_id,
       (SELECT exit_code FROM foliot.runs WHERE runs.id = steps.step_run_id),
       (SELECT body FROM foliot.outputs WHERE outputs.run_id = steps.step_run_id)
FROM unnest((SELECT $1::text[]), (SELECT $2::text[])) AS asked (run_id, step)
JOIN foliot.steps ON steps.run_id = asked.run_id AND steps.step = asked.step;

-- name: paused_in_workflows
SELECT workflow_id, step FROM foliot.paused_steps
WHERE project = $1 AND workflow_id = ANY ((SELECT $2::text[])::text[]);

-- name: busy_jobs
-- Jobs with a run that takes a place in the job's limit or waits for one, or that is due, or has begun and will be
-- retried (see `dependency_states`). ANY: see `latest_runs`.
SELECT asked.job_id FROM unnest((SELECT $2::text[]), (SELECT $3::text[])) AS asked (job_id, key)
WHERE (SELECT true FROM foliot.holds WHERE holds.key = asked.key LIMIT 1)
   OR (SELECT bool_or(newest.finished_at IS NULL
                      AND (newest.due_at <= coalesce($4::bigint, foliot.now_ms()) OR newest.attempt > 0))
       FROM (SELECT finished_at, due_at, attempt FROM foliot.runs
             WHERE runs.project = ANY ((SELECT ARRAY[$1])::text[]) AND runs.job_id = asked.job_id
             ORDER BY project DESC, job_id DESC, id DESC LIMIT $5) AS newest);

-- name: overrides
SELECT id, overrides FROM foliot.runs WHERE id = ANY ((SELECT $1::text[])::text[]);

-- name: definitions_of_trees
SELECT run_id, body FROM foliot.tree_bodies WHERE run_id = ANY ((SELECT $1::text[])::text[]);

-- name: ancestry
SELECT run_id, root_id, depth, held FROM foliot.trees WHERE run_id = ANY ((SELECT $1::text[])::text[]);

-- name: named_children
SELECT run.parent_id, run.child_key, run.id,
       EXISTS (SELECT 1 FROM foliot.leases WHERE leases.run_id = run.id)
       OR EXISTS (SELECT 1 FROM foliot.trees WHERE trees.run_id = run.id AND trees.ended_at IS NULL)
FROM unnest((SELECT $1::text[]), (SELECT $2::text[])) AS asked (parent_id, child_key)
JOIN foliot.runs run ON run.parent_id = asked.parent_id AND run.child_key = asked.child_key;

-- name: ended_children
SELECT run.parent_id, run.child_key, run.status, run.reason, run.error, run.exit_code,
       (SELECT body FROM foliot.outputs WHERE outputs.run_id = run.id), run.started_at
FROM unnest((SELECT $1::text[]), (SELECT $2::text[])) AS asked (parent_id, child_key)
JOIN foliot.runs run ON run.parent_id = asked.parent_id AND run.child_key = asked.child_key
WHERE run.finished_at IS NOT NULL;

-- name: open_children
SELECT id FROM foliot.runs WHERE parent_id = $1 AND child_key IS NOT NULL AND finished_at IS NULL ORDER BY child_key;

-- name: all_states
SELECT step, waiting, blockers, result, step_run_id, reason FROM foliot.steps WHERE run_id = $1 ORDER BY nth;

-- -- settle

-- name: advance_trees
-- Changes trees, removes their settled notes ($6, $7) and changes their steps ($8 to $14).
WITH removed AS (
    DELETE FROM foliot.notes USING unnest((SELECT $6::text[]), (SELECT $7::text[])) AS seen (parent_id, run_id)
    WHERE notes.parent_id = seen.parent_id AND notes.run_id = seen.run_id
),
changed AS (
    UPDATE foliot.steps SET
        waiting = new.waiting, blockers = new.blockers, result = new.result, step_run_id = new.step_run_id,
        reason = new.reason
    FROM unnest((SELECT $8::text[]), (SELECT $9::text[]), (SELECT $10::int[]), (SELECT $11::text[]),
                (SELECT $12::text[]), (SELECT $13::text[]), (SELECT $14::text[]))
         AS new (run_id, step, waiting, blockers, result, step_run_id, reason)
    WHERE steps.run_id = new.run_id AND steps.step = new.step
)
UPDATE foliot.trees SET
    state = trees.state + 1, open = new.open, progress = new.progress, is_ending = new.is_ending,
    deadline = new.deadline
FROM unnest((SELECT $1::text[]), (SELECT $2::int[]), (SELECT $3::text[]), (SELECT $4::boolean[]), (SELECT $5::bigint[]))
     AS new (run_id, open, progress, is_ending, deadline)
WHERE trees.run_id = new.run_id;

-- name: end_trees
UPDATE foliot.trees SET ended_at = $2 WHERE run_id = ANY ((SELECT $1::text[])::text[]);

-- name: remove_all_notes
DELETE FROM foliot.notes WHERE parent_id = ANY ((SELECT $1::text[])::text[]);

-- name: end_tree_runs
UPDATE foliot.runs SET
    status = ended.status, trouble = nullif(ended.status, 'success'),
    finished_at = greatest($1, runs.created_at, runs.started_at),
    reason = ended.reason, exit_code = ended.exit_code, error = ended.error
FROM unnest((SELECT $2::text[]), (SELECT $3::text[]), (SELECT $4::text[]), (SELECT $5::int[]), (SELECT $6::text[]))
     AS ended (id, status, reason, exit_code, error)
WHERE runs.id = ended.id
RETURNING runs.id, runs.attempt;

-- name: tree_states
SELECT run_id, state FROM foliot.trees WHERE run_id = ANY ((SELECT $1::text[])::text[]);
