-- The tables of Foliot. Times are whole milliseconds since 1970 in UTC; durations are milliseconds; documents are JSON.
--
--     runs (history)  [gated] -> later -> [holds] -> ready -> leases -> [trees] -> runs        the place of an open run
--
-- Ids are compared as bytes (COLLATE "C"): this is faster than a locale's order and the same on every server.
-- Names are written with the default schema, which is replaced by the configured one when the file is read.

CREATE TABLE foliot.meta (
    key   text PRIMARY KEY,
    value text NOT NULL
);

INSERT INTO foliot.meta (key, value) VALUES ('min_code', '1'), ('event_base', '0');

CREATE FUNCTION foliot.now_ms() RETURNS bigint LANGUAGE sql VOLATILE PARALLEL SAFE
    AS $$ SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint $$;

-- leads: the workflow that the schedules of the job start in its place, see dependencies. pause_after: after so many
-- failures in a row, counted from failures_from, its schedules are paused; stopped_at: when that was done.
-- enabled: NULL for the jobs that lists leave out: steps of workflows, and those of Foliot.
CREATE TABLE foliot.jobs (
    project    text COLLATE "C" NOT NULL,
    id         text COLLATE "C" NOT NULL,
    spec       text NOT NULL,
    revision   integer NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    leads      text COLLATE "C" NOT NULL DEFAULT '',
    paused_at  bigint,
    pause_after   integer CHECK (pause_after >= 1),
    failures_from bigint,
    stopped_at    bigint,
    enabled       boolean,
    PRIMARY KEY (project, id)
);

CREATE INDEX jobs_stopped ON foliot.jobs (project, stopped_at) WHERE stopped_at IS NOT NULL;
CREATE INDEX jobs_counted ON foliot.jobs (project, enabled, paused_at) WHERE enabled IS NOT NULL;

-- Schedules and their ledger -----------------------------------------------------------------------------------------

CREATE TABLE foliot.schedules (
    uid               text COLLATE "C" PRIMARY KEY,
    project           text COLLATE "C" NOT NULL,
    id                text COLLATE "C" NOT NULL,
    version           bigint NOT NULL,
    job_id            text COLLATE "C",
    revision          integer NOT NULL,
    opened_at         bigint NOT NULL,
    spec              text NOT NULL,
    enabled           boolean NOT NULL,
    paused_at         bigint,
    created_at        bigint NOT NULL,
    updated_at        bigint NOT NULL,
    deleted_at        bigint,
    settled_until     bigint NOT NULL,
    next_run_at       bigint,
    wake_at           bigint,
    last_scheduled_at bigint,
    behind_since      bigint,
    ledger_from       bigint,
    CHECK (wake_at IS NULL OR (paused_at IS NULL AND deleted_at IS NULL))
) WITH (fillfactor = 80);

CREATE UNIQUE INDEX schedules_id ON foliot.schedules (project, id) WHERE deleted_at IS NULL;
CREATE INDEX schedules_former_id ON foliot.schedules (project, id) WHERE deleted_at IS NOT NULL;
CREATE INDEX schedules_wake ON foliot.schedules (wake_at) WHERE wake_at IS NOT NULL;
CREATE INDEX schedules_behind ON foliot.schedules (behind_since) WHERE behind_since IS NOT NULL;
CREATE INDEX schedules_job ON foliot.schedules (project, job_id);

-- Specifications begin with their type.
CREATE INDEX schedules_after_boot ON foliot.schedules (created_at)
    WHERE left(spec, 16) = '{"type":"reboot"' AND deleted_at IS NULL;

-- A specification that was not made by a call of the API names its source. Payloads may contain the text too.
CREATE INDEX schedules_declared ON foliot.schedules (project, id)
    WHERE strpos(spec, '"source":') > 0 AND deleted_at IS NULL;

CREATE TABLE foliot.revisions (
    uid       text COLLATE "C" NOT NULL,
    number    integer NOT NULL,
    opened_at bigint NOT NULL,
    spec      text NOT NULL,
    tzdata    text NOT NULL,
    PRIMARY KEY (uid, number)
);

