-- name: leader
SELECT holder, epoch, boot_id = ? AND deadline > ? FROM leader WHERE name = 'maintenance'

-- name: lead
INSERT INTO leader (name, holder, epoch, boot_id, deadline) VALUES ('maintenance', ?, ?, ?, ?)
ON CONFLICT (name) DO UPDATE SET
    holder = excluded.holder, epoch = excluded.epoch, boot_id = excluded.boot_id, deadline = excluded.deadline

-- name: resign
-- The row stays, so that its epoch never decreases.
UPDATE leader SET holder = NULL, deadline = 0 WHERE name = 'maintenance' AND holder = ?

-- name: current_epoch
SELECT 1 FROM leader WHERE name = 'maintenance' AND epoch = ? AND holder IS NOT NULL

-- name: walk_runs
-- The last column: whether it is a child, which is removed only with its parent.
SELECT r.rowid, r.id, r.created_at, r.finished_at, r.parent_id IS NOT NULL
FROM runs r WHERE r.rowid > ? ORDER BY r.rowid LIMIT ?

-- name: next_job
SELECT job_id FROM runs WHERE project = ? AND job_id > ? ORDER BY job_id LIMIT 1

-- name: count_runs
-- Counts only up to the limit, in the index alone.
SELECT count(*) FROM (SELECT 1 FROM runs WHERE project = ? AND job_id = ? LIMIT ?)

-- name: surplus_runs
SELECT id FROM runs
WHERE project = ?1 AND job_id = ?2 AND finished_at IS NOT NULL AND parent_id IS NULL AND id <= (
    SELECT id FROM runs WHERE project = ?1 AND job_id = ?2 AND finished_at IS NOT NULL AND parent_id IS NULL
    ORDER BY id DESC LIMIT 1 OFFSET ?3
)
ORDER BY id LIMIT ?4

-- name: next_workflow
SELECT job_id FROM trees WHERE project = ? AND job_id > ? ORDER BY job_id LIMIT 1

-- name: surplus_executions
SELECT run_id FROM trees
WHERE project = ?1 AND job_id = ?2 AND ended_at IS NOT NULL AND depth = 0 AND run_id <= (
    SELECT run_id FROM trees WHERE project = ?1 AND job_id = ?2 AND ended_at IS NOT NULL AND depth = 0
    ORDER BY run_id DESC LIMIT 1 OFFSET ?3
)
ORDER BY run_id LIMIT ?4

-- name: old_executions
-- Ids begin with the time, so nothing younger than the cut is read.
SELECT run_id FROM trees WHERE run_id < ? AND ended_at < ? AND depth = 0 ORDER BY run_id LIMIT ?

-- name: excess_executions
SELECT run_id FROM trees
WHERE project = ?1 AND ended_at IS NOT NULL AND depth = 0 AND run_id <= (
    SELECT run_id FROM trees WHERE project = ?1 AND ended_at IS NOT NULL AND depth = 0
    ORDER BY run_id DESC LIMIT 1 OFFSET ?2
)
ORDER BY run_id LIMIT ?3

-- name: visible_to_gates
-- Executions with an end that a gate may read: it is in the window of the gate, or is the latest with its status. The
-- window kind `since_last_success` begins at the latest success, however old it is.
WITH ends AS (
    SELECT t.run_id AS execution_id, e.run_id, e.project, e.job_id, e.status, e.finished_at
    FROM json_each(?1) j CROSS JOIN trees t ON t.run_id = j.value CROSS JOIN endings e ON e.run_id = t.run_id
    UNION ALL
    SELECT t.run_id, e.run_id, e.project, e.job_id, e.status, e.finished_at
    FROM json_each(?1) j CROSS JOIN trees t ON t.run_id = j.value
    CROSS JOIN runs r ON r.root_id = t.run_id AND r.root_id IS NOT NULL CROSS JOIN endings e ON e.run_id = r.id
)
SELECT DISTINCT n.execution_id FROM ends n CROSS JOIN watched w ON w.job_id = n.job_id AND w.project = n.project
WHERE n.finished_at > ?2 - w.look_back OR n.run_id = (
    SELECT e.run_id FROM endings e WHERE e.project = n.project AND e.job_id = n.job_id AND e.status = n.status
    ORDER BY e.finished_at DESC, e.run_id DESC LIMIT 1
)

