-- Times are milliseconds since 1970 in UTC, documents are JSON.
-- Closed lists are checked with OR: an IN of more than two words builds a table of them for every row that is written.
-- Frequently changed tables (ready, later, leases, holds) are separate from history (runs), which is rarely written.

CREATE TABLE meta (
    key TEXT PRIMARY KEY NOT NULL,
    value INTEGER NOT NULL
) WITHOUT ROWID, STRICT;

-- min_code: the oldest schema version that a running process may have been built for and still write.
INSERT INTO meta (key, value) VALUES ('min_code', 1);

-- Counters that never decrease, not even after deletions.
CREATE TABLE counters (
    name TEXT PRIMARY KEY NOT NULL,
    value INTEGER NOT NULL
) WITHOUT ROWID, STRICT;

INSERT INTO counters (name, value) VALUES ('token', 0);

-- leads: the workflow that the schedules of the job start in its place, see dependencies. pause_after: after so many
-- failures in a row, counted from failures_from, its schedules are paused; stopped_at: when that was done.
-- enabled: NULL for the jobs that lists leave out: steps of workflows, and those of Foliot.
CREATE TABLE jobs (
    project TEXT NOT NULL,
    id TEXT NOT NULL,
    spec TEXT NOT NULL,
    revision INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    leads TEXT NOT NULL DEFAULT '',
    paused_at INTEGER,
    pause_after INTEGER CHECK (pause_after IS NULL OR pause_after >= 1),
    failures_from INTEGER,
    stopped_at INTEGER,
    enabled INTEGER CHECK (enabled IN (0, 1)),
    PRIMARY KEY (project, id)
) STRICT;

CREATE INDEX jobs_stopped ON jobs (project, stopped_at) WHERE stopped_at IS NOT NULL;
CREATE INDEX jobs_counted ON jobs (project, enabled, paused_at) WHERE enabled IS NOT NULL;

CREATE TABLE schedules (
    uid TEXT NOT NULL UNIQUE,
    project TEXT NOT NULL,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    job_id TEXT,
    revision INTEGER NOT NULL,
    opened_at INTEGER NOT NULL,
    spec TEXT NOT NULL,
    enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    paused_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER,
    settled_until INTEGER NOT NULL,
    next_run_at INTEGER,
    wake_at INTEGER CHECK (wake_at IS NULL OR (paused_at IS NULL AND deleted_at IS NULL)),
    last_scheduled_at INTEGER,
    behind_since INTEGER,
    ledger_from INTEGER
) STRICT;

CREATE UNIQUE INDEX schedules_by_id ON schedules (project, id) WHERE deleted_at IS NULL;
CREATE INDEX schedules_by_wake ON schedules (wake_at) WHERE wake_at IS NOT NULL;
CREATE INDEX schedules_behind ON schedules (behind_since) WHERE behind_since IS NOT NULL;
CREATE INDEX schedules_by_job ON schedules (project, job_id, id) WHERE deleted_at IS NULL;
CREATE INDEX schedules_deleted ON schedules (deleted_at) WHERE deleted_at IS NOT NULL;

-- Specifications begin with their type.
CREATE INDEX schedules_after_boot ON schedules (created_at)
    WHERE substr(spec, 1, 16) = '{"type":"reboot"' AND deleted_at IS NULL;

-- A specification that was not made by a call of the API names its source. Payloads may contain the text too.
CREATE INDEX schedules_declared ON schedules (project, id) WHERE instr(spec, '"source":') > 0 AND deleted_at IS NULL;

CREATE TABLE revisions (
    uid TEXT NOT NULL,
    number INTEGER NOT NULL,
    opened_at INTEGER NOT NULL,
    spec TEXT NOT NULL,
    tzdata TEXT NOT NULL,
    PRIMARY KEY (uid, number)
) WITHOUT ROWID, STRICT;

CREATE TABLE pauses (
    uid TEXT NOT NULL,
    since INTEGER NOT NULL,
    until INTEGER,
    PRIMARY KEY (uid, since)
) WITHOUT ROWID, STRICT;

-- Pauses of all schedules. version: increases with each change of any pause of the project; decided: the watermarks that
-- were later than since when the pause began, by uid; recorded: those that were later than until when it was shortened.
CREATE TABLE project_pauses (
    project TEXT NOT NULL,
    since INTEGER NOT NULL,
    until INTEGER CHECK (until IS NULL OR until >= since),
    version INTEGER NOT NULL,
    paused_by TEXT NOT NULL,
    note TEXT NOT NULL,
    decided TEXT NOT NULL,
    recorded TEXT NOT NULL,
    PRIMARY KEY (project, since)
) WITHOUT ROWID, STRICT;

