-- A file or a folder that a worker or a job has left. Its content is in pieces, so that no process holds all of it.
create table "artifact" (
  "id" uuid not null,
  -- Null: the worker or job is gone, and the sweep removes the artifact with its content.
  "object_id" uuid,
  "event_id" uuid not null,
  "project_id" uuid not null,
  "name" text not null,
  -- A folder is a compressed tar archive.
  "is_folder" boolean not null,
  "created_at" timestamptz(3) not null,
  -- Null: it is not complete, and nobody sees it.
  "completed_at" timestamptz(3),
  -- Null: it is kept as long as its event.
  "expires_at" timestamptz(3),
  "size" bigint not null default 0,
  "sha256" bytea,
  constraint "artifact_pkey" primary key ("id"),
  constraint "artifact_object_id_fkey" foreign key ("object_id") references "object" ("id") on delete set null on update cascade
);
-- An upload that is repeated after a lost answer finds the first one.
create unique index "artifact_complete_key" on "artifact" ("object_id", "name") where "completed_at" is not null;
create index "artifact_object_id_name_idx" on "artifact" ("object_id", "name");
create index "artifact_event_id_id_idx" on "artifact" ("event_id", "id");
-- The quota of a project is counted from its rows.
create index "artifact_project_id_size_idx" on "artifact" ("project_id", "size");
create index "artifact_expires_idx" on "artifact" ("expires_at") where "completed_at" is not null;
create index "artifact_unseen_idx" on "artifact" ("created_at") where "completed_at" is null or "object_id" is null;

create table "artifact_chunk" (
  "artifact_id" uuid not null,
  "ordinal" integer not null,
  "content" bytea not null,
  constraint "artifact_chunk_pkey" primary key ("artifact_id", "ordinal"),
  constraint "artifact_chunk_artifact_id_fkey" foreign key ("artifact_id") references "artifact" ("id") on delete cascade on update cascade
);
-- Compressing it again would cost time and save nothing.
alter table "artifact_chunk" alter "content" set storage external;
