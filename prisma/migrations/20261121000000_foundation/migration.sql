-- The store of the foundation: object trees, their work, wake-ups, scope data and the log.
-- Lifecycle rows are narrow and carry no index on anything that a phase write changes, so that every phase write
-- is a heap-only update; specs, errors and progress live in side tables.

create type "object_kind" as enum ('INSTALLATION', 'EXECUTION', 'DEPLOY_ITEM', 'EVENT', 'WORKER', 'JOB', 'TASK', 'GADGET_JOB', 'CLOUDLET', 'CLUSTER_INST', 'APP_INST');
create type "actor" as enum ('USER', 'CONTROLLER', 'DEPLOYER', 'RUNTIME', 'WORKER', 'GADGET_RUNNER', 'CRM', 'CRM_V1', 'CRM_V2');
create type "phase" as enum ('PENDING', 'PENDING_DEPENDENCIES', 'INIT', 'CLEANUP_ORPHANED', 'OBJECTS_CREATED', 'PROGRESSING', 'COMPLETING', 'SUCCEEDED', 'FAILED', 'ABORTED', 'INIT_DELETE', 'TRIGGER_DELETE', 'DELETING', 'DELETE_FAILED', 'STARTING', 'RUNNING', 'UNKNOWN', 'CANCELED', 'SCHEDULING_FAILED', 'TIMED_OUT', 'DECLARING', 'WAITING', 'DONE', 'UNDOING', 'UNDO_FAILED', 'ABORTING', 'SKIPPED', 'NOT_PRESENT', 'CREATE_REQUESTED', 'CREATING', 'CREATE_ERROR', 'READY', 'UPDATE_REQUESTED', 'UPDATING', 'UPDATE_ERROR', 'DELETE_PREPARE', 'DELETE_REQUESTED', 'DELETED', 'DELETE_ERROR', 'OFFLINE', 'INIT_OK', 'GONE');
create type "work_action" as enum ('RECONCILE', 'DELETE', 'START', 'STOP', 'REMOVE', 'GET_LOCKS', 'RUN', 'UNDO', 'ABORT');
create type "reconcile_mode" as enum ('STANDARD', 'IF_CHANGED', 'FORCE');

create table "project" (
  "id" uuid not null,
  "name" text not null,
  "created_at" timestamptz(3) not null,
  "updated_at" timestamptz(3) not null,
  constraint "project_pkey" primary key ("id")
);
create unique index "project_name_key" on "project" ("name");

