-- name: latest_runs
-- One index look-up per job.
SELECT (SELECT r.id FROM runs r WHERE r.project = ?1 AND r.job_id = j.value ORDER BY r.id DESC LIMIT 1) AS run_id
FROM json_each(?2) j WHERE run_id IS NOT NULL

-- name: failing_jobs
-- For each job its newest failure, unless one of the first 1,000 runs after it has succeeded.
SELECT newest.job_id, newest.run_id FROM (
    SELECT j.value AS job_id, max(
        coalesce((
            SELECT r.id FROM runs r INDEXED BY runs_by_job_and_rare_status
            WHERE r.project = ?1 AND r.job_id = j.value AND r.status = 'failed'
                AND r.status <> 'scheduled' AND r.status <> 'success'
            ORDER BY r.id DESC LIMIT 1), ''),
        coalesce((
            SELECT r.id FROM runs r INDEXED BY runs_by_job_and_rare_status
            WHERE r.project = ?1 AND r.job_id = j.value AND r.status = 'timeout'
                AND r.status <> 'scheduled' AND r.status <> 'success'
            ORDER BY r.id DESC LIMIT 1), '')) AS run_id
    FROM json_each(?2) j) AS newest
WHERE newest.run_id <> '' AND NOT EXISTS (
    SELECT 1 FROM (
        SELECT r.status FROM runs r
        WHERE r.project = ?1 AND r.job_id = newest.job_id AND r.id > newest.run_id ORDER BY r.id LIMIT 1000) AS later_runs
    WHERE later_runs.status = 'success' OR later_runs.status = 'partial')

-- name: recent_results
-- The newest runs of each job.
SELECT r.job_id, r.id, r.status, r.started_at, r.finished_at
FROM json_each(?2) j CROSS JOIN runs r ON r.project = ?1 AND r.job_id = j.value
WHERE r.id >= coalesce((
    SELECT e.id FROM runs e WHERE e.project = ?1 AND e.job_id = j.value ORDER BY e.id DESC LIMIT 1 OFFSET ?3 - 1), '')

-- name: schedules_of_targets
SELECT
    s.uid, s.id, s.version, s.revision, s.opened_at, s.spec, s.enabled, s.paused_at, s.created_at, s.updated_at,
    s.settled_until, s.next_run_at, s.wake_at, s.last_scheduled_at, s.behind_since, s.ledger_from
FROM json_each(?2) j CROSS JOIN schedules s ON s.project = ?1 AND s.job_id = j.value
WHERE s.deleted_at IS NULL ORDER BY s.id

-- name: latest_ticks
SELECT scheduled_for, until, count, outcome, reason, fire_at, revision, run_id, into_tick, key, decided_at FROM ticks
WHERE uid = ? ORDER BY scheduled_for DESC LIMIT ?

-- name: newest_rows
-- The newest rows of each schedule.
SELECT
    t.uid, t.scheduled_for, t.until, t.count, t.outcome, t.reason, t.fire_at, t.revision, t.run_id, t.into_tick, t.key,
    t.decided_at
FROM json_each(?1) j CROSS JOIN ticks t ON t.uid = j.value
WHERE t.scheduled_for >= coalesce((
    SELECT e.scheduled_for FROM ticks e WHERE e.uid = j.value
    ORDER BY e.scheduled_for DESC LIMIT 1 OFFSET ?2 - 1), 0)

-- name: ran_ticks
-- Planned times that ran, by reason: up to the limit.
SELECT reason, count(*) FROM (
    SELECT t.reason FROM json_each(?1) j CROSS JOIN ticks t ON t.uid = j.value
    WHERE t.outcome = 'ran' AND t.scheduled_for >= ?2 AND t.scheduled_for <= ?3 LIMIT ?4) AS counted
GROUP BY reason