CREATE TABLE foliot.pauses (
    uid     text COLLATE "C" NOT NULL,
    since   bigint NOT NULL,
    "until" bigint,
    PRIMARY KEY (uid, since),
    CHECK ("until" >= since)
);

-- Pauses of all schedules. version: increases with each change of any pause of the project; decided: the watermarks that
-- were later than since when the pause began, by uid; recorded: those that were later than until when it was shortened.
CREATE TABLE foliot.project_pauses (
    project   text COLLATE "C" NOT NULL,
    since     bigint NOT NULL,
    "until"   bigint,
    version   bigint NOT NULL,
    paused_by text NOT NULL,
    note      text NOT NULL,
    decided   text NOT NULL,
    recorded  text NOT NULL,
    PRIMARY KEY (project, since),
    CHECK ("until" >= since)
);

CREATE UNIQUE INDEX project_pauses_version ON foliot.project_pauses (project, version);
CREATE INDEX project_pauses_end ON foliot.project_pauses (project, "until");

-- A transaction that saves decisions about schedules keeps this lock, so that no pause begins before it has committed.
-- Each statement of a volatile function sees what was committed before it, so the version is read under the lock.
CREATE FUNCTION foliot.pause_version(project text) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('foliot pauses ' || 'foliot.project_pauses'::regclass::oid, 0));
    RETURN coalesce((SELECT max(p.version) FROM foliot.project_pauses p WHERE p.project = $1), 0);
END $$;

CREATE TABLE foliot.planned (
    uid           text COLLATE "C" NOT NULL,
    scheduled_for bigint NOT NULL,
    fire_at       bigint NOT NULL,
    revision      integer NOT NULL,
    PRIMARY KEY (uid, scheduled_for)
);

-- The boots of hosts that a schedule with the rule @reboot was decided for; at: the planned moment of the tick, if any.
CREATE TABLE foliot.boots (
    uid     text COLLATE "C" NOT NULL,
    boot_id text NOT NULL,
    at      bigint,
    PRIMARY KEY (uid, boot_id)
);

CREATE TABLE foliot.ticks (
    uid           text COLLATE "C" NOT NULL,
    scheduled_for bigint NOT NULL,
    "until"       bigint NOT NULL,
    count         bigint NOT NULL CHECK (count > 0),
    outcome       text NOT NULL
                  CHECK (outcome IN ('ran', 'skipped', 'missed', 'coalesced', 'failed', 'cancelled')),
    reason        text NOT NULL,
    fire_at       bigint NOT NULL,
    revision      integer NOT NULL,
    run_id        text COLLATE "C",
    into_tick     bigint,
    key           text,
    decided_at    bigint NOT NULL,
    PRIMARY KEY (uid, scheduled_for),
    CHECK ("until" >= scheduled_for),
    CHECK ((run_id IS NOT NULL) = (outcome = 'ran')),
    CHECK ((key IS NULL) = ("until" > scheduled_for))
);
-- Most ticks run. The others are looked for by outcome, among many.
CREATE INDEX ticks_outcome ON foliot.ticks (uid, outcome, scheduled_for) WHERE outcome <> 'ran';

-- Runs ---------------------------------------------------------------------------------------------------------------

-- A run is written when it is created and when an attempt ends, never in between. Pages have free space, and no index
-- contains a column that a success changes, so that its update changes no index.
-- parent_id: the tree that is notified of the end; root_id: the outermost tree; child_key: the step or item in the
-- parent.
CREATE TABLE foliot.runs (
    id            text COLLATE "C" PRIMARY KEY,
    project       text COLLATE "C" NOT NULL,
    job_id        text COLLATE "C" NOT NULL,
    queue         text COLLATE "C" NOT NULL,
    priority      integer NOT NULL,
    trigger       text NOT NULL,
    status        text NOT NULL,
    trouble       text,
    reason        text,
    due_at        bigint NOT NULL,
    created_at    bigint NOT NULL,
    started_at    bigint,
    finished_at   bigint,
    attempt       integer NOT NULL DEFAULT 0,
    lost          integer NOT NULL DEFAULT 0,
    exit_code     integer,
    error         text,
    worker_id     text COLLATE "C",
    token         bigint,
    payload       text,
    overrides     text,
    limits        text,
    schedule_uid  text COLLATE "C",
    schedule_id   text COLLATE "C",
    scheduled_for bigint,
    tick_key      text,
    parent_id     text COLLATE "C",
    root_id       text COLLATE "C",
    child_key     text COLLATE "C",
    definition_id text,
    -- One condition for all columns: the server checks conditions with every statement that changes a run.
    CONSTRAINT runs_whole CHECK (CASE status
        WHEN 'scheduled' THEN trouble IS NULL AND finished_at IS NULL
        WHEN 'success' THEN trouble IS NULL
            AND finished_at IS NOT NULL AND finished_at >= coalesce(started_at, created_at)
        ELSE trouble IS NOT NULL AND trouble = status
            AND status IN ('partial', 'failed', 'timeout', 'cancelled', 'skipped')
            AND finished_at IS NOT NULL AND finished_at >= coalesce(started_at, created_at)
        END)
) WITH (fillfactor = 40);

