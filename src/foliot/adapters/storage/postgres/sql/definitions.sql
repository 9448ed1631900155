-- -- jobs

-- name: lock_jobs
SELECT id, spec, revision, created_at, updated_at, leads, paused_at, stopped_at FROM foliot.jobs
WHERE project = $1 AND id = ANY ((SELECT $2::text[])::text[])
ORDER BY id FOR NO KEY UPDATE;

-- name: put_jobs
-- A new job begins with a higher revision than any deleted one, so that a cached definition with that id is outdated.
-- A created_at outside the supported range was not written by Foliot, and is replaced.
INSERT INTO foliot.jobs (project, id, spec, pause_after, enabled, revision, created_at, updated_at)
SELECT $1, new.id, new.spec, new.pause_after, new.enabled,
       coalesce((SELECT value::int FROM foliot.meta WHERE key = 'revision_floor'), 0) + 1, $2, $2
FROM unnest($3::text[], $4::text[], $5::int[], $6::boolean[]) AS new (id, spec, pause_after, enabled) ORDER BY new.id
ON CONFLICT (project, id) DO UPDATE
    SET spec = excluded.spec, pause_after = excluded.pause_after, enabled = excluded.enabled,
        revision = jobs.revision + 1, updated_at = excluded.updated_at,
        created_at = CASE WHEN jobs.created_at BETWEEN -62135596800000 AND 253402300799000
                          THEN jobs.created_at ELSE excluded.created_at END;

-- name: get_jobs
SELECT id, spec, revision, created_at, updated_at, leads, paused_at, stopped_at FROM foliot.jobs
WHERE project = $1 AND id = ANY ((SELECT $2::text[])::text[]);

-- name: page_jobs
SELECT id, spec, revision, created_at, updated_at, leads, paused_at, stopped_at FROM foliot.jobs WHERE project = $1 AND ($2::text IS NULL OR id > $2)
ORDER BY project, id LIMIT $3;

-- name: page_shown_jobs
-- Without the jobs that lists leave out.
SELECT id, spec, revision, created_at, updated_at, leads, paused_at, stopped_at FROM foliot.jobs
WHERE project = $1 AND id > $2 AND enabled IS NOT NULL ORDER BY project, id LIMIT $3;

-- name: pause_job
-- Pausing twice keeps the first time.
UPDATE foliot.jobs SET paused_at = $1 WHERE project = $2 AND id = $3 AND paused_at IS NULL RETURNING id;

-- name: resume_job
UPDATE foliot.jobs SET paused_at = NULL WHERE project = $1 AND id = $2 AND paused_at IS NOT NULL RETURNING id;

-- name: stop_jobs
UPDATE foliot.jobs SET stopped_at = $3 WHERE project = $1 AND id = ANY ((SELECT $2::text[])::text[]);

-- name: restart_jobs
-- Failures are counted from now on.
UPDATE foliot.jobs SET stopped_at = NULL, failures_from = $3
WHERE project = $1 AND id = ANY ((SELECT $2::text[])::text[]) AND pause_after IS NOT NULL;

-- name: failed_jobs
-- Of the jobs of these runs, those that have failed as often in a row as their definition allows, at most 1000 times.
SELECT failing.project, failing.id FROM (
    SELECT DISTINCT job.project, job.id, job.pause_after, greatest(
        job.failures_from, 0,
        (SELECT past.finished_at FROM foliot.endings past
         WHERE past.project = job.project AND past.job_id = job.id AND past.status = 'success'
         ORDER BY past.finished_at DESC LIMIT 1),
        (SELECT past.finished_at FROM foliot.endings past
         WHERE past.project = job.project AND past.job_id = job.id AND past.status = 'partial'
         ORDER BY past.finished_at DESC LIMIT 1)) AS since
    FROM foliot.runs run JOIN foliot.jobs job ON job.project = run.project AND job.id = run.job_id
    WHERE run.id = ANY ((SELECT $1::text[])::text[]) AND run.status IN ('failed', 'timeout')
      AND job.pause_after IS NOT NULL
) AS failing
WHERE failing.pause_after <= (
    SELECT count(*) FROM (
        (SELECT one.run_id FROM foliot.endings one
         WHERE one.project = failing.project AND one.job_id = failing.id AND one.status = 'failed'
           AND one.finished_at > failing.since ORDER BY one.finished_at DESC LIMIT 1000)
        UNION ALL
        (SELECT one.run_id FROM foliot.endings one
         WHERE one.project = failing.project AND one.job_id = failing.id AND one.status = 'timeout'
           AND one.finished_at > failing.since ORDER BY one.finished_at DESC LIMIT 1000)) AS counted);