-- name: other_ticks
-- Planned times with other outcomes, those that were missed by schedule: up to the limit of rows. A range that is not
-- whole inside the interval is counted by its share. Of each outcome the row before the interval is included if it
-- extends into it. INDEXED BY: the planner might read all ticks that ran.
SELECT outcome, reason, CASE WHEN outcome = 'missed' THEN uid END AS missed_by,
    count(*), sum(share), min(scheduled_for), max(until) FROM (
        SELECT t.uid, t.outcome, t.reason, t.scheduled_for, t.until,
            CASE WHEN t.scheduled_for >= ?3 AND t.until <= ?4 THEN t.count ELSE max(1, CAST(
                1.0 * t.count * (min(t.until, ?4) - max(t.scheduled_for, ?3)) / max(1, t.until - t.scheduled_for)
                AS INTEGER)) END AS share
        FROM json_each(?1) j CROSS JOIN json_each(?2) o
        CROSS JOIN ticks t INDEXED BY ticks_outcome ON t.uid = j.value AND t.outcome = o.value
        WHERE t.outcome <> 'ran' AND t.scheduled_for <= ?4 AND t.until >= ?3 AND t.scheduled_for >= coalesce((
            SELECT max(b.scheduled_for) FROM ticks b INDEXED BY ticks_outcome
            WHERE b.uid = j.value AND b.outcome = o.value AND b.outcome <> 'ran' AND b.scheduled_for <= ?3), ?3)
        LIMIT ?5) AS counted
GROUP BY outcome, reason, missed_by

-- name: failed_tick_runs
-- The failed runs of ticks of these schedules that were planned in the interval, counted up to the limit. Failed runs
-- without a schedule are not read.
SELECT count(*) FROM (
    SELECT 1 FROM json_each(?1) j CROSS JOIN schedules s ON s.uid = j.value
    CROSS JOIN runs r INDEXED BY runs_by_schedule_and_rare_status
        ON r.project = s.project AND r.schedule_id = s.id AND r.status = 'failed' AND r.status <> 'scheduled'
        AND r.status <> 'success' AND r.id >= ?2
    WHERE r.schedule_uid = s.uid AND r.parent_id IS NULL AND r.scheduled_for BETWEEN ?3 AND ?4
    UNION ALL
    SELECT 1 FROM json_each(?1) j CROSS JOIN schedules s ON s.uid = j.value
    CROSS JOIN runs r INDEXED BY runs_by_schedule_and_rare_status
        ON r.project = s.project AND r.schedule_id = s.id AND r.status = 'timeout' AND r.status <> 'scheduled'
        AND r.status <> 'success' AND r.id >= ?2
    WHERE r.schedule_uid = s.uid AND r.parent_id IS NULL AND r.scheduled_for BETWEEN ?3 AND ?4
    LIMIT ?5)

-- name: living_schedules
SELECT uid, id FROM schedules WHERE project = ? AND id > '' AND deleted_at IS NULL

-- name: newest_ticks
-- One look into the index for each schedule. An empty outcome is any.
SELECT j.value, (
    SELECT t.scheduled_for FROM ticks t WHERE t.uid = j.value AND t.scheduled_for <= ?3 AND (?2 = '' OR t.outcome = ?2)
    ORDER BY t.scheduled_for DESC LIMIT 1) AS newest
FROM json_each(?1) j WHERE newest IS NOT NULL

-- name: newest_outcomes
-- INDEXED BY: without statistics the planner takes the primary key, and reads all ticks that ran.
SELECT j.value, (
    SELECT t.scheduled_for FROM ticks t INDEXED BY ticks_outcome
    WHERE t.uid = j.value AND t.outcome = ?2 AND t.outcome <> 'ran' AND t.scheduled_for <= ?3
    ORDER BY t.scheduled_for DESC LIMIT 1) AS newest
FROM json_each(?1) j WHERE newest IS NOT NULL