CREATE UNIQUE INDEX project_pauses_by_version ON project_pauses (project, version);
CREATE INDEX project_pauses_by_end ON project_pauses (project, until);

CREATE TABLE planned (
    uid TEXT NOT NULL,
    scheduled_for INTEGER NOT NULL,
    fire_at INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    PRIMARY KEY (uid, scheduled_for)
) WITHOUT ROWID, STRICT;

-- The boots of hosts that a schedule with the rule @reboot was decided for; at: the planned moment of the tick, if any.
CREATE TABLE boots (
    uid TEXT NOT NULL,
    boot_id TEXT NOT NULL,
    at INTEGER,
    PRIMARY KEY (uid, boot_id)
) WITHOUT ROWID, STRICT;

CREATE TABLE ticks (
    uid TEXT NOT NULL,
    scheduled_for INTEGER NOT NULL,
    until INTEGER NOT NULL CHECK (until >= scheduled_for),
    count INTEGER NOT NULL CHECK (count >= 1),
    outcome TEXT NOT NULL CHECK (
        outcome = 'ran' OR outcome = 'skipped' OR outcome = 'missed' OR outcome = 'coalesced' OR outcome = 'failed'
        OR outcome = 'cancelled'
    ),
    reason TEXT NOT NULL,
    fire_at INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    run_id TEXT CHECK ((run_id IS NOT NULL) = (outcome = 'ran')),
    into_tick INTEGER,
    key TEXT CHECK ((key IS NULL) = (until > scheduled_for)),
    decided_at INTEGER NOT NULL,
    PRIMARY KEY (uid, scheduled_for)
) WITHOUT ROWID, STRICT;
-- Most ticks run. The others are looked for by outcome, among many.
CREATE INDEX ticks_outcome ON ticks (uid, outcome, scheduled_for) WHERE outcome <> 'ran';

-- parent_id: the tree that is notified when the run ends; root_id: the outermost tree, shown and removed as a whole;
-- child_key: the step or item in the parent; definition_id: what the run does, if it is not the current definition of
-- its job.
CREATE TABLE runs (
    id TEXT NOT NULL UNIQUE,
    project TEXT NOT NULL,
    job_id TEXT NOT NULL,
    queue TEXT NOT NULL,
    priority INTEGER NOT NULL,
    trigger TEXT NOT NULL,
    status TEXT NOT NULL CHECK (
        status = 'scheduled' OR status = 'success' OR status = 'failed' OR status = 'timeout'
        OR status = 'cancelled' OR status = 'partial' OR status = 'skipped'
    ),
    reason TEXT,
    due_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    started_at INTEGER,
    finished_at INTEGER,
    attempt INTEGER NOT NULL,
    lost INTEGER NOT NULL,
    exit_code INTEGER,
    error TEXT,
    worker_id TEXT,
    token INTEGER,
    payload BLOB,
    overrides BLOB,
    limits TEXT,
    schedule_uid TEXT,
    schedule_id TEXT,
    scheduled_for INTEGER,
    tick_key TEXT,
    parent_id TEXT,
    root_id TEXT CHECK ((root_id IS NULL) = (parent_id IS NULL)),
    child_key TEXT,
    definition_id TEXT,
    CHECK ((finished_at IS NOT NULL) = (status <> 'scheduled')),
    CHECK (finished_at IS NULL OR finished_at >= coalesce(started_at, created_at))
) STRICT;

-- (a, id) lists newest first. Only rare statuses are indexed, so that ending a run changes no index.
CREATE INDEX runs_by_job ON runs (project, job_id, id);
CREATE INDEX runs_by_schedule ON runs (project, schedule_id, id) WHERE schedule_id IS NOT NULL;
CREATE INDEX runs_by_rare_status ON runs (status, id) WHERE status <> 'scheduled' AND status <> 'success';
CREATE INDEX runs_by_job_and_rare_status ON runs (project, job_id, status, id)
    WHERE status <> 'scheduled' AND status <> 'success';

CREATE INDEX runs_by_schedule_and_rare_status ON runs (project, schedule_id, status, id)
    WHERE schedule_id IS NOT NULL AND status <> 'scheduled' AND status <> 'success';
