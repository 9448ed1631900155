-- name: end_marked
UPDATE foliot.runs SET
    status = 'success', reason = 'marked', exit_code = NULL, error = NULL,
    finished_at = greatest($2, created_at)
WHERE id = ANY ((SELECT $1::text[])::text[])
RETURNING id, attempt;

-- name: take_mark
-- Of two that mark one run at once, the second waits here for the first.
INSERT INTO foliot.dedupe (project, job_id, key, run_id, scope)
SELECT project, job_id, $2, $3, 'forever' FROM foliot.runs WHERE id = $1
ON CONFLICT (project, job_id, key) DO NOTHING
RETURNING run_id;

-- name: stand_in
-- Asked in a statement of its own, which sees what the one that was waited for has saved.
SELECT dedupe.run_id, (SELECT true FROM foliot.runs WHERE runs.id = dedupe.run_id) AS is_kept
FROM foliot.runs run JOIN foliot.dedupe
    ON dedupe.project = run.project AND dedupe.job_id = run.job_id AND dedupe.key = $2
WHERE run.id = $1 FOR UPDATE OF dedupe;

-- name: retake_mark
UPDATE foliot.dedupe SET run_id = $3 FROM foliot.runs run
WHERE run.id = $1 AND dedupe.project = run.project AND dedupe.job_id = run.job_id AND dedupe.key = $2;

-- name: add_stand_in
INSERT INTO foliot.runs (id, project, job_id, queue, priority, trigger, status, reason, due_at, created_at,
                         finished_at, payload, overrides)
SELECT $2, project, job_id, queue, priority, $3, 'success', 'marked', $4, $4, $4, payload, overrides
FROM foliot.runs WHERE id = $1
RETURNING job_id;
