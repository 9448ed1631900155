-- name: add_notes
INSERT INTO notes (parent_id, run_id)
SELECT r.parent_id, r.id FROM json_each(?) j CROSS JOIN runs r ON r.id = j.value WHERE r.parent_id IS NOT NULL
ON CONFLICT DO NOTHING

-- name: note_trees
-- A note about the tree itself: it is to be looked at.
INSERT INTO notes (parent_id, run_id) VALUES (?1, ?1) ON CONFLICT DO NOTHING

-- name: is_watching
SELECT 1 FROM watched LIMIT 1

-- name: keep_endings
INSERT INTO endings (project, job_id, finished_at, run_id, status, reason)
SELECT r.project, r.job_id, r.finished_at, r.id, r.status, r.reason
FROM json_each(?) j CROSS JOIN runs r ON r.id = j.value CROSS JOIN watched w ON w.job_id = r.job_id AND w.project = r.project
ON CONFLICT DO NOTHING

-- name: unwatched
SELECT j.value FROM json_each(?2) j
WHERE NOT EXISTS (SELECT 1 FROM watched w WHERE w.job_id = j.value AND w.project = ?1)

-- name: watch
INSERT INTO watched (project, job_id) VALUES (?, ?) ON CONFLICT DO NOTHING

-- name: keep_earlier_endings
INSERT INTO endings (project, job_id, finished_at, run_id, status, reason)
SELECT r.project, r.job_id, r.finished_at, r.id, r.status, r.reason
FROM runs r WHERE r.project = ? AND r.job_id = ? AND r.finished_at IS NOT NULL
ON CONFLICT DO NOTHING

-- name: latest_ending
SELECT run_id, status, finished_at FROM endings
WHERE project = ? AND job_id = ? AND finished_at > ? AND finished_at <= ?
ORDER BY finished_at DESC, run_id DESC LIMIT 1

-- name: latest_of_status
SELECT run_id, status, finished_at FROM endings
WHERE project = ? AND job_id = ? AND status = ? AND finished_at <= ?
ORDER BY finished_at DESC, run_id DESC LIMIT 1

-- name: latest_of_reason
SELECT run_id, status, finished_at FROM endings
WHERE project = ? AND job_id = ? AND status = ? AND reason = ? AND finished_at <= ?
ORDER BY finished_at DESC, run_id DESC LIMIT 1

-- name: is_expected
-- A run that is due, or begun and to be tried again; one that is not over is among the newest.
SELECT EXISTS (
    SELECT 1 FROM (
        SELECT r.finished_at, r.due_at, r.attempt FROM runs r
        WHERE r.project = ?1 AND r.job_id = ?2 ORDER BY r.id DESC LIMIT ?4
    ) WHERE finished_at IS NULL AND (due_at <= ?3 OR attempt > 0)
)

-- name: decisions
SELECT d.run_id, d.body FROM decisions d WHERE d.run_id IN (SELECT value FROM json_each(?))