CREATE INDEX runs_by_root ON runs (root_id, id) WHERE root_id IS NOT NULL;
CREATE INDEX runs_by_child ON runs (parent_id, child_key) WHERE parent_id IS NOT NULL;
CREATE INDEX runs_by_rare_child ON runs (parent_id, child_key)
    WHERE parent_id IS NOT NULL AND status <> 'scheduled' AND status <> 'success';
CREATE INDEX runs_by_parent ON runs (parent_id, id) WHERE parent_id IS NOT NULL;
-- Runs that are no children: a list of them does not walk through the children of a fanout.
CREATE INDEX runs_roots ON runs (id) WHERE parent_id IS NULL;
CREATE INDEX runs_roots_by_rare_status ON runs (status, id)
    WHERE parent_id IS NULL AND status <> 'scheduled' AND status <> 'success';
-- Only runs that call the application's launcher are looked for by the key of their tick.
CREATE INDEX runs_launched ON runs (tick_key, id) WHERE job_id = 'foliot.launch';

-- Every open run is in exactly one of: later, ready, gated, leases, open trees, or waits in holds.
CREATE TABLE later (
    due_at INTEGER NOT NULL,
    run_id TEXT NOT NULL,
    PRIMARY KEY (due_at, run_id)
) WITHOUT ROWID, STRICT;

-- rank is computed from the run's due_at and priority, so a run is found here without a separate index.
CREATE TABLE ready (
    queue TEXT NOT NULL,
    rank INTEGER NOT NULL,
    run_id TEXT NOT NULL,
    PRIMARY KEY (queue, rank, run_id)
) WITHOUT ROWID, STRICT;

-- is_bare: the run has no parent, no limit and no schedule, so that its end affects no other row.
-- progress: what the attempt reported last, from 0 to 1, with a text, and when it was saved.
-- report_by: for a run of the application's executor, worker_id '@executor': when it ends if no report arrives.
CREATE TABLE leases (
    token INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL UNIQUE,
    worker_id TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    cancel_at INTEGER,
    is_bare INTEGER NOT NULL CHECK (is_bare IN (0, 1)),
    progress REAL CHECK (progress BETWEEN 0 AND 1),
    progress_text TEXT,
    progress_at INTEGER CHECK ((progress_at IS NULL) = (progress IS NULL)),
    report_by INTEGER
) STRICT;

-- deadline counts milliseconds since the boot with this boot_id, so that setting the wall clock has no effect.
-- process: boot id, PID namespace, PID and start time, or empty. facts: labels, kinds and what is shown, as JSON.
-- orders: pause or drain, if an administrator has ordered it; such a worker gets no runs.
CREATE TABLE workers (
    id TEXT PRIMARY KEY NOT NULL,
    name TEXT NOT NULL,
    queues TEXT NOT NULL,
    slots INTEGER NOT NULL,
    registered_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL,
    process TEXT NOT NULL DEFAULT '',
    boot_id TEXT NOT NULL,
    deadline INTEGER NOT NULL,
    is_draining INTEGER NOT NULL DEFAULT 0,
    facts TEXT NOT NULL DEFAULT '{}',
    orders TEXT NOT NULL DEFAULT '' CHECK (orders IN ('', 'pause', 'drain'))
) WITHOUT ROWID, STRICT;

-- Workers with these names, or of these enrolments, are paused when they register.
CREATE TABLE paused_pools (
    name TEXT PRIMARY KEY NOT NULL
) WITHOUT ROWID, STRICT;

CREATE TABLE limits (
    key TEXT PRIMARY KEY NOT NULL,
    capacity INTEGER NOT NULL CHECK (capacity >= 1)
) WITHOUT ROWID, STRICT;

-- The order of the key is the order in which waiting runs are admitted.
CREATE TABLE holds (
    key TEXT NOT NULL,
    is_admitted INTEGER NOT NULL CHECK (is_admitted IN (0, 1)),
    rank INTEGER NOT NULL,
    run_id TEXT NOT NULL,
    PRIMARY KEY (key, is_admitted, rank, run_id)
) WITHOUT ROWID, STRICT;

CREATE UNIQUE INDEX holds_by_run ON holds (run_id, key);

CREATE TABLE dedupe (
    project TEXT NOT NULL,
    job_id TEXT NOT NULL,
    key TEXT NOT NULL,
    run_id TEXT NOT NULL,
    scope TEXT NOT NULL CHECK (scope IN ('forever', 'active', 'window')),
    expires_at INTEGER CHECK ((expires_at IS NOT NULL) = (scope = 'window')),
    PRIMARY KEY (project, job_id, key)
) WITHOUT ROWID, STRICT;

