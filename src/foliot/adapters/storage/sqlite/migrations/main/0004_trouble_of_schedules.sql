-- Runs of a schedule that ended in one rare way are found without going through its other runs, or those of others.

CREATE INDEX runs_by_schedule_and_rare_status ON runs (project, schedule_id, status, id)
    WHERE schedule_id IS NOT NULL AND status <> 'scheduled' AND status <> 'success';
