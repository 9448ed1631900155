-- name: rename_job
-- Of a revision that no job has had which was of the new id before: what is remembered of that one is outdated.
UPDATE foliot.jobs SET
    id = $2, updated_at = $3,
    revision = 1 + greatest(revision, (SELECT value::int FROM foliot.meta WHERE key = 'revision_floor'))
WHERE project = $4 AND id = $1
RETURNING revision;

-- name: rename_runs
-- $3 and $4 are the beginning of the limit that bears the job's name, in the document that names a run's limits.
UPDATE foliot.runs SET job_id = $2, limits = replace(limits, $3, $4) WHERE project = $5 AND job_id = $1;

-- name: yield_keys
-- Keys of a job that once had the new id give way.
DELETE FROM foliot.dedupe former WHERE former.project = $3 AND former.job_id = $2 AND EXISTS (
    SELECT 1 FROM foliot.dedupe WHERE dedupe.project = $3 AND dedupe.job_id = $1 AND dedupe.key = former.key);

-- name: rename_keys
UPDATE foliot.dedupe SET job_id = $2 WHERE project = $3 AND job_id = $1;

-- name: rename_watched
-- The old name stays: an attempt that ends while its job is renamed may ask for that one.
INSERT INTO foliot.watched (project, job_id) SELECT project, $2 FROM foliot.watched WHERE project = $3 AND job_id = $1
ON CONFLICT DO NOTHING;

-- name: rename_endings
UPDATE foliot.endings SET job_id = $2 WHERE project = $3 AND job_id = $1;

-- name: set_aside_trees
-- A deleted workflow that once had the new id gives way to one that gets it: $4 is where it goes with its executions.
UPDATE foliot.trees SET job_id = $4 WHERE project = $3 AND job_id = $2
  AND (SELECT true FROM foliot.workflows mine WHERE mine.project = $3 AND mine.id = $1 LIMIT 1);

-- name: set_aside_paused_steps
UPDATE foliot.paused_steps SET workflow_id = $4 WHERE project = $3 AND workflow_id = $2
  AND (SELECT true FROM foliot.workflows mine WHERE mine.project = $3 AND mine.id = $1 LIMIT 1);

-- name: set_aside_versions
UPDATE foliot.workflows SET id = $4 WHERE project = $3 AND id = $2
  AND (SELECT true FROM foliot.workflows mine WHERE mine.project = $3 AND mine.id = $1 LIMIT 1);

-- name: rename_versions
UPDATE foliot.workflows SET id = $2 WHERE project = $3 AND id = $1;

-- name: rename_paused_steps
UPDATE foliot.paused_steps SET workflow_id = $2 WHERE project = $3 AND workflow_id = $1;

-- name: rename_questions
-- Steps that ask a person have runs and no job. They are found by their executions.
UPDATE foliot.runs SET job_id = $2 || substr(runs.job_id, length($1) + 1)
FROM foliot.trees
WHERE trees.project = $3 AND trees.job_id = $1 AND runs.root_id = trees.root_id AND runs.parent_id = trees.run_id
  AND starts_with(runs.job_id, $1 || '.')
  AND (SELECT true FROM foliot.jobs WHERE jobs.project = $3 AND jobs.id = runs.job_id) IS NULL;

-- name: rename_trees
UPDATE foliot.trees SET job_id = $2 WHERE project = $3 AND job_id = $1;

-- name: take_limit
-- Deleted, it is locked against whoever is about to wait for it.
DELETE FROM foliot.limits WHERE key = $1 RETURNING capacity;

-- name: rename_holds
UPDATE foliot.holds SET key = $2 WHERE key = $1;

-- name: lock_schedules_of_job
-- Deleted ones too: their ledger is part of the job's history. In the order of the uids, as whoever fires them does.
SELECT uid, id, spec, deleted_at FROM foliot.schedules WHERE project = $1 AND job_id = $2 ORDER BY uid FOR UPDATE;

-- name: taken_names
SELECT id FROM foliot.schedules WHERE project = $1 AND id = ANY ((SELECT $2::text[])::text[]) AND deleted_at IS NULL;

-- name: rename_schedules
UPDATE foliot.schedules SET
    id = new.id, job_id = $1, spec = new.spec, version = schedules.version + 1, updated_at = $2
FROM unnest((SELECT $3::text[]), (SELECT $4::text[]), (SELECT $5::text[])) AS new (uid, id, spec)
WHERE schedules.uid = new.uid
RETURNING schedules.id, schedules.uid, schedules.version, schedules.deleted_at;

-- name: rename_revisions
UPDATE foliot.revisions SET spec = new.spec
FROM unnest((SELECT $1::text[]), (SELECT $2::int[]), (SELECT $3::text[])) AS new (uid, number, spec)
WHERE revisions.uid = new.uid AND revisions.number = new.number;

-- name: rename_runs_of_schedules
UPDATE foliot.runs SET schedule_id = new.id
FROM unnest((SELECT $1::text[]), (SELECT $2::text[])) AS new (uid, id)
WHERE runs.schedule_uid = new.uid;