CREATE INDEX dedupe_by_run ON dedupe (run_id);
CREATE INDEX dedupe_by_expiry ON dedupe (expires_at) WHERE expires_at IS NOT NULL;

-- Attempts that were followed by another one; the last attempt is stored in the run.
CREATE TABLE attempts (
    run_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    token INTEGER NOT NULL,
    worker_id TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    finished_at INTEGER NOT NULL CHECK (finished_at >= started_at),
    status TEXT NOT NULL,
    reason TEXT,
    exit_code INTEGER,
    error TEXT,
    PRIMARY KEY (run_id, number)
) WITHOUT ROWID, STRICT;

CREATE TABLE outputs (
    run_id TEXT PRIMARY KEY NOT NULL,
    body BLOB NOT NULL
) STRICT;

-- The newest event is never removed, so that its number is not assigned again. AUTOINCREMENT would write one more page in
-- each transaction.
CREATE TABLE events (
    seq INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    items TEXT NOT NULL
) STRICT;

-- Named listeners: all events up to position were delivered; holder delivers the next ones, until the deadline.
CREATE TABLE listeners (
    name TEXT PRIMARY KEY NOT NULL,
    position INTEGER NOT NULL,
    holder TEXT NOT NULL,
    boot_id TEXT NOT NULL,
    deadline INTEGER NOT NULL
) WITHOUT ROWID, STRICT;

-- The databases that fanouts may read. sealed is the encrypted DSN; its key is never in the database.
CREATE TABLE dsns (
    name TEXT PRIMARY KEY NOT NULL,
    engine TEXT NOT NULL,
    sealed BLOB NOT NULL,
    updated_at INTEGER NOT NULL
) WITHOUT ROWID, STRICT;

-- Messages to send, each to one target: see `ports/deliveries.py`. owner: the job whose option names the target. A taken
-- delivery is pending, and due again when its attempt should long be over.
CREATE TABLE deliveries (
    id TEXT PRIMARY KEY NOT NULL,
    target TEXT NOT NULL,
    owner TEXT,
    run_id TEXT,
    receiver TEXT NOT NULL,
    document TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'delivered', 'failed', 'dropped')),
    attempts INTEGER NOT NULL CHECK (attempts >= 0),
    due_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    finished_at INTEGER,
    answer TEXT,
    CHECK ((finished_at IS NULL) = (state = 'pending'))
) STRICT;

CREATE INDEX deliveries_due ON deliveries (due_at) WHERE state = 'pending';
CREATE INDEX deliveries_failed ON deliveries (finished_at) WHERE state = 'failed';
CREATE INDEX deliveries_accepted ON deliveries (receiver, finished_at) WHERE state = 'delivered';
CREATE INDEX deliveries_over ON deliveries (finished_at) WHERE finished_at IS NOT NULL;

-- Tokens of programs. digest is the SHA-256 of the token, which is stored nowhere. A token has a role or scopes.
CREATE TABLE tokens (
    id TEXT PRIMARY KEY NOT NULL,
    name TEXT NOT NULL,
    role TEXT,
    scopes TEXT NOT NULL,
    digest BLOB NOT NULL,
    expires_at INTEGER,
    created_at INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    last_used_at INTEGER,
    revoked_at INTEGER,
    CHECK ((role IS NULL) = (scopes <> '[]'))
) WITHOUT ROWID, STRICT;
CREATE UNIQUE INDEX tokens_name ON tokens (name) WHERE revoked_at IS NULL;

-- Workers that may connect over HTTP. sealed is the encrypted secret, NULL until an invited worker has joined.
CREATE TABLE enrolments (
    id TEXT PRIMARY KEY NOT NULL,
    name TEXT NOT NULL UNIQUE,
    labels TEXT NOT NULL,
    kinds TEXT NOT NULL,
    sealed BLOB,
    join_digest BLOB,
    join_expires_at INTEGER,
    created_at INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    disabled_at INTEGER,
    last_used_at INTEGER,
    CHECK ((sealed IS NULL) = (join_digest IS NOT NULL)),
    CHECK ((join_digest IS NULL) = (join_expires_at IS NULL))
) WITHOUT ROWID, STRICT;

