-- name: go_on_alone
-- The run goes on without its worker; who began it is kept with it.
UPDATE runs SET started_at = ?, attempt = ?, worker_id = ?, token = ?, reason = NULL, error = NULL, exit_code = NULL
WHERE id = ?

-- name: workflow_revision
SELECT revision FROM jobs WHERE project = ? AND id = ?

-- name: add_execution
INSERT INTO executions (
    run_id, project, workflow_id, version, state, unresolved, params, jobs, opened_at, deadline, cancel_at, is_ending
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: was_opened
SELECT 1 FROM executions e JOIN runs r ON r.id = e.run_id WHERE e.run_id = ? AND r.token = ?

-- name: add_steps
INSERT INTO steps (run_id, step, nth, waiting, blockers, result, step_run_id, reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?)

-- name: advance_execution
-- The comparison: the row is found only in the state that was decided about.
UPDATE executions SET state = state + 1, unresolved = ?, is_ending = ?
WHERE run_id = ? AND state = ? AND ended_at IS NULL

-- name: change_steps
UPDATE steps SET waiting = ?, blockers = ?, result = ?, step_run_id = ?, reason = ? WHERE run_id = ? AND step = ?

-- name: remove_notes
DELETE FROM notes WHERE root_id = ? AND run_id IN (SELECT value FROM json_each(?))

-- name: remove_all_notes
DELETE FROM notes WHERE root_id = ?

-- name: end_execution
UPDATE executions SET ended_at = ? WHERE run_id = ?

-- name: end_execution_run
UPDATE runs
SET status = ?, reason = ?, finished_at = max(?, coalesce(started_at, 0), coalesce(created_at, 0)), exit_code = ?, error = ?
WHERE id = ? RETURNING attempt

-- name: roots_with_notes
-- One step into the index for each root, however many notes it has.
WITH RECURSIVE roots (root_id) AS (
    SELECT min(root_id) FROM notes
    UNION ALL
    SELECT (SELECT min(n.root_id) FROM notes n WHERE n.root_id > roots.root_id) FROM roots
    WHERE roots.root_id IS NOT NULL
)
SELECT e.run_id FROM roots CROSS JOIN executions e ON e.run_id = roots.root_id WHERE e.ended_at IS NULL LIMIT ?

-- name: overdue_executions
SELECT run_id FROM executions
WHERE deadline <= ? AND deadline IS NOT NULL AND ended_at IS NULL AND is_ending = 0 ORDER BY deadline LIMIT ?

-- name: get_executions
SELECT
    e.run_id, e.workflow_id, e.version, e.state, e.unresolved, e.params, e.jobs,
    r.schedule_uid, r.schedule_id, r.scheduled_for, r.tick_key, e.opened_at, e.deadline, e.cancel_at, e.is_ending,
    (SELECT known.revision FROM jobs known WHERE known.project = e.project AND known.id = e.workflow_id)
FROM json_each(?) j CROSS JOIN executions e ON e.run_id = j.value CROSS JOIN runs r ON r.id = e.run_id
ORDER BY e.run_id

-- name: active_executions
SELECT run_id FROM executions WHERE ended_at IS NULL AND run_id > ? ORDER BY run_id LIMIT ?

-- name: active_of_workflow
SELECT run_id FROM executions WHERE project = ? AND workflow_id = ? AND ended_at IS NULL AND run_id > ?
ORDER BY run_id LIMIT ?

-- name: notes_of
SELECT n.root_id, n.run_id, CASE WHEN n.run_id <> n.root_id THEN r.item END, r.status, r.exit_code, o.body
FROM json_each(?) j CROSS JOIN notes n ON n.root_id = j.value
CROSS JOIN runs r ON r.id = n.run_id LEFT JOIN outputs o ON o.run_id = n.run_id
ORDER BY n.root_id, n.run_id

-- name: all_states
SELECT step, waiting, blockers, result, step_run_id, reason FROM steps WHERE run_id = ? ORDER BY nth

-- name: named_states
SELECT s.step, s.waiting, s.blockers, s.result, s.step_run_id, s.reason
FROM json_each(?2) j CROSS JOIN steps s ON s.run_id = ?1 AND s.step = j.value

-- name: facts
SELECT s.step, s.result, s.step_run_id, r.exit_code, o.body
FROM json_each(?2) j CROSS JOIN steps s ON s.run_id = ?1 AND s.step = j.value
LEFT JOIN runs r ON r.id = s.step_run_id LEFT JOIN outputs o ON o.run_id = s.step_run_id

-- name: step_runs
SELECT s.step, r.shown_status, r.reason, r.error FROM steps s CROSS JOIN shown_runs r ON r.id = s.step_run_id WHERE s.run_id = ?

-- name: busy_keys
SELECT DISTINCT h.key FROM json_each(?) j CROSS JOIN holds h ON h.key = j.value
