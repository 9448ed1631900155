-- name: put_jobs
INSERT INTO jobs (project, id, spec, revision, created_at, updated_at, pause_after, enabled)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (project, id)
DO UPDATE SET
    pause_after = excluded.pause_after, enabled = excluded.enabled, spec = excluded.spec, revision = excluded.revision,
    created_at = excluded.created_at, updated_at = excluded.updated_at

-- name: revision_floor
SELECT value FROM meta WHERE key = 'revision_floor'

-- name: get_jobs
SELECT id, spec, revision, created_at, updated_at, leads, paused_at, stopped_at FROM jobs
WHERE project = ? AND id IN (SELECT value FROM json_each(?))

-- name: page_jobs
SELECT id, spec, revision, created_at, updated_at, leads, paused_at, stopped_at FROM jobs WHERE project = ? AND id > ? ORDER BY id LIMIT ?

-- name: page_shown_jobs
-- Without the jobs that lists leave out.
SELECT id, spec, revision, created_at, updated_at, leads, paused_at, stopped_at FROM jobs
WHERE project = ? AND id > ? AND +enabled IS NOT NULL ORDER BY id LIMIT ?

-- name: pause_job
-- Pausing twice keeps the first time.
UPDATE jobs SET paused_at = ? WHERE project = ? AND id = ? AND paused_at IS NULL

-- name: resume_job
UPDATE jobs SET paused_at = NULL WHERE project = ? AND id = ? AND paused_at IS NOT NULL

-- name: stop_jobs
UPDATE jobs SET stopped_at = ?3 WHERE project = ?1 AND id IN (SELECT value FROM json_each(?2))

-- name: restart_jobs
-- Failures are counted from now on.
UPDATE jobs SET stopped_at = NULL, failures_from = ?3
WHERE project = ?1 AND id IN (SELECT value FROM json_each(?2)) AND pause_after IS NOT NULL

-- name: failed_jobs
-- Of the jobs of these runs, those that have failed as often in a row as their definition allows, at most 1000 times.
SELECT DISTINCT j.project, j.id FROM json_each(?1) n CROSS JOIN runs r ON r.id = n.value
CROSS JOIN jobs j ON j.project = r.project AND j.id = r.job_id
WHERE j.pause_after IS NOT NULL AND r.status IN ('failed', 'timeout') AND j.pause_after <= (
    SELECT count(*) FROM (
        SELECT 1 FROM endings e
        WHERE e.project = j.project AND e.job_id = j.id AND e.status IN ('failed', 'timeout') AND e.finished_at > max(
            coalesce(j.failures_from, 0),
            coalesce((SELECT max(s.finished_at) FROM endings s
                WHERE s.project = j.project AND s.job_id = j.id AND s.status = 'success'), 0),
            coalesce((SELECT max(s.finished_at) FROM endings s
                WHERE s.project = j.project AND s.job_id = j.id AND s.status = 'partial'), 0))
        LIMIT 1000))

-- name: running_schedules
SELECT id FROM schedules
WHERE project = ? AND job_id IN (SELECT value FROM json_each(?)) AND deleted_at IS NULL AND paused_at IS NULL

-- name: delete_jobs
DELETE FROM jobs WHERE project = ? AND id IN (SELECT value FROM json_each(?)) RETURNING id, revision

-- name: raise_revision_floor
INSERT INTO meta (key, value) VALUES ('revision_floor', ?)
ON CONFLICT (key) DO UPDATE SET value = max(value, excluded.value)

-- name: schedules_of_jobs
SELECT {schedule_columns} FROM schedules WHERE project = ? AND deleted_at IS NULL AND job_id IN (SELECT value FROM json_each(?))

-- name: unstarted_runs_of_jobs
-- Through the tables of open runs: a job's history may be long.
SELECT r.id FROM (
    SELECT run_id FROM later UNION SELECT run_id FROM ready UNION SELECT run_id FROM holds
    UNION SELECT run_id FROM gated
) AS active JOIN runs r ON r.id = active.run_id
WHERE r.project = ? AND r.job_id IN (SELECT value FROM json_each(?))
    AND NOT EXISTS (SELECT 1 FROM leases l WHERE l.run_id = r.id)
    AND NOT EXISTS (SELECT 1 FROM trees e WHERE e.run_id = r.id AND e.ended_at IS NULL)

