-- A run has one lease at most, and whoever asks for a lease knows its run: the token needs no index of its own.

ALTER TABLE foliot.leases DROP CONSTRAINT leases_pkey, DROP CONSTRAINT leases_run_id_key, ADD PRIMARY KEY (run_id);
