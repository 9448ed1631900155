-- name: get_executions
SELECT tree.run_id, tree.job_id, tree.version, tree.state, tree.open, body.body,
       run.schedule_uid, run.schedule_id, run.scheduled_for, run.tick_key,
       tree.opened_at, tree.deadline, tree.cancel_at, tree.is_ending,
       (SELECT revision FROM foliot.jobs WHERE jobs.project = tree.project AND jobs.id = tree.job_id)
FROM unnest((SELECT $1::text[])) AS asked (run_id)
JOIN foliot.trees tree ON tree.run_id = asked.run_id JOIN foliot.runs run ON run.id = asked.run_id
LEFT JOIN foliot.tree_bodies body ON body.run_id = asked.run_id
WHERE tree.kind = 'graph' ORDER BY tree.run_id;

-- name: all_states
SELECT step, waiting, blockers, result, step_run_id, reason FROM foliot.steps WHERE run_id = $1 ORDER BY nth;

-- name: active_executions
SELECT run_id FROM foliot.trees WHERE ended_at IS NULL AND run_id > $1 AND kind = 'graph' ORDER BY run_id LIMIT $2;

-- name: active_of_workflow
SELECT run_id FROM foliot.trees
WHERE project = $1 AND job_id = $2 AND kind = 'graph' AND ended_at IS NULL AND run_id > $3
ORDER BY project, job_id, run_id LIMIT $4;