-- name: running_schedules
SELECT id FROM foliot.schedules
WHERE project = $1 AND job_id = ANY ((SELECT $2::text[])::text[]) AND deleted_at IS NULL AND paused_at IS NULL;

-- name: delete_jobs
DELETE FROM foliot.jobs WHERE project = $1 AND id = ANY ((SELECT $2::text[])::text[]) RETURNING id, revision;

-- name: raise_revision_floor
INSERT INTO foliot.meta (key, value) VALUES ('revision_floor', $1::int::text)
ON CONFLICT (key) DO UPDATE SET value = greatest(meta.value::int, excluded.value::int)::text;

-- name: schedules_of_jobs
SELECT id FROM foliot.schedules
WHERE project = $1 AND job_id = ANY ((SELECT $2::text[])::text[]) AND deleted_at IS NULL;

-- name: unstarted_runs_of_jobs
SELECT run.id FROM foliot.runs run
WHERE run.project = $1 AND run.job_id = ANY ((SELECT $2::text[])::text[]) AND run.id = ANY (ARRAY(
    SELECT run_id FROM foliot.later UNION ALL SELECT run_id FROM foliot.ready UNION ALL SELECT run_id FROM foliot.gated
    UNION ALL SELECT run_id FROM foliot.holds WHERE NOT is_admitted));

-- -- renames

-- name: jobs_that_name
SELECT id FROM foliot.jobs WHERE project = $1 AND strpos(spec, $2) > 0;

-- name: workflows_that_name
SELECT DISTINCT id FROM foliot.workflows WHERE project = $1 AND strpos(spec, $2) > 0;

-- name: lock_jobs_that_name
SELECT id, spec FROM foliot.jobs WHERE project = $1 AND strpos(spec, $2) > 0 ORDER BY id FOR NO KEY UPDATE;

-- name: versions_that_name
SELECT id, version, spec FROM foliot.workflows WHERE project = $1 AND strpos(spec, $2) > 0
ORDER BY id, version FOR NO KEY UPDATE;

-- name: execution_that_names
-- Parameters: workflow, version or null, step or null, job.
SELECT named.job_id, trees.run_id, trees.job_id
FROM unnest((SELECT $2::text[]), (SELECT $3::int[]), (SELECT $4::text[]), (SELECT $5::text[]))
     AS named (workflow_id, version, step, job_id)
JOIN foliot.trees ON trees.project = $1 AND trees.job_id = named.workflow_id AND ended_at IS NULL
WHERE (named.version IS NULL OR trees.version = named.version)
  AND (named.step IS NULL
       OR (SELECT true FROM foliot.steps WHERE steps.run_id = trees.run_id AND steps.step = named.step))
ORDER BY trees.run_id LIMIT 1;

-- name: copies_that_name
SELECT tree.run_id, tree.job_id, body.body
FROM foliot.trees tree JOIN foliot.tree_bodies body ON body.run_id = tree.run_id
WHERE tree.ended_at IS NULL AND tree.kind = 'graph' AND tree.project = $1 AND strpos(body.body, $2) > 0;

-- name: opening_that_names
-- A leased run of a workflow is an execution that is about to be opened. A job may have the id of a deleted workflow.
SELECT run.id, run.job_id FROM foliot.leases JOIN foliot.runs run ON run.id = leases.run_id
WHERE run.project = $1 AND run.job_id = ANY ((SELECT $2::text[])::text[])
  AND (SELECT true FROM foliot.workflows WHERE workflows.project = $1 AND workflows.id = run.job_id
       AND (deleted_at IS NULL
            OR (SELECT true FROM foliot.jobs WHERE jobs.project = $1 AND jobs.id = run.job_id) IS NULL) LIMIT 1)
LIMIT 1;

-- name: gate_that_names
SELECT run.id, run.job_id FROM foliot.gated JOIN foliot.runs run ON run.id = gated.run_id
WHERE run.project = $1 AND run.job_id = ANY ((SELECT $2::text[])::text[]) LIMIT 1;

-- name: change_jobs
UPDATE foliot.jobs SET spec = new.spec
FROM unnest((SELECT $2::text[]), (SELECT $3::text[])) AS new (id, spec)
WHERE jobs.project = $1 AND jobs.id = new.id;