-- name: jobs_that_name
SELECT id, spec FROM jobs WHERE project = ? AND instr(spec, ?) > 0

-- name: versions_that_name
SELECT id, version, spec FROM workflows WHERE project = ? AND instr(spec, ?) > 0

-- name: execution_that_names
-- ?2: workflow, version or null, step or null, job.
SELECT n.value ->> 3, e.run_id, e.job_id FROM json_each(?2) n CROSS JOIN trees e
WHERE e.project = ?1 AND e.job_id = n.value ->> 0 AND e.ended_at IS NULL
    AND (n.value ->> 1 IS NULL OR e.version = n.value ->> 1)
    AND (n.value ->> 2 IS NULL OR EXISTS (SELECT 1 FROM steps s WHERE s.run_id = e.run_id AND s.step = n.value ->> 2))
ORDER BY e.run_id LIMIT 1

-- name: copies_that_name
SELECT e.run_id, e.job_id, b.body FROM trees e CROSS JOIN tree_bodies b ON b.run_id = e.run_id
WHERE e.ended_at IS NULL AND e.kind = 'graph' AND e.project = ? AND instr(b.body, ?) > 0

-- name: opening_that_names
-- A leased run of a workflow is an execution that is about to be opened. A job may have the id of a deleted workflow.
SELECT r.id, r.job_id FROM leases l CROSS JOIN runs r ON r.id = l.run_id
WHERE r.project = ?1 AND r.job_id IN (SELECT value FROM json_each(?2))
    AND EXISTS (
        SELECT 1 FROM workflows w WHERE w.project = ?1 AND w.id = r.job_id
            AND (w.deleted_at IS NULL OR NOT EXISTS (SELECT 1 FROM jobs j WHERE j.project = ?1 AND j.id = r.job_id)))
LIMIT 1

-- name: gate_that_names
SELECT r.id, r.job_id FROM gated g CROSS JOIN runs r ON r.id = g.run_id
WHERE r.project = ?1 AND r.job_id IN (SELECT value FROM json_each(?2)) LIMIT 1

-- name: change_jobs
UPDATE jobs SET spec = ? WHERE project = ? AND id = ?

-- name: change_versions
UPDATE workflows SET spec = ? WHERE project = ? AND id = ? AND version = ?

-- name: raise_revisions
UPDATE jobs SET revision = revision + 1, updated_at = ? WHERE project = ? AND id IN (SELECT value FROM json_each(?))
RETURNING id, revision

-- name: rename_job
-- The new revision is higher than that of any deleted job, so that a cached definition with this id is outdated.
UPDATE jobs SET
    id = ?2, updated_at = ?3,
    revision = 1 + max(revision, coalesce((SELECT m.value FROM meta m WHERE m.key = 'revision_floor'), 0))
WHERE project = ?4 AND id = ?1 RETURNING revision

-- name: schedules_of_job
-- Includes deleted ones: their ledger is part of the job's history. Existing schedules come first and take the names.
SELECT uid, id, spec, deleted_at IS NOT NULL FROM schedules
WHERE project = ?1 AND job_id = ?2 AND deleted_at IS NULL
UNION ALL
SELECT uid, id, spec, deleted_at IS NOT NULL FROM schedules
WHERE deleted_at > 0 AND project = ?1 AND job_id = ?2

-- name: taken_names
SELECT id FROM schedules WHERE project = ? AND id = ? AND deleted_at IS NULL

-- name: rename_schedules
UPDATE schedules SET id = ?2, job_id = ?3, spec = ?4, version = version + 1, updated_at = ?5 WHERE uid = ?1
RETURNING version

-- name: revision_specs
SELECT number, spec FROM revisions WHERE uid = ?

-- name: rename_revisions
UPDATE revisions SET spec = ? WHERE uid = ? AND number = ?

-- name: rename_runs_of_schedules
UPDATE runs SET schedule_id = ?3 WHERE project = ?4 AND schedule_id = ?2 AND schedule_uid = ?1

