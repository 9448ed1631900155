-- Runs of one kind of trouble are found without going through the others. The kind is the status once more, because no
-- index may name the status itself (see 0001): a success leaves `trouble` as it is.

ALTER TABLE foliot.runs ADD COLUMN trouble text;
UPDATE foliot.runs SET trouble = status WHERE is_trouble;
ALTER TABLE foliot.runs DROP COLUMN is_trouble;

-- One condition instead of one for each column: the server reads them anew with every statement that changes a run.
ALTER TABLE foliot.runs
    DROP CONSTRAINT IF EXISTS runs_status_check, DROP CONSTRAINT IF EXISTS runs_check,
    DROP CONSTRAINT IF EXISTS runs_check1,
    ADD CONSTRAINT runs_whole CHECK (CASE status
        WHEN 'scheduled' THEN trouble IS NULL AND finished_at IS NULL
        WHEN 'success' THEN trouble IS NULL
            AND finished_at IS NOT NULL AND finished_at >= coalesce(started_at, created_at)
        ELSE trouble IS NOT NULL AND trouble = status
            AND status IN ('partial', 'failed', 'timeout', 'cancelled', 'skipped')
            AND finished_at IS NOT NULL AND finished_at >= coalesce(started_at, created_at)
        END);

CREATE INDEX runs_trouble ON foliot.runs (project, trouble, id) WHERE trouble IS NOT NULL;
CREATE INDEX runs_job_trouble ON foliot.runs (project, job_id, trouble, id) WHERE trouble IS NOT NULL;
CREATE INDEX runs_schedule_trouble ON foliot.runs (schedule_uid, trouble, id)
    WHERE schedule_uid IS NOT NULL AND trouble IS NOT NULL;
