-- name: due_columns
s.uid, s.id, s.version, s.created_at, s.revision, s.opened_at, s.spec, s.settled_until, s.behind_since,
    (SELECT count(*) FROM holds h WHERE h.key = ?1 || s.uid),
    EXISTS (SELECT 1 FROM pauses p WHERE p.uid = s.uid AND (p.until IS NULL OR p.until > s.settled_until)),
    EXISTS (SELECT 1 FROM planned t WHERE t.uid = s.uid)

-- name: due_schedules
-- While all schedules are paused, none is due.
SELECT {due_columns} FROM schedules s
WHERE s.wake_at <= ?2 AND NOT EXISTS (
    SELECT 1 FROM project_pauses p WHERE p.project = ?4 AND (p.until IS NULL OR (p.since <= ?2 AND p.until > ?2)))
ORDER BY s.wake_at LIMIT ?3

-- name: due_after_boot
SELECT {due_columns} FROM schedules s
WHERE substr(s.spec, 1, 16) = '{"type":"reboot"' AND s.deleted_at IS NULL AND s.created_at < ?3
    AND NOT EXISTS (SELECT 1 FROM boots b WHERE b.uid = s.uid AND b.boot_id = ?2)
ORDER BY s.created_at LIMIT ?4

-- name: add_boots
INSERT INTO boots (uid, boot_id, at) VALUES (?, ?, ?) ON CONFLICT (uid, boot_id) DO NOTHING

-- name: planned_ticks
SELECT uid, scheduled_for, fire_at, revision FROM planned
WHERE uid IN (SELECT value FROM json_each(?)) ORDER BY uid, scheduled_for

-- name: project_pauses
-- Pauses that end after a moment, and the one that was changed last.
SELECT since, until, version, paused_by, note, decided, recorded FROM project_pauses
WHERE project = ?1 AND (
    until IS NULL OR until > ?2 OR version = (SELECT max(p.version) FROM project_pauses p WHERE p.project = ?1))
ORDER BY since

-- name: last_successes
-- When another run of the job of each schedule succeeded last; ?2: uid and job.
SELECT n.value ->> 0, (
    SELECT max(e.finished_at) FROM (
        SELECT s.finished_at, s.run_id FROM endings s
        WHERE s.project = ?1 AND s.job_id = n.value ->> 1 AND s.status = 'success'
        ORDER BY s.finished_at DESC LIMIT 100) AS e
    CROSS JOIN runs r ON r.id = e.run_id WHERE r.schedule_uid IS NOT n.value ->> 0)
FROM json_each(?2) n

-- name: pause_version
SELECT coalesce(max(version), 0) FROM project_pauses WHERE project = ?

-- name: versions
SELECT uid, version FROM schedules WHERE deleted_at IS NULL AND uid IN (SELECT value FROM json_each(?))

-- name: specs
SELECT uid, spec FROM schedules WHERE uid IN (SELECT value FROM json_each(?))

-- name: runs_in_flight
SELECT run_id FROM holds WHERE key = ?

-- name: names
SELECT uid, id FROM schedules WHERE uid IN (SELECT value FROM json_each(?))

-- name: add_ticks
INSERT INTO ticks (
    uid, scheduled_for, until, count, outcome, reason, fire_at, revision, run_id, into_tick, key, decided_at
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: take_planned
DELETE FROM planned WHERE uid IN (SELECT value FROM json_each(?)) RETURNING uid, scheduled_for, fire_at, revision

-- name: add_planned
INSERT INTO planned (uid, scheduled_for, fire_at, revision) VALUES (?, ?, ?, ?)

-- name: advance_schedules
UPDATE schedules SET
    version = version + 1, settled_until = ?3, next_run_at = ?4,
    wake_at = CASE WHEN paused_at IS NULL THEN ?5 END,
    last_scheduled_at = coalesce(?6, last_scheduled_at), behind_since = ?7,
    enabled = CASE WHEN ?8 THEN 0 ELSE enabled END
WHERE uid = ?1 AND version = ?2 AND deleted_at IS NULL

-- name: newest_run
SELECT coalesce(max(rowid), 0) FROM runs

-- name: create_punctual_runs
INSERT INTO runs (
    id, project, job_id, queue, priority, trigger, status, due_at, created_at, attempt, lost, payload, schedule_uid,
    schedule_id, scheduled_for, tick_key
) VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'scheduled', ?7, ?8, 0, 0, ?9, ?10, ?11, ?12, ?13)

-- name: add_punctual_ticks
-- For the runs that were just created: row ids increase in the order of insertion.
INSERT INTO ticks (
    uid, scheduled_for, until, count, outcome, reason, fire_at, revision, run_id, into_tick, key, decided_at
)
SELECT schedule_uid, scheduled_for, scheduled_for, 1, 'ran', ?2, scheduled_for, ?3, id, NULL, tick_key, ?4
FROM runs WHERE rowid > ?1

-- name: hold_punctual_runs
INSERT INTO holds (key, is_admitted, rank, run_id)
SELECT ?2 || schedule_uid, 1, scheduled_for, id FROM runs WHERE rowid > ?1

-- name: ready_punctual_runs
INSERT INTO ready (queue, rank, run_id) SELECT queue, due_at - priority * ?2, id FROM runs WHERE rowid > ?1

-- name: unpaused_wake
-- Not before the end of a pause of all schedules; null if it has no end.
CASE WHEN NOT EXISTS (SELECT 1 FROM project_pauses p WHERE p.project = ?1 AND p.until IS NULL)
    THEN max(wake_at, coalesce((SELECT max(p.until) + 1 FROM project_pauses p WHERE p.project = ?1), wake_at)) END

-- name: next_wake
SELECT {unpaused_wake} FROM schedules WHERE wake_at IS NOT NULL ORDER BY wake_at LIMIT 1

-- name: next_wake_besides
SELECT {unpaused_wake} FROM schedules WHERE wake_at IS NOT NULL AND uid NOT IN (SELECT value FROM json_each(?2))
ORDER BY wake_at LIMIT 1