-- name: change_versions
UPDATE foliot.workflows SET spec = new.spec
FROM unnest((SELECT $2::text[]), (SELECT $3::int[]), (SELECT $4::text[])) AS new (id, version, spec)
WHERE workflows.project = $1 AND workflows.id = new.id AND workflows.version = new.version;

-- name: raise_revisions
UPDATE foliot.jobs SET revision = revision + 1, updated_at = $1
WHERE project = $2 AND id = ANY ((SELECT $3::text[])::text[]) RETURNING id, revision;

-- name: rename_job
-- The revision is higher than any that a former job with the new id had, so that its cached definition is outdated.
UPDATE foliot.jobs SET
    id = $2, updated_at = $3,
    revision = 1 + greatest(revision, (SELECT value::int FROM foliot.meta WHERE key = 'revision_floor'))
WHERE project = $4 AND id = $1
RETURNING revision;

-- name: lock_schedules_of_job
-- Includes deleted ones: their ledger is part of the job's history. Locked in the order of uids, as in firings.
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

-- name: rename_runs
-- $3 and $4: the prefix of the job's limit in the document with a run's limits, before and after.
UPDATE foliot.runs SET job_id = $2, limits = replace(limits, $3, $4) WHERE project = $5 AND job_id = $1;

-- name: set_aside_trees
-- A deleted workflow that had the new id gets the id $4, with its executions.
UPDATE foliot.trees SET job_id = $4 WHERE project = $3 AND job_id = $2
  AND (SELECT true FROM foliot.workflows mine WHERE mine.project = $3 AND mine.id = $1 LIMIT 1);

-- name: set_aside_paused_steps
UPDATE foliot.paused_steps SET workflow_id = $4 WHERE project = $3 AND workflow_id = $2
  AND (SELECT true FROM foliot.workflows mine WHERE mine.project = $3 AND mine.id = $1 LIMIT 1);

-- name: set_aside_versions
UPDATE foliot.workflows SET id = $4 WHERE project = $3 AND id = $2
  AND (SELECT true FROM foliot.workflows mine WHERE mine.project = $3 AND mine.id = $1 LIMIT 1);

-- name: yield_keys
-- Removes keys of a former job with the new id.
DELETE FROM foliot.dedupe former WHERE former.project = $3 AND former.job_id = $2 AND EXISTS (
    SELECT 1 FROM foliot.dedupe WHERE dedupe.project = $3 AND dedupe.job_id = $1 AND dedupe.key = former.key);

-- name: rename_keys
UPDATE foliot.dedupe SET job_id = $2 WHERE project = $3 AND job_id = $1;

-- name: rename_watched
-- The old name is kept: an attempt that ends while its job is renamed may read it.
INSERT INTO foliot.watched (project, job_id, look_back)
SELECT project, $2, look_back FROM foliot.watched WHERE project = $3 AND job_id = $1
ON CONFLICT DO NOTHING;

-- name: rename_endings
UPDATE foliot.endings SET job_id = $2 WHERE project = $3 AND job_id = $1;

-- name: rename_versions
UPDATE foliot.workflows SET id = $2 WHERE project = $3 AND id = $1;

-- name: rename_leads
UPDATE foliot.jobs SET leads = $2 WHERE project = $3 AND leads = $1;

-- name: rename_children
UPDATE foliot.dependencies SET child_id = $2 WHERE project = $3 AND child_id = $1;

-- name: rename_parents
UPDATE foliot.dependencies SET parent_id = $2 WHERE project = $3 AND parent_id = $1;

-- name: rename_paused_steps
UPDATE foliot.paused_steps SET workflow_id = $2 WHERE project = $3 AND workflow_id = $1;

-- name: rename_questions
-- Steps that wait for a person have runs and no job; they are found by their executions.
UPDATE foliot.runs SET job_id = $2 || substr(runs.job_id, length($1) + 1)
FROM foliot.trees
WHERE trees.project = $3 AND trees.job_id = $1 AND runs.root_id = trees.root_id AND runs.parent_id = trees.run_id
  AND starts_with(runs.job_id, $1 || '.')
  AND (SELECT true FROM foliot.jobs WHERE jobs.project = $3 AND jobs.id = runs.job_id) IS NULL;

