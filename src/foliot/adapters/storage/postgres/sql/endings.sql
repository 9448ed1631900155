-- name: add_notes
INSERT INTO foliot.notes (parent_id, run_id)
SELECT parent_id, id FROM foliot.runs WHERE id = ANY ((SELECT $1::text[])::text[]) AND parent_id IS NOT NULL
ON CONFLICT DO NOTHING RETURNING run_id;

-- name: note_trees
-- A note about the tree itself: it is to be looked at.
INSERT INTO foliot.notes (parent_id, run_id) SELECT id, id FROM unnest($1::text[]) AS asked (id) ON CONFLICT DO NOTHING;

-- name: keep_endings
INSERT INTO foliot.endings (project, job_id, finished_at, run_id, status, reason)
SELECT run.project, run.job_id, run.finished_at, run.id, run.status, run.reason FROM foliot.runs run
WHERE run.id = ANY ((SELECT $1::text[])::text[])
  AND (SELECT true FROM foliot.watched WHERE watched.job_id = run.job_id AND watched.project = run.project)
ON CONFLICT DO NOTHING;

-- name: unwatched
SELECT asked.job_id FROM unnest((SELECT $2::text[])) AS asked (job_id)
WHERE (SELECT true FROM foliot.watched WHERE watched.job_id = asked.job_id AND watched.project = $1) IS NULL;

-- name: lock_watched
-- Whoever has looked whether a job is watched ends first; what it has ended is then seen, and nobody else looks until
-- the ends of the past are kept.
LOCK TABLE foliot.watched IN ACCESS EXCLUSIVE MODE;

-- name: watch
INSERT INTO foliot.watched (project, job_id) SELECT $1, * FROM unnest($2::text[]) ON CONFLICT DO NOTHING;

-- name: keep_earlier_endings
INSERT INTO foliot.endings (project, job_id, finished_at, run_id, status, reason)
SELECT project, job_id, finished_at, id, status, reason FROM foliot.runs
WHERE project = $1 AND job_id = ANY ((SELECT $2::text[])::text[]) AND finished_at IS NOT NULL
ON CONFLICT DO NOTHING;

-- name: sights
-- One look for the latest end of each job, and one at its newest runs: a run that is due, or begun and to be tried
-- again, is expected.
SELECT asked.job_id, latest.run_id, latest.status, latest.finished_at,
       coalesce((SELECT bool_or(newest.finished_at IS NULL AND (newest.due_at <= $4 OR newest.attempt > 0)) FROM (
           SELECT finished_at, due_at, attempt FROM foliot.runs
           WHERE runs.project = $1 AND runs.job_id = asked.job_id
           ORDER BY project DESC, job_id DESC, id DESC LIMIT $5) AS newest), false)
FROM unnest((SELECT $2::text[])) AS asked (job_id) LEFT JOIN LATERAL (
    SELECT run_id, status, finished_at FROM foliot.endings
    WHERE endings.project = $1 AND endings.job_id = asked.job_id AND finished_at > $3 AND finished_at <= $4
    ORDER BY project DESC, job_id DESC, finished_at DESC, run_id DESC LIMIT 1) AS latest ON true;

-- name: latest_of_status
-- Rows are compared whole, and the answer is looked at afterwards: with a condition on each column the planner may go
-- back through the ends of a job in order of time until one of that status comes, which may be never.
SELECT found.run_id, found.status, found.finished_at
FROM unnest((SELECT $3::text[])) AS asked (status), LATERAL (
    SELECT project, job_id, run_id, status, finished_at FROM foliot.endings
    WHERE (endings.project, endings.job_id, endings.status, finished_at) <= ($1, $2, asked.status, $4)
    ORDER BY project DESC, job_id DESC, status DESC, finished_at DESC, run_id DESC LIMIT 1) AS found
WHERE found.project = $1 AND found.job_id = $2 AND found.status = asked.status
ORDER BY found.finished_at DESC, found.run_id DESC LIMIT 1;

-- name: latest_of_reason
SELECT found.run_id, found.status, found.finished_at
FROM unnest((SELECT $3::text[])) AS asked (status), unnest((SELECT $5::text[])) AS given (reason), LATERAL (
    SELECT project, job_id, run_id, status, reason, finished_at FROM foliot.endings
    WHERE (endings.project, endings.job_id, endings.status, endings.reason, finished_at)
       <= ($1, $2, asked.status, given.reason, $4)
    ORDER BY project DESC, job_id DESC, status DESC, reason DESC, finished_at DESC, run_id DESC LIMIT 1) AS found
WHERE found.project = $1 AND found.job_id = $2 AND found.status = asked.status AND found.reason = given.reason
ORDER BY found.finished_at DESC, found.run_id DESC LIMIT 1;

-- name: decisions
SELECT run_id, body FROM foliot.decisions WHERE run_id = ANY ((SELECT $1::text[])::text[]);
