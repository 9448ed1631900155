-- name: go_on_alone
-- The run goes on without its worker; who began it is kept with it.
UPDATE foliot.runs SET
    token = lease.token, worker_id = lease.worker_id, attempt = lease.attempt, started_at = lease.started_at,
    reason = NULL, error = NULL, exit_code = NULL
FROM unnest((SELECT $1::text[]), (SELECT $2::bigint[]), (SELECT $3::text[]), (SELECT $4::int[]), (SELECT $5::bigint[]))
     AS lease (id, token, worker_id, attempt, started_at)
WHERE runs.id = lease.id;

-- name: lock_workflow_jobs
-- Locked against being renamed or deleted, and against the renaming of jobs that their versions name.
SELECT id, revision FROM foliot.jobs WHERE project = $1 AND id = ANY ((SELECT $2::text[])::text[]) ORDER BY id FOR SHARE;

-- name: add_executions
INSERT INTO foliot.executions (run_id, project, workflow_id, version, state, unresolved, params, jobs, opened_at,
                               deadline, cancel_at, is_ending)
SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::bigint[], $6::int[], $7::text[], $8::text[],
                     $9::bigint[], $10::bigint[], $11::bigint[], $12::boolean[]);

-- name: opened_tokens
SELECT run.token FROM foliot.runs run
WHERE run.id = ANY ((SELECT $1::text[])::text[]) AND run.token = ANY ((SELECT $2::bigint[])::bigint[])
  AND (SELECT true FROM foliot.executions WHERE executions.run_id = run.id);

-- name: add_steps
INSERT INTO foliot.steps (run_id, step, nth, waiting, blockers, result, step_run_id, reason)
SELECT * FROM unnest($1::text[], $2::text[], $3::int[], $4::int[], $5::text[], $6::text[], $7::text[], $8::text[]);

-- name: lock_executions
-- Always in the order of the ids, so that two settlers never wait for each other in a circle.
SELECT run_id, state FROM foliot.executions
WHERE run_id = ANY ((SELECT $1::text[])::text[]) AND coalesce(ended_at, 0) = 0 ORDER BY run_id FOR NO KEY UPDATE;

-- name: advance_executions
UPDATE foliot.executions SET
    state = executions.state + 1, unresolved = new.unresolved, is_ending = new.is_ending
FROM unnest((SELECT $1::text[]), (SELECT $2::int[]), (SELECT $3::boolean[])) AS new (run_id, unresolved, is_ending)
WHERE executions.run_id = new.run_id;

-- name: change_steps
UPDATE foliot.steps SET
    waiting = new.waiting, blockers = new.blockers, result = new.result, step_run_id = new.step_run_id,
    reason = new.reason
FROM unnest((SELECT $1::text[]), (SELECT $2::text[]), (SELECT $3::int[]), (SELECT $4::text[]), (SELECT $5::text[]),
            (SELECT $6::text[]), (SELECT $7::text[]))
     AS new (run_id, step, waiting, blockers, result, step_run_id, reason)
WHERE steps.run_id = new.run_id AND steps.step = new.step;

-- name: remove_notes
DELETE FROM foliot.notes USING unnest((SELECT $1::text[]), (SELECT $2::text[])) AS seen (root_id, run_id)
WHERE notes.root_id = seen.root_id AND notes.run_id = seen.run_id;

-- name: remove_all_notes
DELETE FROM foliot.notes WHERE root_id = ANY ((SELECT $1::text[])::text[]);

-- name: end_executions
UPDATE foliot.executions SET ended_at = $2 WHERE run_id = ANY ((SELECT $1::text[])::text[]);

-- name: end_execution_runs
UPDATE foliot.runs SET
    status = ended.status, trouble = nullif(ended.status, 'success'),
    finished_at = greatest($1, runs.created_at, runs.started_at),
    reason = ended.reason, exit_code = ended.exit_code, error = ended.error
FROM unnest((SELECT $2::text[]), (SELECT $3::text[]), (SELECT $4::text[]), (SELECT $5::int[]), (SELECT $6::text[]))
     AS ended (id, status, reason, exit_code, error)