-- name: rename_trees
UPDATE foliot.trees SET job_id = $2 WHERE project = $3 AND job_id = $1;

-- name: take_limit
-- Deleting the limit keeps runs from beginning to wait for it.
DELETE FROM foliot.limits WHERE key = $1 RETURNING capacity;

-- name: rename_holds
UPDATE foliot.holds SET key = $2 WHERE key = $1;

-- -- watched jobs

-- name: unwatched
SELECT asked.job_id FROM unnest((SELECT $2::text[])) AS asked (job_id)
WHERE (SELECT true FROM foliot.watched WHERE watched.job_id = asked.job_id AND watched.project = $1) IS NULL;

-- name: lock_watched
-- Waits for transactions that have read this table, so that the ends that they write are visible here. Later
-- transactions wait until past ends are kept.
LOCK TABLE foliot.watched IN ACCESS EXCLUSIVE MODE;

-- name: watch
INSERT INTO foliot.watched (project, job_id) SELECT $1, * FROM unnest($2::text[]) ON CONFLICT DO NOTHING;

-- name: look_back
UPDATE foliot.watched SET look_back = new.look_back
FROM unnest((SELECT $2::text[]), (SELECT $3::bigint[])) AS new (job_id, look_back)
WHERE watched.project = $1 AND watched.job_id = new.job_id AND watched.look_back < new.look_back;

-- name: keep_earlier_endings
INSERT INTO foliot.endings (project, job_id, finished_at, run_id, status, reason)
SELECT project, job_id, finished_at, id, status, reason FROM foliot.runs
WHERE project = $1 AND job_id = ANY ((SELECT $2::text[])::text[]) AND finished_at IS NOT NULL
ON CONFLICT DO NOTHING;

-- -- schedules

-- name: schedule_columns
uid, id, version, revision, opened_at, spec, enabled, paused_at, created_at, updated_at, settled_until, next_run_at,
wake_at, last_scheduled_at, behind_since, ledger_from

-- name: uids_of_ids
-- One index look-up per id: for all ids together and in order, the planner may scan all schedules.
SELECT found.uid FROM unnest((SELECT $2::text[])) AS asked (id), LATERAL (
    SELECT uid FROM foliot.schedules
    WHERE schedules.project = $1 AND schedules.id = asked.id AND schedules.deleted_at IS NULL LIMIT 1) AS found

-- name: lock_schedules_by_id
-- With `deleted_at IS NULL` the planner might scan the index of all existing schedules instead of reading a few uids.
SELECT {schedule_columns} FROM foliot.schedules
WHERE uid = ANY (ARRAY({uids_of_ids})) AND coalesce(deleted_at, 0) = 0 ORDER BY uid FOR NO KEY UPDATE;

-- name: revisions
SELECT uid, number, opened_at, spec FROM foliot.revisions WHERE uid = ANY ((SELECT $1::text[])::text[])
ORDER BY uid, number;

-- name: create_schedules
-- With their first revisions. New schedules have all other columns in common, and often these too.
WITH created AS (
    INSERT INTO foliot.schedules (project, version, revision, enabled, opened_at, created_at, updated_at, settled_until,
                                  uid, id, job_id, spec, next_run_at, wake_at)
    SELECT $1, 1, 1, true, $2, $2, $2, $2, new.uid, new.id, coalesce(new.job_id, $10::text),
           coalesce(new.spec, $11::text), coalesce(new.next_run_at, $12::bigint), coalesce(new.wake_at, $13::bigint)
    FROM unnest($4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::bigint[])
         AS new (uid, id, job_id, spec, next_run_at, wake_at)
    ORDER BY new.id
    ON CONFLICT (project, id) WHERE deleted_at IS NULL DO NOTHING
    RETURNING uid, revision, opened_at, spec
),
begun AS (INSERT INTO foliot.revisions (uid, number, opened_at, spec, tzdata) SELECT created.*, $3 FROM created)
SELECT uid FROM created;

-- name: change_schedules
UPDATE foliot.schedules SET
    version = new.version, job_id = new.job_id, revision = new.revision, opened_at = new.opened_at, spec = new.spec,
    enabled = new.enabled, paused_at = new.paused_at, updated_at = new.updated_at, next_run_at = new.next_run_at,
    wake_at = new.wake_at