CREATE INDEX runs_job ON foliot.runs (project, job_id, id);
CREATE INDEX runs_schedule ON foliot.runs (schedule_uid, id) WHERE schedule_uid IS NOT NULL;
CREATE INDEX runs_by_root ON foliot.runs (root_id, id) WHERE root_id IS NOT NULL;
CREATE INDEX runs_by_child ON foliot.runs (parent_id, child_key) WHERE parent_id IS NOT NULL;
CREATE INDEX runs_by_parent ON foliot.runs (parent_id, id) WHERE parent_id IS NOT NULL;
-- Runs that are no children: a list of them does not walk through the children of a fanout.
CREATE INDEX runs_roots ON foliot.runs (project, id) WHERE parent_id IS NULL;
CREATE INDEX runs_child_trouble ON foliot.runs (parent_id, child_key) WHERE parent_id IS NOT NULL AND trouble IS NOT NULL;
-- Only runs that call the application's launcher are looked for by the key of their tick.
CREATE INDEX runs_launched ON foliot.runs (tick_key, id) WHERE job_id = 'foliot.launch';
-- Runs that ended without success, by how they ended. `trouble` repeats the status, because no index may contain the
-- status itself (see above): a success leaves `trouble` NULL.
CREATE INDEX runs_trouble ON foliot.runs (project, trouble, id) WHERE trouble IS NOT NULL;
CREATE INDEX runs_roots_trouble ON foliot.runs (trouble, id) WHERE parent_id IS NULL AND trouble IS NOT NULL;
CREATE INDEX runs_job_trouble ON foliot.runs (project, job_id, trouble, id) WHERE trouble IS NOT NULL;
CREATE INDEX runs_schedule_trouble ON foliot.runs (schedule_uid, trouble, id)
    WHERE schedule_uid IS NOT NULL AND trouble IS NOT NULL;