-- name: search_ticks
-- The row before the interval is included if it extends into it: only that one, or all history would be read.
SELECT scheduled_for, until, count, outcome, reason, fire_at, revision, run_id, into_tick, key, decided_at FROM ticks
WHERE uid = ?1 AND (?2 = '' OR outcome = ?2) AND scheduled_for <= ?4 AND until >= ?3 AND scheduled_for >= coalesce(
    (SELECT max(b.scheduled_for) FROM ticks b WHERE b.uid = ?1 AND b.scheduled_for <= ?3), ?3)
ORDER BY scheduled_for DESC LIMIT ?5

-- name: search_outcome
SELECT scheduled_for, until, count, outcome, reason, fire_at, revision, run_id, into_tick, key, decided_at
FROM ticks INDEXED BY ticks_outcome
WHERE uid = ?1 AND outcome = ?2 AND outcome <> 'ran' AND scheduled_for <= ?4 AND until >= ?3
    AND scheduled_for >= coalesce(
        (SELECT max(b.scheduled_for) FROM ticks b WHERE b.uid = ?1 AND b.scheduled_for <= ?3), ?3)
ORDER BY scheduled_for DESC LIMIT ?5

-- name: ticks_at
SELECT t.uid, t.scheduled_for, t.until, t.count, t.outcome, t.reason, t.fire_at, t.revision, t.run_id, t.into_tick, t.key, t.decided_at
FROM json_each(?1) u CROSS JOIN json_each(?2) m ON m.key = u.key
CROSS JOIN ticks t ON t.uid = u.value AND t.scheduled_for = m.value

-- name: runs_of_steps
-- The stored status, which is the same for all open runs.
SELECT s.step, r.status, r.reason, r.error FROM steps s CROSS JOIN runs r ON r.id = s.step_run_id WHERE s.run_id = ?

-- name: awaited_limits
SELECT h.run_id, h.key, l.capacity
FROM json_each(?) j CROSS JOIN holds h ON h.run_id = j.value LEFT JOIN limits l ON l.key = h.key
WHERE h.is_admitted = 0 ORDER BY h.run_id, h.key

-- name: limit_holders
-- The first few holders of each key, by rank.
SELECT j.value, k.value FROM json_each(?1) j, json_each((
    SELECT json_group_array(first.run_id) FROM (
        SELECT h.run_id FROM holds h WHERE h.key = j.value AND h.is_admitted = 1
        ORDER BY h.rank, h.run_id LIMIT ?2) AS first)) k

-- name: depth
-- Counts only open runs that are no children, each kind up to the limit.
SELECT
    (SELECT count(*) FROM (
        SELECT 1 FROM (SELECT run_id FROM leases UNION ALL SELECT run_id FROM trees WHERE ended_at IS NULL) p
        CROSS JOIN runs r ON r.id = p.run_id WHERE +r.parent_id IS NULL LIMIT :limit)),
    (SELECT count(*) FROM (
        SELECT 1 FROM ready p CROSS JOIN runs r ON r.id = p.run_id WHERE +r.parent_id IS NULL LIMIT :limit))
        + (SELECT count(*) FROM (
            SELECT DISTINCT h.run_id FROM holds h CROSS JOIN runs r ON r.id = h.run_id
            WHERE h.is_admitted = 0 AND +r.parent_id IS NULL AND NOT EXISTS (
                SELECT 1 FROM later l WHERE l.due_at = r.due_at AND l.run_id = r.id)
                AND NOT EXISTS (SELECT 1 FROM gated g WHERE g.run_id = h.run_id)
            LIMIT :limit)),
    (SELECT count(*) FROM (
        SELECT 1 FROM (SELECT run_id FROM later UNION ALL SELECT run_id FROM gated) p
        CROSS JOIN runs r ON r.id = p.run_id WHERE +r.parent_id IS NULL LIMIT :limit))

-- name: upcoming_schedules
SELECT {schedule_columns} FROM schedules WHERE wake_at IS NOT NULL ORDER BY wake_at LIMIT ?

-- name: late_schedules
SELECT {schedule_columns} FROM schedules WHERE wake_at <= ? ORDER BY wake_at LIMIT ?

