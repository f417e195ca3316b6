-- Dry runs of installations: rows of their own, which agents claim besides work. They go after an hour, and with their project.
alter type "work_action" add value 'DRY_RUN';

alter table "agent" add column "dry_runs" boolean not null default false;

create table "dry_run" (
  "id" uuid not null,
  "project_id" uuid not null,
  "name" text not null,
  "root_id" uuid,
  "requested_by" text not null,
  "created_at" timestamptz(3) not null,
  constraint "dry_run_pkey" primary key ("id"),
  constraint "dry_run_project_id_fkey" foreign key ("project_id") references "project" ("id") on delete cascade on update cascade
);
create index "dry_run_project_id_created_at_idx" on "dry_run" ("project_id", "created_at");
create index "dry_run_created_at_idx" on "dry_run" ("created_at");

create table "dry_run_item" (
  "id" uuid not null,
  "dry_run_id" uuid not null,
  "ordinal" integer not null,
  "path" text[] not null,
  "action" text not null,
  "object_id" uuid not null,
  "type" text not null,
  "target" text,
  "config" jsonb,
  "state" smallint not null,
  "reason" text,
  "error_code" text,
  "error_message" text,
  "changes" jsonb,
  "truncated" boolean not null default false,
  "attempt" integer not null default 0,
  "fence_hash" bytea,
  "principal_id" uuid,
  "instance" text,
  "lease_until" timestamptz(3),
  constraint "dry_run_item_pkey" primary key ("id"),
  constraint "dry_run_item_dry_run_id_fkey" foreign key ("dry_run_id") references "dry_run" ("id") on delete cascade on update cascade
);
create index "dry_run_item_dry_run_id_ordinal_idx" on "dry_run_item" ("dry_run_id", "ordinal");
create index "dry_run_item_type_state_idx" on "dry_run_item" ("type", "state");