FROM unnest((SELECT $1::text[]), (SELECT $2::bigint[]), (SELECT $3::text[]), (SELECT $4::int[]), (SELECT $5::bigint[]),
            (SELECT $6::text[]), (SELECT $7::boolean[]), (SELECT $8::bigint[]), (SELECT $9::bigint[]),
            (SELECT $10::bigint[]), (SELECT $11::bigint[]))
     AS new (uid, version, job_id, revision, opened_at, spec, enabled, paused_at, updated_at, next_run_at, wake_at)
WHERE schedules.uid = new.uid;

-- name: add_revisions
INSERT INTO foliot.revisions (uid, number, opened_at, spec, tzdata)
SELECT new.*, $5 FROM unnest($1::text[], $2::int[], $3::bigint[], $4::text[]) AS new (uid, number, opened_at, spec);

-- name: get_schedules
SELECT {schedule_columns} FROM foliot.schedules WHERE uid = ANY (ARRAY({uids_of_ids})) AND coalesce(deleted_at, 0) = 0;

-- name: list_schedules
SELECT {schedule_columns} FROM foliot.schedules
WHERE project = $1 AND deleted_at IS NULL AND id > $2 ORDER BY project, id LIMIT $3;

-- name: list_schedules_of_job
SELECT {schedule_columns} FROM foliot.schedules
WHERE project = $1 AND job_id = $2 AND deleted_at IS NULL AND id > $3 ORDER BY id LIMIT $4;

-- name: list_declared_schedules
SELECT {schedule_columns} FROM foliot.schedules
WHERE project = $1 AND deleted_at IS NULL AND strpos(spec, '"source":') > 0 AND id > $2 ORDER BY project, id LIMIT $3;

-- name: begin_pauses
INSERT INTO foliot.pauses (uid, since) SELECT uid, since FROM unnest($1::text[], $2::bigint[]) AS new (uid, since)
ON CONFLICT (uid, since) DO UPDATE SET "until" = NULL;

-- name: end_pauses
UPDATE foliot.pauses SET "until" = greatest(since, $2)
WHERE uid = ANY ((SELECT $1::text[])::text[]) AND "until" IS NULL;

-- name: lock_project_pauses
-- Waits until all decisions about schedules that are being saved have been committed, see pause_version.
SELECT pg_advisory_xact_lock(hashtextextended('foliot pauses ' || 'foliot.project_pauses'::regclass::oid, 0));

-- name: later_watermarks
SELECT uid, settled_until FROM foliot.schedules WHERE project = $1 AND settled_until > $2;

-- name: save_project_pause
-- Replaces a pause that began at the same moment.
INSERT INTO foliot.project_pauses (project, since, "until", version, paused_by, note, decided, recorded)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (project, since) DO UPDATE SET
    "until" = excluded."until", version = excluded.version, paused_by = excluded.paused_by, note = excluded.note,
    decided = excluded.decided, recorded = excluded.recorded;

-- name: delete_schedules
UPDATE foliot.schedules SET version = version + 1, deleted_at = $2, updated_at = $2, wake_at = NULL
WHERE uid = ANY ((SELECT $1::text[])::text[]);

-- -- workflows

-- name: last_numbers
SELECT id, max(version) FROM foliot.workflows
WHERE project = $1 AND id = ANY ((SELECT $2::text[])::text[]) GROUP BY id;

-- name: newest_versions
SELECT newest.id, newest.version, newest.spec, newest.created_at
FROM unnest((SELECT $2::text[])) AS asked (id), LATERAL (
    SELECT id, version, spec, created_at FROM foliot.workflows
    WHERE workflows.project = $1 AND workflows.id = asked.id AND workflows.deleted_at IS NULL
    ORDER BY project DESC, id DESC, version DESC LIMIT 1) AS newest;

-- name: add_versions
-- If two transactions add the next version, the second one finds the number taken, and tries the next one.
INSERT INTO foliot.workflows (project, created_at, id, version, spec)
SELECT $1, $2, new.* FROM unnest($3::text[], $4::int[], $5::text[]) AS new (id, version, spec) ORDER BY new.id
ON CONFLICT (project, id, version) DO NOTHING RETURNING id;

-- name: named_versions
SELECT known.id, known.version, known.spec, known.created_at
FROM unnest((SELECT $2::text[]), (SELECT $3::int[])) AS asked (id, version)
JOIN foliot.workflows known ON known.project = $1 AND known.id = asked.id AND known.version = asked.version;