-- name: rename_runs
-- ?3 and ?4: the prefix of the job's limit in the document with a run's limits, before and after.
UPDATE runs SET job_id = ?2, limits = replace(limits, ?3, ?4) WHERE project = ?5 AND job_id = ?1

-- name: set_aside_trees
-- A deleted workflow that had the new id gets the id ?4, with its executions.
UPDATE trees SET job_id = ?4 WHERE project = ?3 AND job_id = ?2
    AND EXISTS (SELECT 1 FROM workflows w WHERE w.project = ?3 AND w.id = ?1)

-- name: set_aside_paused_steps
UPDATE paused_steps SET workflow_id = ?4 WHERE project = ?3 AND workflow_id = ?2
    AND EXISTS (SELECT 1 FROM workflows w WHERE w.project = ?3 AND w.id = ?1)

-- name: set_aside_versions
UPDATE workflows SET id = ?4 WHERE project = ?3 AND id = ?2
    AND EXISTS (SELECT 1 FROM workflows w WHERE w.project = ?3 AND w.id = ?1)

-- name: yield_keys
-- Removes keys of a former job with the new id.
DELETE FROM dedupe
WHERE project = ?3 AND job_id = ?2 AND key IN (SELECT d.key FROM dedupe d WHERE d.project = ?3 AND d.job_id = ?1)

-- name: rename_keys
UPDATE dedupe SET job_id = ?2 WHERE project = ?3 AND job_id = ?1

-- name: rename_watched
-- The old name is kept: a running attempt ends with it.
INSERT INTO watched (project, job_id, look_back)
SELECT project, ?2, look_back FROM watched WHERE project = ?3 AND job_id = ?1
ON CONFLICT DO NOTHING

-- name: rename_endings
UPDATE endings SET job_id = ?2 WHERE project = ?3 AND job_id = ?1

-- name: rename_versions
UPDATE workflows SET id = ?2 WHERE project = ?3 AND id = ?1

-- name: rename_leads
UPDATE jobs SET leads = ?2 WHERE project = ?3 AND leads = ?1

-- name: rename_children
UPDATE dependencies SET child_id = ?2 WHERE project = ?3 AND child_id = ?1

-- name: rename_parents
UPDATE dependencies SET parent_id = ?2 WHERE project = ?3 AND parent_id = ?1

-- name: rename_paused_steps
UPDATE paused_steps SET workflow_id = ?2 WHERE project = ?3 AND workflow_id = ?1

-- name: rename_questions
-- Steps that wait for a person have runs and no job. Their ids begin with the workflow's id and a dot. A slash is the
-- character after a dot, and ends the range.
UPDATE runs SET job_id = ?2 || substr(job_id, length(?1) + 1)
WHERE project = ?3 AND job_id > ?1 || '.' AND job_id < ?1 || '/'
    AND parent_id IN (SELECT e.run_id FROM trees e WHERE e.project = ?3 AND e.job_id = ?1)
    AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.project = ?3 AND j.id = runs.job_id)

-- name: rename_trees
UPDATE trees SET job_id = ?2 WHERE project = ?3 AND job_id = ?1

-- name: copy_limit
INSERT INTO limits (key, capacity) SELECT ?2, capacity FROM limits WHERE key = ?1
ON CONFLICT (key) DO UPDATE SET capacity = excluded.capacity

-- name: remove_limit
DELETE FROM limits WHERE key = ?1

-- name: rename_holds
UPDATE holds SET key = ?2 WHERE key = ?1

-- name: unwatched
SELECT j.value FROM json_each(?2) j
WHERE NOT EXISTS (SELECT 1 FROM watched w WHERE w.job_id = j.value AND w.project = ?1)

-- name: watch
INSERT INTO watched (project, job_id) VALUES (?, ?) ON CONFLICT DO NOTHING

-- name: look_back
UPDATE watched SET look_back = ?3 WHERE project = ?1 AND job_id = ?2 AND look_back < ?3

