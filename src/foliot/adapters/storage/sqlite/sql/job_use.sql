-- name: execution_that_names
-- ?2: workflow, version or null, step or null, job.
SELECT n.value ->> 3, e.run_id, e.job_id FROM json_each(?2) n CROSS JOIN trees e
WHERE e.project = ?1 AND e.job_id = n.value ->> 0 AND e.ended_at IS NULL
    AND (n.value ->> 1 IS NULL OR e.version = n.value ->> 1)
    AND (n.value ->> 2 IS NULL OR EXISTS (SELECT 1 FROM steps s WHERE s.run_id = e.run_id AND s.step = n.value ->> 2))
ORDER BY e.run_id LIMIT 1

-- name: copies_that_name
SELECT e.run_id, e.job_id, b.body FROM trees e CROSS JOIN tree_bodies b ON b.run_id = e.run_id
WHERE e.ended_at IS NULL AND e.project = ? AND instr(b.body, ?) > 0

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