-- name: page_workflows
-- One index look-up for each workflow.
WITH RECURSIVE listed AS (
    (SELECT id, 1 AS nth FROM foliot.workflows WHERE project = $1 AND id > $2 AND deleted_at IS NULL
     ORDER BY project, id LIMIT 1)
    UNION ALL
    SELECT following.id, listed.nth + 1 FROM listed, LATERAL (
        SELECT id FROM foliot.workflows WHERE project = $1 AND workflows.id > listed.id AND deleted_at IS NULL
        ORDER BY project, id LIMIT 1) AS following
    WHERE listed.nth < $3
)
SELECT id FROM listed;

-- name: living_versions
SELECT id, version, spec, created_at FROM foliot.workflows
WHERE project = $1 AND id = ANY ((SELECT $2::text[])::text[]) AND deleted_at IS NULL ORDER BY id, version;

-- name: versions_before
SELECT id, version, spec, created_at FROM foliot.workflows
WHERE project = $1 AND id = $2 AND version < $3 AND deleted_at IS NULL ORDER BY version DESC LIMIT $4;

-- name: jobs_under
-- Jobs with the ids of these workflows and of their steps. `a.b.c` belongs to the workflow `a.b`, not to `a`.
SELECT jobs.id FROM unnest((SELECT $2::text[])) AS named (id)
JOIN foliot.jobs ON jobs.project = $1 AND (jobs.id = named.id OR starts_with(jobs.id, named.id || '.'))
WHERE NOT EXISTS (
    SELECT FROM foliot.workflows longer
    WHERE longer.project = $1 AND longer.deleted_at IS NULL AND length(longer.id) > length(named.id)
      AND (jobs.id = longer.id OR starts_with(jobs.id, longer.id || '.')));

-- name: unstarted_apart
-- Runs that have not started, except children of trees, which continue.
SELECT run.id FROM foliot.runs run
WHERE run.project = $1 AND run.job_id = ANY ((SELECT $2::text[])::text[]) AND run.parent_id IS NULL
  AND run.id = ANY (ARRAY(
    SELECT run_id FROM foliot.later UNION ALL SELECT run_id FROM foliot.ready UNION ALL SELECT run_id FROM foliot.gated
    UNION ALL SELECT run_id FROM foliot.holds WHERE NOT is_admitted));

-- name: delete_versions
UPDATE foliot.workflows SET deleted_at = $3
WHERE project = $1 AND id = ANY ((SELECT $2::text[])::text[]) AND deleted_at IS NULL;

-- name: pause_step
INSERT INTO foliot.paused_steps (project, workflow_id, step) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING
RETURNING step;

-- name: resume_step
DELETE FROM foliot.paused_steps WHERE project = $1 AND workflow_id = $2 AND step = $3 RETURNING step;

-- name: paused_steps
SELECT step FROM foliot.paused_steps WHERE project = $1 AND workflow_id = $2;

-- -- dependencies

-- name: lock_dependencies
-- One transaction at a time changes edges: two edges that close a cycle together are not both added. Taken before the
-- locks of jobs.
LOCK TABLE foliot.dependencies IN SHARE ROW EXCLUSIVE MODE;

-- name: dependencies
SELECT child_id, parent_id, condition FROM foliot.dependencies WHERE project = $1;

-- name: add_dependencies
INSERT INTO foliot.dependencies (project, child_id, parent_id, condition)
SELECT $1, $2, $3, new.condition FROM unnest((SELECT $4::text[])) AS new (condition) ON CONFLICT DO NOTHING;

-- name: remove_dependencies
DELETE FROM foliot.dependencies WHERE project = $1 AND child_id = $2 AND parent_id = $3;

-- name: remove_dependencies_of_jobs
DELETE FROM foliot.dependencies
WHERE project = $1
  AND (child_id = ANY ((SELECT $2::text[])::text[]) OR parent_id = ANY ((SELECT $2::text[])::text[]));

-- name: scheduled_jobs
-- Jobs with a schedule that will fire, also if it is paused now.
SELECT DISTINCT job_id FROM foliot.schedules
WHERE project = $1 AND job_id = ANY ((SELECT $2::text[])::text[]) AND deleted_at IS NULL AND enabled
  AND next_run_at IS NOT NULL;

-- name: set_leads
UPDATE foliot.jobs SET leads = new.leads
FROM unnest((SELECT $2::text[]), (SELECT $3::text[])) AS new (id, leads)
WHERE jobs.project = $1 AND jobs.id = new.id;