-- name: keep_earlier_endings
INSERT INTO endings (project, job_id, finished_at, run_id, status, reason)
SELECT r.project, r.job_id, r.finished_at, r.id, r.status, r.reason
FROM runs r WHERE r.project = ? AND r.job_id = ? AND r.finished_at IS NOT NULL
ON CONFLICT DO NOTHING

-- name: schedule_columns
uid, id, version, revision, opened_at, spec, enabled, paused_at, created_at, updated_at, settled_until, next_run_at,
wake_at, last_scheduled_at, behind_since, ledger_from

-- name: revisions
SELECT uid, number, opened_at, spec FROM revisions
WHERE uid IN (SELECT value FROM json_each(?)) ORDER BY uid, number

-- name: newest_schedule
SELECT coalesce(max(rowid), 0) FROM schedules

-- name: create_schedules
-- Schedules that begin at the same moment have most columns in common.
INSERT INTO schedules (
    uid, id, project, version, job_id, revision, opened_at, spec, enabled, created_at, updated_at, settled_until,
    next_run_at, wake_at
) VALUES (?1, ?2, ?3, 1, ?4, 1, ?5, ?6, 1, ?5, ?5, ?5, ?7, ?8)

-- name: begin_revisions
-- The first revisions of the schedules that were just created: row ids increase in the order of insertion.
INSERT INTO revisions (uid, number, opened_at, spec, tzdata)
SELECT uid, revision, opened_at, spec, ?2 FROM schedules WHERE rowid > ?1

-- name: change_schedules
UPDATE schedules SET
    version = ?2, job_id = ?3, revision = ?4, opened_at = ?5, spec = ?6, enabled = ?7, paused_at = ?8, updated_at = ?9,
    next_run_at = ?10, wake_at = ?11
WHERE uid = ?1

-- name: add_revisions
INSERT INTO revisions (uid, number, opened_at, spec, tzdata) VALUES (?, ?, ?, ?, ?)

-- name: get_schedules
SELECT {schedule_columns} FROM schedules WHERE project = ? AND deleted_at IS NULL AND id IN (SELECT value FROM json_each(?))

-- name: list_schedules
SELECT {schedule_columns} FROM schedules WHERE project = ? AND deleted_at IS NULL AND id > ? ORDER BY id LIMIT ?

-- name: list_schedules_of_job
SELECT {schedule_columns} FROM schedules WHERE project = ? AND job_id = ? AND deleted_at IS NULL AND id > ? ORDER BY id LIMIT ?

-- name: list_declared_schedules
SELECT {schedule_columns} FROM schedules INDEXED BY schedules_declared
WHERE project = ? AND deleted_at IS NULL AND instr(spec, '"source":') > 0 AND id > ? ORDER BY id LIMIT ?

-- name: begin_pauses
-- A pause that began and ended at this moment covers nothing.
INSERT INTO pauses (uid, since, until) VALUES (?, ?, NULL) ON CONFLICT (uid, since) DO UPDATE SET until = NULL

-- name: end_pauses
-- If the clock was set back, a pause must not end before it began.
UPDATE pauses SET until = max(?, since) WHERE uid = ? AND until IS NULL

-- name: later_watermarks
SELECT uid, settled_until FROM schedules WHERE project = ? AND settled_until > ?

-- name: save_project_pause
-- Replaces a pause that began at the same moment.
INSERT INTO project_pauses (project, since, until, version, paused_by, note, decided, recorded) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
ON CONFLICT (project, since) DO UPDATE SET
    until = excluded.until, version = excluded.version, paused_by = excluded.paused_by, note = excluded.note,
    decided = excluded.decided, recorded = excluded.recorded

-- name: delete_schedules
UPDATE schedules SET deleted_at = ?, updated_at = ?, wake_at = NULL, version = version + 1 WHERE uid = ?

-- name: last_numbers
SELECT id, max(version) FROM workflows WHERE project = ? AND id IN (SELECT value FROM json_each(?)) GROUP BY id

-- name: newest_versions
SELECT w.id, w.version, w.spec, w.created_at FROM json_each(?2) j CROSS JOIN workflows w
ON w.project = ?1 AND w.id = j.value
    AND w.version = (
        SELECT max(n.version) FROM workflows n WHERE n.project = ?1 AND n.id = j.value AND n.deleted_at IS NULL)

