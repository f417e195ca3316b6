-- The spec that a root's running job works from, once an edit has replaced it: written by the first such edit alone, and
-- dropped when the job ends. A job whose spec is left alone never touches this table.
create table "spec_snapshot" (
  "object_id" uuid not null,
  "generation" integer not null,
  "spec" jsonb not null,
  constraint "spec_snapshot_pkey" primary key ("object_id"),
  constraint "spec_snapshot_object_id_fkey" foreign key ("object_id") references "installation" ("object_id") on delete cascade on update cascade
);