-- name: behind_schedules
-- Those that were decided in time, but have not caught up.
SELECT {schedule_columns} FROM schedules WHERE behind_since <= ?1 AND wake_at > ?1 ORDER BY behind_since LIMIT ?2

-- name: count_late_schedules
-- Late ones and those behind, each counted up to the limit.
SELECT
    (SELECT count(*) FROM (SELECT 1 FROM schedules WHERE wake_at <= ?1 LIMIT ?2))
    + (SELECT count(*) FROM (SELECT 1 FROM schedules WHERE behind_since <= ?1 AND wake_at > ?1 LIMIT ?2))

-- name: clock_faults
SELECT node, kind, size, at FROM clock_faults ORDER BY at DESC, node, kind LIMIT ?

-- name: schedules_ahead
-- Reads every schedule: after a clock was set back, and when a person asks.
SELECT {schedule_columns} FROM schedules WHERE settled_until > ? AND wake_at IS NOT NULL
ORDER BY settled_until DESC, id LIMIT ?

-- name: oldest_leases
-- Tokens increase with time.
SELECT run_id FROM (SELECT run_id, started_at FROM leases ORDER BY token LIMIT ?2) AS oldest
WHERE started_at < ?1

-- name: stopped_jobs
SELECT id FROM jobs WHERE project = ? AND stopped_at IS NOT NULL ORDER BY stopped_at DESC LIMIT ?

-- name: ready_queues
-- One index look-up per queue, whatever the number of runs.
WITH RECURSIVE queues (name) AS (
    SELECT min(queue) FROM ready
    UNION ALL
    SELECT (SELECT min(r.queue) FROM ready r WHERE r.queue > queues.name) FROM queues WHERE queues.name IS NOT NULL
)
SELECT name FROM queues WHERE name IS NOT NULL LIMIT ?

-- name: failing_runs
-- Of the given runs the newest of each job, unless a newer run has succeeded: only runs after it are read.
SELECT job_id, id FROM (
    SELECT f.project, f.job_id, max(f.id) AS id FROM json_each(?1) j CROSS JOIN runs f ON f.id = j.value
    WHERE f.parent_id IS NULL AND f.created_at >= ?2 GROUP BY f.project, f.job_id) AS newest
WHERE NOT EXISTS (
    SELECT 1 FROM runs r WHERE r.project = newest.project AND r.job_id = newest.job_id AND r.id > newest.id
        AND (r.status = 'success' OR r.status = 'partial'))

-- name: totals
-- Jobs, those of them that are disabled or paused, and deliveries that wait, counted up to the limit.
SELECT
    (SELECT count(*) FROM jobs WHERE project = ?1 AND enabled IS NOT NULL),
    (SELECT count(*) FROM jobs WHERE project = ?1 AND enabled IS NOT NULL AND (enabled = 0 OR paused_at IS NOT NULL)),
    (SELECT count(*) FROM (SELECT 1 FROM deliveries WHERE state = 'pending' LIMIT ?2))

-- name: run_times
SELECT id, CASE WHEN schedule_uid IS NOT NULL THEN scheduled_for END, started_at, finished_at, reason
FROM runs WHERE id IN (SELECT value FROM json_each(?))

-- name: get_runs
SELECT
    id, job_id, shown_status, reason, queue, priority, trigger, schedule_uid, schedule_id, scheduled_for, tick_key,
    payload, output, due_at, created_at, started_at, finished_at, attempt, lost, exit_code, error, worker_id, token,
    parent_id, root_id, child_key,
    (SELECT overrides FROM runs r WHERE r.id = shown_runs.id), (SELECT limits FROM runs r WHERE r.id = shown_runs.id),
    progress, progress_text, progress_at
FROM shown_runs WHERE id IN (SELECT value FROM json_each(?))

