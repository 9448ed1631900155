-- The tables of Foliot. Moments and spans are whole milliseconds, moments since 1970 in UTC; documents are JSON.
--
--     runs (cold)     later -> [holds] -> ready -> leases -> runs        where a run that is not over stands
--
-- Ids are compared as bytes: it is faster than any language's order and the same on every server.
-- Names are written with the default schema; another one takes its place when the file is read.

CREATE TABLE foliot.meta (
    key   text PRIMARY KEY,
    value text NOT NULL
);

INSERT INTO foliot.meta (key, value) VALUES ('min_code', '1'), ('event_base', '0');

CREATE FUNCTION foliot.now_ms() RETURNS bigint LANGUAGE sql VOLATILE PARALLEL SAFE
    AS $$ SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint $$;

CREATE TABLE foliot.jobs (
    project    text COLLATE "C" NOT NULL,
    id         text COLLATE "C" NOT NULL,
    spec       text NOT NULL,
    revision   integer NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    PRIMARY KEY (project, id)
);

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
CREATE INDEX schedules_job ON foliot.schedules (project, job_id);

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

CREATE TABLE foliot.planned (
    uid           text COLLATE "C" NOT NULL,
    scheduled_for bigint NOT NULL,
    fire_at       bigint NOT NULL,
    revision      integer NOT NULL,
    PRIMARY KEY (uid, scheduled_for)
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

-- Runs ---------------------------------------------------------------------------------------------------------------

-- A run is written when it is created and when an attempt ends, never in between. Room is left in the pages, and no
-- index names what a success changes, so that its update touches no index.
CREATE TABLE foliot.runs (
    id            text COLLATE "C" PRIMARY KEY,
    project       text COLLATE "C" NOT NULL,
    job_id        text COLLATE "C" NOT NULL,
    queue         text COLLATE "C" NOT NULL,
    priority      integer NOT NULL,
    trigger       text NOT NULL,
    status        text NOT NULL
                  CHECK (status IN ('scheduled', 'success', 'partial', 'failed', 'timeout', 'cancelled', 'skipped')),
    is_trouble    boolean NOT NULL DEFAULT false,
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
    CHECK ((finished_at IS NOT NULL) = (status <> 'scheduled')),
    CHECK (finished_at >= coalesce(started_at, created_at)),
    CHECK (is_trouble = (status NOT IN ('scheduled', 'success')))
) WITH (fillfactor = 40);

CREATE INDEX runs_job ON foliot.runs (project, job_id, id);
CREATE INDEX runs_schedule ON foliot.runs (schedule_uid, id) WHERE schedule_uid IS NOT NULL;
-- The status itself must not be named here (see above): a success leaves `is_trouble` as it is.
CREATE INDEX runs_trouble ON foliot.runs (project, id) WHERE is_trouble;

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

CREATE TABLE foliot.leases (
    token      bigint PRIMARY KEY,
    run_id     text COLLATE "C" NOT NULL UNIQUE,
    worker_id  text COLLATE "C" NOT NULL,
    attempt    integer NOT NULL CHECK (attempt > 0),
    started_at bigint NOT NULL,
    cancel_at  bigint
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);

CREATE TABLE foliot.workers (
    id            text COLLATE "C" PRIMARY KEY,
    name          text NOT NULL,
    queues        text[] NOT NULL,
    slots         integer NOT NULL,
    registered_at bigint NOT NULL,
    seen_at       bigint NOT NULL,
    expires_at    bigint NOT NULL
) WITH (fillfactor = 40);

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

-- Upkeep -------------------------------------------------------------------------------------------------------------

-- An event is numbered by its transaction: sixteen numbers each. A sequence would not do, because a number that was
-- drawn early may be committed late, behind the back of a reader. Readers stop where transactions are under way.
CREATE TABLE foliot.events (
    seq   bigint PRIMARY KEY,
    at    bigint NOT NULL,
    kind  text NOT NULL,
    items text NOT NULL
);

-- `event_base` lifts the numbers of a database that was restored into a server with younger transactions.
CREATE FUNCTION foliot.event_seq(xid xid8, nth integer) RETURNS bigint LANGUAGE sql STABLE
    AS $$ SELECT (xid::text::bigint + (SELECT value::bigint FROM foliot.meta WHERE key = 'event_base')) * 16 + nth $$;

CREATE TABLE foliot.leader (
    name       text PRIMARY KEY,
    holder     text NOT NULL,
    epoch      bigint NOT NULL,
    expires_at bigint NOT NULL
);