-- name: parts_of_runs
-- Children of trees.
SELECT p.id FROM json_each(?1) j CROSS JOIN runs p ON p.parent_id = j.value WHERE p.finished_at IS NOT NULL LIMIT ?2

-- name: delete_runs
DELETE FROM runs WHERE id IN (SELECT value FROM json_each(?)) AND finished_at IS NOT NULL

-- name: delete_runs_outputs
DELETE FROM outputs WHERE run_id IN (SELECT value FROM json_each(?))

-- name: delete_runs_attempts
DELETE FROM attempts WHERE run_id IN (SELECT value FROM json_each(?))

-- name: delete_runs_logs
DELETE FROM log_chunks WHERE run_id IN (SELECT value FROM json_each(?))

-- name: delete_runs_trees
DELETE FROM trees WHERE run_id IN (SELECT value FROM json_each(?))

-- name: delete_runs_bodies
DELETE FROM tree_bodies WHERE run_id IN (SELECT value FROM json_each(?))

-- name: delete_runs_steps
DELETE FROM steps WHERE run_id IN (SELECT value FROM json_each(?))

-- name: delete_runs_chains
DELETE FROM chains WHERE run_id IN (SELECT value FROM json_each(?))

-- name: delete_runs_items
DELETE FROM items WHERE run_id IN (SELECT value FROM json_each(?))

-- name: delete_runs_notes
DELETE FROM notes WHERE parent_id IN (SELECT value FROM json_each(?))

-- name: delete_runs_endings
DELETE FROM endings WHERE run_id IN (SELECT value FROM json_each(?))

-- name: delete_runs_decisions
DELETE FROM decisions WHERE run_id IN (SELECT value FROM json_each(?))

-- name: delete_runs_launches
DELETE FROM launches WHERE run_id IN (SELECT value FROM json_each(?))

-- name: delete_runs_keys
DELETE FROM dedupe WHERE run_id IN (SELECT value FROM json_each(?)) AND scope <> 'window'

-- name: next_ledgers
-- The last two columns: whether it was deleted or exhausted long ago, and whether it has old ticks. Younger schedules
-- have none: uids contain the time of their creation.
SELECT
    uid, spec, settled_until,
    wake_at IS NULL AND (
        deleted_at < :cut OR (NOT enabled AND updated_at < :cut AND settled_until < :cut AND next_run_at IS NULL)),
    EXISTS (SELECT 1 FROM ticks t WHERE t.uid = schedules.uid AND t.scheduled_for < :cut)
FROM schedules WHERE uid > :cursor AND uid < :young ORDER BY uid LIMIT :limit

-- name: count_old_ticks
-- Counts only up to the limit.
SELECT count(*) FROM (SELECT 1 FROM ticks WHERE uid = ?1 AND scheduled_for < ?2 AND until < ?2 LIMIT ?3)

-- name: prune_ticks
DELETE FROM ticks WHERE uid = ?1 AND scheduled_for IN (
    SELECT scheduled_for FROM ticks WHERE uid = ?1 AND scheduled_for < ?2 AND until < ?2
    ORDER BY scheduled_for LIMIT ?3
)
RETURNING until

-- name: begin_ledgers
UPDATE schedules SET ledger_from = ? WHERE uid = ?

-- name: forget_revisions
DELETE FROM revisions WHERE uid = ?

-- name: forget_boots
DELETE FROM boots WHERE uid = ?

-- name: forget_pauses
DELETE FROM pauses WHERE uid = ?

-- name: forget_schedules
-- Runs are found by the name of their schedule. Runs of an earlier schedule with that name are older and come first, so
-- that the search reads all of them at most once: when the schedule is removed.
DELETE FROM schedules
WHERE uid = ?1 AND wake_at IS NULL
    AND (deleted_at < ?2 OR (NOT enabled AND updated_at < ?2 AND settled_until < ?2 AND next_run_at IS NULL))
    AND NOT EXISTS (SELECT 1 FROM ticks t WHERE t.uid = schedules.uid)
    AND NOT EXISTS (SELECT 1 FROM planned p WHERE p.uid = schedules.uid)
    AND NOT EXISTS (
        SELECT 1 FROM runs r
        WHERE r.project = schedules.project AND r.schedule_id = schedules.id AND r.schedule_uid = schedules.uid)