-- Nonces of signed requests, until a request with their timestamp would be refused.
CREATE TABLE nonces (
    enrolment_id TEXT NOT NULL,
    nonce TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (enrolment_id, nonce)
) WITHOUT ROWID, STRICT;
CREATE INDEX nonces_expiry ON nonces (expires_at);

-- People. password is an Argon2id digest.
CREATE TABLE users (
    name TEXT PRIMARY KEY NOT NULL,
    role TEXT NOT NULL,
    password TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    changed_at INTEGER NOT NULL
) WITHOUT ROWID, STRICT;

-- Logins. digest is the SHA-256 of the id that the browser has.
CREATE TABLE sessions (
    digest BLOB PRIMARY KEY NOT NULL,
    user TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL
) WITHOUT ROWID, STRICT;
CREATE INDEX sessions_user ON sessions (user);
CREATE INDEX sessions_expiry ON sessions (expires_at);

-- Requests with an idempotency key, and their answers once they have one.
CREATE TABLE requests (
    principal TEXT NOT NULL,
    key TEXT NOT NULL,
    digest BLOB NOT NULL,
    resource_id TEXT NOT NULL,
    begun_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    status INTEGER,
    body BLOB,
    PRIMARY KEY (principal, key)
) WITHOUT ROWID, STRICT;
CREATE INDEX requests_expiry ON requests (expires_at);

-- Who changed what. before and after are JSON documents without secrets.
CREATE TABLE audit (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    detail TEXT NOT NULL,
    action TEXT NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    before TEXT,
    after TEXT
) STRICT;
CREATE INDEX audit_at ON audit (at);
CREATE INDEX audit_actor ON audit (actor, at);
CREATE INDEX audit_id ON audit (id, at);

CREATE TABLE leader (
    name TEXT PRIMARY KEY NOT NULL,
    holder TEXT,
    epoch INTEGER NOT NULL,
    boot_id TEXT NOT NULL,
    deadline INTEGER NOT NULL
) WITHOUT ROWID, STRICT;

-- The latest step of the clock that each process has found, and its latest difference from the clock of the database.
CREATE TABLE clock_faults (
    node TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('step', 'skew')),
    size INTEGER NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (node, kind)
) WITHOUT ROWID, STRICT;

-- A job that waits for another one. An edge has one row for each result of the parent after which the child starts.
CREATE TABLE dependencies (
    project TEXT NOT NULL,
    child_id TEXT NOT NULL,
    parent_id TEXT NOT NULL,
    condition TEXT NOT NULL CHECK (condition IN ('success', 'failure', 'skipped', 'complete')),
    PRIMARY KEY (project, child_id, parent_id, condition)
) WITHOUT ROWID, STRICT;

CREATE INDEX dependencies_by_parent ON dependencies (project, parent_id);

CREATE TABLE workflows (
    project TEXT NOT NULL,
    id TEXT NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    spec TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    deleted_at INTEGER,
    PRIMARY KEY (project, id, version)
) STRICT;

CREATE TABLE paused_steps (
    project TEXT NOT NULL,
    workflow_id TEXT NOT NULL,
    step TEXT NOT NULL,
    PRIMARY KEY (project, workflow_id, step)
) WITHOUT ROWID, STRICT;

-- A run that was opened as a tree: it runs without a worker until ended_at. state increases with every write.
-- open: children without a result; held: limits of the run and of its ancestors; progress: counters of the tree's kind;
-- size: number of steps. The immutable body of the tree is in a separate table.
CREATE TABLE trees (
    run_id TEXT NOT NULL UNIQUE,
    project TEXT NOT NULL,
    kind TEXT NOT NULL,
    job_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    state INTEGER NOT NULL,
    open INTEGER NOT NULL CHECK (open >= 0),
    opened_at INTEGER NOT NULL,
    root_id TEXT NOT NULL,
    depth INTEGER NOT NULL CHECK (depth >= 0),
    held TEXT,
    progress TEXT,
    size INTEGER NOT NULL,
    deadline INTEGER,
    cancel_at INTEGER,
    is_ending INTEGER NOT NULL CHECK (is_ending IN (0, 1)),
    ended_at INTEGER,
    CHECK (ended_at IS NULL OR open = 0)
) STRICT;

CREATE INDEX trees_by_job ON trees (project, job_id, run_id);
CREATE INDEX trees_active ON trees (run_id) WHERE ended_at IS NULL;
CREATE INDEX trees_active_by_job ON trees (project, job_id, run_id) WHERE ended_at IS NULL;
CREATE INDEX trees_by_deadline ON trees (deadline)
    WHERE deadline IS NOT NULL AND ended_at IS NULL AND is_ending = 0;

