-- name: job_revision
SELECT revision FROM jobs WHERE project = ? AND id = ?

-- name: continue_without_worker
-- The run continues without its worker; the worker that claimed it stays recorded.
UPDATE runs SET started_at = ?, attempt = ?, worker_id = ?, token = ?, reason = NULL, error = NULL, exit_code = NULL
WHERE id = ?

-- name: add_trees
INSERT INTO trees (
    run_id, project, kind, job_id, version, state, open, opened_at, root_id, depth, held, progress, size, deadline,
    cancel_at, is_ending
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: add_bodies
INSERT INTO tree_bodies (run_id, body) VALUES (?, ?)

-- name: add_steps
INSERT INTO steps (run_id, step, nth, waiting, blockers, result, step_run_id, reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?)

-- name: opened_tokens
SELECT r.token FROM trees t JOIN runs r ON r.id = t.run_id WHERE t.run_id = ? AND r.token = ?

-- name: noted_trees
-- One index look-up per tree, for any number of notes.
WITH RECURSIVE noted (parent_id) AS (
    SELECT min(parent_id) FROM notes WHERE parent_id > ?1
    UNION ALL
    SELECT (SELECT min(n.parent_id) FROM notes n WHERE n.parent_id > noted.parent_id) FROM noted
    WHERE noted.parent_id IS NOT NULL
)
SELECT t.run_id FROM noted CROSS JOIN trees t ON t.run_id = noted.parent_id WHERE t.ended_at IS NULL LIMIT ?2

-- name: overdue_trees
SELECT run_id FROM trees
WHERE deadline <= ? AND deadline IS NOT NULL AND ended_at IS NULL AND is_ending = 0 ORDER BY deadline LIMIT ?

-- name: unsettled_trees
-- In the order of the ids. The revision is the current one of the job.
SELECT
    t.run_id, t.kind, t.job_id, t.version, t.state, t.open, t.opened_at, t.root_id, t.depth, t.held, t.progress, t.size,
    t.deadline, t.cancel_at, t.is_ending, r.scheduled_for,
    (SELECT j.revision FROM jobs j WHERE j.project = t.project AND j.id = t.job_id)
FROM json_each(?) asked CROSS JOIN trees t ON t.run_id = asked.value CROSS JOIN runs r ON r.id = t.run_id
ORDER BY t.run_id

-- name: notes_of_trees
-- One more than can be settled, to know whether there are more.
SELECT
    n.run_id, CASE WHEN n.run_id <> n.parent_id THEN r.child_key END, r.status, r.exit_code,
    r.finished_at - r.started_at
FROM notes n CROSS JOIN runs r ON r.id = n.run_id
WHERE n.parent_id = ? ORDER BY n.run_id LIMIT ?

-- name: named_states
SELECT s.step, s.waiting, s.blockers, s.result, s.step_run_id, s.reason
FROM json_each(?2) j CROSS JOIN steps s ON s.run_id = ?1 AND s.step = j.value

-- name: outputs
SELECT s.step, s.result, s.step_run_id, r.exit_code, o.body
FROM json_each(?2) j CROSS JOIN steps s ON s.run_id = ?1 AND s.step = j.value
LEFT JOIN runs r ON r.id = s.step_run_id LEFT JOIN outputs o ON o.run_id = s.step_run_id

-- name: busy_keys
SELECT DISTINCT h.key FROM json_each(?) j CROSS JOIN holds h ON h.key = j.value

-- name: overrides
SELECT id, overrides FROM runs WHERE id IN (SELECT value FROM json_each(?))

-- name: definitions_of_trees
SELECT run_id, body FROM tree_bodies WHERE run_id IN (SELECT value FROM json_each(?))

-- name: ancestry
SELECT root_id, depth, held FROM trees WHERE run_id = ?

-- name: named_children
SELECT
    r.child_key, r.id,
    EXISTS (SELECT 1 FROM leases l WHERE l.run_id = r.id)
    OR EXISTS (SELECT 1 FROM trees t WHERE t.run_id = r.id AND t.ended_at IS NULL)
FROM json_each(?2) j CROSS JOIN runs r ON r.parent_id = ?1 AND r.child_key = j.value

-- name: ended_children
SELECT r.child_key, r.status, r.reason, r.error, r.exit_code, o.body, r.started_at
FROM json_each(?2) j CROSS JOIN runs r ON r.parent_id = ?1 AND r.child_key = j.value
LEFT JOIN outputs o ON o.run_id = r.id
WHERE r.finished_at IS NOT NULL

-- name: open_children
SELECT id FROM runs WHERE parent_id = ? AND child_key IS NOT NULL AND finished_at IS NULL ORDER BY child_key

-- name: all_states
SELECT step, waiting, blockers, result, step_run_id, reason FROM steps WHERE run_id = ? ORDER BY nth

-- name: step_runs
SELECT s.step, r.shown_status, r.reason, r.error FROM steps s CROSS JOIN shown_runs r ON r.id = s.step_run_id WHERE s.run_id = ?

-- name: advance_trees
-- The comparison: the row is updated only in the state that was read.
UPDATE trees SET state = state + 1, open = ?, progress = ?, is_ending = ?, deadline = ?
WHERE run_id = ? AND state = ? AND ended_at IS NULL

-- name: remove_notes
DELETE FROM notes WHERE parent_id = ? AND run_id IN (SELECT value FROM json_each(?))

-- name: change_steps
UPDATE steps SET waiting = ?, blockers = ?, result = ?, step_run_id = ?, reason = ? WHERE run_id = ? AND step = ?

-- name: end_trees
UPDATE trees SET ended_at = ? WHERE run_id = ?

-- name: remove_all_notes
DELETE FROM notes WHERE parent_id = ?

-- name: end_tree_runs
UPDATE runs
SET status = ?, reason = ?, finished_at = max(?, coalesce(started_at, 0), coalesce(created_at, 0)), exit_code = ?, error = ?
WHERE id = ? RETURNING attempt
