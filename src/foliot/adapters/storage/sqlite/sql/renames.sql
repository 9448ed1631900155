-- name: rename_job
-- Of a revision that no job has had which was of the new id before: what is remembered of that one is outdated.
UPDATE jobs SET
    id = ?2, updated_at = ?3,
    revision = 1 + max(revision, coalesce((SELECT m.value FROM meta m WHERE m.key = 'revision_floor'), 0))
WHERE project = ?4 AND id = ?1 RETURNING revision

-- name: rename_runs
-- ?3 and ?4 are the beginning of the limit that bears the job's name, in the document that names a run's limits.
UPDATE runs SET job_id = ?2, limits = replace(limits, ?3, ?4) WHERE project = ?5 AND job_id = ?1

-- name: yield_dedupe
-- Keys of a job that once had the new id give way.
DELETE FROM dedupe
WHERE project = ?3 AND job_id = ?2 AND key IN (SELECT d.key FROM dedupe d WHERE d.project = ?3 AND d.job_id = ?1)

-- name: rename_dedupe
UPDATE dedupe SET job_id = ?2 WHERE project = ?3 AND job_id = ?1

-- name: rename_watched
-- The old name stays: a worker that has an attempt of it under way asks for that one.
INSERT INTO watched (project, job_id) SELECT project, ?2 FROM watched WHERE project = ?3 AND job_id = ?1
ON CONFLICT DO NOTHING

-- name: rename_endings
UPDATE endings SET job_id = ?2 WHERE project = ?3 AND job_id = ?1

-- name: set_aside_executions
-- A deleted workflow that once had the new id gives way to one that gets it: ?4 is where it goes with its executions.
UPDATE trees SET job_id = ?4 WHERE project = ?3 AND job_id = ?2
    AND EXISTS (SELECT 1 FROM workflows w WHERE w.project = ?3 AND w.id = ?1)

-- name: set_aside_paused_steps
UPDATE paused_steps SET workflow_id = ?4 WHERE project = ?3 AND workflow_id = ?2
    AND EXISTS (SELECT 1 FROM workflows w WHERE w.project = ?3 AND w.id = ?1)

-- name: set_aside_versions
UPDATE workflows SET id = ?4 WHERE project = ?3 AND id = ?2
    AND EXISTS (SELECT 1 FROM workflows w WHERE w.project = ?3 AND w.id = ?1)

-- name: rename_versions
UPDATE workflows SET id = ?2 WHERE project = ?3 AND id = ?1

-- name: rename_paused_steps
UPDATE paused_steps SET workflow_id = ?2 WHERE project = ?3 AND workflow_id = ?1

-- name: rename_questions
-- Steps that ask a person have runs and no job. Between a dot and a slash is whatever begins with the workflow's name and
-- a dot.
UPDATE runs SET job_id = ?2 || substr(job_id, length(?1) + 1)
WHERE project = ?3 AND job_id > ?1 || '.' AND job_id < ?1 || '/'
    AND parent_id IN (SELECT e.run_id FROM trees e WHERE e.project = ?3 AND e.job_id = ?1)
    AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.project = ?3 AND j.id = runs.job_id)

-- name: rename_executions
UPDATE trees SET job_id = ?2 WHERE project = ?3 AND job_id = ?1

-- name: copy_limit
INSERT INTO limits (key, capacity) SELECT ?2, capacity FROM limits WHERE key = ?1
ON CONFLICT (key) DO UPDATE SET capacity = excluded.capacity

-- name: remove_limit
DELETE FROM limits WHERE key = ?1

-- name: rename_holds
UPDATE holds SET key = ?2 WHERE key = ?1

-- name: schedules_of_job
-- Deleted ones too: their ledger is part of the job's history. Living ones first: they have the better right to a name.
SELECT uid, id, spec, deleted_at IS NOT NULL FROM schedules
WHERE project = ?1 AND job_id = ?2 AND deleted_at IS NULL
UNION ALL
SELECT uid, id, spec, deleted_at IS NOT NULL FROM schedules
WHERE deleted_at > 0 AND project = ?1 AND job_id = ?2

-- name: is_taken
SELECT 1 FROM schedules WHERE project = ? AND id = ? AND deleted_at IS NULL

-- name: rename_schedule
UPDATE schedules SET id = ?2, job_id = ?3, spec = ?4, version = version + 1, updated_at = ?5 WHERE uid = ?1
RETURNING version

-- name: revision_specs
SELECT number, spec FROM revisions WHERE uid = ?

-- name: rename_revision
UPDATE revisions SET spec = ? WHERE uid = ? AND number = ?

-- name: rename_runs_of_schedule
UPDATE runs SET schedule_id = ?3 WHERE project = ?4 AND schedule_id = ?2 AND schedule_uid = ?1