CREATE TABLE tree_bodies (
    run_id TEXT PRIMARY KEY NOT NULL,
    body BLOB NOT NULL
) STRICT;

-- The items of a fanout, many in one row: the body is a JSON array with `count` items, the first with the index `first`.
CREATE TABLE items (
    run_id TEXT NOT NULL,
    first INTEGER NOT NULL CHECK (first >= 0),
    count INTEGER NOT NULL CHECK (count >= 0),
    is_last INTEGER NOT NULL CHECK (is_last IN (0, 1)),
    body BLOB NOT NULL,
    PRIMARY KEY (run_id, first)
) STRICT;

CREATE INDEX items_by_run ON items (run_id) WHERE first = 0;

-- The steps of a workflow's tree. nth: their order in the definition; run_id is the run of the tree, step_run_id of the
-- step.
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

-- A document that several trees share: that of a class of chains. version rises with every change; 0: not written yet.
CREATE TABLE shared_documents (
    project TEXT NOT NULL,
    key TEXT NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 0),
    body BLOB CHECK ((body IS NULL) = (version = 0)),
    PRIMARY KEY (project, key)
) STRICT;

-- One row for each chain that was armed. run_id is the run of its tree.
CREATE TABLE chains (
    run_id TEXT PRIMARY KEY NOT NULL,
    project TEXT NOT NULL,
    chain_id TEXT NOT NULL,
    class_id TEXT NOT NULL,
    slot TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('armed', 'active', 'cooling_down', 'closed')),
    outcome TEXT CHECK ((outcome IS NOT NULL) = (state = 'closed')),
    armed_at INTEGER NOT NULL,
    deadline INTEGER,
    expires_at INTEGER NOT NULL CHECK (expires_at > armed_at),
    closed_at INTEGER CHECK ((closed_at IS NOT NULL) = (state = 'closed')),
    children INTEGER NOT NULL CHECK (children >= 0),
    tokens INTEGER NOT NULL CHECK (tokens >= 0),
    usd REAL NOT NULL CHECK (usd >= 0)
) STRICT;

CREATE UNIQUE INDEX chains_open_slot ON chains (project, class_id, slot) WHERE state <> 'closed';
CREATE INDEX chains_by_time ON chains (project, armed_at, run_id);
CREATE INDEX chains_by_class ON chains (project, class_id, armed_at, run_id);
CREATE INDEX chains_open ON chains (project, armed_at, run_id) WHERE state <> 'closed';
CREATE INDEX chains_by_id ON chains (project, chain_id, armed_at, run_id);

-- Unsettled changes: a child of the parent has ended or, if both are the same run, the tree itself must be settled.
CREATE TABLE notes (
    parent_id TEXT NOT NULL,
    run_id TEXT NOT NULL,
    PRIMARY KEY (parent_id, run_id)
) WITHOUT ROWID, STRICT;

-- Runs that wait for the decision of their gate, whether they are due or not.
CREATE TABLE gated (
    due_at INTEGER NOT NULL,
    run_id TEXT NOT NULL UNIQUE,
    PRIMARY KEY (due_at, run_id)
) WITHOUT ROWID, STRICT;

-- Jobs whose ends are kept in order of time, because a gate depends on them. The job is the first column: ending a run
-- reads by job only.
CREATE TABLE watched (
    project TEXT NOT NULL,
    job_id TEXT NOT NULL,
    look_back INTEGER NOT NULL DEFAULT 0,
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

-- Runs that the application's executor has or had: its id of the run, and when it reported the start.
CREATE TABLE launches (
    run_id TEXT PRIMARY KEY NOT NULL,
    executor_run_id TEXT,
    started_at INTEGER
) WITHOUT ROWID, STRICT;

CREATE TABLE decisions (
    run_id TEXT PRIMARY KEY NOT NULL,
    body BLOB NOT NULL
) STRICT;

-- A run with its displayed status: queued and running follow from the table that contains it, not from a column.
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
             FROM trees e WHERE e.run_id = r.id AND e.ended_at IS NULL),
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
    r.parent_id, r.root_id, r.child_key,
    r.project, r.status,
    l.progress, l.progress_text, l.progress_at
FROM runs r LEFT JOIN leases l ON l.run_id = r.id LEFT JOIN outputs o ON o.run_id = r.id;
