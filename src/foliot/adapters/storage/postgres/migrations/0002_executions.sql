-- Workflows, their executions, and gates.

-- The run that a run is a part of, what it is there, and under which name.
ALTER TABLE foliot.runs
    ADD COLUMN root_id text COLLATE "C", ADD COLUMN role text, ADD COLUMN item text;

CREATE INDEX runs_root ON foliot.runs (root_id, id) WHERE root_id IS NOT NULL;

CREATE TABLE foliot.workflows (
    project    text COLLATE "C" NOT NULL,
    id         text COLLATE "C" NOT NULL,
    version    integer NOT NULL CHECK (version >= 1),
    spec       text NOT NULL,
    created_at bigint NOT NULL,
    PRIMARY KEY (project, id, version)
);

CREATE TABLE foliot.paused_steps (
    project     text COLLATE "C" NOT NULL,
    workflow_id text COLLATE "C" NOT NULL,
    step        text COLLATE "C" NOT NULL,
    PRIMARY KEY (project, workflow_id, step)
);

-- A run that is not over may also stand here: it runs without a worker, until ended_at. state rises with every write.
CREATE TABLE foliot.executions (
    run_id      text COLLATE "C" PRIMARY KEY,
    project     text COLLATE "C" NOT NULL,
    workflow_id text COLLATE "C" NOT NULL,
    version     integer NOT NULL,
    state       bigint NOT NULL,
    unresolved  integer NOT NULL CHECK (unresolved >= 0),
    params      text NOT NULL,
    jobs        text NOT NULL,
    opened_at   bigint NOT NULL,
    deadline    bigint,
    cancel_at   bigint,
    is_ending   boolean NOT NULL,
    ended_at    bigint,
    CHECK (ended_at IS NULL OR unresolved = 0)
) WITH (fillfactor = 60);

CREATE INDEX executions_workflow ON foliot.executions (project, workflow_id, run_id);
CREATE INDEX executions_active ON foliot.executions (run_id) WHERE ended_at IS NULL;
CREATE INDEX executions_active_workflow ON foliot.executions (project, workflow_id, run_id) WHERE ended_at IS NULL;
CREATE INDEX executions_deadline ON foliot.executions (deadline)
    WHERE deadline IS NOT NULL AND ended_at IS NULL AND NOT is_ending;

-- nth: the order in which people wrote them. run_id is the execution's, step_run_id the step's own.
CREATE TABLE foliot.steps (
    run_id      text COLLATE "C" NOT NULL,
    step        text COLLATE "C" NOT NULL,
    nth         integer NOT NULL,
    waiting     integer NOT NULL,
    blockers    text,
    result      text CHECK (result IN ('success', 'failure', 'skipped')),
    step_run_id text COLLATE "C",
    reason      text NOT NULL,
    PRIMARY KEY (run_id, step)
) WITH (fillfactor = 70);

-- What settling owes: a part of the root has ended, or, where both are the same run, somebody wants it looked at.
CREATE TABLE foliot.notes (
    root_id text COLLATE "C" NOT NULL,
    run_id  text COLLATE "C" NOT NULL,
    PRIMARY KEY (root_id, run_id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);

-- Runs that wait for their gate, whether they are due or not, until it has decided.
CREATE TABLE foliot.gated (
    due_at bigint NOT NULL,
    run_id text COLLATE "C" NOT NULL UNIQUE,
    PRIMARY KEY (due_at, run_id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);

-- Jobs whose ends are kept in order of time, because a gate looks at them. The job comes first: whoever ends a run asks
-- for it alone.
CREATE TABLE foliot.watched (
    project text COLLATE "C" NOT NULL,
    job_id  text COLLATE "C" NOT NULL,
    PRIMARY KEY (job_id, project)
);

CREATE TABLE foliot.endings (
    project     text COLLATE "C" NOT NULL,
    job_id      text COLLATE "C" NOT NULL,
    finished_at bigint NOT NULL,
    run_id      text COLLATE "C" NOT NULL,
    status      text COLLATE "C" NOT NULL,
    reason      text COLLATE "C",
    PRIMARY KEY (project, job_id, finished_at, run_id)
);

CREATE INDEX endings_status ON foliot.endings (project, job_id, status, finished_at, run_id);
CREATE INDEX endings_reason ON foliot.endings (project, job_id, status, reason, finished_at, run_id);
CREATE INDEX endings_run ON foliot.endings (run_id);

CREATE TABLE foliot.decisions (
    run_id text COLLATE "C" PRIMARY KEY,
    body   text NOT NULL
);
