-- An artifact that is used is an entry of its project's cache: its name is a key, and it belongs to no object. Null: it is no such entry.
alter table "artifact" add column "used_at" timestamptz(3);
-- The first that is complete keeps the key: uploads of a project end one after the other, under a lock.
create index "artifact_cache_key" on "artifact" ("project_id", "name") where "used_at" is not null and "completed_at" is not null;