WHERE runs.id = ended.id
RETURNING runs.id, runs.attempt;

-- name: execution_states
SELECT run_id, state FROM foliot.executions WHERE run_id = ANY ((SELECT $1::text[])::text[]);

-- name: roots_with_notes
-- One step into the index for each root, however many notes it has.
WITH RECURSIVE roots AS (
    (SELECT root_id FROM foliot.notes ORDER BY root_id LIMIT 1)
    UNION ALL
    SELECT (SELECT notes.root_id FROM foliot.notes WHERE notes.root_id > roots.root_id
            ORDER BY notes.root_id LIMIT 1)
    FROM roots WHERE roots.root_id IS NOT NULL
)
SELECT root_id FROM roots
WHERE (SELECT true FROM foliot.executions WHERE executions.run_id = roots.root_id AND ended_at IS NULL) LIMIT $1;

-- name: overdue_executions
SELECT run_id FROM foliot.executions
WHERE deadline <= $1 AND deadline IS NOT NULL AND ended_at IS NULL AND NOT is_ending ORDER BY deadline LIMIT $2;

-- name: get_executions
SELECT known.run_id, known.workflow_id, known.version, known.state, known.unresolved, known.params, known.jobs,
       run.schedule_uid, run.schedule_id, run.scheduled_for, run.tick_key,
       known.opened_at, known.deadline, known.cancel_at, known.is_ending,
       (SELECT revision FROM foliot.jobs WHERE jobs.project = known.project AND jobs.id = known.workflow_id)
FROM unnest((SELECT $1::text[])) AS asked (run_id)
JOIN foliot.executions known ON known.run_id = asked.run_id JOIN foliot.runs run ON run.id = asked.run_id
ORDER BY known.run_id;

-- name: active_executions
SELECT run_id FROM foliot.executions WHERE ended_at IS NULL AND run_id > $1 ORDER BY run_id LIMIT $2;

-- name: active_of_workflow
SELECT run_id FROM foliot.executions WHERE project = $1 AND workflow_id = $2 AND ended_at IS NULL AND run_id > $3
ORDER BY project, workflow_id, run_id LIMIT $4;

-- name: notes_of
SELECT notes.root_id, notes.run_id, CASE WHEN notes.run_id <> notes.root_id THEN run.item END, run.status,
       run.exit_code, (SELECT body FROM foliot.outputs WHERE outputs.run_id = notes.run_id)
FROM unnest((SELECT $1::text[])) AS asked (root_id)
JOIN foliot.notes ON notes.root_id = asked.root_id JOIN foliot.runs run ON run.id = notes.run_id
ORDER BY notes.root_id, notes.run_id;

-- name: all_states
SELECT step, waiting, blockers, result, step_run_id, reason FROM foliot.steps WHERE run_id = $1 ORDER BY nth;

-- name: named_states
SELECT step, waiting, blockers, result, step_run_id, reason FROM foliot.steps
WHERE run_id = $1 AND step = ANY ((SELECT $2::text[])::text[]);

-- name: facts
SELECT steps.step, steps.result, steps.step_run_id,
       (SELECT exit_code FROM foliot.runs WHERE runs.id = steps.step_run_id),
       (SELECT body FROM foliot.outputs WHERE outputs.run_id = steps.step_run_id)
FROM foliot.steps WHERE run_id = $1 AND step = ANY ((SELECT $2::text[])::text[]);

-- name: busy_keys
SELECT asked.key FROM unnest((SELECT $1::text[])) AS asked (key)
WHERE (SELECT true FROM foliot.holds WHERE holds.key = asked.key LIMIT 1);

-- name: request_endings
-- Whoever has decided about the execution as it was is to decide again.
UPDATE foliot.executions SET cancel_at = $2, state = state + 1
WHERE run_id = ANY ((SELECT $1::text[])::text[]) AND cancel_at IS NULL AND coalesce(ended_at, 0) = 0 RETURNING run_id;

-- name: open_executions
SELECT run_id FROM foliot.executions
WHERE run_id = ANY ((SELECT $1::text[])::text[]) AND coalesce(ended_at, 0) = 0;
