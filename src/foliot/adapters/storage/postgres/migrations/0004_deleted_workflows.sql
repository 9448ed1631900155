-- A workflow that is deleted keeps its versions: what is under way goes on, and its history can be read.

ALTER TABLE foliot.workflows ADD COLUMN deleted_at bigint;