-- name: get_brief_runs
-- The columns of `get_runs`, without payload, output and options, which may be large.
SELECT
    id, job_id, shown_status, reason, queue, priority, trigger, schedule_uid, schedule_id, scheduled_for, tick_key,
    NULL, NULL, due_at, created_at, started_at, finished_at, attempt, lost, exit_code, substr(error, 1, 500), worker_id,
    token, parent_id, root_id, child_key, NULL, NULL, progress, progress_text, progress_at
FROM shown_runs WHERE id IN (SELECT value FROM json_each(?))

-- name: run_states
SELECT id, shown_status, started_at, finished_at FROM shown_runs WHERE id IN (SELECT value FROM json_each(?))

-- name: page_ids
-- The filters below are inserted between these two parts, joined by AND. +project: all runs have the same project, so
-- an index that begins with it would select all of them.
SELECT id FROM shown_runs WHERE +project = :project AND id < :before

-- name: page_roots
-- INDEXED BY: without statistics the planner may take the index of all ids, and walk through all children.
SELECT id FROM runs INDEXED BY runs_roots WHERE project = :project AND id < :before AND parent_id IS NULL

-- name: page_rare_roots
SELECT id FROM runs INDEXED BY runs_roots_by_rare_status
WHERE project = :project AND id < :before AND parent_id IS NULL

-- name: page_rare_children
-- Only the children that ended without success are read and sorted.
SELECT id FROM runs INDEXED BY runs_by_rare_child
WHERE project = :project AND id < :before AND parent_id = :parent_id

-- name: of_roots
+parent_id IS NULL

-- name: of_job
project = :project AND job_id = :job_id

-- name: of_schedule
project = :project AND schedule_id = :schedule_id

-- name: of_root
root_id = :root_id

-- name: of_parent
parent_id = :parent_id

-- name: success
status = 'success'

-- name: rare_status
status = :status AND status <> 'scheduled' AND status <> 'success'

-- name: running
id IN (
    SELECT run_id FROM leases WHERE cancel_at IS NULL
    UNION ALL SELECT run_id FROM trees WHERE ended_at IS NULL AND cancel_at IS NULL
)

-- name: cancelling
id IN (
    SELECT run_id FROM leases WHERE cancel_at IS NOT NULL
    UNION ALL SELECT run_id FROM trees WHERE ended_at IS NULL AND cancel_at IS NOT NULL
)

-- name: scheduled
id IN (SELECT run_id FROM later UNION ALL SELECT run_id FROM gated)

-- name: queued
id IN (SELECT run_id FROM ready UNION SELECT run_id FROM holds WHERE is_admitted = 0) AND shown_status = 'queued'

-- name: newest_first
ORDER BY id DESC LIMIT :limit

-- name: nth_run_before
SELECT id FROM runs WHERE id >= ?1 AND id < ?2 ORDER BY id DESC LIMIT 1 OFFSET ?3

-- name: are_columns_sound
(r.due_at BETWEEN ?4 AND ?5 AND r.created_at BETWEEN ?4 AND ?5
    AND coalesce(r.started_at, 0) BETWEEN ?4 AND ?5 AND coalesce(r.finished_at, 0) BETWEEN ?4 AND ?5
    AND coalesce(r.scheduled_for, 0) BETWEEN ?4 AND ?5
    AND r.attempt BETWEEN 0 AND ?6 AND r.lost BETWEEN 0 AND ?6
    AND (r.schedule_uid IS NULL
        OR (r.schedule_id IS NOT NULL AND r.scheduled_for IS NOT NULL AND r.tick_key IS NOT NULL))
    AND (r.status = 'success' OR r.status = 'failed' OR r.status = 'timeout' OR r.status = 'cancelled'
        OR r.status = 'partial' OR r.status = 'skipped' OR r.status = 'scheduled')
    AND (r.status <> 'scheduled' OR NOT EXISTS (SELECT 1 FROM leases l WHERE l.run_id = r.id)))

