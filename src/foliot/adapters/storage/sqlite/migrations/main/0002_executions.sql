-- Workflows, their executions, and gates.

-- The run that a run is a part of, what it is there, and under which name.
ALTER TABLE runs ADD COLUMN root_id TEXT;
ALTER TABLE runs ADD COLUMN role TEXT;
ALTER TABLE runs ADD COLUMN item TEXT;

CREATE INDEX runs_by_root ON runs (root_id, id) WHERE root_id IS NOT NULL;

CREATE TABLE workflows (
    project TEXT NOT NULL,
    id TEXT NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    spec TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (project, id, version)
) STRICT;

CREATE TABLE paused_steps (
    project TEXT NOT NULL,
    workflow_id TEXT NOT NULL,
    step TEXT NOT NULL,
    PRIMARY KEY (project, workflow_id, step)
) WITHOUT ROWID, STRICT;

-- A run that is not over may also stand here: it runs without a worker, until ended_at. state rises with every write.
CREATE TABLE executions (
    run_id TEXT NOT NULL UNIQUE,
    project TEXT NOT NULL,
    workflow_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    state INTEGER NOT NULL,
    unresolved INTEGER NOT NULL CHECK (unresolved >= 0),
    params TEXT NOT NULL,
    jobs TEXT NOT NULL,
    opened_at INTEGER NOT NULL,
    deadline INTEGER,
    cancel_at INTEGER,
    is_ending INTEGER NOT NULL CHECK (is_ending IN (0, 1)),
    ended_at INTEGER,
    CHECK (ended_at IS NULL OR unresolved = 0)
) STRICT;

CREATE INDEX executions_by_workflow ON executions (project, workflow_id, run_id);
CREATE INDEX executions_active ON executions (run_id) WHERE ended_at IS NULL;
CREATE INDEX executions_active_by_workflow ON executions (project, workflow_id, run_id) WHERE ended_at IS NULL;
CREATE INDEX executions_by_deadline ON executions (deadline)
    WHERE deadline IS NOT NULL AND ended_at IS NULL AND is_ending = 0;

-- nth: the order in which people wrote them. run_id is the execution's, step_run_id the step's own.
CREATE TABLE steps (
    run_id TEXT NOT NULL,
    step TEXT NOT NULL,
    nth INTEGER NOT NULL,
    waiting INTEGER NOT NULL,
    blockers TEXT,
    result TEXT CHECK (result IS NULL OR result = 'success' OR result = 'failure' OR result = 'skipped'),
    step_run_id TEXT,
    reason TEXT NOT NULL,
    PRIMARY KEY (run_id, step)
) WITHOUT ROWID, STRICT;

-- What settling owes: a part of the root has ended, or, where both are the same run, somebody wants it looked at.
CREATE TABLE notes (
    root_id TEXT NOT NULL,
    run_id TEXT NOT NULL,
    PRIMARY KEY (root_id, run_id)
) WITHOUT ROWID, STRICT;

-- Runs that wait for their gate, whether they are due or not, until it has decided.
CREATE TABLE gated (
    due_at INTEGER NOT NULL,
    run_id TEXT NOT NULL UNIQUE,
    PRIMARY KEY (due_at, run_id)
) WITHOUT ROWID, STRICT;

-- Jobs whose ends are kept in order of time, because a gate looks at them. The job comes first: whoever ends a run asks
-- for it alone.
CREATE TABLE watched (
    project TEXT NOT NULL,
    job_id TEXT NOT NULL,
    PRIMARY KEY (job_id, project)
) WITHOUT ROWID, STRICT;

CREATE TABLE endings (
    project TEXT NOT NULL,
    job_id TEXT NOT NULL,
    finished_at INTEGER NOT NULL,
    run_id TEXT NOT NULL,
    status TEXT NOT NULL,
    reason TEXT,
    PRIMARY KEY (project, job_id, finished_at, run_id)
) WITHOUT ROWID, STRICT;

CREATE INDEX endings_by_status ON endings (project, job_id, status, finished_at, run_id);
CREATE INDEX endings_by_reason ON endings (project, job_id, status, reason, finished_at, run_id);
CREATE INDEX endings_by_run ON endings (run_id);

CREATE TABLE decisions (
    run_id TEXT PRIMARY KEY NOT NULL,
    body BLOB NOT NULL
) STRICT;

DROP VIEW shown_runs;

-- A run as people see it: queued and running are told by where it is, not by a column.
CREATE VIEW shown_runs AS
SELECT
    r.id, r.job_id,
    CASE
        WHEN r.status <> 'scheduled' THEN r.status
        WHEN l.cancel_at IS NOT NULL THEN 'cancelling'
        WHEN l.token IS NOT NULL THEN 'running'
        WHEN EXISTS (SELECT 1 FROM later w WHERE w.due_at = r.due_at AND w.run_id = r.id) THEN 'scheduled'
        WHEN EXISTS (SELECT 1 FROM gated g WHERE g.run_id = r.id) THEN 'scheduled'
        ELSE coalesce(
            (SELECT CASE WHEN e.cancel_at IS NULL THEN 'running' ELSE 'cancelling' END
             FROM executions e WHERE e.run_id = r.id AND e.ended_at IS NULL),
            'queued')
    END AS shown_status,
    r.reason, r.queue, r.priority, r.trigger, r.schedule_uid, r.schedule_id, r.scheduled_for, r.tick_key,
    r.payload, o.body AS output, r.due_at, r.created_at,
    coalesce(l.started_at, r.started_at) AS started_at,
    r.finished_at,
    coalesce(l.attempt, r.attempt) AS attempt,
    r.lost, r.exit_code, r.error,
    coalesce(l.worker_id, r.worker_id) AS worker_id,
    coalesce(l.token, r.token) AS token,
    r.root_id, r.role, r.item,
    r.project, r.status
FROM runs r LEFT JOIN leases l ON l.run_id = r.id LEFT JOIN outputs o ON o.run_id = r.id;