CREATE TABLE foliot.later (
    due_at bigint NOT NULL,
    run_id text COLLATE "C" NOT NULL UNIQUE,
    PRIMARY KEY (due_at, run_id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);

CREATE TABLE foliot.ready (
    queue  text COLLATE "C" NOT NULL,
    rank   bigint NOT NULL,
    run_id text COLLATE "C" NOT NULL UNIQUE,
    PRIMARY KEY (queue, rank, run_id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);

CREATE SEQUENCE foliot.lease_token AS bigint CACHE 1;

-- A run has at most one lease, and every statement that reads a lease has the id of its run: the token needs no index.
-- is_bare: the run has no parent, no limits and no schedule, so that its end affects no other row.
-- report_by: for a run of the application's executor, worker_id '@executor': when it ends if no report arrives.
CREATE TABLE foliot.leases (
    token      bigint NOT NULL,
    run_id     text COLLATE "C" PRIMARY KEY,
    worker_id  text COLLATE "C" NOT NULL,
    attempt    integer NOT NULL CHECK (attempt > 0),
    started_at bigint NOT NULL,
    cancel_at  bigint,
    is_bare    boolean NOT NULL,
    progress   double precision CHECK (progress BETWEEN 0 AND 1),
    progress_text text,
    progress_at bigint CHECK ((progress_at IS NULL) = (progress IS NULL)),
    report_by  bigint
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);

-- process: boot id, PID namespace, PID and start time, or empty.
CREATE TABLE foliot.workers (
    id            text COLLATE "C" PRIMARY KEY,
    name          text NOT NULL,
    queues        text[] NOT NULL,
    slots         integer NOT NULL,
    registered_at bigint NOT NULL,
    seen_at       bigint NOT NULL,
    process       text NOT NULL DEFAULT '',
    expires_at    bigint NOT NULL,
    is_draining   boolean NOT NULL DEFAULT false,
    facts         text NOT NULL DEFAULT '{}',
    orders        text NOT NULL DEFAULT '' CHECK (orders IN ('', 'pause', 'drain'))
) WITH (fillfactor = 40);

-- Workers with these names, or of these enrolments, are paused when they register.
CREATE TABLE foliot.paused_pools (
    name text COLLATE "C" PRIMARY KEY
);

CREATE TABLE foliot.limits (
    key      text COLLATE "C" PRIMARY KEY,
    capacity integer NOT NULL CHECK (capacity > 0)
) WITH (fillfactor = 70);

CREATE TABLE foliot.holds (
    key         text COLLATE "C" NOT NULL,
    run_id      text COLLATE "C" NOT NULL,
    rank        bigint NOT NULL,
    is_admitted boolean NOT NULL,
    PRIMARY KEY (key, run_id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);

CREATE INDEX holds_run ON foliot.holds (run_id);
CREATE INDEX holds_waiting ON foliot.holds (key, rank, run_id) WHERE NOT is_admitted;

CREATE TABLE foliot.dedupe (
    project    text COLLATE "C" NOT NULL,
    job_id     text COLLATE "C" NOT NULL,
    key        text COLLATE "C" NOT NULL,
    run_id     text COLLATE "C" NOT NULL,
    scope      text NOT NULL CHECK (scope IN ('forever', 'active', 'window')),
    expires_at bigint,
    PRIMARY KEY (project, job_id, key),
    CHECK ((expires_at IS NOT NULL) = (scope = 'window'))
);

CREATE INDEX dedupe_run ON foliot.dedupe (run_id);
CREATE INDEX dedupe_expiry ON foliot.dedupe (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE foliot.attempts (
    run_id      text COLLATE "C" NOT NULL,
    number      integer NOT NULL,
    token       bigint NOT NULL,
    worker_id   text COLLATE "C" NOT NULL,
    started_at  bigint NOT NULL,
    finished_at bigint NOT NULL,
    status      text NOT NULL,
    reason      text,
    exit_code   integer,
    error       text,
    PRIMARY KEY (run_id, number),
    CHECK (finished_at >= started_at)
);

CREATE TABLE foliot.outputs (
    run_id text COLLATE "C" PRIMARY KEY,
    body   text NOT NULL
);

CREATE TABLE foliot.log_chunks (
    run_id text COLLATE "C" NOT NULL,
    token  bigint NOT NULL,
    seq    bigint NOT NULL,
    at     bigint NOT NULL,
    stream text NOT NULL,
    data   bytea NOT NULL,
    PRIMARY KEY (run_id, token, seq)
);

CREATE INDEX log_chunks_at ON foliot.log_chunks (at);

-- Workflows, trees and gates ------------------------------------------------------------------------------------------

-- A job that waits for another one. An edge has one row for each result of the parent after which the child starts.
CREATE TABLE foliot.dependencies (
    project   text COLLATE "C" NOT NULL,
    child_id  text COLLATE "C" NOT NULL,
    parent_id text COLLATE "C" NOT NULL,
    condition text NOT NULL CHECK (condition IN ('success', 'failure', 'skipped', 'complete')),
    PRIMARY KEY (project, child_id, parent_id, condition)
);

CREATE INDEX dependencies_parent ON foliot.dependencies (project, parent_id);

-- A deleted workflow keeps its versions: its open executions go on, and its history can be read.
CREATE TABLE foliot.workflows (
    project    text COLLATE "C" NOT NULL,
    id         text COLLATE "C" NOT NULL,
    version    integer NOT NULL CHECK (version >= 1),
    spec       text NOT NULL,
    created_at bigint NOT NULL,
    deleted_at bigint,
    PRIMARY KEY (project, id, version)
);

CREATE TABLE foliot.paused_steps (
    project     text COLLATE "C" NOT NULL,
    workflow_id text COLLATE "C" NOT NULL,
    step        text COLLATE "C" NOT NULL,
    PRIMARY KEY (project, workflow_id, step)
);

-- A run that was opened as a tree: it runs without a worker, until ended_at. state increases with every write.
CREATE TABLE foliot.trees (
    run_id    text COLLATE "C" PRIMARY KEY,
    project   text COLLATE "C" NOT NULL,
    kind      text NOT NULL,
    job_id    text COLLATE "C" NOT NULL,
    version   integer NOT NULL,
    state     bigint NOT NULL,
    open      integer NOT NULL CHECK (open >= 0),
    opened_at bigint NOT NULL,
    root_id   text COLLATE "C" NOT NULL,
    depth     integer NOT NULL,
    held      text,
    progress  text,
    size      integer NOT NULL,
    deadline  bigint,
    cancel_at bigint,
    is_ending boolean NOT NULL,
    ended_at  bigint,
    CHECK (ended_at IS NULL OR open = 0)
) WITH (fillfactor = 60);

CREATE INDEX trees_job ON foliot.trees (project, job_id, run_id);
CREATE INDEX trees_active ON foliot.trees (run_id) WHERE ended_at IS NULL;
CREATE INDEX trees_active_job ON foliot.trees (project, job_id, run_id) WHERE ended_at IS NULL;
CREATE INDEX trees_deadline ON foliot.trees (deadline)
    WHERE deadline IS NOT NULL AND ended_at IS NULL AND NOT is_ending;

-- What a tree was opened with. Never changed.
CREATE TABLE foliot.tree_bodies (
    run_id text COLLATE "C" PRIMARY KEY,
    body   text NOT NULL
);

-- The items of a fanout, many in one row: the body is a JSON array with `count` items, the first with the index `first`.
CREATE TABLE foliot.items (
    run_id  text COLLATE "C" NOT NULL,
    first   integer NOT NULL CHECK (first >= 0),
    count   integer NOT NULL CHECK (count >= 0),
    is_last boolean NOT NULL,
    body    text NOT NULL,
    PRIMARY KEY (run_id, first)
);
CREATE INDEX items_by_run ON foliot.items (run_id) WHERE first = 0;

-- A document that several trees share: that of a class of chains. version rises with every change; 0: not written yet.
CREATE TABLE foliot.shared_documents (
    project text COLLATE "C" NOT NULL,
    key     text COLLATE "C" NOT NULL,
    version bigint NOT NULL CHECK (version >= 0),
    body    text CHECK ((body IS NULL) = (version = 0)),
    PRIMARY KEY (project, key)
) WITH (fillfactor = 60);

-- One row for each chain that was armed. run_id is the run of its tree.
CREATE TABLE foliot.chains (
    run_id     text COLLATE "C" PRIMARY KEY,
    project    text COLLATE "C" NOT NULL,
    chain_id   text COLLATE "C" NOT NULL,
    class_id   text COLLATE "C" NOT NULL,
    slot       text COLLATE "C" NOT NULL,
    state      text NOT NULL CHECK (state IN ('armed', 'active', 'cooling_down', 'closed')),
    outcome    text CHECK ((outcome IS NOT NULL) = (state = 'closed')),
    armed_at   bigint NOT NULL,
    deadline   bigint,
    expires_at bigint NOT NULL CHECK (expires_at > armed_at),
    closed_at  bigint CHECK ((closed_at IS NOT NULL) = (state = 'closed')),
    children   integer NOT NULL CHECK (children >= 0),
    tokens     bigint NOT NULL CHECK (tokens >= 0),
    usd        double precision NOT NULL CHECK (usd >= 0)
);
CREATE UNIQUE INDEX chains_open_slot ON foliot.chains (project, class_id, slot) WHERE state <> 'closed';
CREATE INDEX chains_by_time ON foliot.chains (project, armed_at, run_id);
CREATE INDEX chains_by_class ON foliot.chains (project, class_id, armed_at, run_id);
CREATE INDEX chains_open ON foliot.chains (project, armed_at, run_id) WHERE state <> 'closed';
CREATE INDEX chains_by_id ON foliot.chains (project, chain_id, armed_at, run_id);

-- nth: the order in the workflow. run_id is the run of the tree, step_run_id the run of the step.
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

-- Unsettled changes: a child of the tree has ended or, if both are the same run, the tree itself must be settled.
CREATE TABLE foliot.notes (
    parent_id text COLLATE "C" NOT NULL,
    run_id    text COLLATE "C" NOT NULL,
    PRIMARY KEY (parent_id, run_id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);

-- Runs that wait for the decision of their gate, whether they are due or not.
CREATE TABLE foliot.gated (
    due_at bigint NOT NULL,
    run_id text COLLATE "C" NOT NULL UNIQUE,
    PRIMARY KEY (due_at, run_id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);

-- Jobs whose ends are kept in order of time, because a gate depends on them. The job is the first column: ending a run
-- reads by job only.
CREATE TABLE foliot.watched (
    project   text COLLATE "C" NOT NULL,
    job_id    text COLLATE "C" NOT NULL,
    look_back bigint NOT NULL DEFAULT 0,
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

-- Runs that the application's executor has or had: its id of the run, and when it reported the start.
CREATE TABLE foliot.launches (
    run_id          text COLLATE "C" PRIMARY KEY,
    executor_run_id text,
    started_at      bigint
);

CREATE TABLE foliot.decisions (
    run_id text COLLATE "C" PRIMARY KEY,
    body   text NOT NULL
);

-- Upkeep -------------------------------------------------------------------------------------------------------------

-- An event is numbered by its transaction: sixteen numbers each. A sequence would be wrong, because a number that was
-- drawn early may be committed late, after a reader has passed it. Readers stop before open transactions.
CREATE TABLE foliot.events (
    seq   bigint PRIMARY KEY,
    at    bigint NOT NULL,
    kind  text NOT NULL,
    items text NOT NULL
);

-- `event_base` raises the numbers of a database that was restored into a server with lower transaction numbers.
CREATE FUNCTION foliot.event_seq(xid xid8, nth integer) RETURNS bigint LANGUAGE sql STABLE
    AS $$ SELECT (xid::text::bigint + (SELECT value::bigint FROM foliot.meta WHERE key = 'event_base')) * 16 + nth $$;

-- Named listeners: all events up to position were delivered; holder delivers the next ones, until it expires.
CREATE TABLE foliot.listeners (
    name       text COLLATE "C" PRIMARY KEY,
    position   bigint NOT NULL,
    holder     text NOT NULL,
    expires_at bigint NOT NULL
);

-- The databases that fanouts may read. sealed is the encrypted DSN; its key is never in the database.
CREATE TABLE foliot.dsns (
    name       text COLLATE "C" PRIMARY KEY,
    engine     text NOT NULL,
    sealed     bytea NOT NULL,
    updated_at bigint NOT NULL
);

-- Messages to send, each to one target: see `ports/deliveries.py`. owner: the job whose option names the target. A taken
-- delivery is pending, and due again when its attempt should long be over.
CREATE TABLE foliot.deliveries (
    id          text COLLATE "C" PRIMARY KEY,
    target      text NOT NULL,
    owner       text COLLATE "C",
    run_id      text COLLATE "C",
    receiver    text COLLATE "C" NOT NULL,
    document    text NOT NULL,
    state       text NOT NULL CHECK (state IN ('pending', 'delivered', 'failed', 'dropped')),
    attempts    integer NOT NULL CHECK (attempts >= 0),
    due_at      bigint NOT NULL,
    created_at  bigint NOT NULL,
    finished_at bigint,
    answer      text,
    CHECK ((finished_at IS NULL) = (state = 'pending'))
);

CREATE INDEX deliveries_due ON foliot.deliveries (due_at) WHERE state = 'pending';
CREATE INDEX deliveries_failed ON foliot.deliveries (finished_at) WHERE state = 'failed';
CREATE INDEX deliveries_accepted ON foliot.deliveries (receiver, finished_at) WHERE state = 'delivered';
CREATE INDEX deliveries_over ON foliot.deliveries (finished_at) WHERE finished_at IS NOT NULL;

-- Tokens of programs. digest is the SHA-256 of the token, which is stored nowhere. A token has a role or scopes.
CREATE TABLE foliot.tokens (
    id           text COLLATE "C" PRIMARY KEY,
    name         text COLLATE "C" NOT NULL,
    role         text,
    scopes       text NOT NULL,
    digest       bytea NOT NULL,
    expires_at   bigint,
    created_at   bigint NOT NULL,
    created_by   text NOT NULL,
    last_used_at bigint,
    revoked_at   bigint,
    CHECK ((role IS NULL) = (scopes <> '[]'))
);
CREATE UNIQUE INDEX tokens_name ON foliot.tokens (name) WHERE revoked_at IS NULL;

-- Workers that may connect over HTTP. sealed is the encrypted secret, NULL until an invited worker has joined.
CREATE TABLE foliot.enrolments (
    id              text COLLATE "C" PRIMARY KEY,
    name            text COLLATE "C" NOT NULL UNIQUE,
    labels          text NOT NULL,
    kinds           text NOT NULL,
    sealed          bytea,
    join_digest     bytea,
    join_expires_at bigint,
    created_at      bigint NOT NULL,
    created_by      text NOT NULL,
    disabled_at     bigint,
    last_used_at    bigint,
    CHECK ((sealed IS NULL) = (join_digest IS NOT NULL)),
    CHECK ((join_digest IS NULL) = (join_expires_at IS NULL))
);

-- Nonces of signed requests, until a request with their timestamp would be refused.
CREATE TABLE foliot.nonces (
    enrolment_id text COLLATE "C" NOT NULL,
    nonce        text COLLATE "C" NOT NULL,
    expires_at   bigint NOT NULL,
    PRIMARY KEY (enrolment_id, nonce)
);
CREATE INDEX nonces_expiry ON foliot.nonces (expires_at);

-- People. password is an Argon2id digest.
CREATE TABLE foliot.users (
    name       text COLLATE "C" PRIMARY KEY,
    role       text NOT NULL,
    password   text NOT NULL,
    created_at bigint NOT NULL,
    created_by text NOT NULL,
    changed_at bigint NOT NULL
);

-- Logins. digest is the SHA-256 of the id that the browser has.
CREATE TABLE foliot.sessions (
    digest     bytea PRIMARY KEY,
    "user"     text COLLATE "C" NOT NULL,
    expires_at bigint NOT NULL,
    created_at bigint NOT NULL,
    seen_at    bigint NOT NULL
);
CREATE INDEX sessions_user ON foliot.sessions ("user");
CREATE INDEX sessions_expiry ON foliot.sessions (expires_at);

-- Requests with an idempotency key, and their answers once they have one.
CREATE TABLE foliot.requests (
    principal   text COLLATE "C" NOT NULL,
    key         text COLLATE "C" NOT NULL,
    digest      bytea NOT NULL,
    resource_id text NOT NULL,
    begun_at    bigint NOT NULL,
    expires_at  bigint NOT NULL,
    status      integer,
    body        bytea,
    PRIMARY KEY (principal, key)
);
CREATE INDEX requests_expiry ON foliot.requests (expires_at);

-- Who changed what. before and after are JSON documents without secrets.
CREATE TABLE foliot.audit (
    seq    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at     bigint NOT NULL,
    actor  text COLLATE "C" NOT NULL,
    detail text NOT NULL,
    action text NOT NULL,
    kind   text NOT NULL,
    id     text COLLATE "C" NOT NULL,
    before text,
    after  text
);
CREATE INDEX audit_at ON foliot.audit (at, seq);
CREATE INDEX audit_actor ON foliot.audit (actor, at, seq);
CREATE INDEX audit_id ON foliot.audit (id, at, seq);

CREATE TABLE foliot.leader (
    name       text PRIMARY KEY,
    holder     text NOT NULL,
    epoch      bigint NOT NULL,
    expires_at bigint NOT NULL
);

-- The latest step of the clock that each process has found, and its latest difference from the clock of the database.
CREATE TABLE foliot.clock_faults (
    node text COLLATE "C" NOT NULL,
    kind text NOT NULL CHECK (kind IN ('step', 'skew')),
    size bigint NOT NULL,
    at   bigint NOT NULL,
    PRIMARY KEY (node, kind)
);