-- name: doubtful_runs
-- A sound run without documents is not returned. A run with a lease is: columns of the lease are shown.
SELECT r.id, {are_columns_sound} IS NOT TRUE, r.payload, r.overrides, r.limits, o.body
FROM runs r LEFT JOIN outputs o ON o.run_id = r.id
WHERE r.id >= ?1 AND r.id < ?2 AND (
    r.payload IS NOT NULL OR r.overrides IS NOT NULL OR r.limits IS NOT NULL OR o.body IS NOT NULL
    OR {are_columns_sound} IS NOT TRUE)
ORDER BY r.id DESC LIMIT ?3

-- name: children_in_order
SELECT id FROM runs WHERE parent_id = ? AND id > ? ORDER BY id LIMIT ?

-- name: launches
SELECT executor_run_id, started_at FROM launches WHERE run_id = ?

-- name: attempts
SELECT run_id, number, token, worker_id, started_at, finished_at, status, reason, exit_code, error
FROM attempts WHERE run_id = ?1
UNION ALL
SELECT id, attempt, token, worker_id, started_at, finished_at, status, reason, exit_code, error
FROM runs WHERE id = ?1 AND token IS NOT NULL AND finished_at IS NOT NULL
ORDER BY number

-- name: tree_kinds
SELECT t.run_id, t.kind FROM json_each(?) j CROSS JOIN trees t ON t.run_id = j.value

-- name: get_executions
SELECT
    t.run_id, t.job_id, t.version, t.state, t.open, b.body,
    r.schedule_uid, r.schedule_id, r.scheduled_for, r.tick_key, t.opened_at, t.deadline, t.cancel_at, t.is_ending,
    (SELECT known.revision FROM jobs known WHERE known.project = t.project AND known.id = t.job_id)
FROM json_each(?) j CROSS JOIN trees t ON t.run_id = j.value CROSS JOIN tree_bodies b ON b.run_id = t.run_id
CROSS JOIN runs r ON r.id = t.run_id
WHERE t.kind = 'graph' ORDER BY t.run_id

-- name: active_executions
SELECT run_id FROM trees WHERE ended_at IS NULL AND run_id > ? AND kind = 'graph' ORDER BY run_id LIMIT ?

-- name: active_of_workflow
SELECT run_id FROM trees WHERE project = ? AND job_id = ? AND ended_at IS NULL AND run_id > ? AND kind = 'graph'
ORDER BY run_id LIMIT ?

-- name: ticks
-- Two index look-ups: the row before, if it extends into the interval, and the rows that begin inside.
SELECT * FROM (
    SELECT scheduled_for, until, count, outcome, reason, fire_at, revision, run_id, into_tick FROM ticks
    WHERE uid = ?1 AND scheduled_for <= ?2 ORDER BY scheduled_for DESC LIMIT 1
) WHERE scheduled_for < ?2 AND until > ?2 AND ?2 < ?3
UNION ALL
SELECT scheduled_for, until, count, outcome, reason, fire_at, revision, run_id, into_tick FROM ticks
WHERE uid = ?1 AND scheduled_for > ?2 AND scheduled_for <= ?3
ORDER BY scheduled_for LIMIT ?4

-- name: tick_keys
SELECT scheduled_for, key FROM ticks
WHERE uid = ? AND scheduled_for > ? AND scheduled_for <= ? AND key IS NOT NULL ORDER BY scheduled_for LIMIT ?

-- name: shared_runs
SELECT run_id FROM ticks WHERE uid = ? AND scheduled_for > ? AND run_id IS NOT NULL GROUP BY run_id HAVING count(*) > 1

-- name: recent_ticks
-- For each schedule the last row before the moment, and the first ones after it.
SELECT
    t.uid, t.scheduled_for, t.until, t.count, t.outcome, t.reason, t.fire_at, t.revision, t.run_id, t.into_tick, t.key
FROM json_each(?1) j CROSS JOIN ticks t ON t.uid = j.value
WHERE t.scheduled_for >= coalesce(
        (SELECT max(b.scheduled_for) FROM ticks b WHERE b.uid = j.value AND b.scheduled_for < ?2), ?2)
    AND t.scheduled_for <= coalesce((
        SELECT e.scheduled_for FROM ticks e WHERE e.uid = j.value AND e.scheduled_for >= ?2
        ORDER BY e.scheduled_for LIMIT 1 OFFSET ?3), t.scheduled_for)