-- name: prune_limits
DELETE FROM limits WHERE key IN (
    SELECT l.key FROM limits l WHERE NOT EXISTS (SELECT 1 FROM holds h WHERE h.key = l.key) LIMIT ?
)

-- name: walk_chunks
SELECT rowid, run_id, at FROM log_chunks WHERE rowid > ? ORDER BY rowid LIMIT ?

-- name: unfinished_runs
SELECT id FROM runs WHERE id IN (SELECT value FROM json_each(?)) AND finished_at IS NULL

-- name: prune_logs
DELETE FROM log_chunks WHERE rowid IN (SELECT value FROM json_each(?))

-- name: note_logs_kept_from
INSERT INTO meta (key, value) VALUES ('logs_kept_from', ?)
ON CONFLICT (key) DO UPDATE SET value = max(value, excluded.value)

-- name: prune_events
-- Reads only the oldest rows. Keeps the newest one, whose number must not be assigned again.
DELETE FROM events WHERE seq IN (
    SELECT seq FROM (SELECT seq, at FROM events ORDER BY seq LIMIT ?2) WHERE at < ?1
) AND seq < (SELECT max(seq) FROM events)

-- name: prune_deliveries
DELETE FROM deliveries WHERE rowid IN (
    SELECT rowid FROM deliveries WHERE finished_at IS NOT NULL AND finished_at < ?1 ORDER BY finished_at LIMIT ?2
)

-- name: prune_audit
DELETE FROM audit WHERE seq IN (SELECT seq FROM audit WHERE at < ?1 ORDER BY at LIMIT ?2)

-- name: prune_requests
DELETE FROM requests WHERE (principal, key) IN (
    SELECT principal, key FROM requests WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2
)

-- name: prune_sessions
DELETE FROM sessions WHERE digest IN (SELECT digest FROM sessions WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2)

-- name: prune_keys
DELETE FROM dedupe WHERE (project, job_id, key) IN (
    SELECT project, job_id, key FROM dedupe WHERE expires_at <= ? ORDER BY expires_at LIMIT ?
)

-- name: next_items
-- Runs with items, and whether each exists. Ids begin with the time, so nothing younger than the cut is read.
SELECT i.run_id, EXISTS (SELECT 1 FROM runs r WHERE r.id = i.run_id) FROM items i
WHERE i.first = 0 AND i.run_id > ? AND i.run_id < ? ORDER BY i.run_id LIMIT ?

-- name: prune_items
-- The first items last: they are how the next piece finds the run.
DELETE FROM items WHERE rowid IN (SELECT i.rowid FROM items i WHERE i.run_id = ?1 ORDER BY i.first DESC LIMIT ?2)
AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.id = ?1)

-- name: min_code
SELECT value FROM meta WHERE key = 'min_code'

-- name: probe
INSERT INTO meta (key, value) VALUES ('probed_at', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value

-- name: quick_check
PRAGMA quick_check(5)

-- name: save_clock_fault
INSERT INTO clock_faults (node, kind, size, at) VALUES (?, ?, ?, ?)
ON CONFLICT (node, kind) DO UPDATE SET size = excluded.size, at = excluded.at

-- name: prune_clock_faults
-- Processes come and go, each with its own label.
DELETE FROM clock_faults WHERE (node, kind) IN (
    SELECT node, kind FROM clock_faults ORDER BY at DESC, node, kind LIMIT -1 OFFSET 100)

-- name: worker_processes
SELECT id, process FROM workers WHERE process <> '' AND deadline > 0

-- name: expire_workers
UPDATE workers SET deadline = 0 WHERE id IN (SELECT value FROM json_each(?))

-- name: expired_leases
-- The executor does not expire, but its leases end by cancellation and timeout.
SELECT l.run_id, l.worker_id, l.token, l.attempt, l.cancel_at IS NOT NULL
FROM leases l LEFT JOIN workers w ON w.id = l.worker_id
WHERE CASE
    WHEN l.worker_id = '@executor' THEN l.cancel_at IS NOT NULL OR l.report_by <= ?
    ELSE w.id IS NULL OR w.boot_id <> ? OR w.deadline <= ?
END
ORDER BY l.token LIMIT ?

-- name: remove_expired_workers
DELETE FROM workers
WHERE (boot_id <> ? OR deadline <= ?) AND NOT EXISTS (SELECT 1 FROM leases l WHERE l.worker_id = workers.id)