create table "object" (
  "id" uuid not null,
  "root_id" uuid not null,
  "parent_id" uuid,
  "project_id" uuid not null,
  "kind" "object_kind" not null,
  "name" text not null,
  "ordinal" integer not null,
  "phase" "phase" not null,
  "phase_since" timestamptz(3) not null,
  "revision" integer not null default 1,
  "generation" integer not null default 1,
  "observed_generation" integer not null default 0,
  "job_id" uuid,
  "finished_job_id" uuid,
  "deletion_requested_at" timestamptz(3),
  "waiting_for" integer not null default 0,
  "created_at" timestamptz(3) not null,
  "updated_at" timestamptz(3) not null,
  constraint "object_pkey" primary key ("id"),
  constraint "object_parent_id_fkey" foreign key ("parent_id") references "object" ("id") on delete no action on update cascade,
  constraint "object_project_id_fkey" foreign key ("project_id") references "project" ("id") on delete restrict on update cascade
) with (fillfactor = 50);
create unique index "object_parent_id_kind_name_key" on "object" ("parent_id", "kind", "name");
create index "object_parent_id_ordinal_idx" on "object" ("parent_id", "ordinal");
create index "object_root_id_id_idx" on "object" ("root_id", "id");
-- Roots: unique in their project. (A partial index, which Prisma's schema cannot say; the drift check knows it.)
create unique index "object_root_name_key" on "object" ("project_id", "kind", "name") where "parent_id" is null;

create table "object_spec" (
  "object_id" uuid not null,
  "spec" jsonb not null,
  "labels" jsonb not null default '{}',
  constraint "object_spec_pkey" primary key ("object_id"),
  constraint "object_spec_object_id_fkey" foreign key ("object_id") references "object" ("id") on delete cascade on update cascade
);
create index "object_spec_labels_idx" on "object_spec" using gin ("labels" jsonb_path_ops) where "labels" <> '{}';

create table "object_status" (
  "object_id" uuid not null,
  "error" jsonb,
  "progress" jsonb,
  constraint "object_status_pkey" primary key ("object_id"),
  constraint "object_status_object_id_fkey" foreign key ("object_id") references "object" ("id") on delete cascade on update cascade
) with (fillfactor = 70);

-- Counts over the direct children within the current job, so that no step ever reloads them.
create table "tally" (
  "object_id" uuid not null,
  "total" integer not null default 0,
  "untriggered" integer not null default 0,
  "open" integer not null default 0,
  "failed" integer not null default 0,
  "cursor" integer not null default 0,
  constraint "tally_pkey" primary key ("object_id"),
  constraint "tally_object_id_fkey" foreign key ("object_id") references "object" ("id") on delete cascade on update cascade
) with (fillfactor = 50);

-- from depends on to: siblings of one parent.
create table "edge" (
  "from_id" uuid not null,
  "to_id" uuid not null,
  constraint "edge_pkey" primary key ("from_id", "to_id"),
  constraint "edge_from_id_fkey" foreign key ("from_id") references "object" ("id") on delete cascade on update cascade,
  constraint "edge_to_id_fkey" foreign key ("to_id") references "object" ("id") on delete cascade on update cascade
);
create index "edge_to_id_idx" on "edge" ("to_id");

create table "installation" (
  "object_id" uuid not null,
  "ignored" boolean not null default false,
  "mode" "reconcile_mode" not null default 'STANDARD',
  "next_mode" "reconcile_mode",
  "next_deletion" boolean not null default false,
  "force_deletion" boolean not null default false,
  "without_uninstall" boolean not null default false,
  "cancel_requested_at" timestamptz(3),
  "cancel_by" text,
  "imports" jsonb,
  "exports" jsonb,
  constraint "installation_pkey" primary key ("object_id"),
  constraint "installation_object_id_fkey" foreign key ("object_id") references "object" ("id") on delete cascade on update cascade
) with (fillfactor = 70);

create table "deploy_item" (
  "object_id" uuid not null,
  "type" text not null,
  "target" text,
  "exports" jsonb,
  constraint "deploy_item_pkey" primary key ("object_id"),
  constraint "deploy_item_object_id_fkey" foreign key ("object_id") references "object" ("id") on delete cascade on update cascade
) with (fillfactor = 70);

-- One row for each object that agents have had work of; it outlives the object for a day, so that a repeated last
-- report is still answered. No foreign key for that reason.
create table "work" (
  "object_id" uuid not null,
  "root_id" uuid not null,
  "type" text not null,
  "target" text,
  "action" "work_action" not null,
  "state" smallint not null,
  "seq" bigint not null,
  "config" jsonb,
  "handed_config" jsonb,
  "handed" boolean not null default false,
  "fence_hash" bytea,
  "job_id" uuid,
  "principal" text,
  "instance" text,
  "attempt" integer not null default 0,
  "lease_until" timestamptz(3),
  "offer_after" timestamptz(3),
  "triggered_at" timestamptz(3) not null,
  "picked_up_at" timestamptz(3),
  "abort_requested_at" timestamptz(3),
  "abort_code" text,
  "progressing_ms" bigint,
  "aborting_ms" bigint,
  "due_at" timestamptz(3),
  "done_at" timestamptz(3),
  constraint "work_pkey" primary key ("object_id")
) with (fillfactor = 50);
create sequence "work_seq" as bigint owned by "work"."seq";
create index "work_offered_idx" on "work" ("type", "seq") where "state" = 0;
create index "work_claimed_idx" on "work" ("lease_until") where "state" = 1;
create index "work_root_idx" on "work" ("root_id") where "state" < 2;
create index "work_done_idx" on "work" ("done_at") where "state" = 2;

-- Which trees want attention. Inserting is all that another tree's transaction ever does here.
create table "wake" (
  "id" bigint generated always as identity,
  "root_id" uuid not null,
  "object_ids" uuid[] not null,
  "reason" text,
  constraint "wake_pkey" primary key ("id")
);
create index "wake_root_id_idx" on "wake" ("root_id");

create table "root_queue" (
  "root_id" uuid not null,
  "wake_at" timestamptz(3) not null,
  "failures" integer not null default 0,
  constraint "root_queue_pkey" primary key ("root_id")
) with (fillfactor = 70);
create index "root_queue_wake_at_idx" on "root_queue" ("wake_at");

-- The scope of a project: what its roots declare to export and import, the data itself, and who holds on to what.
create table "root_export" (
  "project_id" uuid not null,
  "name" text not null,
  "exporter_id" uuid not null,
  constraint "root_export_pkey" primary key ("project_id", "name"),
  constraint "root_export_exporter_id_fkey" foreign key ("exporter_id") references "object" ("id") on delete cascade on update cascade
);
create index "root_export_exporter_id_idx" on "root_export" ("exporter_id");
create table "root_import" (
  "project_id" uuid not null,
  "name" text not null,
  "importer_id" uuid not null,
  constraint "root_import_pkey" primary key ("project_id", "name", "importer_id"),
  constraint "root_import_importer_id_fkey" foreign key ("importer_id") references "object" ("id") on delete cascade on update cascade
);
create index "root_import_importer_id_idx" on "root_import" ("importer_id");
create table "data_object" (
  "project_id" uuid not null,
  "name" text not null,
  "value" jsonb not null,
  "exporter_id" uuid,
  "updated_at" timestamptz(3) not null,
  constraint "data_object_pkey" primary key ("project_id", "name"),
  constraint "data_object_project_id_fkey" foreign key ("project_id") references "project" ("id") on delete cascade on update cascade
);
create table "export_pin" (
  "exporter_id" uuid not null,
  "importer_id" uuid not null,
  constraint "export_pin_pkey" primary key ("exporter_id", "importer_id"),
  constraint "export_pin_exporter_id_fkey" foreign key ("exporter_id") references "object" ("id") on delete cascade on update cascade,
  constraint "export_pin_importer_id_fkey" foreign key ("importer_id") references "object" ("id") on delete cascade on update cascade
);
create index "export_pin_importer_id_idx" on "export_pin" ("importer_id");

-- The log. Rows are written once and never updated; transactions are numbered, not rows.
create table "phase_change" (
  "batch_id" bigint not null,
  "idx" integer not null,
  "object_id" uuid not null,
  "root_id" uuid not null,
  "parent_id" uuid,
  "project_name" text not null,
  "kind" "object_kind" not null,
  "name" text not null,
  "machine" text not null,
  "from" "phase",
  "to" "phase" not null,
  "actor" "actor" not null,
  "by" text,
  "reason" text,
  "message" text,
  "job_id" uuid,
  "revision" integer,
  "rejected" boolean not null default false,
  "at" timestamptz(3) not null,
  constraint "phase_change_pkey" primary key ("batch_id", "idx")
);
create index "phase_change_object_idx" on "phase_change" ("object_id", "batch_id", "idx");
create index "phase_change_root_idx" on "phase_change" ("root_id", "batch_id", "idx");
create table "log_batch" (
  "id" bigint not null,
  "n" integer not null,
  "first_seq" bigint,
  constraint "log_batch_pkey" primary key ("id")
) with (fillfactor = 70);
create unique index "log_batch_first_seq_key" on "log_batch" ("first_seq");
create index "log_batch_unnumbered_idx" on "log_batch" ("id") where "first_seq" is null;
-- CACHE 1 and drawn under the root lock by the transaction's last statement: per tree, ids grow in commit order.
create sequence "log_batch_id_seq" as bigint cache 1 owned by "log_batch"."id";
create table "log_meta" (
  "one" boolean not null default true,
  "log_id" uuid not null,
  "floor_seq" bigint not null default 0,
  constraint "log_meta_pkey" primary key ("one"),
  constraint "log_meta_one_check" check ("one")
);
insert into "log_meta" ("log_id") values (gen_random_uuid());

create table "log_line" (
  "object_id" uuid not null,
  "n" bigint generated always as identity,
  "at" timestamptz(3) not null,
  "stream" text not null,
  "text" text not null,
  constraint "log_line_pkey" primary key ("object_id", "n")
);

create table "idempotency_key" (
  "principal" text not null,
  "project_id" uuid not null,
  "mutation" text not null,
  "key" text not null,
  "input_hash" text not null,
  "object_id" uuid not null,
  "created_at" timestamptz(3) not null,
  constraint "idempotency_key_pkey" primary key ("principal", "project_id", "mutation", "key")
);
create index "idempotency_key_created_at_idx" on "idempotency_key" ("created_at");

-- Who may call. Only hashes are kept.
create table "token" (
  "id" uuid not null,
  "hash" bytea not null,
  "name" text not null,
  "role" text not null,
  "actor" "actor" not null,
  "projects" text[],
  "types" text[],
  "targets" text[],
  "created_at" timestamptz(3) not null,
  "expires_at" timestamptz(3),
  constraint "token_pkey" primary key ("id"),
  constraint "token_role_check" check ("role" in ('ADMIN', 'USER', 'READER', 'AGENT'))
);
create unique index "token_hash_key" on "token" ("hash");

create table "agent" (
  "id" uuid not null,
  "name" text not null,
  "instance" text not null,
  "actor" "actor" not null,
  "types" text[] not null,
  "targets" text[],
  "connected_at" timestamptz(3) not null,
  "seen_at" timestamptz(3) not null,
  constraint "agent_pkey" primary key ("id")
);
create unique index "agent_name_instance_key" on "agent" ("name", "instance");