ORDER BY j.key, t.scheduled_for

-- name: recent_runs
-- For each schedule the last run before the id, and the first ones after it. They may belong to a deleted schedule.
SELECT u.value, r.id, r.job_id, r.schedule_uid, r.schedule_id, r.scheduled_for, r.tick_key, r.finished_at
FROM json_each(?2) u CROSS JOIN json_each(?3) n ON n.key = u.key
CROSS JOIN runs r ON r.project = ?1 AND r.schedule_id = n.value
WHERE r.id >= coalesce((
        SELECT max(b.id) FROM runs b WHERE b.project = ?1 AND b.schedule_id = n.value AND b.id < ?4), ?4)
    AND r.id <= coalesce((
        SELECT e.id FROM runs e WHERE e.project = ?1 AND e.schedule_id = n.value AND e.id >= ?4
        ORDER BY e.id LIMIT 1 OFFSET ?5), r.id)
ORDER BY u.key

-- name: launched_runs
SELECT r.id, r.job_id, r.schedule_uid, r.schedule_id, r.scheduled_for, r.tick_key, r.finished_at
FROM json_each(?) j CROSS JOIN runs r ON r.id = j.value

-- name: ledgers
SELECT {schedule_columns}, deleted_at FROM schedules WHERE +project = ?1 AND uid > ?2 ORDER BY uid LIMIT ?3

-- name: ledgers_of
-- Two halves, because existing schedules are found by name and deleted ones are few.
SELECT {schedule_columns}, deleted_at FROM schedules
WHERE uid > ?2 AND project = ?1 AND id IN (SELECT value FROM json_each(?4)) AND deleted_at IS NULL
UNION ALL
SELECT {schedule_columns}, deleted_at FROM schedules
WHERE uid > ?2 AND project = ?1 AND id IN (SELECT value FROM json_each(?4)) AND deleted_at IS NOT NULL
ORDER BY uid LIMIT ?3

-- name: boots
SELECT uid, at FROM boots WHERE uid IN (SELECT value FROM json_each(?)) AND at IS NOT NULL ORDER BY uid, at

-- name: pauses
SELECT uid, since, until FROM pauses WHERE uid IN (SELECT value FROM json_each(?)) ORDER BY uid, since

-- name: read_log
SELECT run_id, token, seq, at, stream, data FROM log_chunks
WHERE run_id = ? AND (token, seq) > (?, ?) ORDER BY token, seq LIMIT ?

-- name: tail_log
SELECT run_id, token, seq, at, stream, data FROM log_chunks
WHERE run_id = ? ORDER BY token DESC, seq DESC LIMIT ?

-- name: log_starts
-- One index look-up per attempt, whatever the size of its output.
WITH RECURSIVE starts (token) AS (
    SELECT min(token) FROM log_chunks WHERE run_id = ?1
    UNION ALL
    SELECT (SELECT min(c.token) FROM log_chunks c WHERE c.run_id = ?1 AND c.token > starts.token) FROM starts
    WHERE starts.token IS NOT NULL
)
SELECT token FROM starts WHERE token IS NOT NULL

-- name: logs_kept_from
SELECT value FROM meta WHERE key = 'logs_kept_from'

-- name: events
-- The last of them is found by their sizes alone.
SELECT seq, at, kind, items FROM events
WHERE seq > :after AND seq <= (
    SELECT IFNULL(MIN(seq) FILTER (WHERE total >= :size), MAX(seq)) FROM (
        SELECT seq, SUM(bytes) OVER (ORDER BY seq) AS total FROM (
            SELECT seq, OCTET_LENGTH(items) AS bytes FROM events WHERE seq > :after ORDER BY seq LIMIT :limit
        )
    )
)
ORDER BY seq