-- name: add_versions
INSERT INTO workflows (project, id, version, spec, created_at) VALUES (?, ?, ?, ?, ?)

-- name: named_versions
SELECT w.id, w.version, w.spec, w.created_at
FROM json_each(?2) j JOIN json_each(?3) v ON v.key = j.key CROSS JOIN workflows w
ON w.project = ?1 AND w.id = j.value AND w.version = v.value

-- name: page_workflows
SELECT w.id FROM workflows w WHERE w.project = ? AND w.id > ? AND w.deleted_at IS NULL
GROUP BY w.id ORDER BY w.id LIMIT ?

-- name: living_versions
SELECT id, version, spec, created_at FROM workflows
WHERE project = ? AND id IN (SELECT value FROM json_each(?)) AND deleted_at IS NULL ORDER BY id, version

-- name: versions_before
SELECT id, version, spec, created_at FROM workflows
WHERE project = ? AND id = ? AND version < ? AND deleted_at IS NULL ORDER BY version DESC LIMIT ?

-- name: jobs_under
-- Jobs with the ids of these workflows or of their steps. Of the workflows `a` and `a.b`, the longer one has `a.b.c`. A
-- slash is the character after a dot, and ends the range.
SELECT j.id FROM json_each(?2) named CROSS JOIN jobs j
ON j.project = ?1 AND j.id >= named.value AND j.id < named.value || '/'
WHERE (j.id = named.value OR j.id >= named.value || '.') AND NOT EXISTS (
    SELECT 1 FROM workflows w
    WHERE w.project = ?1 AND w.id >= named.value || '.' AND w.id <= j.id AND w.deleted_at IS NULL
        AND (j.id = w.id OR substr(j.id, 1, length(w.id) + 1) = w.id || '.'))

-- name: unstarted_apart
-- Runs of jobs that have not started, except children of trees.
SELECT r.id FROM (
    SELECT run_id FROM later UNION SELECT run_id FROM ready UNION SELECT run_id FROM holds
    UNION SELECT run_id FROM gated
) AS active JOIN runs r ON r.id = active.run_id
WHERE r.project = ? AND r.job_id IN (SELECT value FROM json_each(?)) AND r.root_id IS NULL
    AND NOT EXISTS (SELECT 1 FROM leases l WHERE l.run_id = r.id)
    AND NOT EXISTS (SELECT 1 FROM trees t WHERE t.run_id = r.id AND t.ended_at IS NULL)

-- name: delete_versions
UPDATE workflows SET deleted_at = ?
WHERE project = ? AND id IN (SELECT value FROM json_each(?)) AND deleted_at IS NULL

-- name: pause_step
INSERT INTO paused_steps (project, workflow_id, step) VALUES (?, ?, ?) ON CONFLICT DO NOTHING

-- name: resume_step
DELETE FROM paused_steps WHERE project = ? AND workflow_id = ? AND step = ?

-- name: paused_steps
SELECT step FROM paused_steps WHERE project = ? AND workflow_id = ?

-- name: dependencies
SELECT child_id, parent_id, condition FROM dependencies WHERE project = ?

-- name: add_dependencies
INSERT INTO dependencies (project, child_id, parent_id, condition) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING

-- name: remove_dependencies
DELETE FROM dependencies WHERE project = ? AND child_id = ? AND parent_id = ?

-- name: remove_dependencies_of_jobs
DELETE FROM dependencies
WHERE project = ?1 AND (
    child_id IN (SELECT value FROM json_each(?2)) OR parent_id IN (SELECT value FROM json_each(?2)))

-- name: scheduled_jobs
-- Jobs with a schedule that will fire, also if it is paused now.
SELECT DISTINCT job_id FROM schedules
WHERE project = ? AND job_id IN (SELECT value FROM json_each(?)) AND deleted_at IS NULL AND enabled
    AND next_run_at IS NOT NULL

-- name: set_leads
UPDATE jobs SET leads = ? WHERE project = ? AND id = ?
