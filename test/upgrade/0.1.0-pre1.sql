-- phaseline-dump {"release":"0.1.0-pre1","made":"2026-11-23T04:01:13.536Z","notes":{"admin":"administrator-of-the-release","secretKey":"a2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2s=","tokens":{"deployer":"pl_Bej5gvx_ummohkFz_olt3R0M9TI4hX9kN7STp2bo-D0","runner":"pl_8mmjC6Rs0hF3xQI-oaOsNoYjCkkFfwgPEC8Ims133XY","runtime":"pl_IkZkqR1BQY-GS7lddKAl-xxMpyQWcy1tri7koyGoUJk","crm":"pl_YapvWI6LmFuhsx3Gz5F6lXcWPp8OrafGFVxpH5Vnyyk"},"reader":"pl_gpoufXe4PR0-7iRHyqemYRzXToba-Yo4gxyLLTmP5Fo","worker":"pw_AaIGkKhlcMK0s8044pCR4LHt4yDqJYGyaSeGuBNWvNqMDzsqoWRg-QguY6V0wPMo","fences":{"taken":"AaIGkKKXc_a8Ld9epmzzL0fj6FsaSgbzuPQWgpLUldk","slow":"AaIGkKKtdACIAU5x2yvQNctFiHFuybmL8OGzVuvvJt4","busy":"AaIGkKK_cImsbCj7WdCmhIjxJyHvpKgf88Fwtj8O5xQ","halt":"AaIGkKLcd2yuoHtEGdalxba9_mJ62i6JR9VmbuX-4ak","turning-job":"AaIGkKeqdfW27ny3otwQuPENpn4lhbH0YNTzAXHWJE4","undoing-job":"AaIGkKe5dCqOZC1nS7dKCN0dYOPUdQlTyZAwAPUsGlM","shop:event-2/worker":"AaIGkKhlcMK0s8044pCR4KahB3kZWIv1L-6u-J1d9pc","build":"AaIGkKh2diGGsjZ91TUEB7cJf5YmqsNzFDuCkeVcQxU","bundle":"AaIGkKiBdhaY0qfIM5Mgf6aEofAZFmItbEVIdK5Y8uU","shop:event-3/worker":"AaIGkKiedwiHO6LjhEZ05NyLmlgWpE0EfBnLuSDgq6c","edge:north/one/web":"AaIGkKjkd8KDow8UXKF9Ju_2jZECpRDG-5Hhqkdp4wM","edge:north/two":"AaIGkKj9cKKnYQ0n81f4eAB27kc9u4O0y44bXWwvT5M"},"secret":{"name":"API_KEY","value":"what-nobody-may-read"},"once":{"input":{"name":"platform","labels":[{"key":"team","value":"core"}],"spec":{"exports":[{"name":"cidr","value":"${installations.network.exports.cidr}"}],"installations":[{"name":"network","spec":{"exports":[{"name":"cidr","value":"${deployItems.cidrmade.exports.value}"}],"deployItems":[{"name":"cidrmade","type":"mock","timeouts":{"pickup":{"never":true},"progressing":{"never":true}}}]}},{"name":"apps","spec":{"imports":[{"name":"cidr"}],"deployItems":[{"name":"serve","type":"mock","timeouts":{"pickup":{"never":true},"progressing":{"never":true}},"config":{"given":"${imports.cidr}"}}]}}]},"idempotencyKey":"once"},"id":"01a20690-a156-727e-8de7-8d461a8eb846"},"pages":{"turned":5,"phaseChanges":"47","objects":"WyIwMWEyMDY5MC1hMTU5LTcyNTktOTU1Mi1hZDI1ZmY0YWE4NWUiLCIwMWEyMDY5MC1hMTU5LTcyNTktOTU1Mi1hZDI1ZmY0YWE4NWUiXQ"}}}
-- part: bookkeeping
create table if not exists "_prisma_migrations" (
  "id" varchar(36) primary key not null,
  "checksum" varchar(64) not null,
  "finished_at" timestamptz,
  "migration_name" varchar(255) not null,
  "logs" text,
  "rolled_back_at" timestamptz,
  "started_at" timestamptz not null default now(),
  "applied_steps_count" integer not null default 0
);
-- part: 20261121000000_foundation
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
-- part: 20261121000100_guard
-- Made from the machine tables by `npm run generate`; a check compares the two.
create or replace function object_initial_phase("object_kind") returns "phase"
language sql immutable parallel safe as $sql$
  select case
    when $1 in ('INSTALLATION') then 'PENDING'::"phase"
    when $1 in ('EXECUTION') then 'PENDING'::"phase"
    when $1 in ('DEPLOY_ITEM') then 'PENDING'::"phase"
    when $1 in ('EVENT', 'WORKER', 'JOB') then 'PENDING'::"phase"
    when $1 in ('TASK') then 'PENDING'::"phase"
    when $1 in ('GADGET_JOB') then 'PENDING'::"phase"
    when $1 in ('CLOUDLET') then 'OFFLINE'::"phase"
    when $1 in ('CLUSTER_INST', 'APP_INST') then 'NOT_PRESENT'::"phase"
  end
$sql$;

create or replace function object_next_phases("object_kind", "phase") returns "phase"[]
language sql immutable parallel safe as $sql$
  select case
    when $1 in ('INSTALLATION') then case $2
        when 'PENDING' then '{PENDING_DEPENDENCIES,INIT,INIT_DELETE}'::"phase"[]
        when 'SUCCEEDED' then '{PENDING_DEPENDENCIES,INIT,INIT_DELETE}'::"phase"[]
        when 'FAILED' then '{PENDING_DEPENDENCIES,INIT,INIT_DELETE}'::"phase"[]
        when 'ABORTED' then '{PENDING_DEPENDENCIES,INIT,INIT_DELETE}'::"phase"[]
        when 'PENDING_DEPENDENCIES' then '{INIT,FAILED,ABORTED}'::"phase"[]
        when 'INIT' then '{CLEANUP_ORPHANED,FAILED,ABORTED}'::"phase"[]
        when 'CLEANUP_ORPHANED' then '{OBJECTS_CREATED,FAILED,ABORTED}'::"phase"[]
        when 'OBJECTS_CREATED' then '{PROGRESSING,FAILED,ABORTED}'::"phase"[]
        when 'PROGRESSING' then '{COMPLETING,FAILED,ABORTED}'::"phase"[]
        when 'COMPLETING' then '{SUCCEEDED,FAILED,ABORTED}'::"phase"[]
        when 'DELETE_FAILED' then '{INIT_DELETE}'::"phase"[]
        when 'INIT_DELETE' then '{TRIGGER_DELETE,DELETE_FAILED}'::"phase"[]
        when 'TRIGGER_DELETE' then '{DELETING,DELETE_FAILED}'::"phase"[]
        when 'DELETING' then '{GONE,DELETE_FAILED}'::"phase"[]
      end
    when $1 in ('EXECUTION') then case $2
        when 'PENDING' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'SUCCEEDED' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'FAILED' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'ABORTED' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'INIT' then '{PROGRESSING,FAILED,ABORTED}'::"phase"[]
        when 'PROGRESSING' then '{COMPLETING,FAILED,ABORTED}'::"phase"[]
        when 'COMPLETING' then '{SUCCEEDED,FAILED,ABORTED}'::"phase"[]
        when 'DELETE_FAILED' then '{INIT_DELETE}'::"phase"[]
        when 'INIT_DELETE' then '{DELETING,DELETE_FAILED}'::"phase"[]
        when 'DELETING' then '{GONE,DELETE_FAILED}'::"phase"[]
      end
    when $1 in ('DEPLOY_ITEM') then case $2
        when 'PENDING' then '{INIT,INIT_DELETE,GONE}'::"phase"[]
        when 'SUCCEEDED' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'FAILED' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'ABORTED' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'INIT' then '{FAILED,ABORTED,PROGRESSING,SUCCEEDED}'::"phase"[]
        when 'PROGRESSING' then '{SUCCEEDED,FAILED,ABORTED}'::"phase"[]
        when 'DELETE_FAILED' then '{INIT_DELETE}'::"phase"[]
        when 'INIT_DELETE' then '{DELETING,GONE,DELETE_FAILED}'::"phase"[]
        when 'DELETING' then '{GONE,DELETE_FAILED}'::"phase"[]
      end
    when $1 in ('EVENT', 'WORKER', 'JOB') then case $2
        when 'PENDING' then '{STARTING,SCHEDULING_FAILED,SUCCEEDED,CANCELED,GONE}'::"phase"[]
        when 'STARTING' then '{RUNNING,SUCCEEDED,FAILED,UNKNOWN,SCHEDULING_FAILED,ABORTED,TIMED_OUT,GONE}'::"phase"[]
        when 'RUNNING' then '{UNKNOWN,SUCCEEDED,FAILED,ABORTED,TIMED_OUT,GONE}'::"phase"[]
        when 'UNKNOWN' then '{SUCCEEDED,FAILED,RUNNING,ABORTED,TIMED_OUT,GONE}'::"phase"[]
        when 'SUCCEEDED' then '{GONE}'::"phase"[]
        when 'FAILED' then '{GONE}'::"phase"[]
        when 'ABORTED' then '{GONE}'::"phase"[]
        when 'CANCELED' then '{GONE}'::"phase"[]
        when 'SCHEDULING_FAILED' then '{GONE}'::"phase"[]
        when 'TIMED_OUT' then '{GONE}'::"phase"[]
      end
    when $1 in ('TASK') then case $2
        when 'PENDING' then '{RUNNING,ABORTING}'::"phase"[]
        when 'RUNNING' then '{SUCCEEDED,FAILED,ABORTING}'::"phase"[]
        when 'ABORTING' then '{ABORTED}'::"phase"[]
        when 'SUCCEEDED' then '{GONE}'::"phase"[]
        when 'FAILED' then '{GONE}'::"phase"[]
        when 'ABORTED' then '{GONE}'::"phase"[]
      end
    when $1 in ('GADGET_JOB') then case $2
        when 'PENDING' then '{DECLARING,SKIPPED,FAILED,ABORTED}'::"phase"[]
        when 'DECLARING' then '{WAITING,FAILED,ABORTED}'::"phase"[]
        when 'WAITING' then '{RUNNING,SKIPPED,ABORTED}'::"phase"[]
        when 'RUNNING' then '{DONE,UNDOING,ABORTING}'::"phase"[]
        when 'UNDOING' then '{FAILED,RUNNING,ABORTED,UNDO_FAILED}'::"phase"[]
        when 'ABORTING' then '{ABORTED,UNDO_FAILED}'::"phase"[]
        when 'UNDO_FAILED' then '{UNDOING,FAILED}'::"phase"[]
        when 'DONE' then '{GONE}'::"phase"[]
        when 'FAILED' then '{GONE}'::"phase"[]
        when 'ABORTED' then '{GONE}'::"phase"[]
        when 'SKIPPED' then '{GONE}'::"phase"[]
      end
    when $1 in ('CLOUDLET') then case $2
        when 'OFFLINE' then '{INIT,GONE}'::"phase"[]
        when 'READY' then '{INIT,OFFLINE}'::"phase"[]
        when 'INIT' then '{INIT,INIT_OK,OFFLINE}'::"phase"[]
        when 'INIT_OK' then '{INIT,READY,OFFLINE}'::"phase"[]
      end
    when $1 in ('CLUSTER_INST', 'APP_INST') then case $2
        when 'NOT_PRESENT' then '{CREATE_REQUESTED,GONE}'::"phase"[]
        when 'CREATE_REQUESTED' then '{CREATING,READY,CREATE_ERROR,GONE}'::"phase"[]
        when 'CREATING' then '{READY,CREATE_ERROR,GONE}'::"phase"[]
        when 'CREATE_ERROR' then '{NOT_PRESENT,GONE}'::"phase"[]
        when 'READY' then '{UPDATE_REQUESTED,DELETE_PREPARE,GONE}'::"phase"[]
        when 'UPDATE_REQUESTED' then '{UPDATING,READY,UPDATE_ERROR,GONE}'::"phase"[]
        when 'UPDATING' then '{READY,UPDATE_ERROR,GONE}'::"phase"[]
        when 'UPDATE_ERROR' then '{READY,GONE}'::"phase"[]
        when 'DELETE_PREPARE' then '{DELETE_REQUESTED,READY,GONE}'::"phase"[]
        when 'DELETE_REQUESTED' then '{DELETING,DELETED,DELETE_ERROR,NOT_PRESENT,GONE}'::"phase"[]
        when 'DELETING' then '{NOT_PRESENT,DELETE_ERROR,GONE}'::"phase"[]
        when 'DELETED' then '{NOT_PRESENT,GONE}'::"phase"[]
        when 'DELETE_ERROR' then '{READY,GONE}'::"phase"[]
      end
  end
$sql$;

create or replace function object_phase_refused("object_kind", "phase", "phase") returns void
language plpgsql as $plpgsql$
declare
  next_phases "phase"[] := case when $2 is null then array[object_initial_phase($1)] else object_next_phases($1, $2) end;
  onward text := coalesce(nullif(array_to_string(array_remove(next_phases, 'GONE'), ', '), ''), 'no other phase');
begin
  raise exception '% may not go from % to %', $1, coalesce($2::text, 'nowhere'), $3 using
    errcode = 'check_violation',
    hint = 'From there it may go to: ' || onward || case when 'GONE' = any (next_phases) then ', or be deleted.' else '.' end;
end
$plpgsql$;

create or replace function object_moved_guard() returns trigger
language plpgsql as $plpgsql$
begin
  case old.kind
    when 'INSTALLATION' then
      if new.phase = any (case old.phase
        when 'PENDING' then '{PENDING_DEPENDENCIES,INIT,INIT_DELETE}'::"phase"[]
        when 'SUCCEEDED' then '{PENDING_DEPENDENCIES,INIT,INIT_DELETE}'::"phase"[]
        when 'FAILED' then '{PENDING_DEPENDENCIES,INIT,INIT_DELETE}'::"phase"[]
        when 'ABORTED' then '{PENDING_DEPENDENCIES,INIT,INIT_DELETE}'::"phase"[]
        when 'PENDING_DEPENDENCIES' then '{INIT,FAILED,ABORTED}'::"phase"[]
        when 'INIT' then '{CLEANUP_ORPHANED,FAILED,ABORTED}'::"phase"[]
        when 'CLEANUP_ORPHANED' then '{OBJECTS_CREATED,FAILED,ABORTED}'::"phase"[]
        when 'OBJECTS_CREATED' then '{PROGRESSING,FAILED,ABORTED}'::"phase"[]
        when 'PROGRESSING' then '{COMPLETING,FAILED,ABORTED}'::"phase"[]
        when 'COMPLETING' then '{SUCCEEDED,FAILED,ABORTED}'::"phase"[]
        when 'DELETE_FAILED' then '{INIT_DELETE}'::"phase"[]
        when 'INIT_DELETE' then '{TRIGGER_DELETE,DELETE_FAILED}'::"phase"[]
        when 'TRIGGER_DELETE' then '{DELETING,DELETE_FAILED}'::"phase"[]
        when 'DELETING' then '{DELETE_FAILED}'::"phase"[]
      end) then return new; end if;
    when 'EXECUTION' then
      if new.phase = any (case old.phase
        when 'PENDING' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'SUCCEEDED' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'FAILED' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'ABORTED' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'INIT' then '{PROGRESSING,FAILED,ABORTED}'::"phase"[]
        when 'PROGRESSING' then '{COMPLETING,FAILED,ABORTED}'::"phase"[]
        when 'COMPLETING' then '{SUCCEEDED,FAILED,ABORTED}'::"phase"[]
        when 'DELETE_FAILED' then '{INIT_DELETE}'::"phase"[]
        when 'INIT_DELETE' then '{DELETING,DELETE_FAILED}'::"phase"[]
        when 'DELETING' then '{DELETE_FAILED}'::"phase"[]
      end) then return new; end if;
    when 'DEPLOY_ITEM' then
      if new.phase = any (case old.phase
        when 'PENDING' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'SUCCEEDED' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'FAILED' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'ABORTED' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'INIT' then '{FAILED,ABORTED,PROGRESSING,SUCCEEDED}'::"phase"[]
        when 'PROGRESSING' then '{SUCCEEDED,FAILED,ABORTED}'::"phase"[]
        when 'DELETE_FAILED' then '{INIT_DELETE}'::"phase"[]
        when 'INIT_DELETE' then '{DELETING,DELETE_FAILED}'::"phase"[]
        when 'DELETING' then '{DELETE_FAILED}'::"phase"[]
      end) then return new; end if;
    when 'EVENT', 'WORKER', 'JOB' then
      if new.phase = any (case old.phase
        when 'PENDING' then '{STARTING,SCHEDULING_FAILED,SUCCEEDED,CANCELED}'::"phase"[]
        when 'STARTING' then '{RUNNING,SUCCEEDED,FAILED,UNKNOWN,SCHEDULING_FAILED,ABORTED,TIMED_OUT}'::"phase"[]
        when 'RUNNING' then '{UNKNOWN,SUCCEEDED,FAILED,ABORTED,TIMED_OUT}'::"phase"[]
        when 'UNKNOWN' then '{SUCCEEDED,FAILED,RUNNING,ABORTED,TIMED_OUT}'::"phase"[]
      end) then return new; end if;
    when 'TASK' then
      if new.phase = any (case old.phase
        when 'PENDING' then '{RUNNING,ABORTING}'::"phase"[]
        when 'RUNNING' then '{SUCCEEDED,FAILED,ABORTING}'::"phase"[]
        when 'ABORTING' then '{ABORTED}'::"phase"[]
      end) then return new; end if;
    when 'GADGET_JOB' then
      if new.phase = any (case old.phase
        when 'PENDING' then '{DECLARING,SKIPPED,FAILED,ABORTED}'::"phase"[]
        when 'DECLARING' then '{WAITING,FAILED,ABORTED}'::"phase"[]
        when 'WAITING' then '{RUNNING,SKIPPED,ABORTED}'::"phase"[]
        when 'RUNNING' then '{DONE,UNDOING,ABORTING}'::"phase"[]
        when 'UNDOING' then '{FAILED,RUNNING,ABORTED,UNDO_FAILED}'::"phase"[]
        when 'ABORTING' then '{ABORTED,UNDO_FAILED}'::"phase"[]
        when 'UNDO_FAILED' then '{UNDOING,FAILED}'::"phase"[]
      end) then return new; end if;
    when 'CLOUDLET' then
      if new.phase = any (case old.phase
        when 'OFFLINE' then '{INIT}'::"phase"[]
        when 'READY' then '{INIT,OFFLINE}'::"phase"[]
        when 'INIT' then '{INIT,INIT_OK,OFFLINE}'::"phase"[]
        when 'INIT_OK' then '{INIT,READY,OFFLINE}'::"phase"[]
      end) then return new; end if;
    when 'CLUSTER_INST', 'APP_INST' then
      if new.phase = any (case old.phase
        when 'NOT_PRESENT' then '{CREATE_REQUESTED}'::"phase"[]
        when 'CREATE_REQUESTED' then '{CREATING,READY,CREATE_ERROR}'::"phase"[]
        when 'CREATING' then '{READY,CREATE_ERROR}'::"phase"[]
        when 'CREATE_ERROR' then '{NOT_PRESENT}'::"phase"[]
        when 'READY' then '{UPDATE_REQUESTED,DELETE_PREPARE}'::"phase"[]
        when 'UPDATE_REQUESTED' then '{UPDATING,READY,UPDATE_ERROR}'::"phase"[]
        when 'UPDATING' then '{READY,UPDATE_ERROR}'::"phase"[]
        when 'UPDATE_ERROR' then '{READY}'::"phase"[]
        when 'DELETE_PREPARE' then '{DELETE_REQUESTED,READY}'::"phase"[]
        when 'DELETE_REQUESTED' then '{DELETING,DELETED,DELETE_ERROR,NOT_PRESENT}'::"phase"[]
        when 'DELETING' then '{NOT_PRESENT,DELETE_ERROR}'::"phase"[]
        when 'DELETED' then '{NOT_PRESENT}'::"phase"[]
        when 'DELETE_ERROR' then '{READY}'::"phase"[]
      end) then return new; end if;
    else null;
  end case;
  perform object_phase_refused(old.kind, old.phase, new.phase);
end
$plpgsql$;

create or replace function object_created_guard() returns trigger
language plpgsql as $plpgsql$
begin
  if new.phase = object_initial_phase(new.kind) then return new; end if;
  perform object_phase_refused(new.kind, null, new.phase);
end
$plpgsql$;

create or replace function object_gone_guard() returns trigger
language plpgsql as $plpgsql$
begin
  if 'GONE' = any (object_next_phases(old.kind, old.phase)) then return old; end if;
  perform object_phase_refused(old.kind, old.phase, 'GONE');
end
$plpgsql$;

create or replace function object_kind_guard() returns trigger
language plpgsql as $plpgsql$
begin
  raise exception '% in phase % may not become %: an object keeps its kind', old.kind, old.phase, new.kind using
    errcode = 'check_violation',
    hint = format('Create an object of kind %s; it starts in phase %s.', new.kind, object_initial_phase(new.kind));
end
$plpgsql$;

create or replace trigger object_created before insert on "object"
  for each row execute function object_created_guard();
create or replace trigger object_moved before update of "phase" on "object"
  for each row when (old.phase is distinct from new.phase) execute function object_moved_guard();
create or replace trigger object_gone before delete on "object"
  for each row execute function object_gone_guard();
create or replace trigger object_kind_kept before update of "kind" on "object"
  for each row when (old.kind is distinct from new.kind) execute function object_kind_guard();
-- part: 20261121000200_log_upkeep
-- Numbering a batch leaves a dead entry at the very place of the index where the next pass begins to look (measured:
-- 800,000 of them cost each pass 4 ms). So this table is vacuumed after so many batches, not after a share of a table
-- that only grows, and always with its indexes.
alter table "log_batch" set (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 50000,
  vacuum_index_cleanup = on
);
-- An empty batch would claim the sequence of the one after it, and nothing could be numbered any more.
alter table "log_batch" add constraint "log_batch_n_check" check ("n" > 0);
-- part: 20261121000300_log_retention
-- What every object was like at the floor of the log. Pruning moves it and the floor in one transaction, so that a tree
-- can still be told at any sequence from the floor on, though its objects' last changes may lie before it.
create table "floor_state" (
  "object_id" uuid not null,
  "root_id" uuid not null,
  "parent_id" uuid,
  "kind" "object_kind" not null,
  "name" text not null,
  "phase" "phase" not null,
  "phase_since" timestamptz(3) not null,
  "revision" integer,
  constraint "floor_state_pkey" primary key ("object_id")
) with (fillfactor = 70);
create index "floor_state_root_idx" on "floor_state" ("root_id");
-- part: 20261121000400_guard
-- Made from the machine tables by `npm run generate`; a check compares the two.
create or replace function object_initial_phase("object_kind") returns "phase"
language sql immutable parallel safe as $sql$
  select case
    when $1 in ('INSTALLATION') then 'PENDING'::"phase"
    when $1 in ('EXECUTION') then 'PENDING'::"phase"
    when $1 in ('DEPLOY_ITEM') then 'PENDING'::"phase"
    when $1 in ('EVENT', 'WORKER', 'JOB') then 'PENDING'::"phase"
    when $1 in ('TASK') then 'PENDING'::"phase"
    when $1 in ('GADGET_JOB') then 'PENDING'::"phase"
    when $1 in ('CLOUDLET') then 'OFFLINE'::"phase"
    when $1 in ('CLUSTER_INST', 'APP_INST') then 'NOT_PRESENT'::"phase"
  end
$sql$;

create or replace function object_next_phases("object_kind", "phase") returns "phase"[]
language sql immutable parallel safe as $sql$
  select case
    when $1 in ('INSTALLATION') then case $2
        when 'PENDING' then '{PENDING_DEPENDENCIES,INIT,INIT_DELETE}'::"phase"[]
        when 'SUCCEEDED' then '{PENDING_DEPENDENCIES,INIT,INIT_DELETE}'::"phase"[]
        when 'FAILED' then '{PENDING_DEPENDENCIES,INIT,INIT_DELETE}'::"phase"[]
        when 'ABORTED' then '{PENDING_DEPENDENCIES,INIT,INIT_DELETE}'::"phase"[]
        when 'PENDING_DEPENDENCIES' then '{INIT,FAILED,ABORTED}'::"phase"[]
        when 'INIT' then '{CLEANUP_ORPHANED,FAILED,ABORTED}'::"phase"[]
        when 'CLEANUP_ORPHANED' then '{OBJECTS_CREATED,FAILED,ABORTED}'::"phase"[]
        when 'OBJECTS_CREATED' then '{PROGRESSING,FAILED,ABORTED}'::"phase"[]
        when 'PROGRESSING' then '{COMPLETING,FAILED,ABORTED}'::"phase"[]
        when 'COMPLETING' then '{SUCCEEDED,FAILED,ABORTED}'::"phase"[]
        when 'DELETE_FAILED' then '{INIT_DELETE}'::"phase"[]
        when 'INIT_DELETE' then '{TRIGGER_DELETE,DELETE_FAILED}'::"phase"[]
        when 'TRIGGER_DELETE' then '{DELETING,DELETE_FAILED}'::"phase"[]
        when 'DELETING' then '{GONE,DELETE_FAILED}'::"phase"[]
      end
    when $1 in ('EXECUTION') then case $2
        when 'PENDING' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'SUCCEEDED' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'FAILED' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'ABORTED' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'INIT' then '{PROGRESSING,FAILED,ABORTED}'::"phase"[]
        when 'PROGRESSING' then '{COMPLETING,FAILED,ABORTED}'::"phase"[]
        when 'COMPLETING' then '{SUCCEEDED,FAILED,ABORTED}'::"phase"[]
        when 'DELETE_FAILED' then '{INIT_DELETE}'::"phase"[]
        when 'INIT_DELETE' then '{DELETING,DELETE_FAILED}'::"phase"[]
        when 'DELETING' then '{GONE,DELETE_FAILED}'::"phase"[]
      end
    when $1 in ('DEPLOY_ITEM') then case $2
        when 'PENDING' then '{INIT,INIT_DELETE,GONE}'::"phase"[]
        when 'SUCCEEDED' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'FAILED' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'ABORTED' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'INIT' then '{FAILED,ABORTED,PROGRESSING,SUCCEEDED}'::"phase"[]
        when 'PROGRESSING' then '{SUCCEEDED,FAILED,ABORTED}'::"phase"[]
        when 'DELETE_FAILED' then '{INIT_DELETE}'::"phase"[]
        when 'INIT_DELETE' then '{DELETING,GONE,DELETE_FAILED}'::"phase"[]
        when 'DELETING' then '{GONE,DELETE_FAILED}'::"phase"[]
      end
    when $1 in ('EVENT', 'WORKER', 'JOB') then case $2
        when 'PENDING' then '{STARTING,SCHEDULING_FAILED,SUCCEEDED,CANCELED,GONE}'::"phase"[]
        when 'STARTING' then '{RUNNING,SUCCEEDED,FAILED,UNKNOWN,SCHEDULING_FAILED,ABORTED,TIMED_OUT,GONE}'::"phase"[]
        when 'RUNNING' then '{UNKNOWN,SUCCEEDED,FAILED,ABORTED,TIMED_OUT,GONE}'::"phase"[]
        when 'UNKNOWN' then '{SUCCEEDED,FAILED,RUNNING,ABORTED,TIMED_OUT,GONE}'::"phase"[]
        when 'SUCCEEDED' then '{GONE}'::"phase"[]
        when 'FAILED' then '{GONE}'::"phase"[]
        when 'ABORTED' then '{GONE}'::"phase"[]
        when 'CANCELED' then '{GONE}'::"phase"[]
        when 'SCHEDULING_FAILED' then '{GONE}'::"phase"[]
        when 'TIMED_OUT' then '{GONE}'::"phase"[]
      end
    when $1 in ('TASK') then case $2
        when 'PENDING' then '{RUNNING,ABORTING}'::"phase"[]
        when 'RUNNING' then '{SUCCEEDED,FAILED,ABORTING}'::"phase"[]
        when 'ABORTING' then '{ABORTED}'::"phase"[]
        when 'SUCCEEDED' then '{GONE}'::"phase"[]
        when 'FAILED' then '{GONE}'::"phase"[]
        when 'ABORTED' then '{GONE}'::"phase"[]
      end
    when $1 in ('GADGET_JOB') then case $2
        when 'PENDING' then '{DECLARING,SKIPPED,FAILED,ABORTED}'::"phase"[]
        when 'DECLARING' then '{WAITING,FAILED,ABORTED}'::"phase"[]
        when 'WAITING' then '{RUNNING,SKIPPED,ABORTED}'::"phase"[]
        when 'RUNNING' then '{DONE,UNDOING,ABORTING}'::"phase"[]
        when 'UNDOING' then '{FAILED,RUNNING,ABORTED,UNDO_FAILED}'::"phase"[]
        when 'ABORTING' then '{ABORTED,UNDO_FAILED}'::"phase"[]
        when 'UNDO_FAILED' then '{UNDOING,FAILED}'::"phase"[]
        when 'DONE' then '{GONE}'::"phase"[]
        when 'FAILED' then '{GONE}'::"phase"[]
        when 'ABORTED' then '{GONE}'::"phase"[]
        when 'SKIPPED' then '{GONE}'::"phase"[]
      end
    when $1 in ('CLOUDLET') then case $2
        when 'OFFLINE' then '{INIT,GONE}'::"phase"[]
        when 'READY' then '{INIT,OFFLINE}'::"phase"[]
        when 'INIT' then '{INIT,INIT_OK,OFFLINE}'::"phase"[]
        when 'INIT_OK' then '{INIT,READY,OFFLINE}'::"phase"[]
      end
    when $1 in ('CLUSTER_INST', 'APP_INST') then case $2
        when 'NOT_PRESENT' then '{CREATE_REQUESTED,GONE}'::"phase"[]
        when 'CREATE_REQUESTED' then '{CREATING,READY,CREATE_ERROR,GONE}'::"phase"[]
        when 'CREATING' then '{READY,CREATE_ERROR,GONE}'::"phase"[]
        when 'CREATE_ERROR' then '{NOT_PRESENT,GONE}'::"phase"[]
        when 'READY' then '{UPDATE_REQUESTED,DELETE_PREPARE,GONE}'::"phase"[]
        when 'UPDATE_REQUESTED' then '{UPDATING,READY,UPDATE_ERROR,GONE}'::"phase"[]
        when 'UPDATING' then '{READY,UPDATE_ERROR,GONE}'::"phase"[]
        when 'UPDATE_ERROR' then '{READY,GONE}'::"phase"[]
        when 'DELETE_PREPARE' then '{DELETE_REQUESTED,READY,GONE}'::"phase"[]
        when 'DELETE_REQUESTED' then '{DELETING,DELETED,DELETE_ERROR,NOT_PRESENT,GONE}'::"phase"[]
        when 'DELETING' then '{NOT_PRESENT,DELETE_ERROR,GONE}'::"phase"[]
        when 'DELETED' then '{NOT_PRESENT,GONE}'::"phase"[]
        when 'DELETE_ERROR' then '{READY,GONE}'::"phase"[]
      end
  end
$sql$;

create or replace function object_phase_refused("object_kind", "phase", "phase") returns void
language plpgsql as $plpgsql$
declare
  next_phases "phase"[] := case when $2 is null then array[object_initial_phase($1)] else object_next_phases($1, $2) end;
  onward text := coalesce(nullif(array_to_string(array_remove(next_phases, 'GONE'), ', '), ''), 'no other phase');
begin
  raise exception '% may not go from % to %', $1, coalesce($2::text, 'nowhere'), $3 using
    errcode = 'check_violation',
    hint = 'From there it may go to: ' || onward || case when 'GONE' = any (next_phases) then ', or be deleted.' else '.' end;
end
$plpgsql$;

create or replace function object_moved_guard() returns trigger
language plpgsql as $plpgsql$
begin
  case old.kind
    when 'INSTALLATION' then
      if new.phase = any (case old.phase
        when 'PENDING' then '{PENDING_DEPENDENCIES,INIT,INIT_DELETE}'::"phase"[]
        when 'SUCCEEDED' then '{PENDING_DEPENDENCIES,INIT,INIT_DELETE}'::"phase"[]
        when 'FAILED' then '{PENDING_DEPENDENCIES,INIT,INIT_DELETE}'::"phase"[]
        when 'ABORTED' then '{PENDING_DEPENDENCIES,INIT,INIT_DELETE}'::"phase"[]
        when 'PENDING_DEPENDENCIES' then '{INIT,FAILED,ABORTED}'::"phase"[]
        when 'INIT' then '{CLEANUP_ORPHANED,FAILED,ABORTED}'::"phase"[]
        when 'CLEANUP_ORPHANED' then '{OBJECTS_CREATED,FAILED,ABORTED}'::"phase"[]
        when 'OBJECTS_CREATED' then '{PROGRESSING,FAILED,ABORTED}'::"phase"[]
        when 'PROGRESSING' then '{COMPLETING,FAILED,ABORTED}'::"phase"[]
        when 'COMPLETING' then '{SUCCEEDED,FAILED,ABORTED}'::"phase"[]
        when 'DELETE_FAILED' then '{INIT_DELETE}'::"phase"[]
        when 'INIT_DELETE' then '{TRIGGER_DELETE,DELETE_FAILED}'::"phase"[]
        when 'TRIGGER_DELETE' then '{DELETING,DELETE_FAILED}'::"phase"[]
        when 'DELETING' then '{DELETE_FAILED}'::"phase"[]
      end) then return new; end if;
    when 'EXECUTION' then
      if new.phase = any (case old.phase
        when 'PENDING' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'SUCCEEDED' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'FAILED' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'ABORTED' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'INIT' then '{PROGRESSING,FAILED,ABORTED}'::"phase"[]
        when 'PROGRESSING' then '{COMPLETING,FAILED,ABORTED}'::"phase"[]
        when 'COMPLETING' then '{SUCCEEDED,FAILED,ABORTED}'::"phase"[]
        when 'DELETE_FAILED' then '{INIT_DELETE}'::"phase"[]
        when 'INIT_DELETE' then '{DELETING,DELETE_FAILED}'::"phase"[]
        when 'DELETING' then '{DELETE_FAILED}'::"phase"[]
      end) then return new; end if;
    when 'DEPLOY_ITEM' then
      if new.phase = any (case old.phase
        when 'PENDING' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'SUCCEEDED' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'FAILED' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'ABORTED' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'INIT' then '{FAILED,ABORTED,PROGRESSING,SUCCEEDED}'::"phase"[]
        when 'PROGRESSING' then '{SUCCEEDED,FAILED,ABORTED}'::"phase"[]
        when 'DELETE_FAILED' then '{INIT_DELETE}'::"phase"[]
        when 'INIT_DELETE' then '{DELETING,DELETE_FAILED}'::"phase"[]
        when 'DELETING' then '{DELETE_FAILED}'::"phase"[]
      end) then return new; end if;
    when 'EVENT', 'WORKER', 'JOB' then
      if new.phase = any (case old.phase
        when 'PENDING' then '{STARTING,SCHEDULING_FAILED,SUCCEEDED,CANCELED}'::"phase"[]
        when 'STARTING' then '{RUNNING,SUCCEEDED,FAILED,UNKNOWN,SCHEDULING_FAILED,ABORTED,TIMED_OUT}'::"phase"[]
        when 'RUNNING' then '{UNKNOWN,SUCCEEDED,FAILED,ABORTED,TIMED_OUT}'::"phase"[]
        when 'UNKNOWN' then '{SUCCEEDED,FAILED,RUNNING,ABORTED,TIMED_OUT}'::"phase"[]
      end) then return new; end if;
    when 'TASK' then
      if new.phase = any (case old.phase
        when 'PENDING' then '{RUNNING,ABORTING}'::"phase"[]
        when 'RUNNING' then '{SUCCEEDED,FAILED,ABORTING}'::"phase"[]
        when 'ABORTING' then '{ABORTED}'::"phase"[]
      end) then return new; end if;
    when 'GADGET_JOB' then
      if new.phase = any (case old.phase
        when 'PENDING' then '{DECLARING,SKIPPED,FAILED,ABORTED}'::"phase"[]
        when 'DECLARING' then '{WAITING,FAILED,ABORTED}'::"phase"[]
        when 'WAITING' then '{RUNNING,SKIPPED,ABORTED}'::"phase"[]
        when 'RUNNING' then '{DONE,UNDOING,ABORTING}'::"phase"[]
        when 'UNDOING' then '{FAILED,RUNNING,ABORTED,UNDO_FAILED}'::"phase"[]
        when 'ABORTING' then '{ABORTED,UNDO_FAILED}'::"phase"[]
        when 'UNDO_FAILED' then '{UNDOING,FAILED}'::"phase"[]
      end) then return new; end if;
    when 'CLOUDLET' then
      if new.phase = any (case old.phase
        when 'OFFLINE' then '{INIT}'::"phase"[]
        when 'READY' then '{INIT,OFFLINE}'::"phase"[]
        when 'INIT' then '{INIT,INIT_OK,OFFLINE}'::"phase"[]
        when 'INIT_OK' then '{INIT,READY,OFFLINE}'::"phase"[]
      end) then return new; end if;
    when 'CLUSTER_INST', 'APP_INST' then
      if new.phase = any (case old.phase
        when 'NOT_PRESENT' then '{CREATE_REQUESTED}'::"phase"[]
        when 'CREATE_REQUESTED' then '{CREATING,READY,CREATE_ERROR}'::"phase"[]
        when 'CREATING' then '{READY,CREATE_ERROR}'::"phase"[]
        when 'CREATE_ERROR' then '{NOT_PRESENT}'::"phase"[]
        when 'READY' then '{UPDATE_REQUESTED,DELETE_PREPARE}'::"phase"[]
        when 'UPDATE_REQUESTED' then '{UPDATING,READY,UPDATE_ERROR}'::"phase"[]
        when 'UPDATING' then '{READY,UPDATE_ERROR}'::"phase"[]
        when 'UPDATE_ERROR' then '{READY}'::"phase"[]
        when 'DELETE_PREPARE' then '{DELETE_REQUESTED,READY}'::"phase"[]
        when 'DELETE_REQUESTED' then '{DELETING,DELETED,DELETE_ERROR,NOT_PRESENT}'::"phase"[]
        when 'DELETING' then '{NOT_PRESENT,DELETE_ERROR}'::"phase"[]
        when 'DELETED' then '{NOT_PRESENT}'::"phase"[]
        when 'DELETE_ERROR' then '{READY}'::"phase"[]
      end) then return new; end if;
    else null;
  end case;
  perform object_phase_refused(old.kind, old.phase, new.phase);
end
$plpgsql$;

create or replace function object_created_guard() returns trigger
language plpgsql as $plpgsql$
begin
  case new.kind
    when 'INSTALLATION' then
      if new.revision >= (case new.phase
        when 'PENDING' then 1
        when 'PENDING_DEPENDENCIES' then 2
        when 'INIT' then 2
        when 'INIT_DELETE' then 2
        when 'FAILED' then 3
        when 'ABORTED' then 3
        when 'CLEANUP_ORPHANED' then 3
        when 'TRIGGER_DELETE' then 3
        when 'DELETE_FAILED' then 3
        when 'OBJECTS_CREATED' then 4
        when 'DELETING' then 4
        when 'PROGRESSING' then 5
        when 'COMPLETING' then 6
        when 'SUCCEEDED' then 7
      end) then return new; end if;
    when 'EXECUTION' then
      if new.revision >= (case new.phase
        when 'PENDING' then 1
        when 'INIT' then 2
        when 'INIT_DELETE' then 2
        when 'PROGRESSING' then 3
        when 'FAILED' then 3
        when 'ABORTED' then 3
        when 'DELETING' then 3
        when 'DELETE_FAILED' then 3
        when 'COMPLETING' then 4
        when 'SUCCEEDED' then 5
      end) then return new; end if;
    when 'DEPLOY_ITEM' then
      if new.revision >= (case new.phase
        when 'PENDING' then 1
        when 'INIT' then 2
        when 'INIT_DELETE' then 2
        when 'FAILED' then 3
        when 'ABORTED' then 3
        when 'PROGRESSING' then 3
        when 'SUCCEEDED' then 3
        when 'DELETING' then 3
        when 'DELETE_FAILED' then 3
      end) then return new; end if;
    when 'EVENT', 'WORKER', 'JOB' then
      if new.revision >= (case new.phase
        when 'PENDING' then 1
        when 'STARTING' then 2
        when 'SCHEDULING_FAILED' then 2
        when 'SUCCEEDED' then 2
        when 'CANCELED' then 2
        when 'RUNNING' then 3
        when 'FAILED' then 3
        when 'UNKNOWN' then 3
        when 'ABORTED' then 3
        when 'TIMED_OUT' then 3
      end) then return new; end if;
    when 'TASK' then
      if new.revision >= (case new.phase
        when 'PENDING' then 1
        when 'RUNNING' then 2
        when 'ABORTING' then 2
        when 'SUCCEEDED' then 3
        when 'FAILED' then 3
        when 'ABORTED' then 3
      end) then return new; end if;
    when 'GADGET_JOB' then
      if new.revision >= (case new.phase
        when 'PENDING' then 1
        when 'DECLARING' then 2
        when 'SKIPPED' then 2
        when 'FAILED' then 2
        when 'ABORTED' then 2
        when 'WAITING' then 3
        when 'RUNNING' then 4
        when 'DONE' then 5
        when 'UNDOING' then 5
        when 'ABORTING' then 5
        when 'UNDO_FAILED' then 6
      end) then return new; end if;
    when 'CLOUDLET' then
      if new.revision >= (case new.phase
        when 'OFFLINE' then 1
        when 'INIT' then 2
        when 'INIT_OK' then 3
        when 'READY' then 4
      end) then return new; end if;
    when 'CLUSTER_INST', 'APP_INST' then
      if new.revision >= (case new.phase
        when 'NOT_PRESENT' then 1
        when 'CREATE_REQUESTED' then 2
        when 'CREATING' then 3
        when 'READY' then 3
        when 'CREATE_ERROR' then 3
        when 'UPDATE_REQUESTED' then 4
        when 'DELETE_PREPARE' then 4
        when 'UPDATING' then 5
        when 'UPDATE_ERROR' then 5
        when 'DELETE_REQUESTED' then 5
        when 'DELETING' then 6
        when 'DELETED' then 6
        when 'DELETE_ERROR' then 6
      end) then return new; end if;
    else null;
  end case;
  perform object_phase_refused(new.kind, null, new.phase);
end
$plpgsql$;

create or replace function object_gone_guard() returns trigger
language plpgsql as $plpgsql$
begin
  if 'GONE' = any (object_next_phases(old.kind, old.phase)) then return old; end if;
  perform object_phase_refused(old.kind, old.phase, 'GONE');
end
$plpgsql$;

create or replace function object_kind_guard() returns trigger
language plpgsql as $plpgsql$
begin
  raise exception '% in phase % may not become %: an object keeps its kind', old.kind, old.phase, new.kind using
    errcode = 'check_violation',
    hint = format('Create an object of kind %s; it starts in phase %s.', new.kind, object_initial_phase(new.kind));
end
$plpgsql$;

create or replace trigger object_created before insert on "object"
  for each row execute function object_created_guard();
create or replace trigger object_moved before update of "phase" on "object"
  for each row when (old.phase is distinct from new.phase) execute function object_moved_guard();
create or replace trigger object_gone before delete on "object"
  for each row execute function object_gone_guard();
create or replace trigger object_kind_kept before update of "kind" on "object"
  for each row when (old.kind is distinct from new.kind) execute function object_kind_guard();
-- part: 20261121000500_hot_path
-- What every new item paid for and nobody needed (measured: 9% of what the database does for an item).

-- A row of these two is written together with its object, in one transaction under its tree's lock, and nowhere else:
-- looking the object up once more for each of them told nothing new. They go with their object all the same, whoever
-- deletes it.
alter table "object_spec" drop constraint "object_spec_object_id_fkey";
alter table "deploy_item" drop constraint "deploy_item_object_id_fkey";
create function object_side_rows_go() returns trigger
language plpgsql as $plpgsql$
begin
  delete from "object_spec" s using "gone" g where s."object_id" = g."id";
  delete from "deploy_item" d using "gone" g where d."object_id" = g."id";
  return null;
end
$plpgsql$;
create trigger object_side_rows after delete on "object" referencing old table as "gone"
  for each statement execute function object_side_rows_go();

-- Finished work is swept by its place on disk.
drop index "work_done_idx";
-- part: 20261121000600_number_log
-- Numbering in one statement instead of five: it runs after nearly every commit. The lock comes first, and what follows
-- has a snapshot of its own, younger than the commit of whoever held it before: in a function, too, each statement does,
-- as long as transactions are read committed, which ours are.
create function log_number("lock" bigint, "page" integer)
returns table ("id" bigint, "first_seq" bigint, "n" integer)
language plpgsql volatile as $plpgsql$
#variable_conflict use_column
begin
  perform pg_advisory_xact_lock("lock");
  -- A number must survive a crash once a reader may have seen it, even on a server that does not flush by default.
  if current_setting('synchronous_commit') = 'off' then
    perform set_config('synchronous_commit', 'on', true);
  end if;
  return query
    with waiting as (
      select b.id, b.n from log_batch b where b.first_seq is null order by b.id limit "page"
    ), head as (
      select greatest((select floor_seq from log_meta), coalesce((
        select b.first_seq + b.n - 1 from log_batch b where b.first_seq is not null order by b.first_seq desc limit 1
      ), 0)) as seq
    ), placed as (
      select w.id, head.seq + 1 + sum(w.n) over (order by w.id) - w.n as first_seq from waiting w, head
    ), numbered as (
      update log_batch b set first_seq = p.first_seq from placed p where b.id = p.id returning b.id, b.first_seq, b.n
    )
    select d.id, d.first_seq, d.n from numbered d order by d.first_seq;
end
$plpgsql$;
-- part: 20261121000700_pipelines
-- Projects run workers: what they start, what they subscribe to, what they may take up at the same time.
create type "project_strategy" as enum ('QUEUE', 'LATEST_ONLY');
alter table "project"
  add column "worker_template" jsonb,
  add column "max_workers" integer,
  add column "max_jobs" integer,
  add column "strategy" "project_strategy" not null default 'QUEUE',
  -- The events that it has ever had: the next one's name.
  add column "event_count" integer not null default 0;

create table "subscription" (
  "project_id" uuid not null,
  "ordinal" integer not null,
  "source" text not null,
  "types" text[] not null,
  "qualifiers" jsonb not null,
  "labels" jsonb not null,
  constraint "subscription_pkey" primary key ("project_id", "ordinal"),
  constraint "subscription_project_id_fkey" foreign key ("project_id") references "project" ("id") on delete cascade on update cascade
);
create index "subscription_source_idx" on "subscription" ("source");

-- Sealed with a key that the database does not have.
create table "secret" (
  "project_id" uuid not null,
  "name" text not null,
  "sealed" bytea not null,
  "updated_at" timestamptz(3) not null,
  constraint "secret_pkey" primary key ("project_id", "name"),
  constraint "secret_project_id_fkey" foreign key ("project_id") references "project" ("id") on delete cascade on update cascade
);

create table "event" (
  "object_id" uuid not null,
  "source" text not null,
  "type" text not null,
  "qualifiers" jsonb not null,
  "payload" text,
  -- It came through a subscription, and not for its project by name.
  "subscribed" boolean not null,
  "retry_of" uuid,
  "clone_of" uuid,
  constraint "event_pkey" primary key ("object_id"),
  constraint "event_object_id_fkey" foreign key ("object_id") references "object" ("id") on delete cascade on update cascade
);
-- The project's secrets as they were when the event came.
create table "event_secret" (
  "event_id" uuid not null,
  "name" text not null,
  "sealed" bytea not null,
  constraint "event_secret_pkey" primary key ("event_id", "name"),
  constraint "event_secret_event_id_fkey" foreign key ("event_id") references "object" ("id") on delete cascade on update cascade
);

-- A worker or a job. State: 0 waits for a slot, 1 holds one, 2 needs none any more; its phase is the truth, this finds it.
create sequence "workload_seq" as bigint;
create table "workload" (
  "object_id" uuid not null,
  "project_id" uuid not null,
  "pool" text not null,
  "state" smallint not null,
  -- In the order in which they came.
  "seq" bigint not null default nextval('workload_seq'),
  "runtime" text not null,
  "uses_workspace" boolean not null,
  "timeout_ms" bigint,
  "inherited_from" uuid,
  "started_at" timestamptz(3),
  "ended_at" timestamptz(3),
  "exit_code" integer,
  "signal" text,
  "remove_at" timestamptz(3),
  "removed_at" timestamptz(3),
  constraint "workload_pkey" primary key ("object_id"),
  constraint "workload_object_id_fkey" foreign key ("object_id") references "object" ("id") on delete cascade on update cascade
);
alter sequence "workload_seq" owned by "workload"."seq";
create index "workload_waiting_idx" on "workload" ("pool", "project_id", "seq") where "state" = 0;
create index "workload_holding_idx" on "workload" ("pool", "project_id") where "state" = 1;

-- One row: how much may run at the same time over all projects, and the lock under which slots are given.
create table "capacity" (
  "one" boolean not null default true,
  "max_workers" integer not null,
  "max_jobs" integer not null,
  constraint "capacity_pkey" primary key ("one"),
  constraint "capacity_one" check ("one")
);
insert into "capacity" ("max_workers", "max_jobs") values (50, 100);

-- Work whose agent is missed when its lease ends, rather than when its time is up.
alter table "work" add column "lease_watched" boolean not null default false;
create index "work_watched_idx" on "work" ("root_id", "lease_until") where "lease_watched" and "state" = 1;

-- What is to be removed in a minute must not be looked through by everybody who asks for work now.
drop index "work_offered_idx";
create index "work_offered_idx" on "work" ("type", "seq") where "state" = 0 and "offer_after" is null;
create index "work_deferred_idx" on "work" ("type", "offer_after") where "state" = 0 and "offer_after" is not null;
-- part: 20261121000800_log_lines
-- The lines of an object are numbered and counted in a row of its own. Whoever appends holds that row until the end of
-- its transaction: so the numbers are dense per object and grow in commit order, and nobody who follows them by number
-- can miss one.
lock table "log_line" in access exclusive mode;
alter table "log_line" alter column "n" drop identity;
delete from "log_line" l where not exists (select from "object" o where o."id" = l."object_id");

create table "log_tail" (
  "object_id" uuid not null,
  "next_n" bigint not null default 1,
  -- What is kept, with the line that tells of those that are not.
  "kept_lines" integer not null default 0,
  "kept_bytes" bigint not null default 0,
  -- How many lines are not kept any more.
  "dropped" bigint not null default 0,
  constraint "log_tail_pkey" primary key ("object_id")
) with (fillfactor = 70);
insert into "log_tail" ("object_id", "next_n", "kept_lines", "kept_bytes")
  select "object_id", max("n") + 1, count(*), sum(octet_length("text")) from "log_line" group by "object_id";

create or replace function object_side_rows_go() returns trigger
language plpgsql as $plpgsql$
begin
  delete from "object_spec" s using "gone" g where s."object_id" = g."id";
  delete from "deploy_item" d using "gone" g where d."object_id" = g."id";
  -- In the order in which those who append lock them; what they were about to commit is seen by the statements after.
  perform from "log_tail" t where t."object_id" in (select g."id" from "gone" g) order by t."object_id" for update;
  if found then
    delete from "log_line" l using "gone" g where l."object_id" = g."id";
    delete from "log_tail" t using "gone" g where t."object_id" = g."id";
  end if;
  return null;
end
$plpgsql$;
-- part: 20261121001000_operations
-- Tasks: jobs of gadgets on machines that they lock.
create table "task" (
  "object_id" uuid not null,
  "cancel_by" text,
  constraint "task_pkey" primary key ("object_id"),
  constraint "task_object_id_fkey" foreign key ("object_id") references "object" ("id") on delete cascade on update cascade
);
create table "gadget_job" (
  "object_id" uuid not null,
  "gadget" text not null,
  -- With all expressions resolved.
  "args" jsonb,
  "env" jsonb,
  "locks" jsonb,
  "exports" jsonb,
  "started_at" timestamptz(3),
  "ended_at" timestamptz(3),
  -- Why it is being undone: FAILURE, CRASH or CANCEL; and what a failure was, which is kept meanwhile.
  "undo_after" text,
  "kept_error" jsonb,
  constraint "gadget_job_pkey" primary key ("object_id"),
  constraint "gadget_job_object_id_fkey" foreign key ("object_id") references "object" ("id") on delete cascade on update cascade
);

-- What was about to be done, durable before it is done.
create table "journal" (
  "object_id" uuid not null,
  "n" integer not null,
  "entry" text not null,
  "at" timestamptz(3) not null,
  constraint "journal_pkey" primary key ("object_id", "n"),
  constraint "journal_object_id_fkey" foreign key ("object_id") references "object" ("id") on delete cascade on update cascade
);

-- A row for each resource that a job holds or waits for. All rows of a job have its ticket, and are held or not together.
create type "lock_mode" as enum ('SHARED', 'EXCLUSIVE');
create sequence "lock_ticket" as bigint;
create table "lock" (
  "object_id" uuid not null,
  "resource" text not null,
  "mode" "lock_mode" not null,
  "ticket" bigint not null,
  "held" boolean not null,
  "declared_at" timestamptz(3) not null,
  "granted_at" timestamptz(3),
  constraint "lock_pkey" primary key ("object_id", "resource"),
  constraint "lock_object_id_fkey" foreign key ("object_id") references "object" ("id") on delete cascade on update cascade
);
alter sequence "lock_ticket" owned by "lock"."ticket";
create index "lock_resource_ticket_idx" on "lock" ("resource", "ticket");
create index "lock_exclusive_idx" on "lock" ("resource", "ticket") where "mode" = 'EXCLUSIVE';
create index "lock_waiting_idx" on "lock" ("resource", "ticket") where not "held";

-- A subscription may run a task instead of a worker: its jobs, as they were asked for.
alter table "subscription" add column "task" jsonb;
-- part: 20261121001100_edge
-- Cloudlets, and the instances that their CRMs keep.
create table "cloudlet" (
  "object_id" uuid not null,
  -- Of the CRM that serves it, and of the one that an upgrade is to bring.
  "version" text,
  "wanted_version" text,
  -- Given last; grows with every CRM process that connects.
  "epoch" integer not null default 0,
  -- Who is connected now, with what its fences are made of; and instances that a newer process has replaced.
  "sessions" jsonb not null default '[]',
  "replaced" jsonb not null default '[]',
  -- The phase of the machine cloudletUpgrade: READY when none runs.
  "upgrade_phase" "phase" not null default 'READY',
  "upgrade_since" timestamptz(3),
  "upgrade_due" timestamptz(3),
  -- Until when the first CRM is waited for.
  "connect_due" timestamptz(3),
  -- What the CRM has and the record does not, as of the last resync.
  "orphans" jsonb not null default '[]',
  "resynced_at" timestamptz(3),
  constraint "cloudlet_pkey" primary key ("object_id"),
  constraint "cloudlet_object_id_fkey" foreign key ("object_id") references "object" ("id") on delete cascade on update cascade
);
create table "edge_inst" (
  "object_id" uuid not null,
  -- Of the spec that is wanted, and the greatest that was ever given: a number never stands for two specs.
  "spec_revision" integer not null default 1,
  "last_revision" integer not null default 1,
  -- What an update that fails goes back to.
  "kept_spec" jsonb,
  "kept_revision" integer,
  -- As of the last resync it is not really as recorded.
  "drifted" boolean not null default false,
  -- The CRM is to take back what was withdrawn or has timed out.
  "undoing" boolean not null default false,
  constraint "edge_inst_pkey" primary key ("object_id"),
  constraint "edge_inst_object_id_fkey" foreign key ("object_id") references "object" ("id") on delete cascade on update cascade
);
-- Beside the sessions in `cloudlet`, since renewals come without the tree's lock.
create table "crm_lease" (
  "cloudlet_id" uuid not null,
  "epoch" integer not null,
  "fence_hash" bytea not null,
  "principal" text not null,
  "lease_until" timestamptz(3) not null,
  -- The subscription over which it hears of requests: when that ends, the session does.
  "stream" uuid,
  constraint "crm_lease_pkey" primary key ("cloudlet_id", "epoch"),
  constraint "crm_lease_cloudlet_id_fkey" foreign key ("cloudlet_id") references "object" ("id") on delete cascade on update cascade
);
-- part: 20261121001200_guard
-- Made from the machine tables by `npm run generate`; a check compares the two.
create or replace function object_initial_phase("object_kind") returns "phase"
language sql immutable parallel safe as $sql$
  select case
    when $1 in ('INSTALLATION') then 'PENDING'::"phase"
    when $1 in ('EXECUTION') then 'PENDING'::"phase"
    when $1 in ('DEPLOY_ITEM') then 'PENDING'::"phase"
    when $1 in ('EVENT', 'WORKER', 'JOB') then 'PENDING'::"phase"
    when $1 in ('TASK') then 'PENDING'::"phase"
    when $1 in ('GADGET_JOB') then 'PENDING'::"phase"
    when $1 in ('CLOUDLET') then 'OFFLINE'::"phase"
    when $1 in ('CLUSTER_INST', 'APP_INST') then 'NOT_PRESENT'::"phase"
  end
$sql$;

create or replace function object_next_phases("object_kind", "phase") returns "phase"[]
language sql immutable parallel safe as $sql$
  select case
    when $1 in ('INSTALLATION') then case $2
        when 'PENDING' then '{PENDING_DEPENDENCIES,INIT,INIT_DELETE}'::"phase"[]
        when 'SUCCEEDED' then '{PENDING_DEPENDENCIES,INIT,INIT_DELETE}'::"phase"[]
        when 'FAILED' then '{PENDING_DEPENDENCIES,INIT,INIT_DELETE}'::"phase"[]
        when 'ABORTED' then '{PENDING_DEPENDENCIES,INIT,INIT_DELETE}'::"phase"[]
        when 'PENDING_DEPENDENCIES' then '{INIT,FAILED,ABORTED}'::"phase"[]
        when 'INIT' then '{CLEANUP_ORPHANED,FAILED,ABORTED}'::"phase"[]
        when 'CLEANUP_ORPHANED' then '{OBJECTS_CREATED,FAILED,ABORTED}'::"phase"[]
        when 'OBJECTS_CREATED' then '{PROGRESSING,FAILED,ABORTED}'::"phase"[]
        when 'PROGRESSING' then '{COMPLETING,FAILED,ABORTED}'::"phase"[]
        when 'COMPLETING' then '{SUCCEEDED,FAILED,ABORTED}'::"phase"[]
        when 'DELETE_FAILED' then '{INIT_DELETE}'::"phase"[]
        when 'INIT_DELETE' then '{TRIGGER_DELETE,DELETE_FAILED}'::"phase"[]
        when 'TRIGGER_DELETE' then '{DELETING,DELETE_FAILED}'::"phase"[]
        when 'DELETING' then '{GONE,DELETE_FAILED}'::"phase"[]
      end
    when $1 in ('EXECUTION') then case $2
        when 'PENDING' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'SUCCEEDED' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'FAILED' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'ABORTED' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'INIT' then '{PROGRESSING,FAILED,ABORTED}'::"phase"[]
        when 'PROGRESSING' then '{COMPLETING,FAILED,ABORTED}'::"phase"[]
        when 'COMPLETING' then '{SUCCEEDED,FAILED,ABORTED}'::"phase"[]
        when 'DELETE_FAILED' then '{INIT_DELETE}'::"phase"[]
        when 'INIT_DELETE' then '{DELETING,DELETE_FAILED}'::"phase"[]
        when 'DELETING' then '{GONE,DELETE_FAILED}'::"phase"[]
      end
    when $1 in ('DEPLOY_ITEM') then case $2
        when 'PENDING' then '{INIT,INIT_DELETE,GONE}'::"phase"[]
        when 'SUCCEEDED' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'FAILED' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'ABORTED' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'INIT' then '{FAILED,ABORTED,PROGRESSING,SUCCEEDED}'::"phase"[]
        when 'PROGRESSING' then '{SUCCEEDED,FAILED,ABORTED}'::"phase"[]
        when 'DELETE_FAILED' then '{INIT_DELETE}'::"phase"[]
        when 'INIT_DELETE' then '{DELETING,GONE,DELETE_FAILED}'::"phase"[]
        when 'DELETING' then '{GONE,DELETE_FAILED}'::"phase"[]
      end
    when $1 in ('EVENT', 'WORKER', 'JOB') then case $2
        when 'PENDING' then '{STARTING,SCHEDULING_FAILED,SUCCEEDED,CANCELED,GONE}'::"phase"[]
        when 'STARTING' then '{RUNNING,SUCCEEDED,FAILED,UNKNOWN,SCHEDULING_FAILED,ABORTED,TIMED_OUT,GONE}'::"phase"[]
        when 'RUNNING' then '{UNKNOWN,SUCCEEDED,FAILED,ABORTED,TIMED_OUT,GONE}'::"phase"[]
        when 'UNKNOWN' then '{SUCCEEDED,FAILED,RUNNING,ABORTED,TIMED_OUT,GONE}'::"phase"[]
        when 'SUCCEEDED' then '{GONE}'::"phase"[]
        when 'FAILED' then '{GONE}'::"phase"[]
        when 'ABORTED' then '{GONE}'::"phase"[]
        when 'CANCELED' then '{GONE}'::"phase"[]
        when 'SCHEDULING_FAILED' then '{GONE}'::"phase"[]
        when 'TIMED_OUT' then '{GONE}'::"phase"[]
      end
    when $1 in ('TASK') then case $2
        when 'PENDING' then '{RUNNING,ABORTING}'::"phase"[]
        when 'RUNNING' then '{SUCCEEDED,FAILED,ABORTING}'::"phase"[]
        when 'ABORTING' then '{ABORTED}'::"phase"[]
        when 'SUCCEEDED' then '{GONE}'::"phase"[]
        when 'FAILED' then '{GONE}'::"phase"[]
        when 'ABORTED' then '{GONE}'::"phase"[]
      end
    when $1 in ('GADGET_JOB') then case $2
        when 'PENDING' then '{DECLARING,SKIPPED,FAILED,ABORTED}'::"phase"[]
        when 'DECLARING' then '{WAITING,FAILED,ABORTED}'::"phase"[]
        when 'WAITING' then '{RUNNING,SKIPPED,ABORTED}'::"phase"[]
        when 'RUNNING' then '{DONE,UNDOING,ABORTING}'::"phase"[]
        when 'UNDOING' then '{FAILED,RUNNING,ABORTED,UNDO_FAILED}'::"phase"[]
        when 'ABORTING' then '{ABORTED,UNDO_FAILED}'::"phase"[]
        when 'UNDO_FAILED' then '{UNDOING,FAILED}'::"phase"[]
        when 'DONE' then '{GONE}'::"phase"[]
        when 'FAILED' then '{GONE}'::"phase"[]
        when 'ABORTED' then '{GONE}'::"phase"[]
        when 'SKIPPED' then '{GONE}'::"phase"[]
      end
    when $1 in ('CLOUDLET') then case $2
        when 'OFFLINE' then '{INIT,GONE}'::"phase"[]
        when 'READY' then '{INIT,OFFLINE}'::"phase"[]
        when 'INIT' then '{INIT,INIT_OK,OFFLINE}'::"phase"[]
        when 'INIT_OK' then '{INIT,READY,OFFLINE}'::"phase"[]
      end
    when $1 in ('CLUSTER_INST', 'APP_INST') then case $2
        when 'NOT_PRESENT' then '{CREATE_REQUESTED,GONE}'::"phase"[]
        when 'CREATE_REQUESTED' then '{CREATING,READY,CREATE_ERROR,GONE}'::"phase"[]
        when 'CREATING' then '{READY,CREATE_ERROR,GONE}'::"phase"[]
        when 'CREATE_ERROR' then '{NOT_PRESENT,GONE}'::"phase"[]
        when 'READY' then '{UPDATE_REQUESTED,DELETE_PREPARE,GONE}'::"phase"[]
        when 'UPDATE_REQUESTED' then '{UPDATING,READY,UPDATE_ERROR,GONE}'::"phase"[]
        when 'UPDATING' then '{READY,UPDATE_ERROR,GONE}'::"phase"[]
        when 'UPDATE_ERROR' then '{READY,GONE}'::"phase"[]
        when 'DELETE_PREPARE' then '{DELETE_REQUESTED,READY,GONE}'::"phase"[]
        when 'DELETE_REQUESTED' then '{DELETING,DELETED,DELETE_ERROR,NOT_PRESENT,GONE}'::"phase"[]
        when 'DELETING' then '{NOT_PRESENT,DELETE_ERROR,GONE}'::"phase"[]
        when 'DELETED' then '{NOT_PRESENT,GONE}'::"phase"[]
        when 'DELETE_ERROR' then '{READY,GONE}'::"phase"[]
      end
  end
$sql$;

create or replace function object_phase_refused("object_kind", "phase", "phase") returns void
language plpgsql as $plpgsql$
declare
  next_phases "phase"[] := case when $2 is null then array[object_initial_phase($1)] else object_next_phases($1, $2) end;
  onward text := coalesce(nullif(array_to_string(array_remove(next_phases, 'GONE'), ', '), ''), 'no other phase');
begin
  raise exception '% may not go from % to %', $1, coalesce($2::text, 'nowhere'), $3 using
    errcode = 'check_violation',
    hint = 'From there it may go to: ' || onward || case when 'GONE' = any (next_phases) then ', or be deleted.' else '.' end;
end
$plpgsql$;

create or replace function object_moved_guard() returns trigger
language plpgsql as $plpgsql$
begin
  case old.kind
    when 'INSTALLATION' then
      if new.phase = any (case old.phase
        when 'PENDING' then '{PENDING_DEPENDENCIES,INIT,INIT_DELETE}'::"phase"[]
        when 'SUCCEEDED' then '{PENDING_DEPENDENCIES,INIT,INIT_DELETE}'::"phase"[]
        when 'FAILED' then '{PENDING_DEPENDENCIES,INIT,INIT_DELETE}'::"phase"[]
        when 'ABORTED' then '{PENDING_DEPENDENCIES,INIT,INIT_DELETE}'::"phase"[]
        when 'PENDING_DEPENDENCIES' then '{INIT,FAILED,ABORTED}'::"phase"[]
        when 'INIT' then '{CLEANUP_ORPHANED,FAILED,ABORTED}'::"phase"[]
        when 'CLEANUP_ORPHANED' then '{OBJECTS_CREATED,FAILED,ABORTED}'::"phase"[]
        when 'OBJECTS_CREATED' then '{PROGRESSING,FAILED,ABORTED}'::"phase"[]
        when 'PROGRESSING' then '{COMPLETING,FAILED,ABORTED}'::"phase"[]
        when 'COMPLETING' then '{SUCCEEDED,FAILED,ABORTED}'::"phase"[]
        when 'DELETE_FAILED' then '{INIT_DELETE}'::"phase"[]
        when 'INIT_DELETE' then '{TRIGGER_DELETE,DELETE_FAILED}'::"phase"[]
        when 'TRIGGER_DELETE' then '{DELETING,DELETE_FAILED}'::"phase"[]
        when 'DELETING' then '{DELETE_FAILED}'::"phase"[]
      end) then return new; end if;
    when 'EXECUTION' then
      if new.phase = any (case old.phase
        when 'PENDING' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'SUCCEEDED' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'FAILED' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'ABORTED' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'INIT' then '{PROGRESSING,FAILED,ABORTED}'::"phase"[]
        when 'PROGRESSING' then '{COMPLETING,FAILED,ABORTED}'::"phase"[]
        when 'COMPLETING' then '{SUCCEEDED,FAILED,ABORTED}'::"phase"[]
        when 'DELETE_FAILED' then '{INIT_DELETE}'::"phase"[]
        when 'INIT_DELETE' then '{DELETING,DELETE_FAILED}'::"phase"[]
        when 'DELETING' then '{DELETE_FAILED}'::"phase"[]
      end) then return new; end if;
    when 'DEPLOY_ITEM' then
      if new.phase = any (case old.phase
        when 'PENDING' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'SUCCEEDED' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'FAILED' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'ABORTED' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'INIT' then '{FAILED,ABORTED,PROGRESSING,SUCCEEDED}'::"phase"[]
        when 'PROGRESSING' then '{SUCCEEDED,FAILED,ABORTED}'::"phase"[]
        when 'DELETE_FAILED' then '{INIT_DELETE}'::"phase"[]
        when 'INIT_DELETE' then '{DELETING,DELETE_FAILED}'::"phase"[]
        when 'DELETING' then '{DELETE_FAILED}'::"phase"[]
      end) then return new; end if;
    when 'EVENT', 'WORKER', 'JOB' then
      if new.phase = any (case old.phase
        when 'PENDING' then '{STARTING,SCHEDULING_FAILED,SUCCEEDED,CANCELED}'::"phase"[]
        when 'STARTING' then '{RUNNING,SUCCEEDED,FAILED,UNKNOWN,SCHEDULING_FAILED,ABORTED,TIMED_OUT}'::"phase"[]
        when 'RUNNING' then '{UNKNOWN,SUCCEEDED,FAILED,ABORTED,TIMED_OUT}'::"phase"[]
        when 'UNKNOWN' then '{SUCCEEDED,FAILED,RUNNING,ABORTED,TIMED_OUT}'::"phase"[]
      end) then return new; end if;
    when 'TASK' then
      if new.phase = any (case old.phase
        when 'PENDING' then '{RUNNING,ABORTING}'::"phase"[]
        when 'RUNNING' then '{SUCCEEDED,FAILED,ABORTING}'::"phase"[]
        when 'ABORTING' then '{ABORTED}'::"phase"[]
      end) then return new; end if;
    when 'GADGET_JOB' then
      if new.phase = any (case old.phase
        when 'PENDING' then '{DECLARING,SKIPPED,FAILED,ABORTED}'::"phase"[]
        when 'DECLARING' then '{WAITING,FAILED,ABORTED}'::"phase"[]
        when 'WAITING' then '{RUNNING,SKIPPED,ABORTED}'::"phase"[]
        when 'RUNNING' then '{DONE,UNDOING,ABORTING}'::"phase"[]
        when 'UNDOING' then '{FAILED,RUNNING,ABORTED,UNDO_FAILED}'::"phase"[]
        when 'ABORTING' then '{ABORTED,UNDO_FAILED}'::"phase"[]
        when 'UNDO_FAILED' then '{UNDOING,FAILED}'::"phase"[]
      end) then return new; end if;
    when 'CLOUDLET' then
      if new.phase = any (case old.phase
        when 'OFFLINE' then '{INIT}'::"phase"[]
        when 'READY' then '{INIT,OFFLINE}'::"phase"[]
        when 'INIT' then '{INIT,INIT_OK,OFFLINE}'::"phase"[]
        when 'INIT_OK' then '{INIT,READY,OFFLINE}'::"phase"[]
      end) then return new; end if;
    when 'CLUSTER_INST', 'APP_INST' then
      if new.phase = any (case old.phase
        when 'NOT_PRESENT' then '{CREATE_REQUESTED}'::"phase"[]
        when 'CREATE_REQUESTED' then '{CREATING,READY,CREATE_ERROR}'::"phase"[]
        when 'CREATING' then '{READY,CREATE_ERROR}'::"phase"[]
        when 'CREATE_ERROR' then '{NOT_PRESENT}'::"phase"[]
        when 'READY' then '{UPDATE_REQUESTED,DELETE_PREPARE}'::"phase"[]
        when 'UPDATE_REQUESTED' then '{UPDATING,READY,UPDATE_ERROR}'::"phase"[]
        when 'UPDATING' then '{READY,UPDATE_ERROR}'::"phase"[]
        when 'UPDATE_ERROR' then '{READY}'::"phase"[]
        when 'DELETE_PREPARE' then '{DELETE_REQUESTED,READY}'::"phase"[]
        when 'DELETE_REQUESTED' then '{DELETING,DELETED,DELETE_ERROR,NOT_PRESENT}'::"phase"[]
        when 'DELETING' then '{NOT_PRESENT,DELETE_ERROR}'::"phase"[]
        when 'DELETED' then '{NOT_PRESENT}'::"phase"[]
        when 'DELETE_ERROR' then '{READY}'::"phase"[]
      end) then return new; end if;
    else null;
  end case;
  perform object_phase_refused(old.kind, old.phase, new.phase);
end
$plpgsql$;

create or replace function object_created_guard() returns trigger
language plpgsql as $plpgsql$
begin
  case new.kind
    when 'INSTALLATION' then
      if new.revision >= (case new.phase
        when 'PENDING' then 1
        when 'PENDING_DEPENDENCIES' then 2
        when 'INIT' then 2
        when 'INIT_DELETE' then 2
        when 'FAILED' then 3
        when 'ABORTED' then 3
        when 'CLEANUP_ORPHANED' then 3
        when 'TRIGGER_DELETE' then 3
        when 'DELETE_FAILED' then 3
        when 'OBJECTS_CREATED' then 4
        when 'DELETING' then 4
        when 'PROGRESSING' then 5
        when 'COMPLETING' then 6
        when 'SUCCEEDED' then 7
      end) then return new; end if;
    when 'EXECUTION' then
      if new.revision >= (case new.phase
        when 'PENDING' then 1
        when 'INIT' then 2
        when 'INIT_DELETE' then 2
        when 'PROGRESSING' then 3
        when 'FAILED' then 3
        when 'ABORTED' then 3
        when 'DELETING' then 3
        when 'DELETE_FAILED' then 3
        when 'COMPLETING' then 4
        when 'SUCCEEDED' then 5
      end) then return new; end if;
    when 'DEPLOY_ITEM' then
      if new.revision >= (case new.phase
        when 'PENDING' then 1
        when 'INIT' then 2
        when 'INIT_DELETE' then 2
        when 'FAILED' then 3
        when 'ABORTED' then 3
        when 'PROGRESSING' then 3
        when 'SUCCEEDED' then 3
        when 'DELETING' then 3
        when 'DELETE_FAILED' then 3
      end) then return new; end if;
    when 'EVENT', 'WORKER', 'JOB' then
      if new.revision >= (case new.phase
        when 'PENDING' then 1
        when 'STARTING' then 2
        when 'SCHEDULING_FAILED' then 2
        when 'SUCCEEDED' then 2
        when 'CANCELED' then 2
        when 'RUNNING' then 3
        when 'FAILED' then 3
        when 'UNKNOWN' then 3
        when 'ABORTED' then 3
        when 'TIMED_OUT' then 3
      end) then return new; end if;
    when 'TASK' then
      if new.revision >= (case new.phase
        when 'PENDING' then 1
        when 'RUNNING' then 2
        when 'ABORTING' then 2
        when 'SUCCEEDED' then 3
        when 'FAILED' then 3
        when 'ABORTED' then 3
      end) then return new; end if;
    when 'GADGET_JOB' then
      if new.revision >= (case new.phase
        when 'PENDING' then 1
        when 'DECLARING' then 2
        when 'SKIPPED' then 2
        when 'FAILED' then 2
        when 'ABORTED' then 2
        when 'WAITING' then 3
        when 'RUNNING' then 4
        when 'DONE' then 5
        when 'UNDOING' then 5
        when 'ABORTING' then 5
        when 'UNDO_FAILED' then 6
      end) then return new; end if;
    when 'CLOUDLET' then
      if new.revision >= (case new.phase
        when 'OFFLINE' then 1
        when 'INIT' then 2
        when 'INIT_OK' then 3
        when 'READY' then 4
      end) then return new; end if;
    when 'CLUSTER_INST', 'APP_INST' then
      if new.revision >= (case new.phase
        when 'NOT_PRESENT' then 1
        when 'CREATE_REQUESTED' then 2
        when 'CREATING' then 3
        when 'READY' then 3
        when 'CREATE_ERROR' then 3
        when 'UPDATE_REQUESTED' then 4
        when 'DELETE_PREPARE' then 4
        when 'UPDATING' then 5
        when 'UPDATE_ERROR' then 5
        when 'DELETE_REQUESTED' then 5
        when 'DELETING' then 6
        when 'DELETED' then 6
        when 'DELETE_ERROR' then 6
      end) then return new; end if;
    else null;
  end case;
  perform object_phase_refused(new.kind, null, new.phase);
end
$plpgsql$;

create or replace function object_gone_guard() returns trigger
language plpgsql as $plpgsql$
begin
  if 'GONE' = any (object_next_phases(old.kind, old.phase)) then return old; end if;
  perform object_phase_refused(old.kind, old.phase, 'GONE');
end
$plpgsql$;

create or replace function object_kind_guard() returns trigger
language plpgsql as $plpgsql$
begin
  raise exception '% in phase % may not become %: an object keeps its kind', old.kind, old.phase, new.kind using
    errcode = 'check_violation',
    hint = format('Create an object of kind %s; it starts in phase %s.', new.kind, object_initial_phase(new.kind));
end
$plpgsql$;

create or replace trigger object_created before insert on "object"
  for each row execute function object_created_guard();
create or replace trigger object_moved before update of "phase" on "object"
  for each row when (old.phase is distinct from new.phase) execute function object_moved_guard();
create or replace trigger object_gone before delete on "object"
  for each row execute function object_gone_guard();
create or replace trigger object_kind_kept before update of "kind" on "object"
  for each row when (old.kind is distinct from new.kind) execute function object_kind_guard();

create or replace function cloudlet_upgrade_phase_guard() returns trigger
language plpgsql as $plpgsql$
declare
  next_phases "phase"[] := case old.upgrade_phase
        when 'READY' then '{UPDATE_REQUESTED}'::"phase"[]
        when 'UPDATE_REQUESTED' then '{UPDATING,UPDATE_ERROR,INIT_OK}'::"phase"[]
        when 'UPDATING' then '{INIT_OK,READY,UPDATE_ERROR}'::"phase"[]
        when 'INIT_OK' then '{READY,UPDATE_ERROR}'::"phase"[]
        when 'UPDATE_ERROR' then '{UPDATE_ERROR,READY}'::"phase"[]
      end;
begin
  if new.upgrade_phase = any (next_phases) then return new; end if;
  raise exception '% may not go from % to %', 'cloudletUpgrade', old.upgrade_phase, new.upgrade_phase using
    errcode = 'check_violation',
    hint = 'From there it may go to: ' || coalesce(nullif(array_to_string(next_phases, ', '), ''), 'no other phase') || '.';
end
$plpgsql$;

create or replace trigger cloudlet_upgrade_phase_moved before update of upgrade_phase on "cloudlet"
  for each row when (old.upgrade_phase is distinct from new.upgrade_phase) execute function cloudlet_upgrade_phase_guard();
-- part: 20261122000000_log_content
-- The log is written in batches, so it is stored in batches: a row for each transaction and tree instead of one for each
-- change, which cost three entries of indexes and repeated ten columns that are the same for hundreds of changes.
alter table "phase_change" rename to "phase_change_row";

-- Arrays of one length: the first ones have an element for each change, in order; "steps" says which element of the
-- others is its. What many changes of a transaction have in common is there once, and "counts" says how many they are.
create table "log_content" (
  "batch_id" bigint not null,
  "root_id" uuid not null,
  "object_ids" uuid[] not null,
  "parent_ids" uuid[] not null,
  "names" text[] not null,
  "revisions" integer[] not null,
  "messages" text[] not null,
  "steps" integer[] not null,
  "counts" integer[] not null,
  "project_names" text[] not null,
  "kinds" "object_kind"[] not null,
  "machines" text[] not null,
  "from" "phase"[] not null,
  "to" "phase"[] not null,
  "actors" "actor"[] not null,
  "by" text[] not null,
  "reasons" text[] not null,
  "job_ids" uuid[] not null,
  "rejected" boolean[] not null,
  "at" timestamptz(3)[] not null,
  constraint "log_content_pkey" primary key ("batch_id")
);
create index "log_content_root_idx" on "log_content" ("root_id", "batch_id");
-- Looked into once for each change: that must not unpack them each time.
alter table "log_content"
  alter "counts" set storage main, alter "project_names" set storage main, alter "kinds" set storage main, alter "machines" set storage main,
  alter "from" set storage main, alter "to" set storage main, alter "actors" set storage main,
  alter "by" set storage main, alter "reasons" set storage main, alter "job_ids" set storage main,
  alter "rejected" set storage main, alter "at" set storage main;

-- Which batches have changes of an object.
create table "log_object" (
  "object_id" uuid not null,
  "batch_id" bigint not null,
  constraint "log_object_pkey" primary key ("object_id", "batch_id")
);

insert into "log_content"
  select batch_id, (array_agg(root_id))[1], array_agg(object_id order by idx), array_agg(parent_id order by idx),
    array_agg(name order by idx), array_agg(revision order by idx), array_agg(message order by idx),
    array_agg(step::integer order by idx),
    array_agg(count order by step) filter (where is_first),
    array_agg(project_name order by step) filter (where is_first),
    array_agg(kind order by step) filter (where is_first),
    array_agg(machine order by step) filter (where is_first),
    array_agg("from" order by step) filter (where is_first),
    array_agg("to" order by step) filter (where is_first),
    array_agg(actor order by step) filter (where is_first),
    array_agg("by" order by step) filter (where is_first),
    array_agg(reason order by step) filter (where is_first),
    array_agg(job_id order by step) filter (where is_first),
    array_agg(rejected order by step) filter (where is_first),
    array_agg(at order by step) filter (where is_first)
  from (
    select *, row_number() over (partition by batch_id, step order by idx) = 1 as is_first,
      (count(*) over (partition by batch_id, step))::integer as count
    from (
      select *, dense_rank() over (
        partition by batch_id order by project_name, kind, machine, "from", "to", actor, "by", reason, job_id, rejected, at
      ) as step from "phase_change_row"
    ) ranked
  ) stepped
  group by batch_id;
insert into "log_object" select distinct object_id, batch_id from "phase_change_row";
drop table "phase_change_row";

-- The log as everybody reads it: a row for each change.
create view "phase_change" as
  select p.batch_id, (c.n - 1)::integer as idx, c.object_id, p.root_id, c.parent_id, p.project_names[c.step] as project_name,
    p.kinds[c.step] as kind, c.name, p.machines[c.step] as machine, p."from"[c.step] as "from", p."to"[c.step] as "to",
    p.actors[c.step] as actor, p."by"[c.step] as "by", p.reasons[c.step] as reason, c.message,
    p.job_ids[c.step] as job_id, c.revision, p.rejected[c.step] as rejected, p."at"[c.step] as "at"
  from "log_content" p
  cross join lateral unnest(p.object_ids, p.parent_ids, p.names, p.revisions, p.messages, p.steps)
    with ordinality as c(object_id, parent_id, name, revision, message, step, n);

-- The same, for who asks by "object_id": only so is the way to an object's changes short.
create view "object_phase_change" as
  select c.* from "log_object" o join "phase_change" c on c.batch_id = o.batch_id and c.object_id = o.object_id;
-- part: 20261122000100_plans
-- A plan is made once for a connection, and perhaps when the queue happens to be empty: then every index that a statement
-- may use costs the same, and one that it would have to read from end to end is as good as the right one. So indexes of the
-- queue are such that only those statements may use them that search by their first column.

-- Found by "state" + 0 < 2, which nothing that is said of "state" alone implies.
drop index "work_root_idx";
create index "work_root_idx" on "work" ("root_id") where "state" + 0 < 2;

-- Words are only ever looked for by their root.
alter table "wake" drop constraint "wake_pkey", add constraint "wake_pkey" primary key ("root_id", "id");
drop index "wake_root_id_idx";
-- part: 20261122000200_lock_plans
-- The first exclusive lock of a resource was found by an index of the columns that another one has too, and a plan took
-- that one when its numbers made both look alike: it read the whole queue. Nobody else is found by this expression, and it
-- is in no other index.
drop index "lock_exclusive_idx";
create index "lock_exclusive_idx" on "lock" ((case when "mode" = 'EXCLUSIVE' then "resource" end), "ticket");
-- part: 20261122000300_work_upkeep
-- Work that is handed over and ended leaves dead entries at the very place of the index where the next claim begins to
-- look. In a table that keeps the finished work of a million objects a share of it would be 200,000 of them (measured: claims
-- of a tree of 1,000 take 9 ms instead of 0.4). So it is vacuumed after so many rows, and always with its indexes.
alter table "work" set (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 20000,
  vacuum_index_cleanup = on
);
-- part: rows of _prisma_migrations
set local session_replication_role = replica;
delete from "_prisma_migrations";
insert into "_prisma_migrations" ("id", "checksum", "finished_at", "migration_name", "logs", "rolled_back_at", "started_at", "applied_steps_count") overriding system value values
('39aff223-4939-46bb-a894-063a2126bfe7', '3dad482e6ae8dd752f635cd7ef547c4a0bbe2eaabeb1f0dcebf8557086343720', '2026-11-23 04:01:09.615681+00', '20261121000300_log_retention', NULL, NULL, '2026-11-23 04:01:09.614454+00', '1'),
('4074023c-cb91-4e6b-a737-f855502cd253', 'fbe780b82313bdfd598c142211a5e36906b018b44b5bc3af6776595678ee6975', '2026-11-23 04:01:09.637329+00', '20261121001000_operations', NULL, NULL, '2026-11-23 04:01:09.633194+00', '1'),
('45417621-d60f-49f9-aefc-b0eae17cbd25', '6e660c9d189582aac0389cfbfbc4572bdf3fa418f641e71564f44817ba843455', '2026-11-23 04:01:09.621761+00', '20261121000600_number_log', NULL, NULL, '2026-11-23 04:01:09.621278+00', '1'),
('5788911b-59b8-45de-8fb9-b88505d6fe87', '196c433c8b1bbafb12ff3b0af5597c3e6c948a4c67f2e7ec22f3e981ad639afc', '2026-11-23 04:01:09.620347+00', '20261121000500_hot_path', NULL, NULL, '2026-11-23 04:01:09.618401+00', '1'),
('5957bfa3-5888-4c73-bb8d-76b74bf398d2', 'b3234ee65261713fb95853da7c39cbecf5bae34e375218cad1732f185f96f922', '2026-11-23 04:01:09.617942+00', '20261121000400_guard', NULL, NULL, '2026-11-23 04:01:09.616128+00', '1'),
('69c85c45-3ac4-4cda-b1ba-514b43ebb7b7', 'fc8de58ee1012397e780d15318516ffb81009688343456434fdf2d7c2d82f18b', '2026-11-23 04:01:09.653415+00', '20261122000100_plans', NULL, NULL, '2026-11-23 04:01:09.652299+00', '1'),
('73a7476b-7196-4229-8bbb-50365cc91d6f', 'e8ec52c4ba26821a5c7d8f205a5d5a9bc1ebc55322bb9f90a43bfe775f40b93f', '2026-11-23 04:01:09.63229+00', '20261121000800_log_lines', NULL, NULL, '2026-11-23 04:01:09.629592+00', '1'),
('7b1a6e83-3f87-4899-9d8c-08222363e33b', '3657f9f077f58a062c6e6880422f2582416600e394159e75d0d68f96804b9e6b', '2026-11-23 04:01:09.612916+00', '20261121000100_guard', NULL, NULL, '2026-11-23 04:01:09.609802+00', '1'),
('7b76bdef-f090-45d9-9229-610097bf0102', 'c8bdd2e01487c86cd24251d89013e891e2ff811b64c79e574f7f41ac0bd54126', '2026-11-23 04:01:09.657154+00', '20261122000300_work_upkeep', NULL, NULL, '2026-11-23 04:01:09.656687+00', '1'),
('99b526ab-4cbd-4557-b4c0-7d0504723e41', '88088b8b90e3c8593c32a05fa16d3cb39f32cc120099d4386780a4464ffbec92', '2026-11-23 04:01:09.614049+00', '20261121000200_log_upkeep', NULL, NULL, '2026-11-23 04:01:09.613543+00', '1'),
('9cd66d61-5b32-4b9d-b680-3363111e445b', 'adb9351cebc81d4ac2fe207c368c2076dd08b25ee2857015de6f33fa3a9f0893', '2026-11-23 04:01:09.640677+00', '20261121001100_edge', NULL, NULL, '2026-11-23 04:01:09.637822+00', '1'),
('adde7360-68b6-453e-a6d5-d99dd1dfcfe0', '1decfe8a8c41c421ebd5b9f409b74494e4f980b99942ae269ba7d612f6146550', '2026-11-23 04:01:09.644026+00', '20261121001200_guard', NULL, NULL, '2026-11-23 04:01:09.641288+00', '1'),
('b4e9ab0c-849e-4f9f-b253-ab60d06b89a3', 'e54723c27addacd7b064e09654c70229e1fcebc12c694d6ee19b7ada12aec731', '2026-11-23 04:01:09.628641+00', '20261121000700_pipelines', NULL, NULL, '2026-11-23 04:01:09.622145+00', '1'),
('dff5c232-137e-4c24-b0df-e334174c2b45', '12836323ddd9fae671e4a95937de323b9866ead8fea5be957a23cdebfe4249ef', '2026-11-23 04:01:09.655844+00', '20261122000200_lock_plans', NULL, NULL, '2026-11-23 04:01:09.654231+00', '1'),
('e6cab166-57d4-430b-a29f-e29bee4a9e4a', '79076a0e5698203d1804632c8be78d259131e217e4b54425d6885bbcd4a03df3', '2026-11-23 04:01:09.60841+00', '20261121000000_foundation', NULL, NULL, '2026-11-23 04:01:09.585518+00', '1'),
('f1ec2b8b-3625-40cf-a60e-25c43f238e78', '8131c17015ea463bc74ebb3c01578eefe3d389ac6c795e76039e6d72895ff36d', '2026-11-23 04:01:09.650928+00', '20261122000000_log_content', NULL, NULL, '2026-11-23 04:01:09.645702+00', '1');
-- part: rows of agent
set local session_replication_role = replica;
delete from "agent";
insert into "agent" ("id", "name", "instance", "actor", "types", "targets", "connected_at", "seen_at") overriding system value values
('01a20690-9c6d-73aa-a91a-816e716949f7', 'deployer', 'played', 'DEPLOYER', '{mock}', '{here}', '2026-11-23 04:01:10.253+00', '2026-11-23 04:01:11.541+00'),
('01a20690-a30f-73f4-b293-4315c0296df8', 'runner', 'played', 'GADGET_RUNNER', '{gadget-job}', '{here}', '2026-11-23 04:01:11.951+00', '2026-11-23 04:01:11.951+00'),
('01a20690-a7fd-7041-a6b1-de8a000f5c3b', 'runtime', 'played', 'RUNTIME', '{played}', '{here}', '2026-11-23 04:01:13.213+00', '2026-11-23 04:01:13.213+00'),
('01a20690-a8c0-7283-8575-a6d1d1a178bf', 'crm', 'crm-of-before', 'CRM', '{crm}', '{north}', '2026-11-23 04:01:13.406+00', '2026-11-23 04:01:13.474+00');
-- part: rows of capacity
set local session_replication_role = replica;
delete from "capacity";
insert into "capacity" ("one", "max_workers", "max_jobs") overriding system value values
('true', '50', '100');
-- part: rows of cloudlet
set local session_replication_role = replica;
delete from "cloudlet";
insert into "cloudlet" ("object_id", "version", "wanted_version", "epoch", "sessions", "replaced", "upgrade_phase", "upgrade_since", "upgrade_due", "connect_due", "orphans", "resynced_at") overriding system value values
('01a20690-a8b6-71d8-a0f5-f7a2f72ba2dc', '1.0', NULL, '1', '[{"call": 0, "role": "CRM", "salt": "67032cea81977f91d4c572a740767097", "epoch": 1, "objects": null, "version": "1.0", "instance": "crm-of-before", "fenceHash": "d46e4daea31392a2b7acf09d5b812639aec5c85e04c13263dfd8e9354d75fc28", "principal": "crm", "connectedAt": "2026-11-23T04:01:13.474Z"}]', '[]', 'READY', NULL, NULL, NULL, '[{"kind": "APP_INST", "path": ["north", "old", "lost"], "phase": "READY", "specRevision": 7}]', '2026-11-23 04:01:13.474+00'),
('01a20690-a8b9-731a-9307-ee6aa985e8b8', NULL, NULL, '0', '[]', '[]', 'READY', NULL, NULL, '2026-11-23 04:06:13.401+00', '[]', NULL);
-- part: rows of crm_lease
set local session_replication_role = replica;
delete from "crm_lease";
insert into "crm_lease" ("cloudlet_id", "epoch", "fence_hash", "principal", "lease_until", "stream") overriding system value values
('01a20690-a8b6-71d8-a0f5-f7a2f72ba2dc', '1', E'\\xd46e4daea31392a2b7acf09d5b812639aec5c85e04c13263dfd8e9354d75fc28', 'crm', '2026-11-23 04:11:13.474+00', NULL);
-- part: rows of data_object
set local session_replication_role = replica;
delete from "data_object";
insert into "data_object" ("project_id", "name", "value", "exporter_id", "updated_at") overriding system value values
('01a20690-9a22-754c-9b57-264e7c3e6507', 'age', '"bronze"', '01a20690-9c58-73f4-9cb5-df436857f598', '2026-11-23 04:01:10.313+00'),
('01a20690-9a22-754c-9b57-264e7c3e6507', 'cidr', '"10.0.0.0/8"', '01a20690-a156-727e-8de7-8d461a8eb846', '2026-11-23 04:01:11.676+00'),
('01a20690-9a22-754c-9b57-264e7c3e6507', 'region', '{"name": "north", "zones": [1, 2.5, "ü"]}', NULL, '2026-11-23 04:01:11.741+00');
-- part: rows of deploy_item
set local session_replication_role = replica;
delete from "deploy_item";
insert into "deploy_item" ("object_id", "type", "target", "exports") overriding system value values
('01a20690-9c5b-7741-bce4-def452e97b1f', 'mock', NULL, '{"value": "bronze"}'),
('01a20690-a15a-712d-8bcf-4c966f7220f2', 'mock', NULL, '{"value": "10.0.0.0/8"}'),
('01a20690-a1ce-708e-8483-336dc14ae8b4', 'mock', NULL, '{}'),
('01a20690-a217-74b3-8a01-d0a5ab6ba947', 'mock', NULL, '{}'),
('01a20690-a24f-757b-9c68-5b34ceb68ee2', 'mock', NULL, NULL),
('01a20690-a27c-7378-a535-e26eb55ff451', 'later', NULL, '{}'),
('01a20690-a297-73f6-bc2d-df5ea66cf32f', 'mock', NULL, NULL),
('01a20690-a298-7438-a850-f4499548da78', 'later', NULL, NULL),
('01a20690-a298-7438-a850-f81634d2f836', 'mock', NULL, NULL),
('01a20690-a2ad-7400-8801-4e71db2bd035', 'mock', NULL, NULL),
('01a20690-a2bf-7089-ac6c-28fb59d0a684', 'mock', NULL, NULL),
('01a20690-a2dc-776c-aea0-7b4419d6a5c5', 'mock', NULL, NULL);
-- part: rows of edge
set local session_replication_role = replica;
delete from "edge";
insert into "edge" ("from_id", "to_id") overriding system value values
('01a20690-a159-7259-9552-b014a1a6702e', '01a20690-a159-7259-9552-ad25ff4aa85e'),
('01a20690-a298-7438-a850-f81634d2f836', '01a20690-a297-73f6-bc2d-df5ea66cf32f'),
('01a20690-a308-75cd-b5a7-56d1844a55ba', '01a20690-a308-75cd-b5a7-5265d19d1f5c');
-- part: rows of edge_inst
set local session_replication_role = replica;
delete from "edge_inst";
insert into "edge_inst" ("object_id", "spec_revision", "last_revision", "kept_spec", "kept_revision", "drifted", "undoing") overriding system value values
('01a20690-a8cb-746a-83e7-2ac2d689c39b', '1', '1', NULL, NULL, 'false', 'false'),
('01a20690-a8e4-77c2-83a3-0f145ca17d26', '2', '2', '{"size": 1}', '1', 'false', 'false'),
('01a20690-a8fd-70a2-a761-0d27f357f878', '1', '1', NULL, NULL, 'false', 'false');
-- part: rows of event
set local session_replication_role = replica;
delete from "event";
insert into "event" ("object_id", "source", "type", "qualifiers", "payload", "subscribed", "retry_of", "clone_of") overriding system value values
('01a20690-a7f1-7786-886e-60ec48037c13', 'github.com/acme', 'push', '{"branch": "main"}', '{"a": 1}', 'true', NULL, NULL),
('01a20690-a865-70c2-b4b3-cbe89b1b7d0d', 'github.com/acme', 'push', '{"branch": "main"}', NULL, 'true', NULL, NULL),
('01a20690-a89e-7708-873b-9d395e9429e9', 'github.com/acme', 'push', '{"branch": "main"}', NULL, 'true', NULL, NULL),
('01a20690-a8a8-70d5-a516-6b0a50564d79', 'github.com/acme', 'push', '{"branch": "main"}', NULL, 'true', NULL, NULL);
-- part: rows of event_secret
set local session_replication_role = replica;
delete from "event_secret";
insert into "event_secret" ("event_id", "name", "sealed") overriding system value values
('01a20690-a7f1-7786-886e-60ec48037c13', 'API_KEY', E'\\x015e318f8c8c19e7271accf57a2c871965e9d35c53c803dd3a743225ad99bf37e975bc2e8048ac054d3d1ad017c1b16b786dc9eca8'),
('01a20690-a865-70c2-b4b3-cbe89b1b7d0d', 'API_KEY', E'\\x015e318f8c8c19e7271accf57a2c871965e9d35c53c803dd3a743225ad99bf37e975bc2e8048ac054d3d1ad017c1b16b786dc9eca8'),
('01a20690-a89e-7708-873b-9d395e9429e9', 'API_KEY', E'\\x015e318f8c8c19e7271accf57a2c871965e9d35c53c803dd3a743225ad99bf37e975bc2e8048ac054d3d1ad017c1b16b786dc9eca8'),
('01a20690-a8a8-70d5-a516-6b0a50564d79', 'API_KEY', E'\\x015e318f8c8c19e7271accf57a2c871965e9d35c53c803dd3a743225ad99bf37e975bc2e8048ac054d3d1ad017c1b16b786dc9eca8');
-- part: rows of export_pin
set local session_replication_role = replica;
delete from "export_pin";
insert into "export_pin" ("exporter_id", "importer_id") overriding system value values
('01a20690-a156-727e-8de7-8d461a8eb846', '01a20690-a20a-77e1-84df-fba33d0abbc0');
-- part: rows of floor_state
set local session_replication_role = replica;
delete from "floor_state";
insert into "floor_state" ("object_id", "root_id", "parent_id", "kind", "name", "phase", "phase_since", "revision") overriding system value values
('01a20690-9c58-73f4-9cb5-df436857f598', '01a20690-9c58-73f4-9cb5-df436857f598', NULL, 'INSTALLATION', 'ancient', 'SUCCEEDED', '2026-08-15 04:01:10.313+00', '7'),
('01a20690-9c5a-74e8-a332-bbb63d26c0b9', '01a20690-9c58-73f4-9cb5-df436857f598', '01a20690-9c58-73f4-9cb5-df436857f598', 'EXECUTION', 'deploy-items', 'SUCCEEDED', '2026-08-15 04:01:10.279+00', '5'),
('01a20690-9c5b-7741-bce4-def452e97b1f', '01a20690-9c58-73f4-9cb5-df436857f598', '01a20690-9c5a-74e8-a332-bbb63d26c0b9', 'DEPLOY_ITEM', 'agemade', 'SUCCEEDED', '2026-08-15 04:01:10.279+00', '4');
-- part: rows of gadget_job
set local session_replication_role = replica;
delete from "gadget_job";
insert into "gadget_job" ("object_id", "gadget", "args", "env", "locks", "exports", "started_at", "ended_at", "undo_after", "kept_error") overriding system value values
('01a20690-a308-75cd-b5a7-5265d19d1f5c', 'copy', '["--to", "x"]', '{}', '[{"mode": "EXCLUSIVE", "resource": "host:copy"}]', '{"file": "/tmp/x"}', '2026-11-23 04:01:11.958+00', '2026-11-23 04:01:11.971+00', NULL, NULL),
('01a20690-a308-75cd-b5a7-56d1844a55ba', 'tell', '["/tmp/x"]', '{}', '[]', '{}', '2026-11-23 04:01:12+00', '2026-11-23 04:01:12.007+00', NULL, NULL),
('01a20690-a34d-7688-bba5-27d051066411', 'turn', '[]', '{}', '[{"mode": "EXCLUSIVE", "resource": "host:crash"}]', NULL, '2026-11-23 04:01:12.021+00', NULL, 'CRASH', NULL),
('01a20690-a767-73b1-bda1-bcaa223eb3a6', 'turn', '[]', '{}', '[{"mode": "EXCLUSIVE", "resource": "host:dirty"}]', NULL, '2026-11-23 04:01:13.072+00', NULL, NULL, NULL),
('01a20690-a785-72ff-b359-25bcf5789c8d', 'turn', '[]', '{}', '[{"mode": "EXCLUSIVE", "resource": "host:shared"}]', NULL, '2026-11-23 04:01:13.099+00', NULL, 'FAILURE', '{"code": "GADGET_FAILED", "message": "the disk is full"}'),
('01a20690-a79d-736c-9072-224db9564296', 'turn', '[]', '{}', '[{"mode": "EXCLUSIVE", "resource": "host:shared"}]', NULL, NULL, NULL, NULL, NULL),
('01a20690-a7aa-75f5-b6ee-7cb7a2dc10b8', 'turn', '[]', '{}', '[{"mode": "EXCLUSIVE", "resource": "host:turn"}]', NULL, '2026-11-23 04:01:13.138+00', NULL, NULL, NULL),
('01a20690-a7b9-742a-8e64-2d674bb74a08', 'turn', '[]', '{}', '[{"mode": "EXCLUSIVE", "resource": "host:undo"}]', NULL, '2026-11-23 04:01:13.151+00', NULL, 'FAILURE', '{"code": "GADGET_FAILED", "message": "the disk is full"}'),
('01a20690-a8ae-7019-b46b-028a6648a4b9', 'sweep', '[]', '{"GADGET_EVENT_TYPE": "nightly", "GADGET_EVENT_SOURCE": "github.com/acme"}', NULL, NULL, NULL, NULL, NULL, NULL);
-- part: rows of idempotency_key
set local session_replication_role = replica;
delete from "idempotency_key";
insert into "idempotency_key" ("principal", "project_id", "mutation", "key", "input_hash", "object_id", "created_at") overriding system value values
('admin', '01a20690-9a22-754c-9b57-264e7c3e6507', 'createInstallation', 'once', '5ddfdb94e66a80abe8610559630296e1e83b316b112333dfdccd95a00f419e72', '01a20690-a156-727e-8de7-8d461a8eb846', '2026-11-23 04:01:11.507+00'),
('admin', '01a20690-a7d0-77d3-8dea-673a183a6409', 'createTask', 'event-task-011e3503dbd5', 'd9ed524799a00eeeab519b1a6a457c7f48087fca6039056732a1e35475e89f38', '01a20690-a8ae-7019-b46a-fd4b39577fa8', '2026-11-23 04:01:13.389+00');
-- part: rows of installation
set local session_replication_role = replica;
delete from "installation";
insert into "installation" ("object_id", "ignored", "mode", "next_mode", "next_deletion", "force_deletion", "without_uninstall", "cancel_requested_at", "cancel_by", "imports", "exports") overriding system value values
('01a20690-9c58-73f4-9cb5-df436857f598', 'false', 'STANDARD', NULL, 'false', 'false', 'false', NULL, NULL, '{}', '{"age": "bronze"}'),
('01a20690-a156-727e-8de7-8d461a8eb846', 'false', 'STANDARD', NULL, 'false', 'false', 'false', NULL, NULL, '{}', '{"cidr": "10.0.0.0/8"}'),
('01a20690-a159-7259-9552-ad25ff4aa85e', 'false', 'STANDARD', NULL, 'false', 'false', 'false', NULL, NULL, '{}', '{"cidr": "10.0.0.0/8"}'),
('01a20690-a159-7259-9552-b014a1a6702e', 'false', 'STANDARD', NULL, 'false', 'false', 'false', NULL, NULL, '{"cidr": "10.0.0.0/8"}', '{}'),
('01a20690-a20a-77e1-84df-fba33d0abbc0', 'false', 'STANDARD', NULL, 'false', 'false', 'false', NULL, NULL, '{"cidr": "10.0.0.0/8"}', '{}'),
('01a20690-a24f-757b-9c68-4eefd46f8194', 'false', 'STANDARD', NULL, 'false', 'false', 'false', NULL, NULL, '{}', NULL),
('01a20690-a264-72b4-b6ff-03cb1046e31a', 'false', 'STANDARD', NULL, 'false', 'false', 'false', NULL, NULL, NULL, NULL),
('01a20690-a27c-7378-a535-d4c08afc0d5c', 'false', 'STANDARD', NULL, 'false', 'false', 'false', NULL, NULL, '{}', '{}'),
('01a20690-a297-73f6-bc2d-d2bc94b8a917', 'false', 'STANDARD', NULL, 'false', 'false', 'false', NULL, NULL, '{}', NULL),
('01a20690-a2ac-73f2-b193-8e839eb858b3', 'false', 'STANDARD', NULL, 'false', 'false', 'false', NULL, NULL, '{}', NULL),
('01a20690-a2bf-7089-ac6c-1c5cb2a20a2e', 'false', 'STANDARD', 'FORCE', 'false', 'false', 'false', NULL, NULL, '{}', NULL),
('01a20690-a2db-734d-ab98-3bb72c8e1324', 'false', 'STANDARD', NULL, 'false', 'false', 'false', '2026-11-23 04:01:11.911+00', 'admin (not now)', '{}', NULL);
-- part: rows of journal
set local session_replication_role = replica;
delete from "journal";
insert into "journal" ("object_id", "n", "entry", "at") overriding system value values
('01a20690-a308-75cd-b5a7-5265d19d1f5c', '1', 'START', '2026-11-23 04:01:11.958+00'),
('01a20690-a308-75cd-b5a7-5265d19d1f5c', '2', 'DONE', '2026-11-23 04:01:11.971+00'),
('01a20690-a308-75cd-b5a7-56d1844a55ba', '1', 'START', '2026-11-23 04:01:12+00'),
('01a20690-a308-75cd-b5a7-56d1844a55ba', '2', 'DONE', '2026-11-23 04:01:12.007+00'),
('01a20690-a34d-7688-bba5-27d051066411', '1', 'START', '2026-11-23 04:01:12.021+00'),
('01a20690-a34d-7688-bba5-27d051066411', '2', 'UNDO', '2026-11-23 04:01:13.03+00'),
('01a20690-a34d-7688-bba5-27d051066411', '3', 'START', '2026-11-23 04:01:13.038+00'),
('01a20690-a767-73b1-bda1-bcaa223eb3a6', '1', 'START', '2026-11-23 04:01:13.072+00'),
('01a20690-a785-72ff-b359-25bcf5789c8d', '1', 'START', '2026-11-23 04:01:13.099+00'),
('01a20690-a785-72ff-b359-25bcf5789c8d', '2', 'UNDO', '2026-11-23 04:01:13.108+00'),
('01a20690-a7aa-75f5-b6ee-7cb7a2dc10b8', '1', 'START', '2026-11-23 04:01:13.138+00'),
('01a20690-a7b9-742a-8e64-2d674bb74a08', '1', 'START', '2026-11-23 04:01:13.151+00'),
('01a20690-a7b9-742a-8e64-2d674bb74a08', '2', 'UNDO', '2026-11-23 04:01:13.159+00');
-- part: rows of lock
set local session_replication_role = replica;
delete from "lock";
insert into "lock" ("object_id", "resource", "mode", "ticket", "held", "declared_at", "granted_at") overriding system value values
('01a20690-a34d-7688-bba5-27d051066411', 'host:crash', 'EXCLUSIVE', '2', 'true', '2026-11-23 04:01:12.021+00', '2026-11-23 04:01:12.021+00'),
('01a20690-a767-73b1-bda1-bcaa223eb3a6', 'host:dirty', 'EXCLUSIVE', '3', 'true', '2026-11-23 04:01:13.072+00', '2026-11-23 04:01:13.072+00'),
('01a20690-a785-72ff-b359-25bcf5789c8d', 'host:shared', 'EXCLUSIVE', '4', 'true', '2026-11-23 04:01:13.099+00', '2026-11-23 04:01:13.099+00'),
('01a20690-a79d-736c-9072-224db9564296', 'host:shared', 'EXCLUSIVE', '5', 'false', '2026-11-23 04:01:13.126+00', NULL),
('01a20690-a7aa-75f5-b6ee-7cb7a2dc10b8', 'host:turn', 'EXCLUSIVE', '6', 'true', '2026-11-23 04:01:13.138+00', '2026-11-23 04:01:13.138+00'),
('01a20690-a7b9-742a-8e64-2d674bb74a08', 'host:undo', 'EXCLUSIVE', '7', 'true', '2026-11-23 04:01:13.151+00', '2026-11-23 04:01:13.151+00');
-- part: rows of log_batch
set local session_replication_role = replica;
delete from "log_batch";
insert into "log_batch" ("id", "n", "first_seq") overriding system value values
('100', '2', '294'),
('101', '1', '296'),
('11', '17', '43'),
('12', '1', '60'),
('13', '4', '61'),
('14', '9', '65'),
('15', '1', '74'),
('16', '1', '75'),
('17', '6', '76'),
('18', '1', '82'),
('19', '1', '83'),
('20', '8', '84'),
('21', '1', '92'),
('22', '1', '93'),
('23', '5', '94'),
('24', '10', '99'),
('25', '1', '109'),
('26', '3', '110'),
('27', '1', '113'),
('28', '1', '114'),
('29', '10', '115'),
('30', '1', '125'),
('31', '5', '126'),
('32', '13', '131'),
('33', '1', '144'),
('34', '6', '145'),
('35', '10', '151'),
('36', '1', '161'),
('37', '10', '162'),
('38', '1', '172'),
('39', '10', '173'),
('40', '1', '183'),
('41', '5', '184'),
('42', '2', '189'),
('43', '1', '191'),
('44', '1', '192'),
('45', '2', '193'),
('46', '2', '195'),
('47', '4', '197'),
('48', '2', '201'),
('49', '1', '203'),
('50', '1', '204'),
('51', '2', '205'),
('53', '1', '207'),
('54', '4', '208'),
('55', '2', '212'),
('56', '2', '214'),
('58', '1', '216'),
('59', '4', '217'),
('60', '2', '221'),
('61', '1', '223'),
('62', '1', '224'),
('63', '4', '225'),
('64', '1', '229'),
('65', '4', '230'),
('66', '2', '234'),
('67', '4', '236'),
('68', '2', '240'),
('69', '1', '242'),
('70', '4', '243'),
('71', '2', '247'),
('72', '1', '249'),
('73', '1', '250'),
('74', '1', '251'),
('75', '1', '252'),
('76', '1', '253'),
('77', '1', '254'),
('78', '1', '255'),
('79', '1', '256'),
('80', '2', '257'),
('81', '4', '259'),
('82', '2', '263'),
('83', '1', '265'),
('84', '1', '266'),
('85', '1', '267'),
('86', '1', '268'),
('87', '1', '269'),
('88', '1', '270'),
('89', '4', '271'),
('90', '2', '275'),
('91', '4', '277'),
('92', '2', '281'),
('93', '2', '283'),
('94', '2', '285'),
('95', '2', '287'),
('96', '1', '289'),
('97', '2', '290'),
('98', '1', '292'),
('99', '1', '293');
-- part: rows of log_content
set local session_replication_role = replica;
delete from "log_content";
insert into "log_content" ("batch_id", "root_id", "object_ids", "parent_ids", "names", "revisions", "messages", "steps", "counts", "project_names", "kinds", "machines", "from", "to", "actors", "by", "reasons", "job_ids", "rejected", "at") overriding system value values
('100', '01a20690-a8b6-71d8-a0f5-f7a2f72ba2dc', '{01a20690-a8fd-70a2-a761-0d27f357f878,01a20690-a8fd-70a2-a761-0d27f357f878}', '{01a20690-a8b6-71d8-a0f5-f7a2f72ba2dc,01a20690-a8b6-71d8-a0f5-f7a2f72ba2dc}', '{two,two}', '{1,2}', '{NULL,NULL}', '{1,2}', '{1,1}', '{edge,edge}', '{CLUSTER_INST,CLUSTER_INST}', '{instance,instance}', '{NULL,NOT_PRESENT}', '{NOT_PRESENT,CREATE_REQUESTED}', '{CONTROLLER,USER}', '{admin,admin}', '{created,"creation requested"}', '{NULL,01a20690-a8fe-7333-8837-5f98c7ac3e9b}', '{f,f}', '{"2026-11-23 04:01:13.469+00","2026-11-23 04:01:13.469+00"}'),
('101', '01a20690-a8b6-71d8-a0f5-f7a2f72ba2dc', '{01a20690-a8e4-77c2-83a3-0f145ca17d26}', '{01a20690-a8cb-746a-83e7-2ac2d689c39b}', '{web}', '{7}', '{NULL}', '{1}', '{1}', '{edge}', '{APP_INST}', '{instance}', '{UPDATE_REQUESTED}', '{UPDATING}', '{CRM}', '{crm}', '{"its CRM has begun"}', '{01a20690-a8f8-705d-8c0b-4da85817a56b}', '{f}', '{"2026-11-23 04:01:13.482+00"}'),
('11', '01a20690-a156-727e-8de7-8d461a8eb846', '{01a20690-a156-727e-8de7-8d461a8eb846,01a20690-a156-727e-8de7-8d461a8eb846,01a20690-a156-727e-8de7-8d461a8eb846,01a20690-a159-7259-9552-ad25ff4aa85e,01a20690-a159-7259-9552-b014a1a6702e,01a20690-a156-727e-8de7-8d461a8eb846,01a20690-a156-727e-8de7-8d461a8eb846,01a20690-a159-7259-9552-ad25ff4aa85e,01a20690-a159-7259-9552-b014a1a6702e,01a20690-a159-7259-9552-ad25ff4aa85e,01a20690-a15a-712d-8bcf-4b7afabcb9ac,01a20690-a159-7259-9552-ad25ff4aa85e,01a20690-a159-7259-9552-ad25ff4aa85e,01a20690-a15a-712d-8bcf-4b7afabcb9ac,01a20690-a15a-712d-8bcf-4c966f7220f2,01a20690-a15a-712d-8bcf-4b7afabcb9ac,01a20690-a15a-712d-8bcf-4c966f7220f2}', '{NULL,NULL,NULL,01a20690-a156-727e-8de7-8d461a8eb846,01a20690-a156-727e-8de7-8d461a8eb846,NULL,NULL,01a20690-a156-727e-8de7-8d461a8eb846,01a20690-a156-727e-8de7-8d461a8eb846,01a20690-a156-727e-8de7-8d461a8eb846,01a20690-a159-7259-9552-ad25ff4aa85e,01a20690-a156-727e-8de7-8d461a8eb846,01a20690-a156-727e-8de7-8d461a8eb846,01a20690-a159-7259-9552-ad25ff4aa85e,01a20690-a15a-712d-8bcf-4b7afabcb9ac,01a20690-a159-7259-9552-ad25ff4aa85e,01a20690-a15a-712d-8bcf-4b7afabcb9ac}', '{platform,platform,platform,network,apps,platform,platform,network,apps,network,deploy-items,network,network,deploy-items,cidrmade,deploy-items,cidrmade}', '{1,2,3,1,1,4,5,2,2,3,1,4,5,2,1,3,2}', '{NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL}', '{1,2,3,4,4,5,6,2,7,3,8,5,6,9,10,11,12}', '{1,2,2,2,2,2,1,1,1,1,1,1}', '{default,default,default,default,default,default,default,default,default,default,default,default}', '{INSTALLATION,INSTALLATION,INSTALLATION,INSTALLATION,INSTALLATION,INSTALLATION,INSTALLATION,EXECUTION,EXECUTION,DEPLOY_ITEM,EXECUTION,DEPLOY_ITEM}', '{installation,installation,installation,installation,installation,installation,installation,execution,execution,deployItem,execution,deployItem}', '{NULL,PENDING,INIT,NULL,CLEANUP_ORPHANED,OBJECTS_CREATED,PENDING,NULL,PENDING,NULL,INIT,PENDING}', '{PENDING,INIT,CLEANUP_ORPHANED,PENDING,OBJECTS_CREATED,PROGRESSING,PENDING_DEPENDENCIES,PENDING,INIT,PENDING,PROGRESSING,INIT}', '{USER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER}', '{admin,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL}', '{created,"job id received, all ready","children written from the spec; orphans marked",created,"orphans gone","job id handed to children and execution","The installation network is not ready.",created,"job id received",created,"items created or updated from the spec, orphans gone","triggered: job id and trigger time set"}', '{NULL,01a20690-a158-73f1-b4c2-c439d857192c,01a20690-a158-73f1-b4c2-c439d857192c,NULL,01a20690-a158-73f1-b4c2-c439d857192c,01a20690-a158-73f1-b4c2-c439d857192c,01a20690-a158-73f1-b4c2-c439d857192c,NULL,01a20690-a158-73f1-b4c2-c439d857192c,NULL,01a20690-a158-73f1-b4c2-c439d857192c,01a20690-a158-73f1-b4c2-c439d857192c}', '{f,f,f,f,f,f,f,f,f,f,f,f}', '{"2026-11-23 04:01:11.511+00","2026-11-23 04:01:11.511+00","2026-11-23 04:01:11.511+00","2026-11-23 04:01:11.511+00","2026-11-23 04:01:11.511+00","2026-11-23 04:01:11.511+00","2026-11-23 04:01:11.511+00","2026-11-23 04:01:11.511+00","2026-11-23 04:01:11.511+00","2026-11-23 04:01:11.511+00","2026-11-23 04:01:11.511+00","2026-11-23 04:01:11.511+00"}'),
('12', '01a20690-a156-727e-8de7-8d461a8eb846', '{01a20690-a15a-712d-8bcf-4c966f7220f2}', '{01a20690-a15a-712d-8bcf-4b7afabcb9ac}', '{cidrmade}', '{3}', '{NULL}', '{1}', '{1}', '{default}', '{DEPLOY_ITEM}', '{deployItem}', '{INIT}', '{PROGRESSING}', '{DEPLOYER}', '{deployer}', '{"picked up: written by the claim itself"}', '{01a20690-a158-73f1-b4c2-c439d857192c}', '{f}', '{"2026-11-23 04:01:11.551+00"}'),
('13', '01a20690-a156-727e-8de7-8d461a8eb846', '{01a20690-a15a-712d-8bcf-4c966f7220f2,01a20690-a15a-712d-8bcf-4b7afabcb9ac,01a20690-a15a-712d-8bcf-4b7afabcb9ac,01a20690-a159-7259-9552-ad25ff4aa85e}', '{01a20690-a15a-712d-8bcf-4b7afabcb9ac,01a20690-a159-7259-9552-ad25ff4aa85e,01a20690-a159-7259-9552-ad25ff4aa85e,01a20690-a156-727e-8de7-8d461a8eb846}', '{cidrmade,deploy-items,deploy-items,network}', '{4,4,5,6}', '{NULL,NULL,NULL,NULL}', '{1,2,3,4}', '{1,1,1,1}', '{default,default,default,default}', '{DEPLOY_ITEM,EXECUTION,EXECUTION,INSTALLATION}', '{deployItem,execution,execution,installation}', '{PROGRESSING,PROGRESSING,COMPLETING,PROGRESSING}', '{SUCCEEDED,COMPLETING,SUCCEEDED,COMPLETING}', '{DEPLOYER,CONTROLLER,CONTROLLER,CONTROLLER}', '{deployer,NULL,NULL,NULL}', '{deployed,"all items succeeded in this job","exports collected","combined phase of all children is SUCCEEDED, or there are none"}', '{01a20690-a158-73f1-b4c2-c439d857192c,01a20690-a158-73f1-b4c2-c439d857192c,01a20690-a158-73f1-b4c2-c439d857192c,01a20690-a158-73f1-b4c2-c439d857192c}', '{f,f,f,f}', '{"2026-11-23 04:01:11.564+00","2026-11-23 04:01:11.564+00","2026-11-23 04:01:11.564+00","2026-11-23 04:01:11.564+00"}'),
('14', '01a20690-a156-727e-8de7-8d461a8eb846', '{01a20690-a159-7259-9552-ad25ff4aa85e,01a20690-a159-7259-9552-b014a1a6702e,01a20690-a159-7259-9552-b014a1a6702e,01a20690-a1cd-7773-858e-d91aea7c831a,01a20690-a159-7259-9552-b014a1a6702e,01a20690-a159-7259-9552-b014a1a6702e,01a20690-a1cd-7773-858e-d91aea7c831a,01a20690-a1ce-708e-8483-336dc14ae8b4,01a20690-a1cd-7773-858e-d91aea7c831a}', '{01a20690-a156-727e-8de7-8d461a8eb846,01a20690-a156-727e-8de7-8d461a8eb846,01a20690-a156-727e-8de7-8d461a8eb846,01a20690-a159-7259-9552-b014a1a6702e,01a20690-a156-727e-8de7-8d461a8eb846,01a20690-a156-727e-8de7-8d461a8eb846,01a20690-a159-7259-9552-b014a1a6702e,01a20690-a1cd-7773-858e-d91aea7c831a,01a20690-a159-7259-9552-b014a1a6702e}', '{network,apps,apps,deploy-items,apps,apps,deploy-items,serve,deploy-items}', '{7,4,5,1,6,7,2,1,3}', '{NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL}', '{1,2,3,4,5,6,7,8,9}', '{1,1,1,1,1,1,1,1,1}', '{default,default,default,default,default,default,default,default,default}', '{INSTALLATION,INSTALLATION,INSTALLATION,EXECUTION,INSTALLATION,INSTALLATION,EXECUTION,DEPLOY_ITEM,EXECUTION}', '{installation,installation,installation,execution,installation,installation,execution,deployItem,execution}', '{COMPLETING,PENDING_DEPENDENCIES,INIT,NULL,CLEANUP_ORPHANED,OBJECTS_CREATED,PENDING,NULL,INIT}', '{SUCCEEDED,INIT,CLEANUP_ORPHANED,PENDING,OBJECTS_CREATED,PROGRESSING,INIT,PENDING,PROGRESSING}', '{CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER}', '{NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL}', '{"exports built and stored","all ready, or mode FORCE and imports satisfied","children written from the spec; orphans marked",created,"orphans gone","job id handed to children and execution","job id received",created,"items created or updated from the spec, orphans gone"}', '{01a20690-a158-73f1-b4c2-c439d857192c,01a20690-a158-73f1-b4c2-c439d857192c,01a20690-a158-73f1-b4c2-c439d857192c,NULL,01a20690-a158-73f1-b4c2-c439d857192c,01a20690-a158-73f1-b4c2-c439d857192c,01a20690-a158-73f1-b4c2-c439d857192c,NULL,01a20690-a158-73f1-b4c2-c439d857192c}', '{f,f,f,f,f,f,f,f,f}', '{"2026-11-23 04:01:11.615+00","2026-11-23 04:01:11.615+00","2026-11-23 04:01:11.615+00","2026-11-23 04:01:11.615+00","2026-11-23 04:01:11.615+00","2026-11-23 04:01:11.615+00","2026-11-23 04:01:11.615+00","2026-11-23 04:01:11.615+00","2026-11-23 04:01:11.615+00"}'),
('15', '01a20690-a156-727e-8de7-8d461a8eb846', '{01a20690-a1ce-708e-8483-336dc14ae8b4}', '{01a20690-a1cd-7773-858e-d91aea7c831a}', '{serve}', '{2}', '{NULL}', '{1}', '{1}', '{default}', '{DEPLOY_ITEM}', '{deployItem}', '{PENDING}', '{INIT}', '{CONTROLLER}', '{NULL}', '{"triggered: job id and trigger time set"}', '{01a20690-a158-73f1-b4c2-c439d857192c}', '{f}', '{"2026-11-23 04:01:11.639+00"}'),
('16', '01a20690-a156-727e-8de7-8d461a8eb846', '{01a20690-a1ce-708e-8483-336dc14ae8b4}', '{01a20690-a1cd-7773-858e-d91aea7c831a}', '{serve}', '{3}', '{NULL}', '{1}', '{1}', '{default}', '{DEPLOY_ITEM}', '{deployItem}', '{INIT}', '{PROGRESSING}', '{DEPLOYER}', '{deployer}', '{"picked up: written by the claim itself"}', '{01a20690-a158-73f1-b4c2-c439d857192c}', '{f}', '{"2026-11-23 04:01:11.65+00"}'),
('17', '01a20690-a156-727e-8de7-8d461a8eb846', '{01a20690-a1ce-708e-8483-336dc14ae8b4,01a20690-a1cd-7773-858e-d91aea7c831a,01a20690-a1cd-7773-858e-d91aea7c831a,01a20690-a159-7259-9552-b014a1a6702e,01a20690-a159-7259-9552-b014a1a6702e,01a20690-a156-727e-8de7-8d461a8eb846}', '{01a20690-a1cd-7773-858e-d91aea7c831a,01a20690-a159-7259-9552-b014a1a6702e,01a20690-a159-7259-9552-b014a1a6702e,01a20690-a156-727e-8de7-8d461a8eb846,01a20690-a156-727e-8de7-8d461a8eb846,NULL}', '{serve,deploy-items,deploy-items,apps,apps,platform}', '{4,4,5,8,9,6}', '{NULL,NULL,NULL,NULL,NULL,NULL}', '{1,2,3,4,5,4}', '{1,1,1,2,1}', '{default,default,default,default,default}', '{DEPLOY_ITEM,EXECUTION,EXECUTION,INSTALLATION,INSTALLATION}', '{deployItem,execution,execution,installation,installation}', '{PROGRESSING,PROGRESSING,COMPLETING,PROGRESSING,COMPLETING}', '{SUCCEEDED,COMPLETING,SUCCEEDED,COMPLETING,SUCCEEDED}', '{DEPLOYER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER}', '{deployer,NULL,NULL,NULL,NULL}', '{deployed,"all items succeeded in this job","exports collected","combined phase of all children is SUCCEEDED, or there are none","exports built and stored"}', '{01a20690-a158-73f1-b4c2-c439d857192c,01a20690-a158-73f1-b4c2-c439d857192c,01a20690-a158-73f1-b4c2-c439d857192c,01a20690-a158-73f1-b4c2-c439d857192c,01a20690-a158-73f1-b4c2-c439d857192c}', '{f,f,f,f,f}', '{"2026-11-23 04:01:11.658+00","2026-11-23 04:01:11.658+00","2026-11-23 04:01:11.658+00","2026-11-23 04:01:11.658+00","2026-11-23 04:01:11.658+00"}'),
('18', '01a20690-a156-727e-8de7-8d461a8eb846', '{01a20690-a156-727e-8de7-8d461a8eb846}', '{NULL}', '{platform}', '{7}', '{NULL}', '{1}', '{1}', '{default}', '{INSTALLATION}', '{installation}', '{COMPLETING}', '{SUCCEEDED}', '{CONTROLLER}', '{NULL}', '{"exports built and stored"}', '{01a20690-a158-73f1-b4c2-c439d857192c}', '{f}', '{"2026-11-23 04:01:11.676+00"}'),
('19', '01a20690-a20a-77e1-84df-fba33d0abbc0', '{01a20690-a20a-77e1-84df-fba33d0abbc0}', '{NULL}', '{follower}', '{1}', '{NULL}', '{1}', '{1}', '{default}', '{INSTALLATION}', '{installation}', '{NULL}', '{PENDING}', '{USER}', '{admin}', '{created}', '{NULL}', '{f}', '{"2026-11-23 04:01:11.69+00"}'),
('20', '01a20690-a20a-77e1-84df-fba33d0abbc0', '{01a20690-a20a-77e1-84df-fba33d0abbc0,01a20690-a20a-77e1-84df-fba33d0abbc0,01a20690-a217-74b3-8a01-cda565e3b8c4,01a20690-a20a-77e1-84df-fba33d0abbc0,01a20690-a20a-77e1-84df-fba33d0abbc0,01a20690-a217-74b3-8a01-cda565e3b8c4,01a20690-a217-74b3-8a01-d0a5ab6ba947,01a20690-a217-74b3-8a01-cda565e3b8c4}', '{NULL,NULL,01a20690-a20a-77e1-84df-fba33d0abbc0,NULL,NULL,01a20690-a20a-77e1-84df-fba33d0abbc0,01a20690-a217-74b3-8a01-cda565e3b8c4,01a20690-a20a-77e1-84df-fba33d0abbc0}', '{follower,follower,deploy-items,follower,follower,deploy-items,follow,deploy-items}', '{3,4,1,5,6,2,1,3}', '{NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL}', '{1,2,3,4,5,6,7,8}', '{1,1,1,1,1,1,1,1}', '{default,default,default,default,default,default,default,default}', '{INSTALLATION,INSTALLATION,EXECUTION,INSTALLATION,INSTALLATION,EXECUTION,DEPLOY_ITEM,EXECUTION}', '{installation,installation,execution,installation,installation,execution,deployItem,execution}', '{PENDING,INIT,NULL,CLEANUP_ORPHANED,OBJECTS_CREATED,PENDING,NULL,INIT}', '{INIT,CLEANUP_ORPHANED,PENDING,OBJECTS_CREATED,PROGRESSING,INIT,PENDING,PROGRESSING}', '{CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER}', '{NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL}', '{"job id received, all ready","children written from the spec; orphans marked",created,"orphans gone","job id handed to children and execution","job id received",created,"items created or updated from the spec, orphans gone"}', '{01a20690-a213-7584-b973-7d1a6e4c8953,01a20690-a213-7584-b973-7d1a6e4c8953,NULL,01a20690-a213-7584-b973-7d1a6e4c8953,01a20690-a213-7584-b973-7d1a6e4c8953,01a20690-a213-7584-b973-7d1a6e4c8953,NULL,01a20690-a213-7584-b973-7d1a6e4c8953}', '{f,f,f,f,f,f,f,f}', '{"2026-11-23 04:01:11.698+00","2026-11-23 04:01:11.698+00","2026-11-23 04:01:11.698+00","2026-11-23 04:01:11.698+00","2026-11-23 04:01:11.698+00","2026-11-23 04:01:11.698+00","2026-11-23 04:01:11.698+00","2026-11-23 04:01:11.698+00"}'),
('21', '01a20690-a20a-77e1-84df-fba33d0abbc0', '{01a20690-a217-74b3-8a01-d0a5ab6ba947}', '{01a20690-a217-74b3-8a01-cda565e3b8c4}', '{follow}', '{2}', '{NULL}', '{1}', '{1}', '{default}', '{DEPLOY_ITEM}', '{deployItem}', '{PENDING}', '{INIT}', '{CONTROLLER}', '{NULL}', '{"triggered: job id and trigger time set"}', '{01a20690-a213-7584-b973-7d1a6e4c8953}', '{f}', '{"2026-11-23 04:01:11.708+00"}'),
('22', '01a20690-a20a-77e1-84df-fba33d0abbc0', '{01a20690-a217-74b3-8a01-d0a5ab6ba947}', '{01a20690-a217-74b3-8a01-cda565e3b8c4}', '{follow}', '{3}', '{NULL}', '{1}', '{1}', '{default}', '{DEPLOY_ITEM}', '{deployItem}', '{INIT}', '{PROGRESSING}', '{DEPLOYER}', '{deployer}', '{"picked up: written by the claim itself"}', '{01a20690-a213-7584-b973-7d1a6e4c8953}', '{f}', '{"2026-11-23 04:01:11.726+00"}'),
('23', '01a20690-a20a-77e1-84df-fba33d0abbc0', '{01a20690-a217-74b3-8a01-d0a5ab6ba947,01a20690-a217-74b3-8a01-cda565e3b8c4,01a20690-a217-74b3-8a01-cda565e3b8c4,01a20690-a20a-77e1-84df-fba33d0abbc0,01a20690-a20a-77e1-84df-fba33d0abbc0}', '{01a20690-a217-74b3-8a01-cda565e3b8c4,01a20690-a20a-77e1-84df-fba33d0abbc0,01a20690-a20a-77e1-84df-fba33d0abbc0,NULL,NULL}', '{follow,deploy-items,deploy-items,follower,follower}', '{4,4,5,7,8}', '{NULL,NULL,NULL,NULL,NULL}', '{1,2,3,4,5}', '{1,1,1,1,1}', '{default,default,default,default,default}', '{DEPLOY_ITEM,EXECUTION,EXECUTION,INSTALLATION,INSTALLATION}', '{deployItem,execution,execution,installation,installation}', '{PROGRESSING,PROGRESSING,COMPLETING,PROGRESSING,COMPLETING}', '{SUCCEEDED,COMPLETING,SUCCEEDED,COMPLETING,SUCCEEDED}', '{DEPLOYER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER}', '{deployer,NULL,NULL,NULL,NULL}', '{deployed,"all items succeeded in this job","exports collected","combined phase of all children is SUCCEEDED, or there are none","exports built and stored"}', '{01a20690-a213-7584-b973-7d1a6e4c8953,01a20690-a213-7584-b973-7d1a6e4c8953,01a20690-a213-7584-b973-7d1a6e4c8953,01a20690-a213-7584-b973-7d1a6e4c8953,01a20690-a213-7584-b973-7d1a6e4c8953}', '{f,f,f,f,f}', '{"2026-11-23 04:01:11.731+00","2026-11-23 04:01:11.731+00","2026-11-23 04:01:11.731+00","2026-11-23 04:01:11.731+00","2026-11-23 04:01:11.731+00"}'),
('24', '01a20690-a24f-757b-9c68-4eefd46f8194', '{01a20690-a24f-757b-9c68-4eefd46f8194,01a20690-a24f-757b-9c68-4eefd46f8194,01a20690-a24f-757b-9c68-4eefd46f8194,01a20690-a24f-757b-9c68-5730bccad32c,01a20690-a24f-757b-9c68-4eefd46f8194,01a20690-a24f-757b-9c68-4eefd46f8194,01a20690-a24f-757b-9c68-5730bccad32c,01a20690-a24f-757b-9c68-5b34ceb68ee2,01a20690-a24f-757b-9c68-5730bccad32c,01a20690-a24f-757b-9c68-5b34ceb68ee2}', '{NULL,NULL,NULL,01a20690-a24f-757b-9c68-4eefd46f8194,NULL,NULL,01a20690-a24f-757b-9c68-4eefd46f8194,01a20690-a24f-757b-9c68-5730bccad32c,01a20690-a24f-757b-9c68-4eefd46f8194,01a20690-a24f-757b-9c68-5730bccad32c}', '{broken,broken,broken,deploy-items,broken,broken,deploy-items,crack,deploy-items,crack}', '{1,2,3,1,4,5,2,1,3,2}', '{NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL}', '{1,2,3,4,5,6,7,8,9,10}', '{1,1,1,1,1,1,1,1,1,1}', '{default,default,default,default,default,default,default,default,default,default}', '{INSTALLATION,INSTALLATION,INSTALLATION,EXECUTION,INSTALLATION,INSTALLATION,EXECUTION,DEPLOY_ITEM,EXECUTION,DEPLOY_ITEM}', '{installation,installation,installation,execution,installation,installation,execution,deployItem,execution,deployItem}', '{NULL,PENDING,INIT,NULL,CLEANUP_ORPHANED,OBJECTS_CREATED,PENDING,NULL,INIT,PENDING}', '{PENDING,INIT,CLEANUP_ORPHANED,PENDING,OBJECTS_CREATED,PROGRESSING,INIT,PENDING,PROGRESSING,INIT}', '{USER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER}', '{admin,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL}', '{created,"job id received, all ready","children written from the spec; orphans marked",created,"orphans gone","job id handed to children and execution","job id received",created,"items created or updated from the spec, orphans gone","triggered: job id and trigger time set"}', '{NULL,01a20690-a24f-757b-9c68-5052103901f3,01a20690-a24f-757b-9c68-5052103901f3,NULL,01a20690-a24f-757b-9c68-5052103901f3,01a20690-a24f-757b-9c68-5052103901f3,01a20690-a24f-757b-9c68-5052103901f3,NULL,01a20690-a24f-757b-9c68-5052103901f3,01a20690-a24f-757b-9c68-5052103901f3}', '{f,f,f,f,f,f,f,f,f,f}', '{"2026-11-23 04:01:11.759+00","2026-11-23 04:01:11.759+00","2026-11-23 04:01:11.759+00","2026-11-23 04:01:11.759+00","2026-11-23 04:01:11.759+00","2026-11-23 04:01:11.759+00","2026-11-23 04:01:11.759+00","2026-11-23 04:01:11.759+00","2026-11-23 04:01:11.759+00","2026-11-23 04:01:11.759+00"}'),
('25', '01a20690-a24f-757b-9c68-4eefd46f8194', '{01a20690-a24f-757b-9c68-5b34ceb68ee2}', '{01a20690-a24f-757b-9c68-5730bccad32c}', '{crack}', '{3}', '{NULL}', '{1}', '{1}', '{default}', '{DEPLOY_ITEM}', '{deployItem}', '{INIT}', '{PROGRESSING}', '{DEPLOYER}', '{deployer}', '{"picked up: written by the claim itself"}', '{01a20690-a24f-757b-9c68-5052103901f3}', '{f}', '{"2026-11-23 04:01:11.765+00"}'),
('26', '01a20690-a24f-757b-9c68-4eefd46f8194', '{01a20690-a24f-757b-9c68-5b34ceb68ee2,01a20690-a24f-757b-9c68-5730bccad32c,01a20690-a24f-757b-9c68-4eefd46f8194}', '{01a20690-a24f-757b-9c68-5730bccad32c,01a20690-a24f-757b-9c68-4eefd46f8194,NULL}', '{crack,deploy-items,broken}', '{4,4,6}', '{"It broke.","crack (BROKEN) did not succeed.","deploy-items (CHILDREN_FAILED) did not succeed."}', '{1,2,3}', '{1,1,1}', '{default,default,default}', '{DEPLOY_ITEM,EXECUTION,INSTALLATION}', '{deployItem,execution,installation}', '{PROGRESSING,PROGRESSING,PROGRESSING}', '{FAILED,FAILED,FAILED}', '{DEPLOYER,CONTROLLER,CONTROLLER}', '{deployer,NULL,NULL}', '{BROKEN,CHILDREN_FAILED,CHILDREN_FAILED}', '{01a20690-a24f-757b-9c68-5052103901f3,01a20690-a24f-757b-9c68-5052103901f3,01a20690-a24f-757b-9c68-5052103901f3}', '{f,f,f}', '{"2026-11-23 04:01:11.769+00","2026-11-23 04:01:11.769+00","2026-11-23 04:01:11.769+00"}'),
('27', '01a20690-a264-72b4-b6ff-03cb1046e31a', '{01a20690-a264-72b4-b6ff-03cb1046e31a}', '{NULL}', '{waiting}', '{1}', '{NULL}', '{1}', '{1}', '{default}', '{INSTALLATION}', '{installation}', '{NULL}', '{PENDING}', '{USER}', '{admin}', '{created}', '{NULL}', '{f}', '{"2026-11-23 04:01:11.78+00"}'),
('28', '01a20690-a264-72b4-b6ff-03cb1046e31a', '{01a20690-a264-72b4-b6ff-03cb1046e31a}', '{NULL}', '{waiting}', '{3}', '{NULL}', '{1}', '{1}', '{default}', '{INSTALLATION}', '{installation}', '{PENDING}', '{PENDING_DEPENDENCIES}', '{CONTROLLER}', '{NULL}', '{"The import licence is not there yet."}', '{01a20690-a26a-76f0-a1a7-7ffa274dbd69}', '{f}', '{"2026-11-23 04:01:11.785+00"}'),
('29', '01a20690-a27c-7378-a535-d4c08afc0d5c', '{01a20690-a27c-7378-a535-d4c08afc0d5c,01a20690-a27c-7378-a535-d4c08afc0d5c,01a20690-a27c-7378-a535-d4c08afc0d5c,01a20690-a27c-7378-a535-dc34489be818,01a20690-a27c-7378-a535-d4c08afc0d5c,01a20690-a27c-7378-a535-d4c08afc0d5c,01a20690-a27c-7378-a535-dc34489be818,01a20690-a27c-7378-a535-e26eb55ff451,01a20690-a27c-7378-a535-dc34489be818,01a20690-a27c-7378-a535-e26eb55ff451}', '{NULL,NULL,NULL,01a20690-a27c-7378-a535-d4c08afc0d5c,NULL,NULL,01a20690-a27c-7378-a535-d4c08afc0d5c,01a20690-a27c-7378-a535-dc34489be818,01a20690-a27c-7378-a535-d4c08afc0d5c,01a20690-a27c-7378-a535-dc34489be818}', '{parting,parting,parting,deploy-items,parting,parting,deploy-items,remains,deploy-items,remains}', '{1,2,3,1,4,5,2,1,3,2}', '{NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL}', '{1,2,3,4,5,6,7,8,9,10}', '{1,1,1,1,1,1,1,1,1,1}', '{default,default,default,default,default,default,default,default,default,default}', '{INSTALLATION,INSTALLATION,INSTALLATION,EXECUTION,INSTALLATION,INSTALLATION,EXECUTION,DEPLOY_ITEM,EXECUTION,DEPLOY_ITEM}', '{installation,installation,installation,execution,installation,installation,execution,deployItem,execution,deployItem}', '{NULL,PENDING,INIT,NULL,CLEANUP_ORPHANED,OBJECTS_CREATED,PENDING,NULL,INIT,PENDING}', '{PENDING,INIT,CLEANUP_ORPHANED,PENDING,OBJECTS_CREATED,PROGRESSING,INIT,PENDING,PROGRESSING,INIT}', '{USER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER}', '{admin,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL}', '{created,"job id received, all ready","children written from the spec; orphans marked",created,"orphans gone","job id handed to children and execution","job id received",created,"items created or updated from the spec, orphans gone","triggered: job id and trigger time set"}', '{NULL,01a20690-a27c-7378-a535-db11b763c0be,01a20690-a27c-7378-a535-db11b763c0be,NULL,01a20690-a27c-7378-a535-db11b763c0be,01a20690-a27c-7378-a535-db11b763c0be,01a20690-a27c-7378-a535-db11b763c0be,NULL,01a20690-a27c-7378-a535-db11b763c0be,01a20690-a27c-7378-a535-db11b763c0be}', '{f,f,f,f,f,f,f,f,f,f}', '{"2026-11-23 04:01:11.804+00","2026-11-23 04:01:11.804+00","2026-11-23 04:01:11.804+00","2026-11-23 04:01:11.804+00","2026-11-23 04:01:11.804+00","2026-11-23 04:01:11.804+00","2026-11-23 04:01:11.804+00","2026-11-23 04:01:11.804+00","2026-11-23 04:01:11.804+00","2026-11-23 04:01:11.804+00"}'),
('30', '01a20690-a27c-7378-a535-d4c08afc0d5c', '{01a20690-a27c-7378-a535-e26eb55ff451}', '{01a20690-a27c-7378-a535-dc34489be818}', '{remains}', '{3}', '{NULL}', '{1}', '{1}', '{default}', '{DEPLOY_ITEM}', '{deployItem}', '{INIT}', '{PROGRESSING}', '{DEPLOYER}', '{deployer}', '{"picked up: written by the claim itself"}', '{01a20690-a27c-7378-a535-db11b763c0be}', '{f}', '{"2026-11-23 04:01:11.811+00"}'),
('31', '01a20690-a27c-7378-a535-d4c08afc0d5c', '{01a20690-a27c-7378-a535-e26eb55ff451,01a20690-a27c-7378-a535-dc34489be818,01a20690-a27c-7378-a535-dc34489be818,01a20690-a27c-7378-a535-d4c08afc0d5c,01a20690-a27c-7378-a535-d4c08afc0d5c}', '{01a20690-a27c-7378-a535-dc34489be818,01a20690-a27c-7378-a535-d4c08afc0d5c,01a20690-a27c-7378-a535-d4c08afc0d5c,NULL,NULL}', '{remains,deploy-items,deploy-items,parting,parting}', '{4,4,5,6,7}', '{NULL,NULL,NULL,NULL,NULL}', '{1,2,3,4,5}', '{1,1,1,1,1}', '{default,default,default,default,default}', '{DEPLOY_ITEM,EXECUTION,EXECUTION,INSTALLATION,INSTALLATION}', '{deployItem,execution,execution,installation,installation}', '{PROGRESSING,PROGRESSING,COMPLETING,PROGRESSING,COMPLETING}', '{SUCCEEDED,COMPLETING,SUCCEEDED,COMPLETING,SUCCEEDED}', '{DEPLOYER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER}', '{deployer,NULL,NULL,NULL,NULL}', '{deployed,"all items succeeded in this job","exports collected","combined phase of all children is SUCCEEDED, or there are none","exports built and stored"}', '{01a20690-a27c-7378-a535-db11b763c0be,01a20690-a27c-7378-a535-db11b763c0be,01a20690-a27c-7378-a535-db11b763c0be,01a20690-a27c-7378-a535-db11b763c0be,01a20690-a27c-7378-a535-db11b763c0be}', '{f,f,f,f,f}', '{"2026-11-23 04:01:11.816+00","2026-11-23 04:01:11.816+00","2026-11-23 04:01:11.816+00","2026-11-23 04:01:11.816+00","2026-11-23 04:01:11.816+00"}'),
('32', '01a20690-a297-73f6-bc2d-d2bc94b8a917', '{01a20690-a297-73f6-bc2d-d2bc94b8a917,01a20690-a297-73f6-bc2d-d2bc94b8a917,01a20690-a297-73f6-bc2d-d2bc94b8a917,01a20690-a297-73f6-bc2d-d8aa4fa35ea4,01a20690-a297-73f6-bc2d-d2bc94b8a917,01a20690-a297-73f6-bc2d-d2bc94b8a917,01a20690-a297-73f6-bc2d-d8aa4fa35ea4,01a20690-a297-73f6-bc2d-df5ea66cf32f,01a20690-a298-7438-a850-f4499548da78,01a20690-a298-7438-a850-f81634d2f836,01a20690-a297-73f6-bc2d-d8aa4fa35ea4,01a20690-a297-73f6-bc2d-df5ea66cf32f,01a20690-a298-7438-a850-f4499548da78}', '{NULL,NULL,NULL,01a20690-a297-73f6-bc2d-d2bc94b8a917,NULL,NULL,01a20690-a297-73f6-bc2d-d2bc94b8a917,01a20690-a297-73f6-bc2d-d8aa4fa35ea4,01a20690-a297-73f6-bc2d-d8aa4fa35ea4,01a20690-a297-73f6-bc2d-d8aa4fa35ea4,01a20690-a297-73f6-bc2d-d2bc94b8a917,01a20690-a297-73f6-bc2d-d8aa4fa35ea4,01a20690-a297-73f6-bc2d-d8aa4fa35ea4}', '{held,held,held,deploy-items,held,held,deploy-items,taken,offered,after,deploy-items,taken,offered}', '{1,2,3,1,4,5,2,1,1,1,3,2,2}', '{NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL}', '{1,2,3,4,5,6,7,8,8,8,9,10,10}', '{1,1,1,1,1,1,1,3,1,2}', '{default,default,default,default,default,default,default,default,default,default}', '{INSTALLATION,INSTALLATION,INSTALLATION,EXECUTION,INSTALLATION,INSTALLATION,EXECUTION,DEPLOY_ITEM,EXECUTION,DEPLOY_ITEM}', '{installation,installation,installation,execution,installation,installation,execution,deployItem,execution,deployItem}', '{NULL,PENDING,INIT,NULL,CLEANUP_ORPHANED,OBJECTS_CREATED,PENDING,NULL,INIT,PENDING}', '{PENDING,INIT,CLEANUP_ORPHANED,PENDING,OBJECTS_CREATED,PROGRESSING,INIT,PENDING,PROGRESSING,INIT}', '{USER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER}', '{admin,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL}', '{created,"job id received, all ready","children written from the spec; orphans marked",created,"orphans gone","job id handed to children and execution","job id received",created,"items created or updated from the spec, orphans gone","triggered: job id and trigger time set"}', '{NULL,01a20690-a297-73f6-bc2d-d6a455f4a5ab,01a20690-a297-73f6-bc2d-d6a455f4a5ab,NULL,01a20690-a297-73f6-bc2d-d6a455f4a5ab,01a20690-a297-73f6-bc2d-d6a455f4a5ab,01a20690-a297-73f6-bc2d-d6a455f4a5ab,NULL,01a20690-a297-73f6-bc2d-d6a455f4a5ab,01a20690-a297-73f6-bc2d-d6a455f4a5ab}', '{f,f,f,f,f,f,f,f,f,f}', '{"2026-11-23 04:01:11.831+00","2026-11-23 04:01:11.831+00","2026-11-23 04:01:11.831+00","2026-11-23 04:01:11.831+00","2026-11-23 04:01:11.831+00","2026-11-23 04:01:11.831+00","2026-11-23 04:01:11.831+00","2026-11-23 04:01:11.831+00","2026-11-23 04:01:11.831+00","2026-11-23 04:01:11.831+00"}'),
('33', '01a20690-a297-73f6-bc2d-d2bc94b8a917', '{01a20690-a297-73f6-bc2d-df5ea66cf32f}', '{01a20690-a297-73f6-bc2d-d8aa4fa35ea4}', '{taken}', '{3}', '{NULL}', '{1}', '{1}', '{default}', '{DEPLOY_ITEM}', '{deployItem}', '{INIT}', '{PROGRESSING}', '{DEPLOYER}', '{deployer}', '{"picked up: written by the claim itself"}', '{01a20690-a297-73f6-bc2d-d6a455f4a5ab}', '{f}', '{"2026-11-23 04:01:11.841+00"}'),
('34', '01a20690-a27c-7378-a535-d4c08afc0d5c', '{01a20690-a27c-7378-a535-d4c08afc0d5c,01a20690-a27c-7378-a535-d4c08afc0d5c,01a20690-a27c-7378-a535-d4c08afc0d5c,01a20690-a27c-7378-a535-dc34489be818,01a20690-a27c-7378-a535-dc34489be818,01a20690-a27c-7378-a535-e26eb55ff451}', '{NULL,NULL,NULL,01a20690-a27c-7378-a535-d4c08afc0d5c,01a20690-a27c-7378-a535-d4c08afc0d5c,01a20690-a27c-7378-a535-dc34489be818}', '{parting,parting,parting,deploy-items,deploy-items,remains}', '{9,10,11,7,8,6}', '{NULL,NULL,NULL,NULL,NULL,NULL}', '{1,2,3,4,5,6}', '{1,1,1,1,1,1}', '{default,default,default,default,default,default}', '{INSTALLATION,INSTALLATION,INSTALLATION,EXECUTION,EXECUTION,DEPLOY_ITEM}', '{installation,installation,installation,execution,execution,deployItem}', '{SUCCEEDED,INIT_DELETE,TRIGGER_DELETE,SUCCEEDED,INIT_DELETE,SUCCEEDED}', '{INIT_DELETE,TRIGGER_DELETE,DELETING,INIT_DELETE,DELETING,INIT_DELETE}', '{CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER}', '{NULL,NULL,NULL,NULL,NULL,NULL}', '{"a new job, deletion requested","no sibling imports from it any more; children marked deleted","job id handed to the children","a new job, deletion requested; or an orphan","all items marked deleted","a new job, deletion requested; or an orphan"}', '{01a20690-a296-74ab-91fb-009d28dbc810,01a20690-a296-74ab-91fb-009d28dbc810,01a20690-a296-74ab-91fb-009d28dbc810,01a20690-a296-74ab-91fb-009d28dbc810,01a20690-a296-74ab-91fb-009d28dbc810,01a20690-a296-74ab-91fb-009d28dbc810}', '{f,f,f,f,f,f}', '{"2026-11-23 04:01:11.829+00","2026-11-23 04:01:11.829+00","2026-11-23 04:01:11.829+00","2026-11-23 04:01:11.829+00","2026-11-23 04:01:11.829+00","2026-11-23 04:01:11.829+00"}'),
('35', '01a20690-a2ac-73f2-b193-8e839eb858b3', '{01a20690-a2ac-73f2-b193-8e839eb858b3,01a20690-a2ac-73f2-b193-8e839eb858b3,01a20690-a2ac-73f2-b193-8e839eb858b3,01a20690-a2ad-7400-8801-4ad0b350e411,01a20690-a2ac-73f2-b193-8e839eb858b3,01a20690-a2ac-73f2-b193-8e839eb858b3,01a20690-a2ad-7400-8801-4ad0b350e411,01a20690-a2ad-7400-8801-4e71db2bd035,01a20690-a2ad-7400-8801-4ad0b350e411,01a20690-a2ad-7400-8801-4e71db2bd035}', '{NULL,NULL,NULL,01a20690-a2ac-73f2-b193-8e839eb858b3,NULL,NULL,01a20690-a2ac-73f2-b193-8e839eb858b3,01a20690-a2ad-7400-8801-4ad0b350e411,01a20690-a2ac-73f2-b193-8e839eb858b3,01a20690-a2ad-7400-8801-4ad0b350e411}', '{edited,edited,edited,deploy-items,edited,edited,deploy-items,slow,deploy-items,slow}', '{1,2,3,1,4,5,2,1,3,2}', '{NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL}', '{1,2,3,4,5,6,7,8,9,10}', '{1,1,1,1,1,1,1,1,1,1}', '{default,default,default,default,default,default,default,default,default,default}', '{INSTALLATION,INSTALLATION,INSTALLATION,EXECUTION,INSTALLATION,INSTALLATION,EXECUTION,DEPLOY_ITEM,EXECUTION,DEPLOY_ITEM}', '{installation,installation,installation,execution,installation,installation,execution,deployItem,execution,deployItem}', '{NULL,PENDING,INIT,NULL,CLEANUP_ORPHANED,OBJECTS_CREATED,PENDING,NULL,INIT,PENDING}', '{PENDING,INIT,CLEANUP_ORPHANED,PENDING,OBJECTS_CREATED,PROGRESSING,INIT,PENDING,PROGRESSING,INIT}', '{USER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER}', '{admin,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL}', '{created,"job id received, all ready","children written from the spec; orphans marked",created,"orphans gone","job id handed to children and execution","job id received",created,"items created or updated from the spec, orphans gone","triggered: job id and trigger time set"}', '{NULL,01a20690-a2ac-73f2-b193-9218623a13be,01a20690-a2ac-73f2-b193-9218623a13be,NULL,01a20690-a2ac-73f2-b193-9218623a13be,01a20690-a2ac-73f2-b193-9218623a13be,01a20690-a2ac-73f2-b193-9218623a13be,NULL,01a20690-a2ac-73f2-b193-9218623a13be,01a20690-a2ac-73f2-b193-9218623a13be}', '{f,f,f,f,f,f,f,f,f,f}', '{"2026-11-23 04:01:11.852+00","2026-11-23 04:01:11.852+00","2026-11-23 04:01:11.852+00","2026-11-23 04:01:11.852+00","2026-11-23 04:01:11.852+00","2026-11-23 04:01:11.852+00","2026-11-23 04:01:11.852+00","2026-11-23 04:01:11.852+00","2026-11-23 04:01:11.852+00","2026-11-23 04:01:11.852+00"}'),
('36', '01a20690-a2ac-73f2-b193-8e839eb858b3', '{01a20690-a2ad-7400-8801-4e71db2bd035}', '{01a20690-a2ad-7400-8801-4ad0b350e411}', '{slow}', '{3}', '{NULL}', '{1}', '{1}', '{default}', '{DEPLOY_ITEM}', '{deployItem}', '{INIT}', '{PROGRESSING}', '{DEPLOYER}', '{deployer}', '{"picked up: written by the claim itself"}', '{01a20690-a2ac-73f2-b193-9218623a13be}', '{f}', '{"2026-11-23 04:01:11.859+00"}'),
('37', '01a20690-a2bf-7089-ac6c-1c5cb2a20a2e', '{01a20690-a2bf-7089-ac6c-1c5cb2a20a2e,01a20690-a2bf-7089-ac6c-1c5cb2a20a2e,01a20690-a2bf-7089-ac6c-1c5cb2a20a2e,01a20690-a2bf-7089-ac6c-265388deb40f,01a20690-a2bf-7089-ac6c-1c5cb2a20a2e,01a20690-a2bf-7089-ac6c-1c5cb2a20a2e,01a20690-a2bf-7089-ac6c-265388deb40f,01a20690-a2bf-7089-ac6c-28fb59d0a684,01a20690-a2bf-7089-ac6c-265388deb40f,01a20690-a2bf-7089-ac6c-28fb59d0a684}', '{NULL,NULL,NULL,01a20690-a2bf-7089-ac6c-1c5cb2a20a2e,NULL,NULL,01a20690-a2bf-7089-ac6c-1c5cb2a20a2e,01a20690-a2bf-7089-ac6c-265388deb40f,01a20690-a2bf-7089-ac6c-1c5cb2a20a2e,01a20690-a2bf-7089-ac6c-265388deb40f}', '{again,again,again,deploy-items,again,again,deploy-items,busy,deploy-items,busy}', '{1,2,3,1,4,5,2,1,3,2}', '{NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL}', '{1,2,3,4,5,6,7,8,9,10}', '{1,1,1,1,1,1,1,1,1,1}', '{default,default,default,default,default,default,default,default,default,default}', '{INSTALLATION,INSTALLATION,INSTALLATION,EXECUTION,INSTALLATION,INSTALLATION,EXECUTION,DEPLOY_ITEM,EXECUTION,DEPLOY_ITEM}', '{installation,installation,installation,execution,installation,installation,execution,deployItem,execution,deployItem}', '{NULL,PENDING,INIT,NULL,CLEANUP_ORPHANED,OBJECTS_CREATED,PENDING,NULL,INIT,PENDING}', '{PENDING,INIT,CLEANUP_ORPHANED,PENDING,OBJECTS_CREATED,PROGRESSING,INIT,PENDING,PROGRESSING,INIT}', '{USER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER}', '{admin,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL}', '{created,"job id received, all ready","children written from the spec; orphans marked",created,"orphans gone","job id handed to children and execution","job id received",created,"items created or updated from the spec, orphans gone","triggered: job id and trigger time set"}', '{NULL,01a20690-a2bf-7089-ac6c-213262453bdc,01a20690-a2bf-7089-ac6c-213262453bdc,NULL,01a20690-a2bf-7089-ac6c-213262453bdc,01a20690-a2bf-7089-ac6c-213262453bdc,01a20690-a2bf-7089-ac6c-213262453bdc,NULL,01a20690-a2bf-7089-ac6c-213262453bdc,01a20690-a2bf-7089-ac6c-213262453bdc}', '{f,f,f,f,f,f,f,f,f,f}', '{"2026-11-23 04:01:11.871+00","2026-11-23 04:01:11.871+00","2026-11-23 04:01:11.871+00","2026-11-23 04:01:11.871+00","2026-11-23 04:01:11.871+00","2026-11-23 04:01:11.871+00","2026-11-23 04:01:11.871+00","2026-11-23 04:01:11.871+00","2026-11-23 04:01:11.871+00","2026-11-23 04:01:11.871+00"}'),
('38', '01a20690-a2bf-7089-ac6c-1c5cb2a20a2e', '{01a20690-a2bf-7089-ac6c-28fb59d0a684}', '{01a20690-a2bf-7089-ac6c-265388deb40f}', '{busy}', '{3}', '{NULL}', '{1}', '{1}', '{default}', '{DEPLOY_ITEM}', '{deployItem}', '{INIT}', '{PROGRESSING}', '{DEPLOYER}', '{deployer}', '{"picked up: written by the claim itself"}', '{01a20690-a2bf-7089-ac6c-213262453bdc}', '{f}', '{"2026-11-23 04:01:11.887+00"}'),
('39', '01a20690-a2db-734d-ab98-3bb72c8e1324', '{01a20690-a2db-734d-ab98-3bb72c8e1324,01a20690-a2db-734d-ab98-3bb72c8e1324,01a20690-a2db-734d-ab98-3bb72c8e1324,01a20690-a2dc-776c-aea0-766857eee38a,01a20690-a2db-734d-ab98-3bb72c8e1324,01a20690-a2db-734d-ab98-3bb72c8e1324,01a20690-a2dc-776c-aea0-766857eee38a,01a20690-a2dc-776c-aea0-7b4419d6a5c5,01a20690-a2dc-776c-aea0-766857eee38a,01a20690-a2dc-776c-aea0-7b4419d6a5c5}', '{NULL,NULL,NULL,01a20690-a2db-734d-ab98-3bb72c8e1324,NULL,NULL,01a20690-a2db-734d-ab98-3bb72c8e1324,01a20690-a2dc-776c-aea0-766857eee38a,01a20690-a2db-734d-ab98-3bb72c8e1324,01a20690-a2dc-776c-aea0-766857eee38a}', '{stopped,stopped,stopped,deploy-items,stopped,stopped,deploy-items,halt,deploy-items,halt}', '{1,2,3,1,4,5,2,1,3,2}', '{NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL}', '{1,2,3,4,5,6,7,8,9,10}', '{1,1,1,1,1,1,1,1,1,1}', '{default,default,default,default,default,default,default,default,default,default}', '{INSTALLATION,INSTALLATION,INSTALLATION,EXECUTION,INSTALLATION,INSTALLATION,EXECUTION,DEPLOY_ITEM,EXECUTION,DEPLOY_ITEM}', '{installation,installation,installation,execution,installation,installation,execution,deployItem,execution,deployItem}', '{NULL,PENDING,INIT,NULL,CLEANUP_ORPHANED,OBJECTS_CREATED,PENDING,NULL,INIT,PENDING}', '{PENDING,INIT,CLEANUP_ORPHANED,PENDING,OBJECTS_CREATED,PROGRESSING,INIT,PENDING,PROGRESSING,INIT}', '{USER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER,CONTROLLER}', '{admin,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL}', '{created,"job id received, all ready","children written from the spec; orphans marked",created,"orphans gone","job id handed to children and execution","job id received",created,"items created or updated from the spec, orphans gone","triggered: job id and trigger time set"}', '{NULL,01a20690-a2dc-776c-aea0-725f3a4fb582,01a20690-a2dc-776c-aea0-725f3a4fb582,NULL,01a20690-a2dc-776c-aea0-725f3a4fb582,01a20690-a2dc-776c-aea0-725f3a4fb582,01a20690-a2dc-776c-aea0-725f3a4fb582,NULL,01a20690-a2dc-776c-aea0-725f3a4fb582,01a20690-a2dc-776c-aea0-725f3a4fb582}', '{f,f,f,f,f,f,f,f,f,f}', '{"2026-11-23 04:01:11.899+00","2026-11-23 04:01:11.899+00","2026-11-23 04:01:11.899+00","2026-11-23 04:01:11.899+00","2026-11-23 04:01:11.899+00","2026-11-23 04:01:11.899+00","2026-11-23 04:01:11.899+00","2026-11-23 04:01:11.899+00","2026-11-23 04:01:11.899+00","2026-11-23 04:01:11.899+00"}'),
('40', '01a20690-a2db-734d-ab98-3bb72c8e1324', '{01a20690-a2dc-776c-aea0-7b4419d6a5c5}', '{01a20690-a2dc-776c-aea0-766857eee38a}', '{halt}', '{3}', '{NULL}', '{1}', '{1}', '{default}', '{DEPLOY_ITEM}', '{deployItem}', '{INIT}', '{PROGRESSING}', '{DEPLOYER}', '{deployer}', '{"picked up: written by the claim itself"}', '{01a20690-a2dc-776c-aea0-725f3a4fb582}', '{f}', '{"2026-11-23 04:01:11.905+00"}'),
('41', '01a20690-a308-75cd-b5a7-4f1395b61177', '{01a20690-a308-75cd-b5a7-4f1395b61177,01a20690-a308-75cd-b5a7-5265d19d1f5c,01a20690-a308-75cd-b5a7-56d1844a55ba,01a20690-a308-75cd-b5a7-4f1395b61177,01a20690-a308-75cd-b5a7-5265d19d1f5c}', '{NULL,01a20690-a308-75cd-b5a7-4f1395b61177,01a20690-a308-75cd-b5a7-4f1395b61177,NULL,01a20690-a308-75cd-b5a7-4f1395b61177}', '{copied,copy,tell,copied,copy}', '{1,1,1,2,2}', '{NULL,NULL,NULL,NULL,NULL}', '{1,2,2,3,4}', '{1,2,1,1}', '{ops,ops,ops,ops}', '{TASK,GADGET_JOB,TASK,GADGET_JOB}', '{task,gadgetJob,task,gadgetJob}', '{NULL,NULL,PENDING,PENDING}', '{PENDING,PENDING,RUNNING,DECLARING}', '{USER,CONTROLLER,CONTROLLER,CONTROLLER}', '{admin,admin,NULL,NULL}', '{created,created,"its jobs take their turns","its turn in the task"}', '{NULL,NULL,01a20690-a308-75cd-b5a7-59ff018bcd4f,01a20690-a308-75cd-b5a7-5cad44992161}', '{f,f,f,f}', '{"2026-11-23 04:01:11.944+00","2026-11-23 04:01:11.944+00","2026-11-23 04:01:11.944+00","2026-11-23 04:01:11.944+00"}'),
('42', '01a20690-a308-75cd-b5a7-4f1395b61177', '{01a20690-a308-75cd-b5a7-5265d19d1f5c,01a20690-a308-75cd-b5a7-5265d19d1f5c}', '{01a20690-a308-75cd-b5a7-4f1395b61177,01a20690-a308-75cd-b5a7-4f1395b61177}', '{copy,copy}', '{4,5}', '{NULL,NULL}', '{1,2}', '{1,1}', '{ops,ops}', '{GADGET_JOB,GADGET_JOB}', '{gadgetJob,gadgetJob}', '{DECLARING,WAITING}', '{WAITING,RUNNING}', '{GADGET_RUNNER,CONTROLLER}', '{runner,NULL}', '{"locks declared","all locks granted, START journalled"}', '{01a20690-a308-75cd-b5a7-5cad44992161,01a20690-a308-75cd-b5a7-5cad44992161}', '{f,f}', '{"2026-11-23 04:01:11.958+00","2026-11-23 04:01:11.958+00"}'),
('43', '01a20690-a308-75cd-b5a7-4f1395b61177', '{01a20690-a308-75cd-b5a7-5265d19d1f5c}', '{01a20690-a308-75cd-b5a7-4f1395b61177}', '{copy}', '{7}', '{NULL}', '{1}', '{1}', '{ops}', '{GADGET_JOB}', '{gadgetJob}', '{RUNNING}', '{DONE}', '{GADGET_RUNNER}', '{runner}', '{"exit 0"}', '{01a20690-a308-75cd-b5a7-5cad44992161}', '{f}', '{"2026-11-23 04:01:11.971+00"}'),
('44', '01a20690-a308-75cd-b5a7-4f1395b61177', '{01a20690-a308-75cd-b5a7-56d1844a55ba}', '{01a20690-a308-75cd-b5a7-4f1395b61177}', '{tell}', '{3}', '{NULL}', '{1}', '{1}', '{ops}', '{GADGET_JOB}', '{gadgetJob}', '{PENDING}', '{DECLARING}', '{CONTROLLER}', '{NULL}', '{"its turn in the task"}', '{01a20690-a333-7126-a70a-c6e35047cdf8}', '{f}', '{"2026-11-23 04:01:11.986+00"}'),
('45', '01a20690-a308-75cd-b5a7-4f1395b61177', '{01a20690-a308-75cd-b5a7-56d1844a55ba,01a20690-a308-75cd-b5a7-56d1844a55ba}', '{01a20690-a308-75cd-b5a7-4f1395b61177,01a20690-a308-75cd-b5a7-4f1395b61177}', '{tell,tell}', '{5,6}', '{NULL,NULL}', '{1,2}', '{1,1}', '{ops,ops}', '{GADGET_JOB,GADGET_JOB}', '{gadgetJob,gadgetJob}', '{DECLARING,WAITING}', '{WAITING,RUNNING}', '{GADGET_RUNNER,CONTROLLER}', '{runner,NULL}', '{"locks declared","all locks granted, START journalled"}', '{01a20690-a333-7126-a70a-c6e35047cdf8,01a20690-a333-7126-a70a-c6e35047cdf8}', '{f,f}', '{"2026-11-23 04:01:12+00","2026-11-23 04:01:12+00"}'),
('46', '01a20690-a308-75cd-b5a7-4f1395b61177', '{01a20690-a308-75cd-b5a7-56d1844a55ba,01a20690-a308-75cd-b5a7-4f1395b61177}', '{01a20690-a308-75cd-b5a7-4f1395b61177,NULL}', '{tell,copied}', '{8,3}', '{NULL,NULL}', '{1,2}', '{1,1}', '{ops,ops}', '{GADGET_JOB,TASK}', '{gadgetJob,task}', '{RUNNING,RUNNING}', '{DONE,SUCCEEDED}', '{GADGET_RUNNER,CONTROLLER}', '{runner,NULL}', '{"exit 0","all jobs ended, each done or skipped by its condition"}', '{01a20690-a333-7126-a70a-c6e35047cdf8,01a20690-a308-75cd-b5a7-59ff018bcd4f}', '{f,f}', '{"2026-11-23 04:01:12.007+00","2026-11-23 04:01:12.007+00"}'),
('47', '01a20690-a34d-7688-bba5-234aca380814', '{01a20690-a34d-7688-bba5-234aca380814,01a20690-a34d-7688-bba5-27d051066411,01a20690-a34d-7688-bba5-234aca380814,01a20690-a34d-7688-bba5-27d051066411}', '{NULL,01a20690-a34d-7688-bba5-234aca380814,NULL,01a20690-a34d-7688-bba5-234aca380814}', '{crashed,crashed-job,crashed,crashed-job}', '{1,1,2,2}', '{NULL,NULL,NULL,NULL}', '{1,2,3,4}', '{1,1,1,1}', '{ops,ops,ops,ops}', '{TASK,GADGET_JOB,TASK,GADGET_JOB}', '{task,gadgetJob,task,gadgetJob}', '{NULL,NULL,PENDING,PENDING}', '{PENDING,PENDING,RUNNING,DECLARING}', '{USER,CONTROLLER,CONTROLLER,CONTROLLER}', '{admin,admin,NULL,NULL}', '{created,created,"its jobs take their turns","its turn in the task"}', '{NULL,NULL,01a20690-a34d-7688-bba5-28d3f241d3a6,01a20690-a34d-7688-bba5-2e2796619e00}', '{f,f,f,f}', '{"2026-11-23 04:01:12.013+00","2026-11-23 04:01:12.013+00","2026-11-23 04:01:12.013+00","2026-11-23 04:01:12.013+00"}'),
('48', '01a20690-a34d-7688-bba5-234aca380814', '{01a20690-a34d-7688-bba5-27d051066411,01a20690-a34d-7688-bba5-27d051066411}', '{01a20690-a34d-7688-bba5-234aca380814,01a20690-a34d-7688-bba5-234aca380814}', '{crashed-job,crashed-job}', '{4,5}', '{NULL,NULL}', '{1,2}', '{1,1}', '{ops,ops}', '{GADGET_JOB,GADGET_JOB}', '{gadgetJob,gadgetJob}', '{DECLARING,WAITING}', '{WAITING,RUNNING}', '{GADGET_RUNNER,CONTROLLER}', '{runner,NULL}', '{"locks declared","all locks granted, START journalled"}', '{01a20690-a34d-7688-bba5-2e2796619e00,01a20690-a34d-7688-bba5-2e2796619e00}', '{f,f}', '{"2026-11-23 04:01:12.021+00","2026-11-23 04:01:12.021+00"}'),
('49', '01a20690-a34d-7688-bba5-234aca380814', '{01a20690-a34d-7688-bba5-27d051066411}', '{01a20690-a34d-7688-bba5-234aca380814}', '{crashed-job}', '{7}', '{"Nothing was heard of its runner played: it is undone, and run again."}', '{1}', '{1}', '{ops}', '{GADGET_JOB}', '{gadgetJob}', '{RUNNING}', '{UNDOING}', '{CONTROLLER}', '{NULL}', '{RUNNER_LOST}', '{01a20690-a34d-7688-bba5-2e2796619e00}', '{f}', '{"2026-11-23 04:01:13.03+00"}'),
('50', '01a20690-a34d-7688-bba5-234aca380814', '{01a20690-a34d-7688-bba5-27d051066411}', '{01a20690-a34d-7688-bba5-234aca380814}', '{crashed-job}', '{8}', '{NULL}', '{1}', '{1}', '{ops}', '{GADGET_JOB}', '{gadgetJob}', '{UNDOING}', '{RUNNING}', '{GADGET_RUNNER}', '{runner}', '{"undone after a crash: it runs again, locks held throughout"}', '{01a20690-a34d-7688-bba5-2e2796619e00}', '{f}', '{"2026-11-23 04:01:13.038+00"}'),
('51', '01a20690-a34d-7688-bba5-234aca380814', '{01a20690-a34d-7688-bba5-234aca380814,01a20690-a34d-7688-bba5-27d051066411}', '{NULL,01a20690-a34d-7688-bba5-234aca380814}', '{crashed,crashed-job}', '{3,10}', '{"Cancelled by admin.","Cancelled by admin."}', '{1,2}', '{1,1}', '{ops,ops}', '{TASK,GADGET_JOB}', '{task,gadgetJob}', '{RUNNING,RUNNING}', '{ABORTING,ABORTING}', '{USER,USER}', '{admin,admin}', '{"cancelled: nothing new starts, what runs is aborted","cancelled: SIGINT, grace, SIGKILL, then the clean-up"}', '{01a20690-a34d-7688-bba5-28d3f241d3a6,01a20690-a34d-7688-bba5-2e2796619e00}', '{f,f}', '{"2026-11-23 04:01:13.049+00","2026-11-23 04:01:13.049+00"}'),
('53', '01a20690-a34d-7688-bba5-234aca380814', '{01a20690-a34d-7688-bba5-27d051066411}', '{01a20690-a34d-7688-bba5-234aca380814}', '{crashed-job}', '{11}', '{"the disk is full"}', '{1}', '{1}', '{ops}', '{GADGET_JOB}', '{gadgetJob}', '{ABORTING}', '{UNDO_FAILED}', '{GADGET_RUNNER}', '{runner}', '{GADGET_FAILED}', '{01a20690-a34d-7688-bba5-2e2796619e00}', '{f}', '{"2026-11-23 04:01:13.06+00"}'),
('54', '01a20690-a767-73b1-bda1-b8ece5377664', '{01a20690-a767-73b1-bda1-b8ece5377664,01a20690-a767-73b1-bda1-bcaa223eb3a6,01a20690-a767-73b1-bda1-b8ece5377664,01a20690-a767-73b1-bda1-bcaa223eb3a6}', '{NULL,01a20690-a767-73b1-bda1-b8ece5377664,NULL,01a20690-a767-73b1-bda1-b8ece5377664}', '{dirty,dirty-job,dirty,dirty-job}', '{1,1,2,2}', '{NULL,NULL,NULL,NULL}', '{1,2,3,4}', '{1,1,1,1}', '{ops,ops,ops,ops}', '{TASK,GADGET_JOB,TASK,GADGET_JOB}', '{task,gadgetJob,task,gadgetJob}', '{NULL,NULL,PENDING,PENDING}', '{PENDING,PENDING,RUNNING,DECLARING}', '{USER,CONTROLLER,CONTROLLER,CONTROLLER}', '{admin,admin,NULL,NULL}', '{created,created,"its jobs take their turns","its turn in the task"}', '{NULL,NULL,01a20690-a767-73b1-bda1-c1b30a4ae2f0,01a20690-a767-73b1-bda1-c51ec92bf828}', '{f,f,f,f}', '{"2026-11-23 04:01:13.063+00","2026-11-23 04:01:13.063+00","2026-11-23 04:01:13.063+00","2026-11-23 04:01:13.063+00"}'),
('55', '01a20690-a767-73b1-bda1-b8ece5377664', '{01a20690-a767-73b1-bda1-bcaa223eb3a6,01a20690-a767-73b1-bda1-bcaa223eb3a6}', '{01a20690-a767-73b1-bda1-b8ece5377664,01a20690-a767-73b1-bda1-b8ece5377664}', '{dirty-job,dirty-job}', '{4,5}', '{NULL,NULL}', '{1,2}', '{1,1}', '{ops,ops}', '{GADGET_JOB,GADGET_JOB}', '{gadgetJob,gadgetJob}', '{DECLARING,WAITING}', '{WAITING,RUNNING}', '{GADGET_RUNNER,CONTROLLER}', '{runner,NULL}', '{"locks declared","all locks granted, START journalled"}', '{01a20690-a767-73b1-bda1-c51ec92bf828,01a20690-a767-73b1-bda1-c51ec92bf828}', '{f,f}', '{"2026-11-23 04:01:13.072+00","2026-11-23 04:01:13.072+00"}'),
('56', '01a20690-a767-73b1-bda1-b8ece5377664', '{01a20690-a767-73b1-bda1-b8ece5377664,01a20690-a767-73b1-bda1-bcaa223eb3a6}', '{NULL,01a20690-a767-73b1-bda1-b8ece5377664}', '{dirty,dirty-job}', '{3,7}', '{"Cancelled by admin.","Cancelled by admin."}', '{1,2}', '{1,1}', '{ops,ops}', '{TASK,GADGET_JOB}', '{task,gadgetJob}', '{RUNNING,RUNNING}', '{ABORTING,ABORTING}', '{USER,USER}', '{admin,admin}', '{"cancelled: nothing new starts, what runs is aborted","cancelled: SIGINT, grace, SIGKILL, then the clean-up"}', '{01a20690-a767-73b1-bda1-c1b30a4ae2f0,01a20690-a767-73b1-bda1-c51ec92bf828}', '{f,f}', '{"2026-11-23 04:01:13.083+00","2026-11-23 04:01:13.083+00"}'),
('58', '01a20690-a767-73b1-bda1-b8ece5377664', '{01a20690-a767-73b1-bda1-bcaa223eb3a6}', '{01a20690-a767-73b1-bda1-b8ece5377664}', '{dirty-job}', '{8}', '{"the disk is full"}', '{1}', '{1}', '{ops}', '{GADGET_JOB}', '{gadgetJob}', '{ABORTING}', '{UNDO_FAILED}', '{GADGET_RUNNER}', '{runner}', '{GADGET_FAILED}', '{01a20690-a767-73b1-bda1-c51ec92bf828}', '{f}', '{"2026-11-23 04:01:13.09+00"}'),
('59', '01a20690-a785-72ff-b359-2102af84e3cb', '{01a20690-a785-72ff-b359-2102af84e3cb,01a20690-a785-72ff-b359-25bcf5789c8d,01a20690-a785-72ff-b359-2102af84e3cb,01a20690-a785-72ff-b359-25bcf5789c8d}', '{NULL,01a20690-a785-72ff-b359-2102af84e3cb,NULL,01a20690-a785-72ff-b359-2102af84e3cb}', '{stuck,stuck-job,stuck,stuck-job}', '{1,1,2,2}', '{NULL,NULL,NULL,NULL}', '{1,2,3,4}', '{1,1,1,1}', '{ops,ops,ops,ops}', '{TASK,GADGET_JOB,TASK,GADGET_JOB}', '{task,gadgetJob,task,gadgetJob}', '{NULL,NULL,PENDING,PENDING}', '{PENDING,PENDING,RUNNING,DECLARING}', '{USER,CONTROLLER,CONTROLLER,CONTROLLER}', '{admin,admin,NULL,NULL}', '{created,created,"its jobs take their turns","its turn in the task"}', '{NULL,NULL,01a20690-a785-72ff-b359-2b1d62d91331,01a20690-a785-72ff-b359-2dbffb701b6f}', '{f,f,f,f}', '{"2026-11-23 04:01:13.093+00","2026-11-23 04:01:13.093+00","2026-11-23 04:01:13.093+00","2026-11-23 04:01:13.093+00"}'),
('60', '01a20690-a785-72ff-b359-2102af84e3cb', '{01a20690-a785-72ff-b359-25bcf5789c8d,01a20690-a785-72ff-b359-25bcf5789c8d}', '{01a20690-a785-72ff-b359-2102af84e3cb,01a20690-a785-72ff-b359-2102af84e3cb}', '{stuck-job,stuck-job}', '{4,5}', '{NULL,NULL}', '{1,2}', '{1,1}', '{ops,ops}', '{GADGET_JOB,GADGET_JOB}', '{gadgetJob,gadgetJob}', '{DECLARING,WAITING}', '{WAITING,RUNNING}', '{GADGET_RUNNER,CONTROLLER}', '{runner,NULL}', '{"locks declared","all locks granted, START journalled"}', '{01a20690-a785-72ff-b359-2dbffb701b6f,01a20690-a785-72ff-b359-2dbffb701b6f}', '{f,f}', '{"2026-11-23 04:01:13.099+00","2026-11-23 04:01:13.099+00"}'),
('61', '01a20690-a785-72ff-b359-2102af84e3cb', '{01a20690-a785-72ff-b359-25bcf5789c8d}', '{01a20690-a785-72ff-b359-2102af84e3cb}', '{stuck-job}', '{7}', '{"the disk is full"}', '{1}', '{1}', '{ops}', '{GADGET_JOB}', '{gadgetJob}', '{RUNNING}', '{UNDOING}', '{GADGET_RUNNER}', '{runner}', '{GADGET_FAILED}', '{01a20690-a785-72ff-b359-2dbffb701b6f}', '{f}', '{"2026-11-23 04:01:13.108+00"}'),
('62', '01a20690-a785-72ff-b359-2102af84e3cb', '{01a20690-a785-72ff-b359-25bcf5789c8d}', '{01a20690-a785-72ff-b359-2102af84e3cb}', '{stuck-job}', '{9}', '{"the disk is full"}', '{1}', '{1}', '{ops}', '{GADGET_JOB}', '{gadgetJob}', '{UNDOING}', '{UNDO_FAILED}', '{GADGET_RUNNER}', '{runner}', '{GADGET_FAILED}', '{01a20690-a785-72ff-b359-2dbffb701b6f}', '{f}', '{"2026-11-23 04:01:13.115+00"}'),
('63', '01a20690-a79d-736c-9072-1e953e8ba51d', '{01a20690-a79d-736c-9072-1e953e8ba51d,01a20690-a79d-736c-9072-224db9564296,01a20690-a79d-736c-9072-1e953e8ba51d,01a20690-a79d-736c-9072-224db9564296}', '{NULL,01a20690-a79d-736c-9072-1e953e8ba51d,NULL,01a20690-a79d-736c-9072-1e953e8ba51d}', '{queued,queued-job,queued,queued-job}', '{1,1,2,2}', '{NULL,NULL,NULL,NULL}', '{1,2,3,4}', '{1,1,1,1}', '{ops,ops,ops,ops}', '{TASK,GADGET_JOB,TASK,GADGET_JOB}', '{task,gadgetJob,task,gadgetJob}', '{NULL,NULL,PENDING,PENDING}', '{PENDING,PENDING,RUNNING,DECLARING}', '{USER,CONTROLLER,CONTROLLER,CONTROLLER}', '{admin,admin,NULL,NULL}', '{created,created,"its jobs take their turns","its turn in the task"}', '{NULL,NULL,01a20690-a79e-77f3-861c-5207ba2e6273,01a20690-a79e-77f3-861c-57aad85b273f}', '{f,f,f,f}', '{"2026-11-23 04:01:13.117+00","2026-11-23 04:01:13.117+00","2026-11-23 04:01:13.117+00","2026-11-23 04:01:13.117+00"}'),
('64', '01a20690-a79d-736c-9072-1e953e8ba51d', '{01a20690-a79d-736c-9072-224db9564296}', '{01a20690-a79d-736c-9072-1e953e8ba51d}', '{queued-job}', '{4}', '{NULL}', '{1}', '{1}', '{ops}', '{GADGET_JOB}', '{gadgetJob}', '{DECLARING}', '{WAITING}', '{GADGET_RUNNER}', '{runner}', '{"locks declared"}', '{01a20690-a79e-77f3-861c-57aad85b273f}', '{f}', '{"2026-11-23 04:01:13.126+00"}'),
('65', '01a20690-a7aa-75f5-b6ee-7a98b2efc8c7', '{01a20690-a7aa-75f5-b6ee-7a98b2efc8c7,01a20690-a7aa-75f5-b6ee-7cb7a2dc10b8,01a20690-a7aa-75f5-b6ee-7a98b2efc8c7,01a20690-a7aa-75f5-b6ee-7cb7a2dc10b8}', '{NULL,01a20690-a7aa-75f5-b6ee-7a98b2efc8c7,NULL,01a20690-a7aa-75f5-b6ee-7a98b2efc8c7}', '{turning,turning-job,turning,turning-job}', '{1,1,2,2}', '{NULL,NULL,NULL,NULL}', '{1,2,3,4}', '{1,1,1,1}', '{ops,ops,ops,ops}', '{TASK,GADGET_JOB,TASK,GADGET_JOB}', '{task,gadgetJob,task,gadgetJob}', '{NULL,NULL,PENDING,PENDING}', '{PENDING,PENDING,RUNNING,DECLARING}', '{USER,CONTROLLER,CONTROLLER,CONTROLLER}', '{admin,admin,NULL,NULL}', '{created,created,"its jobs take their turns","its turn in the task"}', '{NULL,NULL,01a20690-a7aa-75f5-b6ee-808f6fc09202,01a20690-a7aa-75f5-b6ee-87d2852b2164}', '{f,f,f,f}', '{"2026-11-23 04:01:13.13+00","2026-11-23 04:01:13.13+00","2026-11-23 04:01:13.13+00","2026-11-23 04:01:13.13+00"}'),
('66', '01a20690-a7aa-75f5-b6ee-7a98b2efc8c7', '{01a20690-a7aa-75f5-b6ee-7cb7a2dc10b8,01a20690-a7aa-75f5-b6ee-7cb7a2dc10b8}', '{01a20690-a7aa-75f5-b6ee-7a98b2efc8c7,01a20690-a7aa-75f5-b6ee-7a98b2efc8c7}', '{turning-job,turning-job}', '{4,5}', '{NULL,NULL}', '{1,2}', '{1,1}', '{ops,ops}', '{GADGET_JOB,GADGET_JOB}', '{gadgetJob,gadgetJob}', '{DECLARING,WAITING}', '{WAITING,RUNNING}', '{GADGET_RUNNER,CONTROLLER}', '{runner,NULL}', '{"locks declared","all locks granted, START journalled"}', '{01a20690-a7aa-75f5-b6ee-87d2852b2164,01a20690-a7aa-75f5-b6ee-87d2852b2164}', '{f,f}', '{"2026-11-23 04:01:13.138+00","2026-11-23 04:01:13.138+00"}'),
('67', '01a20690-a7b9-742a-8e64-2a263bcb3b60', '{01a20690-a7b9-742a-8e64-2a263bcb3b60,01a20690-a7b9-742a-8e64-2d674bb74a08,01a20690-a7b9-742a-8e64-2a263bcb3b60,01a20690-a7b9-742a-8e64-2d674bb74a08}', '{NULL,01a20690-a7b9-742a-8e64-2a263bcb3b60,NULL,01a20690-a7b9-742a-8e64-2a263bcb3b60}', '{undoing,undoing-job,undoing,undoing-job}', '{1,1,2,2}', '{NULL,NULL,NULL,NULL}', '{1,2,3,4}', '{1,1,1,1}', '{ops,ops,ops,ops}', '{TASK,GADGET_JOB,TASK,GADGET_JOB}', '{task,gadgetJob,task,gadgetJob}', '{NULL,NULL,PENDING,PENDING}', '{PENDING,PENDING,RUNNING,DECLARING}', '{USER,CONTROLLER,CONTROLLER,CONTROLLER}', '{admin,admin,NULL,NULL}', '{created,created,"its jobs take their turns","its turn in the task"}', '{NULL,NULL,01a20690-a7b9-742a-8e64-324a165d65c0,01a20690-a7b9-742a-8e64-377d789f1f62}', '{f,f,f,f}', '{"2026-11-23 04:01:13.145+00","2026-11-23 04:01:13.145+00","2026-11-23 04:01:13.145+00","2026-11-23 04:01:13.145+00"}'),
('68', '01a20690-a7b9-742a-8e64-2a263bcb3b60', '{01a20690-a7b9-742a-8e64-2d674bb74a08,01a20690-a7b9-742a-8e64-2d674bb74a08}', '{01a20690-a7b9-742a-8e64-2a263bcb3b60,01a20690-a7b9-742a-8e64-2a263bcb3b60}', '{undoing-job,undoing-job}', '{4,5}', '{NULL,NULL}', '{1,2}', '{1,1}', '{ops,ops}', '{GADGET_JOB,GADGET_JOB}', '{gadgetJob,gadgetJob}', '{DECLARING,WAITING}', '{WAITING,RUNNING}', '{GADGET_RUNNER,CONTROLLER}', '{runner,NULL}', '{"locks declared","all locks granted, START journalled"}', '{01a20690-a7b9-742a-8e64-377d789f1f62,01a20690-a7b9-742a-8e64-377d789f1f62}', '{f,f}', '{"2026-11-23 04:01:13.151+00","2026-11-23 04:01:13.151+00"}'),
('69', '01a20690-a7b9-742a-8e64-2a263bcb3b60', '{01a20690-a7b9-742a-8e64-2d674bb74a08}', '{01a20690-a7b9-742a-8e64-2a263bcb3b60}', '{undoing-job}', '{7}', '{"the disk is full"}', '{1}', '{1}', '{ops}', '{GADGET_JOB}', '{gadgetJob}', '{RUNNING}', '{UNDOING}', '{GADGET_RUNNER}', '{runner}', '{GADGET_FAILED}', '{01a20690-a7b9-742a-8e64-377d789f1f62}', '{f}', '{"2026-11-23 04:01:13.159+00"}'),
('70', '01a20690-a7f1-7786-886e-60ec48037c13', '{01a20690-a7f1-7786-886e-60ec48037c13,01a20690-a7f1-7786-886e-654c75174bc2,01a20690-a7f1-7786-886e-654c75174bc2,01a20690-a7f1-7786-886e-60ec48037c13}', '{NULL,01a20690-a7f1-7786-886e-60ec48037c13,01a20690-a7f1-7786-886e-60ec48037c13,NULL}', '{event-1,worker,worker,event-1}', '{1,1,2,2}', '{NULL,NULL,NULL,NULL}', '{1,2,3,4}', '{1,1,1,1}', '{shop,shop,shop,shop}', '{EVENT,WORKER,WORKER,EVENT}', '{worker,worker,worker,worker}', '{NULL,NULL,PENDING,PENDING}', '{PENDING,PENDING,STARTING,STARTING}', '{USER,CONTROLLER,CONTROLLER,CONTROLLER}', '{admin,admin,NULL,NULL}', '{created,created,"capacity found","capacity found"}', '{NULL,NULL,01a20690-a7f6-7059-abae-0afa6acbc6ec,01a20690-a7f6-7059-abae-0afa6acbc6ec}', '{f,f,f,f}', '{"2026-11-23 04:01:13.201+00","2026-11-23 04:01:13.201+00","2026-11-23 04:01:13.201+00","2026-11-23 04:01:13.201+00"}'),
('71', '01a20690-a7f1-7786-886e-60ec48037c13', '{01a20690-a7f1-7786-886e-654c75174bc2,01a20690-a7f1-7786-886e-60ec48037c13}', '{01a20690-a7f1-7786-886e-60ec48037c13,NULL}', '{worker,event-1}', '{4,3}', '{NULL,NULL}', '{1,2}', '{1,1}', '{shop,shop}', '{WORKER,EVENT}', '{worker,worker}', '{STARTING,STARTING}', '{RUNNING,RUNNING}', '{RUNTIME,RUNTIME}', '{runtime,runtime}', '{"its process runs","its process runs"}', '{01a20690-a7f6-7059-abae-0afa6acbc6ec,01a20690-a7f6-7059-abae-0afa6acbc6ec}', '{f,f}', '{"2026-11-23 04:01:13.227+00","2026-11-23 04:01:13.227+00"}'),
('72', '01a20690-a7f1-7786-886e-60ec48037c13', '{01a20690-a81d-77a0-ad57-09edafbd4fcc}', '{01a20690-a7f1-7786-886e-654c75174bc2}', '{lint}', '{1}', '{NULL}', '{1}', '{1}', '{shop}', '{JOB}', '{worker}', '{NULL}', '{PENDING}', '{CONTROLLER}', '{"worker of event-1"}', '{created}', '{NULL}', '{f}', '{"2026-11-23 04:01:13.242+00"}'),
('73', '01a20690-a7f1-7786-886e-60ec48037c13', '{01a20690-a81d-77a0-ad57-09edafbd4fcc}', '{01a20690-a7f1-7786-886e-654c75174bc2}', '{lint}', '{2}', '{NULL}', '{1}', '{1}', '{shop}', '{JOB}', '{worker}', '{PENDING}', '{STARTING}', '{CONTROLLER}', '{NULL}', '{"capacity found"}', '{01a20690-a821-7528-bd27-57743cbc5584}', '{f}', '{"2026-11-23 04:01:13.248+00"}'),
('74', '01a20690-a7f1-7786-886e-60ec48037c13', '{01a20690-a81d-77a0-ad57-09edafbd4fcc}', '{01a20690-a7f1-7786-886e-654c75174bc2}', '{lint}', '{4}', '{NULL}', '{1}', '{1}', '{shop}', '{JOB}', '{worker}', '{STARTING}', '{RUNNING}', '{RUNTIME}', '{runtime}', '{"its process runs"}', '{01a20690-a821-7528-bd27-57743cbc5584}', '{f}', '{"2026-11-23 04:01:13.272+00"}'),
('75', '01a20690-a7f1-7786-886e-60ec48037c13', '{01a20690-a81d-77a0-ad57-09edafbd4fcc}', '{01a20690-a7f1-7786-886e-654c75174bc2}', '{lint}', '{5}', '{NULL}', '{1}', '{1}', '{shop}', '{JOB}', '{worker}', '{RUNNING}', '{SUCCEEDED}', '{RUNTIME}', '{runtime}', '{"its process exited with 0"}', '{01a20690-a821-7528-bd27-57743cbc5584}', '{f}', '{"2026-11-23 04:01:13.276+00"}'),
('76', '01a20690-a7f1-7786-886e-60ec48037c13', '{01a20690-a843-70f7-a8eb-6859fad17218}', '{01a20690-a7f1-7786-886e-654c75174bc2}', '{spell}', '{1}', '{NULL}', '{1}', '{1}', '{shop}', '{JOB}', '{worker}', '{NULL}', '{PENDING}', '{CONTROLLER}', '{"worker of event-1"}', '{created}', '{NULL}', '{f}', '{"2026-11-23 04:01:13.281+00"}'),
('77', '01a20690-a7f1-7786-886e-60ec48037c13', '{01a20690-a843-70f7-a8eb-6859fad17218}', '{01a20690-a7f1-7786-886e-654c75174bc2}', '{spell}', '{2}', '{NULL}', '{1}', '{1}', '{shop}', '{JOB}', '{worker}', '{PENDING}', '{STARTING}', '{CONTROLLER}', '{NULL}', '{"capacity found"}', '{01a20690-a84b-71be-925d-1a3e498298a3}', '{f}', '{"2026-11-23 04:01:13.285+00"}'),
('78', '01a20690-a7f1-7786-886e-60ec48037c13', '{01a20690-a843-70f7-a8eb-6859fad17218}', '{01a20690-a7f1-7786-886e-654c75174bc2}', '{spell}', '{4}', '{NULL}', '{1}', '{1}', '{shop}', '{JOB}', '{worker}', '{STARTING}', '{RUNNING}', '{RUNTIME}', '{runtime}', '{"its process runs"}', '{01a20690-a84b-71be-925d-1a3e498298a3}', '{f}', '{"2026-11-23 04:01:13.304+00"}'),
('79', '01a20690-a7f1-7786-886e-60ec48037c13', '{01a20690-a843-70f7-a8eb-6859fad17218}', '{01a20690-a7f1-7786-886e-654c75174bc2}', '{spell}', '{5}', '{"It ended with 1."}', '{1}', '{1}', '{shop}', '{JOB}', '{worker}', '{RUNNING}', '{FAILED}', '{RUNTIME}', '{runtime}', '{EXIT_CODE}', '{01a20690-a84b-71be-925d-1a3e498298a3}', '{f}', '{"2026-11-23 04:01:13.306+00"}'),
('80', '01a20690-a7f1-7786-886e-60ec48037c13', '{01a20690-a7f1-7786-886e-654c75174bc2,01a20690-a7f1-7786-886e-60ec48037c13}', '{01a20690-a7f1-7786-886e-60ec48037c13,NULL}', '{worker,event-1}', '{5,4}', '{NULL,NULL}', '{1,2}', '{1,1}', '{shop,shop}', '{WORKER,EVENT}', '{worker,worker}', '{RUNNING,RUNNING}', '{SUCCEEDED,SUCCEEDED}', '{RUNTIME,RUNTIME}', '{runtime,runtime}', '{"its process exited with 0","its process exited with 0"}', '{01a20690-a7f6-7059-abae-0afa6acbc6ec,01a20690-a7f6-7059-abae-0afa6acbc6ec}', '{f,f}', '{"2026-11-23 04:01:13.31+00","2026-11-23 04:01:13.31+00"}'),
('81', '01a20690-a865-70c2-b4b3-cbe89b1b7d0d', '{01a20690-a865-70c2-b4b3-cbe89b1b7d0d,01a20690-a865-70c2-b4b3-cd38e29091e0,01a20690-a865-70c2-b4b3-cd38e29091e0,01a20690-a865-70c2-b4b3-cbe89b1b7d0d}', '{NULL,01a20690-a865-70c2-b4b3-cbe89b1b7d0d,01a20690-a865-70c2-b4b3-cbe89b1b7d0d,NULL}', '{event-2,worker,worker,event-2}', '{1,1,2,2}', '{NULL,NULL,NULL,NULL}', '{1,2,3,4}', '{1,1,1,1}', '{shop,shop,shop,shop}', '{EVENT,WORKER,WORKER,EVENT}', '{worker,worker,worker,worker}', '{NULL,NULL,PENDING,PENDING}', '{PENDING,PENDING,STARTING,STARTING}', '{USER,CONTROLLER,CONTROLLER,CONTROLLER}', '{admin,admin,NULL,NULL}', '{created,created,"capacity found","capacity found"}', '{NULL,NULL,01a20690-a866-7257-a9e0-1657d666b5e5,01a20690-a866-7257-a9e0-1657d666b5e5}', '{f,f,f,f}', '{"2026-11-23 04:01:13.317+00","2026-11-23 04:01:13.317+00","2026-11-23 04:01:13.317+00","2026-11-23 04:01:13.317+00"}'),
('82', '01a20690-a865-70c2-b4b3-cbe89b1b7d0d', '{01a20690-a865-70c2-b4b3-cd38e29091e0,01a20690-a865-70c2-b4b3-cbe89b1b7d0d}', '{01a20690-a865-70c2-b4b3-cbe89b1b7d0d,NULL}', '{worker,event-2}', '{4,3}', '{NULL,NULL}', '{1,2}', '{1,1}', '{shop,shop}', '{WORKER,EVENT}', '{worker,worker}', '{STARTING,STARTING}', '{RUNNING,RUNNING}', '{RUNTIME,RUNTIME}', '{runtime,runtime}', '{"its process runs","its process runs"}', '{01a20690-a866-7257-a9e0-1657d666b5e5,01a20690-a866-7257-a9e0-1657d666b5e5}', '{f,f}', '{"2026-11-23 04:01:13.329+00","2026-11-23 04:01:13.329+00"}'),
('83', '01a20690-a865-70c2-b4b3-cbe89b1b7d0d', '{01a20690-a876-7621-86b2-367dd5350407}', '{01a20690-a865-70c2-b4b3-cd38e29091e0}', '{build}', '{1}', '{NULL}', '{1}', '{1}', '{shop}', '{JOB}', '{worker}', '{NULL}', '{PENDING}', '{CONTROLLER}', '{"worker of event-2"}', '{created}', '{NULL}', '{f}', '{"2026-11-23 04:01:13.332+00"}'),
('84', '01a20690-a865-70c2-b4b3-cbe89b1b7d0d', '{01a20690-a876-7621-86b2-367dd5350407}', '{01a20690-a865-70c2-b4b3-cd38e29091e0}', '{build}', '{2}', '{NULL}', '{1}', '{1}', '{shop}', '{JOB}', '{worker}', '{PENDING}', '{STARTING}', '{CONTROLLER}', '{NULL}', '{"capacity found"}', '{01a20690-a87a-7261-bf90-08da5578adce}', '{f}', '{"2026-11-23 04:01:13.336+00"}'),
('85', '01a20690-a865-70c2-b4b3-cbe89b1b7d0d', '{01a20690-a881-7616-98d2-a7c83393207f}', '{01a20690-a865-70c2-b4b3-cd38e29091e0}', '{bundle}', '{1}', '{NULL}', '{1}', '{1}', '{shop}', '{JOB}', '{worker}', '{NULL}', '{PENDING}', '{CONTROLLER}', '{"worker of event-2"}', '{created}', '{NULL}', '{f}', '{"2026-11-23 04:01:13.342+00"}'),
('86', '01a20690-a865-70c2-b4b3-cbe89b1b7d0d', '{01a20690-a881-7616-98d2-a7c83393207f}', '{01a20690-a865-70c2-b4b3-cd38e29091e0}', '{bundle}', '{2}', '{NULL}', '{1}', '{1}', '{shop}', '{JOB}', '{worker}', '{PENDING}', '{STARTING}', '{CONTROLLER}', '{NULL}', '{"capacity found"}', '{01a20690-a88a-76b3-b96e-8cf7b611e025}', '{f}', '{"2026-11-23 04:01:13.35+00"}'),
('87', '01a20690-a865-70c2-b4b3-cbe89b1b7d0d', '{01a20690-a88e-707d-a76a-b8e35c95a2ca}', '{01a20690-a865-70c2-b4b3-cd38e29091e0}', '{publish}', '{1}', '{NULL}', '{1}', '{1}', '{shop}', '{JOB}', '{worker}', '{NULL}', '{PENDING}', '{CONTROLLER}', '{"worker of event-2"}', '{created}', '{NULL}', '{f}', '{"2026-11-23 04:01:13.357+00"}'),
('88', '01a20690-a865-70c2-b4b3-cbe89b1b7d0d', '{01a20690-a876-7621-86b2-367dd5350407}', '{01a20690-a865-70c2-b4b3-cd38e29091e0}', '{build}', '{4}', '{NULL}', '{1}', '{1}', '{shop}', '{JOB}', '{worker}', '{STARTING}', '{RUNNING}', '{RUNTIME}', '{runtime}', '{"its process runs"}', '{01a20690-a87a-7261-bf90-08da5578adce}', '{f}', '{"2026-11-23 04:01:13.368+00"}'),
('89', '01a20690-a89e-7708-873b-9d395e9429e9', '{01a20690-a89e-7708-873b-9d395e9429e9,01a20690-a89e-7708-873b-a2e3844674e4,01a20690-a89e-7708-873b-a2e3844674e4,01a20690-a89e-7708-873b-9d395e9429e9}', '{NULL,01a20690-a89e-7708-873b-9d395e9429e9,01a20690-a89e-7708-873b-9d395e9429e9,NULL}', '{event-3,worker,worker,event-3}', '{1,1,2,2}', '{NULL,NULL,NULL,NULL}', '{1,2,3,4}', '{1,1,1,1}', '{shop,shop,shop,shop}', '{EVENT,WORKER,WORKER,EVENT}', '{worker,worker,worker,worker}', '{NULL,NULL,PENDING,PENDING}', '{PENDING,PENDING,STARTING,STARTING}', '{USER,CONTROLLER,CONTROLLER,CONTROLLER}', '{admin,admin,NULL,NULL}', '{created,created,"capacity found","capacity found"}', '{NULL,NULL,01a20690-a89f-753d-80d8-e1970dc3f929,01a20690-a89f-753d-80d8-e1970dc3f929}', '{f,f,f,f}', '{"2026-11-23 04:01:13.374+00","2026-11-23 04:01:13.374+00","2026-11-23 04:01:13.374+00","2026-11-23 04:01:13.374+00"}'),
('90', '01a20690-a8a8-70d5-a516-6b0a50564d79', '{01a20690-a8a8-70d5-a516-6b0a50564d79,01a20690-a8a8-70d5-a516-6d4334c1c814}', '{NULL,01a20690-a8a8-70d5-a516-6b0a50564d79}', '{event-4,worker}', '{1,1}', '{NULL,NULL}', '{1,2}', '{1,1}', '{shop,shop}', '{EVENT,WORKER}', '{worker,worker}', '{NULL,NULL}', '{PENDING,PENDING}', '{USER,CONTROLLER}', '{admin,admin}', '{created,created}', '{NULL,NULL}', '{f,f}', '{"2026-11-23 04:01:13.384+00","2026-11-23 04:01:13.384+00"}'),
('91', '01a20690-a8ae-7019-b46a-fd4b39577fa8', '{01a20690-a8ae-7019-b46a-fd4b39577fa8,01a20690-a8ae-7019-b46b-028a6648a4b9,01a20690-a8ae-7019-b46a-fd4b39577fa8,01a20690-a8ae-7019-b46b-028a6648a4b9}', '{NULL,01a20690-a8ae-7019-b46a-fd4b39577fa8,NULL,01a20690-a8ae-7019-b46a-fd4b39577fa8}', '{event-task-011e3503dbd5,nightly-job,event-task-011e3503dbd5,nightly-job}', '{1,1,2,2}', '{NULL,NULL,NULL,NULL}', '{1,2,3,4}', '{1,1,1,1}', '{shop,shop,shop,shop}', '{TASK,GADGET_JOB,TASK,GADGET_JOB}', '{task,gadgetJob,task,gadgetJob}', '{NULL,NULL,PENDING,PENDING}', '{PENDING,PENDING,RUNNING,DECLARING}', '{USER,CONTROLLER,CONTROLLER,CONTROLLER}', '{admin,admin,NULL,NULL}', '{created,created,"its jobs take their turns","its turn in the task"}', '{NULL,NULL,01a20690-a8ae-7019-b46b-0717b3e0fbf4,01a20690-a8ae-7019-b46b-0b08301901f3}', '{f,f,f,f}', '{"2026-11-23 04:01:13.39+00","2026-11-23 04:01:13.39+00","2026-11-23 04:01:13.39+00","2026-11-23 04:01:13.39+00"}'),
('92', '01a20690-a8b6-71d8-a0f5-f7a2f72ba2dc', '{01a20690-a8b6-71d8-a0f5-f7a2f72ba2dc,01a20690-a8b6-71d8-a0f5-f7a2f72ba2dc}', '{NULL,NULL}', '{north,north}', '{1,2}', '{NULL,NULL}', '{1,2}', '{1,1}', '{edge,edge}', '{CLOUDLET,CLOUDLET}', '{cloudlet,cloudlet}', '{NULL,OFFLINE}', '{OFFLINE,INIT}', '{USER,USER}', '{admin,admin}', '{created,"a user creates it"}', '{NULL,NULL}', '{f,f}', '{"2026-11-23 04:01:13.398+00","2026-11-23 04:01:13.398+00"}'),
('93', '01a20690-a8b9-731a-9307-ee6aa985e8b8', '{01a20690-a8b9-731a-9307-ee6aa985e8b8,01a20690-a8b9-731a-9307-ee6aa985e8b8}', '{NULL,NULL}', '{lonely,lonely}', '{1,2}', '{NULL,NULL}', '{1,2}', '{1,1}', '{edge,edge}', '{CLOUDLET,CLOUDLET}', '{cloudlet,cloudlet}', '{NULL,OFFLINE}', '{OFFLINE,INIT}', '{USER,USER}', '{admin,admin}', '{created,"a user creates it"}', '{NULL,NULL}', '{f,f}', '{"2026-11-23 04:01:13.401+00","2026-11-23 04:01:13.401+00"}'),
('94', '01a20690-a8b6-71d8-a0f5-f7a2f72ba2dc', '{01a20690-a8b6-71d8-a0f5-f7a2f72ba2dc,01a20690-a8b6-71d8-a0f5-f7a2f72ba2dc}', '{NULL,NULL}', '{north,north}', '{3,4}', '{NULL,NULL}', '{1,2}', '{1,1}', '{edge,edge}', '{CLOUDLET,CLOUDLET}', '{cloudlet,cloudlet}', '{INIT,INIT_OK}', '{INIT_OK,READY}', '{CONTROLLER,CRM}', '{NULL,crm}', '{"the start is acknowledged","the CRM has gathered its data and sends all its objects"}', '{NULL,NULL}', '{f,f}', '{"2026-11-23 04:01:13.406+00","2026-11-23 04:01:13.406+00"}'),
('95', '01a20690-a8b6-71d8-a0f5-f7a2f72ba2dc', '{01a20690-a8cb-746a-83e7-2ac2d689c39b,01a20690-a8cb-746a-83e7-2ac2d689c39b}', '{01a20690-a8b6-71d8-a0f5-f7a2f72ba2dc,01a20690-a8b6-71d8-a0f5-f7a2f72ba2dc}', '{one,one}', '{1,2}', '{NULL,NULL}', '{1,2}', '{1,1}', '{edge,edge}', '{CLUSTER_INST,CLUSTER_INST}', '{instance,instance}', '{NULL,NOT_PRESENT}', '{NOT_PRESENT,CREATE_REQUESTED}', '{CONTROLLER,USER}', '{admin,admin}', '{created,"creation requested"}', '{NULL,01a20690-a8cb-746a-83e7-2c85617df3c6}', '{f,f}', '{"2026-11-23 04:01:13.418+00","2026-11-23 04:01:13.418+00"}'),
('96', '01a20690-a8b6-71d8-a0f5-f7a2f72ba2dc', '{01a20690-a8cb-746a-83e7-2ac2d689c39b}', '{01a20690-a8b6-71d8-a0f5-f7a2f72ba2dc}', '{one}', '{4}', '{NULL}', '{1}', '{1}', '{edge}', '{CLUSTER_INST}', '{instance}', '{CREATE_REQUESTED}', '{READY}', '{CRM}', '{crm}', '{"created; the Creating message was missed"}', '{01a20690-a8cb-746a-83e7-2c85617df3c6}', '{f}', '{"2026-11-23 04:01:13.435+00"}'),
('97', '01a20690-a8b6-71d8-a0f5-f7a2f72ba2dc', '{01a20690-a8e4-77c2-83a3-0f145ca17d26,01a20690-a8e4-77c2-83a3-0f145ca17d26}', '{01a20690-a8cb-746a-83e7-2ac2d689c39b,01a20690-a8cb-746a-83e7-2ac2d689c39b}', '{web,web}', '{1,2}', '{NULL,NULL}', '{1,2}', '{1,1}', '{edge,edge}', '{APP_INST,APP_INST}', '{instance,instance}', '{NULL,NOT_PRESENT}', '{NOT_PRESENT,CREATE_REQUESTED}', '{CONTROLLER,USER}', '{admin,admin}', '{created,"creation requested"}', '{NULL,01a20690-a8e4-77c2-83a3-138abdefac44}', '{f,f}', '{"2026-11-23 04:01:13.443+00","2026-11-23 04:01:13.443+00"}'),
('98', '01a20690-a8b6-71d8-a0f5-f7a2f72ba2dc', '{01a20690-a8e4-77c2-83a3-0f145ca17d26}', '{01a20690-a8cb-746a-83e7-2ac2d689c39b}', '{web}', '{4}', '{NULL}', '{1}', '{1}', '{edge}', '{APP_INST}', '{instance}', '{CREATE_REQUESTED}', '{READY}', '{CRM}', '{crm}', '{"created; the Creating message was missed"}', '{01a20690-a8e4-77c2-83a3-138abdefac44}', '{f}', '{"2026-11-23 04:01:13.455+00"}'),
('99', '01a20690-a8b6-71d8-a0f5-f7a2f72ba2dc', '{01a20690-a8e4-77c2-83a3-0f145ca17d26}', '{01a20690-a8cb-746a-83e7-2ac2d689c39b}', '{web}', '{5}', '{NULL}', '{1}', '{1}', '{edge}', '{APP_INST}', '{instance}', '{READY}', '{UPDATE_REQUESTED}', '{USER}', '{admin}', '{"update requested"}', '{01a20690-a8f8-705d-8c0b-4da85817a56b}', '{f}', '{"2026-11-23 04:01:13.461+00"}');
-- part: rows of log_line
set local session_replication_role = replica;
delete from "log_line";
insert into "log_line" ("object_id", "n", "at", "stream", "text") overriding system value values
('01a20690-a7f1-7786-886e-654c75174bc2', '1', '2026-11-23 04:01:13.234+00', 'STDOUT', 'first'),
('01a20690-a7f1-7786-886e-654c75174bc2', '2', '2026-11-23 04:01:13.234+00', 'STDOUT', 'second'),
('01a20690-a7f1-7786-886e-654c75174bc2', '3', '2026-11-23 04:01:13.234+00', 'STDOUT', 'größer als 3');
-- part: rows of log_meta
set local session_replication_role = replica;
delete from "log_meta";
insert into "log_meta" ("one", "log_id", "floor_seq") overriding system value values
('true', 'd1c9d7b4-2939-4216-b8a3-792f486141ea', '42');
-- part: rows of log_object
set local session_replication_role = replica;
delete from "log_object";
insert into "log_object" ("object_id", "batch_id") overriding system value values
('01a20690-a156-727e-8de7-8d461a8eb846', '11'),
('01a20690-a156-727e-8de7-8d461a8eb846', '17'),
('01a20690-a156-727e-8de7-8d461a8eb846', '18'),
('01a20690-a159-7259-9552-ad25ff4aa85e', '11'),
('01a20690-a159-7259-9552-ad25ff4aa85e', '13'),
('01a20690-a159-7259-9552-ad25ff4aa85e', '14'),
('01a20690-a159-7259-9552-b014a1a6702e', '11'),
('01a20690-a159-7259-9552-b014a1a6702e', '14'),
('01a20690-a159-7259-9552-b014a1a6702e', '17'),
('01a20690-a15a-712d-8bcf-4b7afabcb9ac', '11'),
('01a20690-a15a-712d-8bcf-4b7afabcb9ac', '13'),
('01a20690-a15a-712d-8bcf-4c966f7220f2', '11'),
('01a20690-a15a-712d-8bcf-4c966f7220f2', '12'),
('01a20690-a15a-712d-8bcf-4c966f7220f2', '13'),
('01a20690-a1cd-7773-858e-d91aea7c831a', '14'),
('01a20690-a1cd-7773-858e-d91aea7c831a', '17'),
('01a20690-a1ce-708e-8483-336dc14ae8b4', '14'),
('01a20690-a1ce-708e-8483-336dc14ae8b4', '15'),
('01a20690-a1ce-708e-8483-336dc14ae8b4', '16'),
('01a20690-a1ce-708e-8483-336dc14ae8b4', '17'),
('01a20690-a20a-77e1-84df-fba33d0abbc0', '19'),
('01a20690-a20a-77e1-84df-fba33d0abbc0', '20'),
('01a20690-a20a-77e1-84df-fba33d0abbc0', '23'),
('01a20690-a217-74b3-8a01-cda565e3b8c4', '20'),
('01a20690-a217-74b3-8a01-cda565e3b8c4', '23'),
('01a20690-a217-74b3-8a01-d0a5ab6ba947', '20'),
('01a20690-a217-74b3-8a01-d0a5ab6ba947', '21'),
('01a20690-a217-74b3-8a01-d0a5ab6ba947', '22'),
('01a20690-a217-74b3-8a01-d0a5ab6ba947', '23'),
('01a20690-a24f-757b-9c68-4eefd46f8194', '24'),
('01a20690-a24f-757b-9c68-4eefd46f8194', '26'),
('01a20690-a24f-757b-9c68-5730bccad32c', '24'),
('01a20690-a24f-757b-9c68-5730bccad32c', '26'),
('01a20690-a24f-757b-9c68-5b34ceb68ee2', '24'),
('01a20690-a24f-757b-9c68-5b34ceb68ee2', '25'),
('01a20690-a24f-757b-9c68-5b34ceb68ee2', '26'),
('01a20690-a264-72b4-b6ff-03cb1046e31a', '27'),
('01a20690-a264-72b4-b6ff-03cb1046e31a', '28'),
('01a20690-a27c-7378-a535-d4c08afc0d5c', '29'),
('01a20690-a27c-7378-a535-d4c08afc0d5c', '31'),
('01a20690-a27c-7378-a535-d4c08afc0d5c', '34'),
('01a20690-a27c-7378-a535-dc34489be818', '29'),
('01a20690-a27c-7378-a535-dc34489be818', '31'),
('01a20690-a27c-7378-a535-dc34489be818', '34'),
('01a20690-a27c-7378-a535-e26eb55ff451', '29'),
('01a20690-a27c-7378-a535-e26eb55ff451', '30'),
('01a20690-a27c-7378-a535-e26eb55ff451', '31'),
('01a20690-a27c-7378-a535-e26eb55ff451', '34'),
('01a20690-a297-73f6-bc2d-d2bc94b8a917', '32'),
('01a20690-a297-73f6-bc2d-d8aa4fa35ea4', '32'),
('01a20690-a297-73f6-bc2d-df5ea66cf32f', '32'),
('01a20690-a297-73f6-bc2d-df5ea66cf32f', '33'),
('01a20690-a298-7438-a850-f4499548da78', '32'),
('01a20690-a298-7438-a850-f81634d2f836', '32'),
('01a20690-a2ac-73f2-b193-8e839eb858b3', '35'),
('01a20690-a2ad-7400-8801-4ad0b350e411', '35'),
('01a20690-a2ad-7400-8801-4e71db2bd035', '35'),
('01a20690-a2ad-7400-8801-4e71db2bd035', '36'),
('01a20690-a2bf-7089-ac6c-1c5cb2a20a2e', '37'),
('01a20690-a2bf-7089-ac6c-265388deb40f', '37'),
('01a20690-a2bf-7089-ac6c-28fb59d0a684', '37'),
('01a20690-a2bf-7089-ac6c-28fb59d0a684', '38'),
('01a20690-a2db-734d-ab98-3bb72c8e1324', '39'),
('01a20690-a2dc-776c-aea0-766857eee38a', '39'),
('01a20690-a2dc-776c-aea0-7b4419d6a5c5', '39'),
('01a20690-a2dc-776c-aea0-7b4419d6a5c5', '40'),
('01a20690-a308-75cd-b5a7-4f1395b61177', '41'),
('01a20690-a308-75cd-b5a7-4f1395b61177', '46'),
('01a20690-a308-75cd-b5a7-5265d19d1f5c', '41'),
('01a20690-a308-75cd-b5a7-5265d19d1f5c', '42'),
('01a20690-a308-75cd-b5a7-5265d19d1f5c', '43'),
('01a20690-a308-75cd-b5a7-56d1844a55ba', '41'),
('01a20690-a308-75cd-b5a7-56d1844a55ba', '44'),
('01a20690-a308-75cd-b5a7-56d1844a55ba', '45'),
('01a20690-a308-75cd-b5a7-56d1844a55ba', '46'),
('01a20690-a34d-7688-bba5-234aca380814', '47'),
('01a20690-a34d-7688-bba5-234aca380814', '51'),
('01a20690-a34d-7688-bba5-27d051066411', '47'),
('01a20690-a34d-7688-bba5-27d051066411', '48'),
('01a20690-a34d-7688-bba5-27d051066411', '49'),
('01a20690-a34d-7688-bba5-27d051066411', '50'),
('01a20690-a34d-7688-bba5-27d051066411', '51'),
('01a20690-a34d-7688-bba5-27d051066411', '53'),
('01a20690-a767-73b1-bda1-b8ece5377664', '54'),
('01a20690-a767-73b1-bda1-b8ece5377664', '56'),
('01a20690-a767-73b1-bda1-bcaa223eb3a6', '54'),
('01a20690-a767-73b1-bda1-bcaa223eb3a6', '55'),
('01a20690-a767-73b1-bda1-bcaa223eb3a6', '56'),
('01a20690-a767-73b1-bda1-bcaa223eb3a6', '58'),
('01a20690-a785-72ff-b359-2102af84e3cb', '59'),
('01a20690-a785-72ff-b359-25bcf5789c8d', '59'),
('01a20690-a785-72ff-b359-25bcf5789c8d', '60'),
('01a20690-a785-72ff-b359-25bcf5789c8d', '61'),
('01a20690-a785-72ff-b359-25bcf5789c8d', '62'),
('01a20690-a79d-736c-9072-1e953e8ba51d', '63'),
('01a20690-a79d-736c-9072-224db9564296', '63'),
('01a20690-a79d-736c-9072-224db9564296', '64'),
('01a20690-a7aa-75f5-b6ee-7a98b2efc8c7', '65'),
('01a20690-a7aa-75f5-b6ee-7cb7a2dc10b8', '65'),
('01a20690-a7aa-75f5-b6ee-7cb7a2dc10b8', '66'),
('01a20690-a7b9-742a-8e64-2a263bcb3b60', '67'),
('01a20690-a7b9-742a-8e64-2d674bb74a08', '67'),
('01a20690-a7b9-742a-8e64-2d674bb74a08', '68'),
('01a20690-a7b9-742a-8e64-2d674bb74a08', '69'),
('01a20690-a7f1-7786-886e-60ec48037c13', '70'),
('01a20690-a7f1-7786-886e-60ec48037c13', '71'),
('01a20690-a7f1-7786-886e-60ec48037c13', '80'),
('01a20690-a7f1-7786-886e-654c75174bc2', '70'),
('01a20690-a7f1-7786-886e-654c75174bc2', '71'),
('01a20690-a7f1-7786-886e-654c75174bc2', '80'),
('01a20690-a81d-77a0-ad57-09edafbd4fcc', '72'),
('01a20690-a81d-77a0-ad57-09edafbd4fcc', '73'),
('01a20690-a81d-77a0-ad57-09edafbd4fcc', '74'),
('01a20690-a81d-77a0-ad57-09edafbd4fcc', '75'),
('01a20690-a843-70f7-a8eb-6859fad17218', '76'),
('01a20690-a843-70f7-a8eb-6859fad17218', '77'),
('01a20690-a843-70f7-a8eb-6859fad17218', '78'),
('01a20690-a843-70f7-a8eb-6859fad17218', '79'),
('01a20690-a865-70c2-b4b3-cbe89b1b7d0d', '81'),
('01a20690-a865-70c2-b4b3-cbe89b1b7d0d', '82'),
('01a20690-a865-70c2-b4b3-cd38e29091e0', '81'),
('01a20690-a865-70c2-b4b3-cd38e29091e0', '82'),
('01a20690-a876-7621-86b2-367dd5350407', '83'),
('01a20690-a876-7621-86b2-367dd5350407', '84'),
('01a20690-a876-7621-86b2-367dd5350407', '88'),
('01a20690-a881-7616-98d2-a7c83393207f', '85'),
('01a20690-a881-7616-98d2-a7c83393207f', '86'),
('01a20690-a88e-707d-a76a-b8e35c95a2ca', '87'),
('01a20690-a89e-7708-873b-9d395e9429e9', '89'),
('01a20690-a89e-7708-873b-a2e3844674e4', '89'),
('01a20690-a8a8-70d5-a516-6b0a50564d79', '90'),
('01a20690-a8a8-70d5-a516-6d4334c1c814', '90'),
('01a20690-a8ae-7019-b46a-fd4b39577fa8', '91'),
('01a20690-a8ae-7019-b46b-028a6648a4b9', '91'),
('01a20690-a8b6-71d8-a0f5-f7a2f72ba2dc', '92'),
('01a20690-a8b6-71d8-a0f5-f7a2f72ba2dc', '94'),
('01a20690-a8b9-731a-9307-ee6aa985e8b8', '93'),
('01a20690-a8cb-746a-83e7-2ac2d689c39b', '95'),
('01a20690-a8cb-746a-83e7-2ac2d689c39b', '96'),
('01a20690-a8e4-77c2-83a3-0f145ca17d26', '101'),
('01a20690-a8e4-77c2-83a3-0f145ca17d26', '97'),
('01a20690-a8e4-77c2-83a3-0f145ca17d26', '98'),
('01a20690-a8e4-77c2-83a3-0f145ca17d26', '99'),
('01a20690-a8fd-70a2-a761-0d27f357f878', '100');
-- part: rows of log_tail
set local session_replication_role = replica;
delete from "log_tail";
insert into "log_tail" ("object_id", "next_n", "kept_lines", "kept_bytes", "dropped") overriding system value values
('01a20690-a7f1-7786-886e-654c75174bc2', '4', '3', '25', '0');
-- part: rows of object
set local session_replication_role = replica;
delete from "object";
insert into "object" ("id", "root_id", "parent_id", "project_id", "kind", "name", "ordinal", "phase", "phase_since", "revision", "generation", "observed_generation", "job_id", "finished_job_id", "deletion_requested_at", "waiting_for", "created_at", "updated_at") overriding system value values
('01a20690-9c58-73f4-9cb5-df436857f598', '01a20690-9c58-73f4-9cb5-df436857f598', NULL, '01a20690-9a22-754c-9b57-264e7c3e6507', 'INSTALLATION', 'ancient', '0', 'SUCCEEDED', '2026-11-23 04:01:10.313+00', '7', '1', '1', '01a20690-9c59-7670-a51c-36d3a7e98abc', '01a20690-9c59-7670-a51c-36d3a7e98abc', NULL, '0', '2026-11-23 04:01:10.232+00', '2026-11-23 04:01:10.313+00'),
('01a20690-9c5a-74e8-a332-bbb63d26c0b9', '01a20690-9c58-73f4-9cb5-df436857f598', '01a20690-9c58-73f4-9cb5-df436857f598', '01a20690-9a22-754c-9b57-264e7c3e6507', 'EXECUTION', 'deploy-items', '0', 'SUCCEEDED', '2026-11-23 04:01:10.279+00', '5', '1', '1', '01a20690-9c59-7670-a51c-36d3a7e98abc', '01a20690-9c59-7670-a51c-36d3a7e98abc', NULL, '0', '2026-11-23 04:01:10.233+00', '2026-11-23 04:01:10.279+00'),
('01a20690-9c5b-7741-bce4-def452e97b1f', '01a20690-9c58-73f4-9cb5-df436857f598', '01a20690-9c5a-74e8-a332-bbb63d26c0b9', '01a20690-9a22-754c-9b57-264e7c3e6507', 'DEPLOY_ITEM', 'agemade', '0', 'SUCCEEDED', '2026-11-23 04:01:10.279+00', '4', '1', '1', '01a20690-9c59-7670-a51c-36d3a7e98abc', '01a20690-9c59-7670-a51c-36d3a7e98abc', NULL, '0', '2026-11-23 04:01:10.233+00', '2026-11-23 04:01:10.279+00'),
('01a20690-a156-727e-8de7-8d461a8eb846', '01a20690-a156-727e-8de7-8d461a8eb846', NULL, '01a20690-9a22-754c-9b57-264e7c3e6507', 'INSTALLATION', 'platform', '0', 'SUCCEEDED', '2026-11-23 04:01:11.676+00', '7', '1', '1', '01a20690-a158-73f1-b4c2-c439d857192c', '01a20690-a158-73f1-b4c2-c439d857192c', NULL, '0', '2026-11-23 04:01:11.51+00', '2026-11-23 04:01:11.676+00'),
('01a20690-a159-7259-9552-ad25ff4aa85e', '01a20690-a156-727e-8de7-8d461a8eb846', '01a20690-a156-727e-8de7-8d461a8eb846', '01a20690-9a22-754c-9b57-264e7c3e6507', 'INSTALLATION', 'network', '0', 'SUCCEEDED', '2026-11-23 04:01:11.615+00', '7', '1', '1', '01a20690-a158-73f1-b4c2-c439d857192c', '01a20690-a158-73f1-b4c2-c439d857192c', NULL, '0', '2026-11-23 04:01:11.511+00', '2026-11-23 04:01:11.615+00'),
('01a20690-a159-7259-9552-b014a1a6702e', '01a20690-a156-727e-8de7-8d461a8eb846', '01a20690-a156-727e-8de7-8d461a8eb846', '01a20690-9a22-754c-9b57-264e7c3e6507', 'INSTALLATION', 'apps', '1', 'SUCCEEDED', '2026-11-23 04:01:11.658+00', '9', '1', '1', '01a20690-a158-73f1-b4c2-c439d857192c', '01a20690-a158-73f1-b4c2-c439d857192c', NULL, '0', '2026-11-23 04:01:11.511+00', '2026-11-23 04:01:11.658+00'),
('01a20690-a15a-712d-8bcf-4b7afabcb9ac', '01a20690-a156-727e-8de7-8d461a8eb846', '01a20690-a159-7259-9552-ad25ff4aa85e', '01a20690-9a22-754c-9b57-264e7c3e6507', 'EXECUTION', 'deploy-items', '0', 'SUCCEEDED', '2026-11-23 04:01:11.564+00', '5', '1', '1', '01a20690-a158-73f1-b4c2-c439d857192c', '01a20690-a158-73f1-b4c2-c439d857192c', NULL, '0', '2026-11-23 04:01:11.511+00', '2026-11-23 04:01:11.564+00'),
('01a20690-a15a-712d-8bcf-4c966f7220f2', '01a20690-a156-727e-8de7-8d461a8eb846', '01a20690-a15a-712d-8bcf-4b7afabcb9ac', '01a20690-9a22-754c-9b57-264e7c3e6507', 'DEPLOY_ITEM', 'cidrmade', '0', 'SUCCEEDED', '2026-11-23 04:01:11.564+00', '4', '1', '1', '01a20690-a158-73f1-b4c2-c439d857192c', '01a20690-a158-73f1-b4c2-c439d857192c', NULL, '0', '2026-11-23 04:01:11.511+00', '2026-11-23 04:01:11.564+00'),
('01a20690-a1cd-7773-858e-d91aea7c831a', '01a20690-a156-727e-8de7-8d461a8eb846', '01a20690-a159-7259-9552-b014a1a6702e', '01a20690-9a22-754c-9b57-264e7c3e6507', 'EXECUTION', 'deploy-items', '0', 'SUCCEEDED', '2026-11-23 04:01:11.658+00', '5', '1', '1', '01a20690-a158-73f1-b4c2-c439d857192c', '01a20690-a158-73f1-b4c2-c439d857192c', NULL, '0', '2026-11-23 04:01:11.615+00', '2026-11-23 04:01:11.658+00'),
('01a20690-a1ce-708e-8483-336dc14ae8b4', '01a20690-a156-727e-8de7-8d461a8eb846', '01a20690-a1cd-7773-858e-d91aea7c831a', '01a20690-9a22-754c-9b57-264e7c3e6507', 'DEPLOY_ITEM', 'serve', '0', 'SUCCEEDED', '2026-11-23 04:01:11.658+00', '4', '1', '1', '01a20690-a158-73f1-b4c2-c439d857192c', '01a20690-a158-73f1-b4c2-c439d857192c', NULL, '0', '2026-11-23 04:01:11.615+00', '2026-11-23 04:01:11.658+00'),
('01a20690-a20a-77e1-84df-fba33d0abbc0', '01a20690-a20a-77e1-84df-fba33d0abbc0', NULL, '01a20690-9a22-754c-9b57-264e7c3e6507', 'INSTALLATION', 'follower', '0', 'SUCCEEDED', '2026-11-23 04:01:11.731+00', '8', '1', '1', '01a20690-a213-7584-b973-7d1a6e4c8953', '01a20690-a213-7584-b973-7d1a6e4c8953', NULL, '0', '2026-11-23 04:01:11.69+00', '2026-11-23 04:01:11.731+00'),
('01a20690-a217-74b3-8a01-cda565e3b8c4', '01a20690-a20a-77e1-84df-fba33d0abbc0', '01a20690-a20a-77e1-84df-fba33d0abbc0', '01a20690-9a22-754c-9b57-264e7c3e6507', 'EXECUTION', 'deploy-items', '0', 'SUCCEEDED', '2026-11-23 04:01:11.731+00', '5', '1', '1', '01a20690-a213-7584-b973-7d1a6e4c8953', '01a20690-a213-7584-b973-7d1a6e4c8953', NULL, '0', '2026-11-23 04:01:11.698+00', '2026-11-23 04:01:11.731+00'),
('01a20690-a217-74b3-8a01-d0a5ab6ba947', '01a20690-a20a-77e1-84df-fba33d0abbc0', '01a20690-a217-74b3-8a01-cda565e3b8c4', '01a20690-9a22-754c-9b57-264e7c3e6507', 'DEPLOY_ITEM', 'follow', '0', 'SUCCEEDED', '2026-11-23 04:01:11.731+00', '4', '1', '1', '01a20690-a213-7584-b973-7d1a6e4c8953', '01a20690-a213-7584-b973-7d1a6e4c8953', NULL, '0', '2026-11-23 04:01:11.698+00', '2026-11-23 04:01:11.731+00'),
('01a20690-a24f-757b-9c68-4eefd46f8194', '01a20690-a24f-757b-9c68-4eefd46f8194', NULL, '01a20690-9a22-754c-9b57-264e7c3e6507', 'INSTALLATION', 'broken', '0', 'FAILED', '2026-11-23 04:01:11.769+00', '6', '1', '1', '01a20690-a24f-757b-9c68-5052103901f3', '01a20690-a24f-757b-9c68-5052103901f3', NULL, '0', '2026-11-23 04:01:11.759+00', '2026-11-23 04:01:11.769+00'),
('01a20690-a24f-757b-9c68-5730bccad32c', '01a20690-a24f-757b-9c68-4eefd46f8194', '01a20690-a24f-757b-9c68-4eefd46f8194', '01a20690-9a22-754c-9b57-264e7c3e6507', 'EXECUTION', 'deploy-items', '0', 'FAILED', '2026-11-23 04:01:11.769+00', '4', '1', '1', '01a20690-a24f-757b-9c68-5052103901f3', '01a20690-a24f-757b-9c68-5052103901f3', NULL, '0', '2026-11-23 04:01:11.759+00', '2026-11-23 04:01:11.769+00'),
('01a20690-a24f-757b-9c68-5b34ceb68ee2', '01a20690-a24f-757b-9c68-4eefd46f8194', '01a20690-a24f-757b-9c68-5730bccad32c', '01a20690-9a22-754c-9b57-264e7c3e6507', 'DEPLOY_ITEM', 'crack', '0', 'FAILED', '2026-11-23 04:01:11.769+00', '4', '1', '1', '01a20690-a24f-757b-9c68-5052103901f3', '01a20690-a24f-757b-9c68-5052103901f3', NULL, '0', '2026-11-23 04:01:11.759+00', '2026-11-23 04:01:11.769+00'),
('01a20690-a264-72b4-b6ff-03cb1046e31a', '01a20690-a264-72b4-b6ff-03cb1046e31a', NULL, '01a20690-9a22-754c-9b57-264e7c3e6507', 'INSTALLATION', 'waiting', '0', 'PENDING_DEPENDENCIES', '2026-11-23 04:01:11.785+00', '3', '1', '0', '01a20690-a26a-76f0-a1a7-7ffa274dbd69', NULL, NULL, '0', '2026-11-23 04:01:11.78+00', '2026-11-23 04:01:11.785+00'),
('01a20690-a27c-7378-a535-d4c08afc0d5c', '01a20690-a27c-7378-a535-d4c08afc0d5c', NULL, '01a20690-9a22-754c-9b57-264e7c3e6507', 'INSTALLATION', 'parting', '0', 'DELETING', '2026-11-23 04:01:11.829+00', '11', '1', '1', '01a20690-a296-74ab-91fb-009d28dbc810', '01a20690-a27c-7378-a535-db11b763c0be', '2026-11-23 04:01:11.829+00', '0', '2026-11-23 04:01:11.804+00', '2026-11-23 04:01:11.829+00'),
('01a20690-a27c-7378-a535-dc34489be818', '01a20690-a27c-7378-a535-d4c08afc0d5c', '01a20690-a27c-7378-a535-d4c08afc0d5c', '01a20690-9a22-754c-9b57-264e7c3e6507', 'EXECUTION', 'deploy-items', '0', 'DELETING', '2026-11-23 04:01:11.829+00', '8', '1', '1', '01a20690-a296-74ab-91fb-009d28dbc810', '01a20690-a27c-7378-a535-db11b763c0be', '2026-11-23 04:01:11.829+00', '0', '2026-11-23 04:01:11.804+00', '2026-11-23 04:01:11.829+00'),
('01a20690-a27c-7378-a535-e26eb55ff451', '01a20690-a27c-7378-a535-d4c08afc0d5c', '01a20690-a27c-7378-a535-dc34489be818', '01a20690-9a22-754c-9b57-264e7c3e6507', 'DEPLOY_ITEM', 'remains', '0', 'INIT_DELETE', '2026-11-23 04:01:11.829+00', '6', '1', '1', '01a20690-a296-74ab-91fb-009d28dbc810', '01a20690-a27c-7378-a535-db11b763c0be', '2026-11-23 04:01:11.829+00', '0', '2026-11-23 04:01:11.804+00', '2026-11-23 04:01:11.829+00'),
('01a20690-a297-73f6-bc2d-d2bc94b8a917', '01a20690-a297-73f6-bc2d-d2bc94b8a917', NULL, '01a20690-9a22-754c-9b57-264e7c3e6507', 'INSTALLATION', 'held', '0', 'PROGRESSING', '2026-11-23 04:01:11.831+00', '5', '1', '1', '01a20690-a297-73f6-bc2d-d6a455f4a5ab', NULL, NULL, '0', '2026-11-23 04:01:11.831+00', '2026-11-23 04:01:11.831+00'),
('01a20690-a297-73f6-bc2d-d8aa4fa35ea4', '01a20690-a297-73f6-bc2d-d2bc94b8a917', '01a20690-a297-73f6-bc2d-d2bc94b8a917', '01a20690-9a22-754c-9b57-264e7c3e6507', 'EXECUTION', 'deploy-items', '0', 'PROGRESSING', '2026-11-23 04:01:11.831+00', '3', '1', '1', '01a20690-a297-73f6-bc2d-d6a455f4a5ab', NULL, NULL, '0', '2026-11-23 04:01:11.831+00', '2026-11-23 04:01:11.831+00'),
('01a20690-a297-73f6-bc2d-df5ea66cf32f', '01a20690-a297-73f6-bc2d-d2bc94b8a917', '01a20690-a297-73f6-bc2d-d8aa4fa35ea4', '01a20690-9a22-754c-9b57-264e7c3e6507', 'DEPLOY_ITEM', 'taken', '0', 'PROGRESSING', '2026-11-23 04:01:11.841+00', '4', '1', '1', '01a20690-a297-73f6-bc2d-d6a455f4a5ab', NULL, NULL, '0', '2026-11-23 04:01:11.831+00', '2026-11-23 04:01:11.846+00'),
('01a20690-a298-7438-a850-f4499548da78', '01a20690-a297-73f6-bc2d-d2bc94b8a917', '01a20690-a297-73f6-bc2d-d8aa4fa35ea4', '01a20690-9a22-754c-9b57-264e7c3e6507', 'DEPLOY_ITEM', 'offered', '1', 'INIT', '2026-11-23 04:01:11.831+00', '2', '1', '1', '01a20690-a297-73f6-bc2d-d6a455f4a5ab', NULL, NULL, '0', '2026-11-23 04:01:11.831+00', '2026-11-23 04:01:11.831+00'),
('01a20690-a298-7438-a850-f81634d2f836', '01a20690-a297-73f6-bc2d-d2bc94b8a917', '01a20690-a297-73f6-bc2d-d8aa4fa35ea4', '01a20690-9a22-754c-9b57-264e7c3e6507', 'DEPLOY_ITEM', 'after', '2', 'PENDING', '2026-11-23 04:01:11.831+00', '1', '1', '0', NULL, NULL, NULL, '1', '2026-11-23 04:01:11.831+00', '2026-11-23 04:01:11.831+00'),
('01a20690-a2ac-73f2-b193-8e839eb858b3', '01a20690-a2ac-73f2-b193-8e839eb858b3', NULL, '01a20690-9a22-754c-9b57-264e7c3e6507', 'INSTALLATION', 'edited', '0', 'PROGRESSING', '2026-11-23 04:01:11.852+00', '6', '2', '1', '01a20690-a2ac-73f2-b193-9218623a13be', NULL, NULL, '0', '2026-11-23 04:01:11.852+00', '2026-11-23 04:01:11.866+00'),
('01a20690-a2ad-7400-8801-4ad0b350e411', '01a20690-a2ac-73f2-b193-8e839eb858b3', '01a20690-a2ac-73f2-b193-8e839eb858b3', '01a20690-9a22-754c-9b57-264e7c3e6507', 'EXECUTION', 'deploy-items', '0', 'PROGRESSING', '2026-11-23 04:01:11.852+00', '3', '1', '1', '01a20690-a2ac-73f2-b193-9218623a13be', NULL, NULL, '0', '2026-11-23 04:01:11.852+00', '2026-11-23 04:01:11.852+00'),
('01a20690-a2ad-7400-8801-4e71db2bd035', '01a20690-a2ac-73f2-b193-8e839eb858b3', '01a20690-a2ad-7400-8801-4ad0b350e411', '01a20690-9a22-754c-9b57-264e7c3e6507', 'DEPLOY_ITEM', 'slow', '0', 'PROGRESSING', '2026-11-23 04:01:11.859+00', '3', '1', '1', '01a20690-a2ac-73f2-b193-9218623a13be', NULL, NULL, '0', '2026-11-23 04:01:11.852+00', '2026-11-23 04:01:11.859+00'),
('01a20690-a2bf-7089-ac6c-1c5cb2a20a2e', '01a20690-a2bf-7089-ac6c-1c5cb2a20a2e', NULL, '01a20690-9a22-754c-9b57-264e7c3e6507', 'INSTALLATION', 'again', '0', 'PROGRESSING', '2026-11-23 04:01:11.871+00', '6', '1', '1', '01a20690-a2bf-7089-ac6c-213262453bdc', NULL, NULL, '0', '2026-11-23 04:01:11.871+00', '2026-11-23 04:01:11.894+00'),
('01a20690-a2bf-7089-ac6c-265388deb40f', '01a20690-a2bf-7089-ac6c-1c5cb2a20a2e', '01a20690-a2bf-7089-ac6c-1c5cb2a20a2e', '01a20690-9a22-754c-9b57-264e7c3e6507', 'EXECUTION', 'deploy-items', '0', 'PROGRESSING', '2026-11-23 04:01:11.871+00', '3', '1', '1', '01a20690-a2bf-7089-ac6c-213262453bdc', NULL, NULL, '0', '2026-11-23 04:01:11.871+00', '2026-11-23 04:01:11.871+00'),
('01a20690-a2bf-7089-ac6c-28fb59d0a684', '01a20690-a2bf-7089-ac6c-1c5cb2a20a2e', '01a20690-a2bf-7089-ac6c-265388deb40f', '01a20690-9a22-754c-9b57-264e7c3e6507', 'DEPLOY_ITEM', 'busy', '0', 'PROGRESSING', '2026-11-23 04:01:11.887+00', '3', '1', '1', '01a20690-a2bf-7089-ac6c-213262453bdc', NULL, NULL, '0', '2026-11-23 04:01:11.871+00', '2026-11-23 04:01:11.887+00'),
('01a20690-a2db-734d-ab98-3bb72c8e1324', '01a20690-a2db-734d-ab98-3bb72c8e1324', NULL, '01a20690-9a22-754c-9b57-264e7c3e6507', 'INSTALLATION', 'stopped', '0', 'PROGRESSING', '2026-11-23 04:01:11.899+00', '6', '1', '1', '01a20690-a2dc-776c-aea0-725f3a4fb582', NULL, NULL, '0', '2026-11-23 04:01:11.899+00', '2026-11-23 04:01:11.911+00'),
('01a20690-a2dc-776c-aea0-766857eee38a', '01a20690-a2db-734d-ab98-3bb72c8e1324', '01a20690-a2db-734d-ab98-3bb72c8e1324', '01a20690-9a22-754c-9b57-264e7c3e6507', 'EXECUTION', 'deploy-items', '0', 'PROGRESSING', '2026-11-23 04:01:11.899+00', '3', '1', '1', '01a20690-a2dc-776c-aea0-725f3a4fb582', NULL, NULL, '0', '2026-11-23 04:01:11.899+00', '2026-11-23 04:01:11.899+00'),
('01a20690-a2dc-776c-aea0-7b4419d6a5c5', '01a20690-a2db-734d-ab98-3bb72c8e1324', '01a20690-a2dc-776c-aea0-766857eee38a', '01a20690-9a22-754c-9b57-264e7c3e6507', 'DEPLOY_ITEM', 'halt', '0', 'PROGRESSING', '2026-11-23 04:01:11.905+00', '4', '1', '1', '01a20690-a2dc-776c-aea0-725f3a4fb582', NULL, NULL, '0', '2026-11-23 04:01:11.899+00', '2026-11-23 04:01:11.913+00'),
('01a20690-a308-75cd-b5a7-4f1395b61177', '01a20690-a308-75cd-b5a7-4f1395b61177', NULL, '01a20690-a2f0-757a-a636-7c4ac3a02cff', 'TASK', 'copied', '0', 'SUCCEEDED', '2026-11-23 04:01:12.007+00', '3', '1', '1', '01a20690-a308-75cd-b5a7-59ff018bcd4f', '01a20690-a308-75cd-b5a7-59ff018bcd4f', NULL, '0', '2026-11-23 04:01:11.944+00', '2026-11-23 04:01:12.007+00'),
('01a20690-a308-75cd-b5a7-5265d19d1f5c', '01a20690-a308-75cd-b5a7-4f1395b61177', '01a20690-a308-75cd-b5a7-4f1395b61177', '01a20690-a2f0-757a-a636-7c4ac3a02cff', 'GADGET_JOB', 'copy', '0', 'DONE', '2026-11-23 04:01:11.971+00', '7', '1', '1', '01a20690-a308-75cd-b5a7-5cad44992161', '01a20690-a308-75cd-b5a7-5cad44992161', NULL, '0', '2026-11-23 04:01:11.944+00', '2026-11-23 04:01:11.971+00'),
('01a20690-a308-75cd-b5a7-56d1844a55ba', '01a20690-a308-75cd-b5a7-4f1395b61177', '01a20690-a308-75cd-b5a7-4f1395b61177', '01a20690-a2f0-757a-a636-7c4ac3a02cff', 'GADGET_JOB', 'tell', '1', 'DONE', '2026-11-23 04:01:12.007+00', '8', '1', '1', '01a20690-a333-7126-a70a-c6e35047cdf8', '01a20690-a333-7126-a70a-c6e35047cdf8', NULL, '0', '2026-11-23 04:01:11.944+00', '2026-11-23 04:01:12.007+00'),
('01a20690-a34d-7688-bba5-234aca380814', '01a20690-a34d-7688-bba5-234aca380814', NULL, '01a20690-a2f0-757a-a636-7c4ac3a02cff', 'TASK', 'crashed', '0', 'ABORTING', '2026-11-23 04:01:13.049+00', '3', '1', '1', '01a20690-a34d-7688-bba5-28d3f241d3a6', NULL, NULL, '0', '2026-11-23 04:01:12.013+00', '2026-11-23 04:01:13.049+00'),
('01a20690-a34d-7688-bba5-27d051066411', '01a20690-a34d-7688-bba5-234aca380814', '01a20690-a34d-7688-bba5-234aca380814', '01a20690-a2f0-757a-a636-7c4ac3a02cff', 'GADGET_JOB', 'crashed-job', '0', 'UNDO_FAILED', '2026-11-23 04:01:13.06+00', '11', '1', '1', '01a20690-a34d-7688-bba5-2e2796619e00', NULL, NULL, '0', '2026-11-23 04:01:12.013+00', '2026-11-23 04:01:13.06+00'),
('01a20690-a767-73b1-bda1-b8ece5377664', '01a20690-a767-73b1-bda1-b8ece5377664', NULL, '01a20690-a2f0-757a-a636-7c4ac3a02cff', 'TASK', 'dirty', '0', 'ABORTING', '2026-11-23 04:01:13.083+00', '3', '1', '1', '01a20690-a767-73b1-bda1-c1b30a4ae2f0', NULL, NULL, '0', '2026-11-23 04:01:13.063+00', '2026-11-23 04:01:13.083+00'),
('01a20690-a767-73b1-bda1-bcaa223eb3a6', '01a20690-a767-73b1-bda1-b8ece5377664', '01a20690-a767-73b1-bda1-b8ece5377664', '01a20690-a2f0-757a-a636-7c4ac3a02cff', 'GADGET_JOB', 'dirty-job', '0', 'UNDO_FAILED', '2026-11-23 04:01:13.09+00', '8', '1', '1', '01a20690-a767-73b1-bda1-c51ec92bf828', NULL, NULL, '0', '2026-11-23 04:01:13.063+00', '2026-11-23 04:01:13.09+00'),
('01a20690-a785-72ff-b359-2102af84e3cb', '01a20690-a785-72ff-b359-2102af84e3cb', NULL, '01a20690-a2f0-757a-a636-7c4ac3a02cff', 'TASK', 'stuck', '0', 'RUNNING', '2026-11-23 04:01:13.093+00', '2', '1', '1', '01a20690-a785-72ff-b359-2b1d62d91331', NULL, NULL, '0', '2026-11-23 04:01:13.093+00', '2026-11-23 04:01:13.093+00'),
('01a20690-a785-72ff-b359-25bcf5789c8d', '01a20690-a785-72ff-b359-2102af84e3cb', '01a20690-a785-72ff-b359-2102af84e3cb', '01a20690-a2f0-757a-a636-7c4ac3a02cff', 'GADGET_JOB', 'stuck-job', '0', 'UNDO_FAILED', '2026-11-23 04:01:13.115+00', '9', '1', '1', '01a20690-a785-72ff-b359-2dbffb701b6f', NULL, NULL, '0', '2026-11-23 04:01:13.093+00', '2026-11-23 04:01:13.115+00'),
('01a20690-a79d-736c-9072-1e953e8ba51d', '01a20690-a79d-736c-9072-1e953e8ba51d', NULL, '01a20690-a2f0-757a-a636-7c4ac3a02cff', 'TASK', 'queued', '0', 'RUNNING', '2026-11-23 04:01:13.117+00', '2', '1', '1', '01a20690-a79e-77f3-861c-5207ba2e6273', NULL, NULL, '0', '2026-11-23 04:01:13.117+00', '2026-11-23 04:01:13.117+00'),
('01a20690-a79d-736c-9072-224db9564296', '01a20690-a79d-736c-9072-1e953e8ba51d', '01a20690-a79d-736c-9072-1e953e8ba51d', '01a20690-a2f0-757a-a636-7c4ac3a02cff', 'GADGET_JOB', 'queued-job', '0', 'WAITING', '2026-11-23 04:01:13.126+00', '4', '1', '1', '01a20690-a79e-77f3-861c-57aad85b273f', NULL, NULL, '0', '2026-11-23 04:01:13.117+00', '2026-11-23 04:01:13.126+00'),
('01a20690-a7aa-75f5-b6ee-7a98b2efc8c7', '01a20690-a7aa-75f5-b6ee-7a98b2efc8c7', NULL, '01a20690-a2f0-757a-a636-7c4ac3a02cff', 'TASK', 'turning', '0', 'RUNNING', '2026-11-23 04:01:13.13+00', '2', '1', '1', '01a20690-a7aa-75f5-b6ee-808f6fc09202', NULL, NULL, '0', '2026-11-23 04:01:13.13+00', '2026-11-23 04:01:13.13+00'),
('01a20690-a7aa-75f5-b6ee-7cb7a2dc10b8', '01a20690-a7aa-75f5-b6ee-7a98b2efc8c7', '01a20690-a7aa-75f5-b6ee-7a98b2efc8c7', '01a20690-a2f0-757a-a636-7c4ac3a02cff', 'GADGET_JOB', 'turning-job', '0', 'RUNNING', '2026-11-23 04:01:13.138+00', '6', '1', '1', '01a20690-a7aa-75f5-b6ee-87d2852b2164', NULL, NULL, '0', '2026-11-23 04:01:13.13+00', '2026-11-23 04:01:13.142+00'),
('01a20690-a7b9-742a-8e64-2a263bcb3b60', '01a20690-a7b9-742a-8e64-2a263bcb3b60', NULL, '01a20690-a2f0-757a-a636-7c4ac3a02cff', 'TASK', 'undoing', '0', 'RUNNING', '2026-11-23 04:01:13.145+00', '2', '1', '1', '01a20690-a7b9-742a-8e64-324a165d65c0', NULL, NULL, '0', '2026-11-23 04:01:13.145+00', '2026-11-23 04:01:13.145+00'),
('01a20690-a7b9-742a-8e64-2d674bb74a08', '01a20690-a7b9-742a-8e64-2a263bcb3b60', '01a20690-a7b9-742a-8e64-2a263bcb3b60', '01a20690-a2f0-757a-a636-7c4ac3a02cff', 'GADGET_JOB', 'undoing-job', '0', 'UNDOING', '2026-11-23 04:01:13.159+00', '8', '1', '1', '01a20690-a7b9-742a-8e64-377d789f1f62', NULL, NULL, '0', '2026-11-23 04:01:13.145+00', '2026-11-23 04:01:13.162+00'),
('01a20690-a7f1-7786-886e-60ec48037c13', '01a20690-a7f1-7786-886e-60ec48037c13', NULL, '01a20690-a7d0-77d3-8dea-673a183a6409', 'EVENT', 'event-1', '0', 'SUCCEEDED', '2026-11-23 04:01:13.31+00', '4', '1', '1', '01a20690-a7f6-7059-abae-0afa6acbc6ec', '01a20690-a7f6-7059-abae-0afa6acbc6ec', NULL, '0', '2026-11-23 04:01:13.201+00', '2026-11-23 04:01:13.31+00'),
('01a20690-a7f1-7786-886e-654c75174bc2', '01a20690-a7f1-7786-886e-60ec48037c13', '01a20690-a7f1-7786-886e-60ec48037c13', '01a20690-a7d0-77d3-8dea-673a183a6409', 'WORKER', 'worker', '0', 'SUCCEEDED', '2026-11-23 04:01:13.31+00', '5', '1', '1', '01a20690-a7f6-7059-abae-0afa6acbc6ec', '01a20690-a7f6-7059-abae-0afa6acbc6ec', NULL, '0', '2026-11-23 04:01:13.201+00', '2026-11-23 04:01:13.31+00'),
('01a20690-a81d-77a0-ad57-09edafbd4fcc', '01a20690-a7f1-7786-886e-60ec48037c13', '01a20690-a7f1-7786-886e-654c75174bc2', '01a20690-a7d0-77d3-8dea-673a183a6409', 'JOB', 'lint', '0', 'SUCCEEDED', '2026-11-23 04:01:13.276+00', '5', '1', '1', '01a20690-a821-7528-bd27-57743cbc5584', '01a20690-a821-7528-bd27-57743cbc5584', NULL, '0', '2026-11-23 04:01:13.242+00', '2026-11-23 04:01:13.276+00'),
('01a20690-a843-70f7-a8eb-6859fad17218', '01a20690-a7f1-7786-886e-60ec48037c13', '01a20690-a7f1-7786-886e-654c75174bc2', '01a20690-a7d0-77d3-8dea-673a183a6409', 'JOB', 'spell', '1', 'FAILED', '2026-11-23 04:01:13.306+00', '5', '1', '1', '01a20690-a84b-71be-925d-1a3e498298a3', '01a20690-a84b-71be-925d-1a3e498298a3', NULL, '0', '2026-11-23 04:01:13.281+00', '2026-11-23 04:01:13.306+00'),
('01a20690-a865-70c2-b4b3-cbe89b1b7d0d', '01a20690-a865-70c2-b4b3-cbe89b1b7d0d', NULL, '01a20690-a7d0-77d3-8dea-673a183a6409', 'EVENT', 'event-2', '0', 'RUNNING', '2026-11-23 04:01:13.329+00', '3', '1', '1', '01a20690-a866-7257-a9e0-1657d666b5e5', NULL, NULL, '0', '2026-11-23 04:01:13.317+00', '2026-11-23 04:01:13.329+00'),
('01a20690-a865-70c2-b4b3-cd38e29091e0', '01a20690-a865-70c2-b4b3-cbe89b1b7d0d', '01a20690-a865-70c2-b4b3-cbe89b1b7d0d', '01a20690-a7d0-77d3-8dea-673a183a6409', 'WORKER', 'worker', '0', 'RUNNING', '2026-11-23 04:01:13.329+00', '4', '1', '1', '01a20690-a866-7257-a9e0-1657d666b5e5', NULL, NULL, '0', '2026-11-23 04:01:13.317+00', '2026-11-23 04:01:13.329+00'),
('01a20690-a876-7621-86b2-367dd5350407', '01a20690-a865-70c2-b4b3-cbe89b1b7d0d', '01a20690-a865-70c2-b4b3-cd38e29091e0', '01a20690-a7d0-77d3-8dea-673a183a6409', 'JOB', 'build', '0', 'RUNNING', '2026-11-23 04:01:13.368+00', '4', '1', '1', '01a20690-a87a-7261-bf90-08da5578adce', NULL, NULL, '0', '2026-11-23 04:01:13.332+00', '2026-11-23 04:01:13.368+00'),
('01a20690-a881-7616-98d2-a7c83393207f', '01a20690-a865-70c2-b4b3-cbe89b1b7d0d', '01a20690-a865-70c2-b4b3-cd38e29091e0', '01a20690-a7d0-77d3-8dea-673a183a6409', 'JOB', 'bundle', '1', 'STARTING', '2026-11-23 04:01:13.35+00', '3', '1', '1', '01a20690-a88a-76b3-b96e-8cf7b611e025', NULL, NULL, '0', '2026-11-23 04:01:13.342+00', '2026-11-23 04:01:13.363+00'),
('01a20690-a88e-707d-a76a-b8e35c95a2ca', '01a20690-a865-70c2-b4b3-cbe89b1b7d0d', '01a20690-a865-70c2-b4b3-cd38e29091e0', '01a20690-a7d0-77d3-8dea-673a183a6409', 'JOB', 'publish', '2', 'PENDING', '2026-11-23 04:01:13.357+00', '1', '1', '0', NULL, NULL, NULL, '0', '2026-11-23 04:01:13.357+00', '2026-11-23 04:01:13.357+00'),
('01a20690-a89e-7708-873b-9d395e9429e9', '01a20690-a89e-7708-873b-9d395e9429e9', NULL, '01a20690-a7d0-77d3-8dea-673a183a6409', 'EVENT', 'event-3', '0', 'STARTING', '2026-11-23 04:01:13.374+00', '2', '1', '1', '01a20690-a89f-753d-80d8-e1970dc3f929', NULL, NULL, '0', '2026-11-23 04:01:13.374+00', '2026-11-23 04:01:13.374+00'),
('01a20690-a89e-7708-873b-a2e3844674e4', '01a20690-a89e-7708-873b-9d395e9429e9', '01a20690-a89e-7708-873b-9d395e9429e9', '01a20690-a7d0-77d3-8dea-673a183a6409', 'WORKER', 'worker', '0', 'STARTING', '2026-11-23 04:01:13.374+00', '3', '1', '1', '01a20690-a89f-753d-80d8-e1970dc3f929', NULL, NULL, '0', '2026-11-23 04:01:13.374+00', '2026-11-23 04:01:13.38+00'),
('01a20690-a8a8-70d5-a516-6b0a50564d79', '01a20690-a8a8-70d5-a516-6b0a50564d79', NULL, '01a20690-a7d0-77d3-8dea-673a183a6409', 'EVENT', 'event-4', '0', 'PENDING', '2026-11-23 04:01:13.384+00', '1', '1', '0', NULL, NULL, NULL, '0', '2026-11-23 04:01:13.384+00', '2026-11-23 04:01:13.384+00'),
('01a20690-a8a8-70d5-a516-6d4334c1c814', '01a20690-a8a8-70d5-a516-6b0a50564d79', '01a20690-a8a8-70d5-a516-6b0a50564d79', '01a20690-a7d0-77d3-8dea-673a183a6409', 'WORKER', 'worker', '0', 'PENDING', '2026-11-23 04:01:13.384+00', '1', '1', '0', NULL, NULL, NULL, '0', '2026-11-23 04:01:13.384+00', '2026-11-23 04:01:13.384+00'),
('01a20690-a8ae-7019-b46a-fd4b39577fa8', '01a20690-a8ae-7019-b46a-fd4b39577fa8', NULL, '01a20690-a7d0-77d3-8dea-673a183a6409', 'TASK', 'event-task-011e3503dbd5', '0', 'RUNNING', '2026-11-23 04:01:13.39+00', '2', '1', '1', '01a20690-a8ae-7019-b46b-0717b3e0fbf4', NULL, NULL, '0', '2026-11-23 04:01:13.39+00', '2026-11-23 04:01:13.39+00'),
('01a20690-a8ae-7019-b46b-028a6648a4b9', '01a20690-a8ae-7019-b46a-fd4b39577fa8', '01a20690-a8ae-7019-b46a-fd4b39577fa8', '01a20690-a7d0-77d3-8dea-673a183a6409', 'GADGET_JOB', 'nightly-job', '0', 'DECLARING', '2026-11-23 04:01:13.39+00', '2', '1', '1', '01a20690-a8ae-7019-b46b-0b08301901f3', NULL, NULL, '0', '2026-11-23 04:01:13.39+00', '2026-11-23 04:01:13.39+00'),
('01a20690-a8b6-71d8-a0f5-f7a2f72ba2dc', '01a20690-a8b6-71d8-a0f5-f7a2f72ba2dc', NULL, '01a20690-a8b1-70f0-8b0f-e7cdbe7662ce', 'CLOUDLET', 'north', '0', 'READY', '2026-11-23 04:01:13.406+00', '11', '1', '1', NULL, NULL, NULL, '0', '2026-11-23 04:01:13.398+00', '2026-11-23 04:01:13.479+00'),
('01a20690-a8b9-731a-9307-ee6aa985e8b8', '01a20690-a8b9-731a-9307-ee6aa985e8b8', NULL, '01a20690-a8b1-70f0-8b0f-e7cdbe7662ce', 'CLOUDLET', 'lonely', '0', 'INIT', '2026-11-23 04:01:13.401+00', '2', '1', '0', NULL, NULL, NULL, '0', '2026-11-23 04:01:13.401+00', '2026-11-23 04:01:13.401+00'),
('01a20690-a8cb-746a-83e7-2ac2d689c39b', '01a20690-a8b6-71d8-a0f5-f7a2f72ba2dc', '01a20690-a8b6-71d8-a0f5-f7a2f72ba2dc', '01a20690-a8b1-70f0-8b0f-e7cdbe7662ce', 'CLUSTER_INST', 'one', '0', 'READY', '2026-11-23 04:01:13.435+00', '4', '1', '1', '01a20690-a8cb-746a-83e7-2c85617df3c6', '01a20690-a8cb-746a-83e7-2c85617df3c6', NULL, '0', '2026-11-23 04:01:13.418+00', '2026-11-23 04:01:13.435+00'),
('01a20690-a8e4-77c2-83a3-0f145ca17d26', '01a20690-a8b6-71d8-a0f5-f7a2f72ba2dc', '01a20690-a8cb-746a-83e7-2ac2d689c39b', '01a20690-a8b1-70f0-8b0f-e7cdbe7662ce', 'APP_INST', 'web', '0', 'UPDATING', '2026-11-23 04:01:13.482+00', '7', '2', '1', '01a20690-a8f8-705d-8c0b-4da85817a56b', '01a20690-a8e4-77c2-83a3-138abdefac44', NULL, '0', '2026-11-23 04:01:13.443+00', '2026-11-23 04:01:13.482+00'),
('01a20690-a8fd-70a2-a761-0d27f357f878', '01a20690-a8b6-71d8-a0f5-f7a2f72ba2dc', '01a20690-a8b6-71d8-a0f5-f7a2f72ba2dc', '01a20690-a8b1-70f0-8b0f-e7cdbe7662ce', 'CLUSTER_INST', 'two', '1', 'CREATE_REQUESTED', '2026-11-23 04:01:13.469+00', '3', '1', '0', '01a20690-a8fe-7333-8837-5f98c7ac3e9b', NULL, NULL, '0', '2026-11-23 04:01:13.469+00', '2026-11-23 04:01:13.474+00');
-- part: rows of object_spec
set local session_replication_role = replica;
delete from "object_spec";
insert into "object_spec" ("object_id", "spec", "labels") overriding system value values
('01a20690-9c58-73f4-9cb5-df436857f598', '{"exports": [{"name": "age", "value": "${deployItems.agemade.exports.value}"}], "imports": [], "deployItems": [{"name": "agemade", "type": "mock", "config": null, "target": null, "timeouts": {"pickup": {"never": true}, "progressing": {"never": true}}, "dependsOn": []}], "installations": []}', '{}'),
('01a20690-9c5a-74e8-a332-bbb63d26c0b9', '{"deployItems": [{"name": "agemade", "type": "mock", "config": null, "target": null, "timeouts": {"pickup": {"never": true}, "progressing": {"never": true}}, "dependsOn": []}]}', '{}'),
('01a20690-9c5b-7741-bce4-def452e97b1f', '{"name": "agemade", "type": "mock", "config": null, "target": null, "timeouts": {"pickup": {"never": true}, "progressing": {"never": true}}, "dependsOn": []}', '{}'),
('01a20690-a156-727e-8de7-8d461a8eb846', '{"exports": [{"name": "cidr", "value": "${installations.network.exports.cidr}"}], "imports": [], "deployItems": [], "installations": [{"name": "network", "spec": {"exports": [{"name": "cidr", "value": "${deployItems.cidrmade.exports.value}"}], "imports": [], "deployItems": [{"name": "cidrmade", "type": "mock", "config": null, "target": null, "timeouts": {"pickup": {"never": true}, "progressing": {"never": true}}, "dependsOn": []}], "installations": []}}, {"name": "apps", "spec": {"exports": [], "imports": [{"from": "cidr", "name": "cidr", "required": true}], "deployItems": [{"name": "serve", "type": "mock", "config": {"given": "${imports.cidr}"}, "target": null, "timeouts": {"pickup": {"never": true}, "progressing": {"never": true}}, "dependsOn": []}], "installations": []}}]}', '{"team": "core"}'),
('01a20690-a159-7259-9552-ad25ff4aa85e', '{"exports": [{"name": "cidr", "value": "${deployItems.cidrmade.exports.value}"}], "imports": [], "deployItems": [{"name": "cidrmade", "type": "mock", "config": null, "target": null, "timeouts": {"pickup": {"never": true}, "progressing": {"never": true}}, "dependsOn": []}], "installations": []}', '{}'),
('01a20690-a159-7259-9552-b014a1a6702e', '{"exports": [], "imports": [{"from": "cidr", "name": "cidr", "required": true}], "deployItems": [{"name": "serve", "type": "mock", "config": {"given": "${imports.cidr}"}, "target": null, "timeouts": {"pickup": {"never": true}, "progressing": {"never": true}}, "dependsOn": []}], "installations": []}', '{}'),
('01a20690-a15a-712d-8bcf-4b7afabcb9ac', '{"deployItems": [{"name": "cidrmade", "type": "mock", "config": null, "target": null, "timeouts": {"pickup": {"never": true}, "progressing": {"never": true}}, "dependsOn": []}]}', '{}'),
('01a20690-a15a-712d-8bcf-4c966f7220f2', '{"name": "cidrmade", "type": "mock", "config": null, "target": null, "timeouts": {"pickup": {"never": true}, "progressing": {"never": true}}, "dependsOn": []}', '{}'),
('01a20690-a1cd-7773-858e-d91aea7c831a', '{"deployItems": [{"name": "serve", "type": "mock", "config": {"given": "${imports.cidr}"}, "target": null, "timeouts": {"pickup": {"never": true}, "progressing": {"never": true}}, "dependsOn": []}]}', '{}'),
('01a20690-a1ce-708e-8483-336dc14ae8b4', '{"name": "serve", "type": "mock", "config": {"given": "${imports.cidr}"}, "target": null, "timeouts": {"pickup": {"never": true}, "progressing": {"never": true}}, "dependsOn": []}', '{}'),
('01a20690-a20a-77e1-84df-fba33d0abbc0', '{"exports": [], "imports": [{"from": "cidr", "name": "cidr", "required": true}], "deployItems": [{"name": "follow", "type": "mock", "config": {"given": "${imports.cidr}"}, "target": null, "timeouts": {"pickup": {"never": true}, "progressing": {"never": true}}, "dependsOn": []}], "installations": []}', '{}'),
('01a20690-a217-74b3-8a01-cda565e3b8c4', '{"deployItems": [{"name": "follow", "type": "mock", "config": {"given": "${imports.cidr}"}, "target": null, "timeouts": {"pickup": {"never": true}, "progressing": {"never": true}}, "dependsOn": []}]}', '{}'),
('01a20690-a217-74b3-8a01-d0a5ab6ba947', '{"name": "follow", "type": "mock", "config": {"given": "${imports.cidr}"}, "target": null, "timeouts": {"pickup": {"never": true}, "progressing": {"never": true}}, "dependsOn": []}', '{}'),
('01a20690-a24f-757b-9c68-4eefd46f8194', '{"exports": [], "imports": [], "deployItems": [{"name": "crack", "type": "mock", "config": null, "target": null, "timeouts": {"pickup": {"never": true}, "progressing": {"never": true}}, "dependsOn": []}], "installations": []}', '{}'),
('01a20690-a24f-757b-9c68-5730bccad32c', '{"deployItems": [{"name": "crack", "type": "mock", "config": null, "target": null, "timeouts": {"pickup": {"never": true}, "progressing": {"never": true}}, "dependsOn": []}]}', '{}'),
('01a20690-a24f-757b-9c68-5b34ceb68ee2', '{"name": "crack", "type": "mock", "config": null, "target": null, "timeouts": {"pickup": {"never": true}, "progressing": {"never": true}}, "dependsOn": []}', '{}'),
('01a20690-a264-72b4-b6ff-03cb1046e31a', '{"exports": [], "imports": [{"from": "licence", "name": "licence", "required": true}], "deployItems": [{"name": "licensed", "type": "mock", "config": {"given": "${imports.licence}"}, "target": null, "timeouts": {"pickup": {"never": true}, "progressing": {"never": true}}, "dependsOn": []}], "installations": []}', '{}'),
('01a20690-a27c-7378-a535-d4c08afc0d5c', '{"exports": [], "imports": [], "deployItems": [{"name": "remains", "type": "later", "config": null, "target": null, "timeouts": {"pickup": {"never": true}, "progressing": {"never": true}}, "dependsOn": []}], "installations": []}', '{}'),
('01a20690-a27c-7378-a535-dc34489be818', '{"deployItems": [{"name": "remains", "type": "later", "config": null, "target": null, "timeouts": {"pickup": {"never": true}, "progressing": {"never": true}}, "dependsOn": []}]}', '{}'),
('01a20690-a27c-7378-a535-e26eb55ff451', '{"name": "remains", "type": "later", "config": null, "target": null, "timeouts": {"pickup": {"never": true}, "progressing": {"never": true}}, "dependsOn": []}', '{}'),
('01a20690-a297-73f6-bc2d-d2bc94b8a917', '{"exports": [], "imports": [], "deployItems": [{"name": "taken", "type": "mock", "config": null, "target": null, "timeouts": {"pickup": {"never": true}, "progressing": {"never": true}}, "dependsOn": []}, {"name": "offered", "type": "later", "config": null, "target": null, "timeouts": {"pickup": {"never": true}, "progressing": {"never": true}}, "dependsOn": []}, {"name": "after", "type": "mock", "config": null, "target": null, "timeouts": {"pickup": {"never": true}, "progressing": {"never": true}}, "dependsOn": ["taken"]}], "installations": []}', '{}'),
('01a20690-a297-73f6-bc2d-d8aa4fa35ea4', '{"deployItems": [{"name": "taken", "type": "mock", "config": null, "target": null, "timeouts": {"pickup": {"never": true}, "progressing": {"never": true}}, "dependsOn": []}, {"name": "offered", "type": "later", "config": null, "target": null, "timeouts": {"pickup": {"never": true}, "progressing": {"never": true}}, "dependsOn": []}, {"name": "after", "type": "mock", "config": null, "target": null, "timeouts": {"pickup": {"never": true}, "progressing": {"never": true}}, "dependsOn": ["taken"]}]}', '{}'),
('01a20690-a297-73f6-bc2d-df5ea66cf32f', '{"name": "taken", "type": "mock", "config": null, "target": null, "timeouts": {"pickup": {"never": true}, "progressing": {"never": true}}, "dependsOn": []}', '{}'),
('01a20690-a298-7438-a850-f4499548da78', '{"name": "offered", "type": "later", "config": null, "target": null, "timeouts": {"pickup": {"never": true}, "progressing": {"never": true}}, "dependsOn": []}', '{}'),
('01a20690-a298-7438-a850-f81634d2f836', '{"name": "after", "type": "mock", "config": null, "target": null, "timeouts": {"pickup": {"never": true}, "progressing": {"never": true}}, "dependsOn": ["taken"]}', '{}'),
('01a20690-a2ac-73f2-b193-8e839eb858b3', '{"exports": [], "imports": [], "deployItems": [{"name": "slow", "type": "mock", "config": {"n": 2}, "target": null, "timeouts": {"pickup": {"never": true}, "progressing": {"never": true}}, "dependsOn": []}, {"name": "more", "type": "mock", "config": null, "target": null, "timeouts": {"pickup": {"never": true}, "progressing": {"never": true}}, "dependsOn": []}], "installations": []}', '{}'),
('01a20690-a2ad-7400-8801-4ad0b350e411', '{"deployItems": [{"name": "slow", "type": "mock", "config": {"n": 1}, "target": null, "timeouts": {"pickup": {"never": true}, "progressing": {"never": true}}, "dependsOn": []}]}', '{}'),
('01a20690-a2ad-7400-8801-4e71db2bd035', '{"name": "slow", "type": "mock", "config": {"n": 1}, "target": null, "timeouts": {"pickup": {"never": true}, "progressing": {"never": true}}, "dependsOn": []}', '{}'),
('01a20690-a2bf-7089-ac6c-1c5cb2a20a2e', '{"exports": [], "imports": [], "deployItems": [{"name": "busy", "type": "mock", "config": null, "target": null, "timeouts": {"pickup": {"never": true}, "progressing": {"never": true}}, "dependsOn": []}], "installations": []}', '{}'),
('01a20690-a2bf-7089-ac6c-265388deb40f', '{"deployItems": [{"name": "busy", "type": "mock", "config": null, "target": null, "timeouts": {"pickup": {"never": true}, "progressing": {"never": true}}, "dependsOn": []}]}', '{}'),
('01a20690-a2bf-7089-ac6c-28fb59d0a684', '{"name": "busy", "type": "mock", "config": null, "target": null, "timeouts": {"pickup": {"never": true}, "progressing": {"never": true}}, "dependsOn": []}', '{}'),
('01a20690-a2db-734d-ab98-3bb72c8e1324', '{"exports": [], "imports": [], "deployItems": [{"name": "halt", "type": "mock", "config": null, "target": null, "timeouts": {"pickup": {"never": true}, "progressing": {"never": true}}, "dependsOn": []}], "installations": []}', '{}'),
('01a20690-a2dc-776c-aea0-766857eee38a', '{"deployItems": [{"name": "halt", "type": "mock", "config": null, "target": null, "timeouts": {"pickup": {"never": true}, "progressing": {"never": true}}, "dependsOn": []}]}', '{}'),
('01a20690-a2dc-776c-aea0-7b4419d6a5c5', '{"name": "halt", "type": "mock", "config": null, "target": null, "timeouts": {"pickup": {"never": true}, "progressing": {"never": true}}, "dependsOn": []}', '{}'),
('01a20690-a308-75cd-b5a7-4f1395b61177', '{}', '{}'),
('01a20690-a308-75cd-b5a7-5265d19d1f5c', '{"env": {}, "args": ["--to", "x"], "name": "copy", "when": null, "gadget": "copy", "dependsOn": []}', '{}'),
('01a20690-a308-75cd-b5a7-56d1844a55ba', '{"env": {}, "args": ["${jobs.copy.exports.file}"], "name": "tell", "when": null, "gadget": "tell", "dependsOn": ["copy"]}', '{}'),
('01a20690-a34d-7688-bba5-234aca380814', '{}', '{}'),
('01a20690-a34d-7688-bba5-27d051066411', '{"env": {}, "args": [], "name": "crashed-job", "when": null, "gadget": "turn", "dependsOn": []}', '{}'),
('01a20690-a767-73b1-bda1-b8ece5377664', '{}', '{}'),
('01a20690-a767-73b1-bda1-bcaa223eb3a6', '{"env": {}, "args": [], "name": "dirty-job", "when": null, "gadget": "turn", "dependsOn": []}', '{}'),
('01a20690-a785-72ff-b359-2102af84e3cb', '{}', '{}'),
('01a20690-a785-72ff-b359-25bcf5789c8d', '{"env": {}, "args": [], "name": "stuck-job", "when": null, "gadget": "turn", "dependsOn": []}', '{}'),
('01a20690-a79d-736c-9072-1e953e8ba51d', '{}', '{}'),
('01a20690-a79d-736c-9072-224db9564296', '{"env": {}, "args": [], "name": "queued-job", "when": null, "gadget": "turn", "dependsOn": []}', '{}'),
('01a20690-a7aa-75f5-b6ee-7a98b2efc8c7', '{}', '{}'),
('01a20690-a7aa-75f5-b6ee-7cb7a2dc10b8', '{"env": {}, "args": [], "name": "turning-job", "when": null, "gadget": "turn", "dependsOn": []}', '{}'),
('01a20690-a7b9-742a-8e64-2a263bcb3b60', '{}', '{}'),
('01a20690-a7b9-742a-8e64-2d674bb74a08', '{"env": {}, "args": [], "name": "undoing-job", "when": null, "gadget": "turn", "dependsOn": []}', '{}'),
('01a20690-a7f1-7786-886e-60ec48037c13', '{}', '{"team": "core"}'),
('01a20690-a7f1-7786-886e-654c75174bc2', '{"env": {"LEVEL": "3"}, "args": [], "files": [], "image": null, "command": ["work"], "runtime": "played", "timeoutMs": null, "workspace": true}', '{}'),
('01a20690-a81d-77a0-ad57-09edafbd4fcc', '{"env": {"A": "1"}, "args": ["x"], "files": [], "image": null, "command": ["true"], "runtime": "played", "timeoutMs": null, "workspace": false}', '{}'),
('01a20690-a843-70f7-a8eb-6859fad17218', '{"env": {"A": "1"}, "args": ["x"], "files": [], "image": null, "command": ["true"], "runtime": "played", "timeoutMs": null, "workspace": false}', '{}'),
('01a20690-a865-70c2-b4b3-cbe89b1b7d0d', '{}', '{}'),
('01a20690-a865-70c2-b4b3-cd38e29091e0', '{"env": {"LEVEL": "3"}, "args": [], "files": [], "image": null, "command": ["work"], "runtime": "played", "timeoutMs": null, "workspace": true}', '{}'),
('01a20690-a876-7621-86b2-367dd5350407', '{"env": {"A": "1"}, "args": ["x"], "files": [], "image": null, "command": ["true"], "runtime": "played", "timeoutMs": null, "workspace": false}', '{}'),
('01a20690-a881-7616-98d2-a7c83393207f', '{"env": {"A": "1"}, "args": ["x"], "files": [], "image": null, "command": ["true"], "runtime": "played", "timeoutMs": null, "workspace": false}', '{}'),
('01a20690-a88e-707d-a76a-b8e35c95a2ca', '{"env": {"A": "1"}, "args": ["x"], "files": [], "image": null, "command": ["true"], "runtime": "played", "timeoutMs": null, "workspace": false}', '{}'),
('01a20690-a89e-7708-873b-9d395e9429e9', '{}', '{}'),
('01a20690-a89e-7708-873b-a2e3844674e4', '{"env": {"LEVEL": "3"}, "args": [], "files": [], "image": null, "command": ["work"], "runtime": "played", "timeoutMs": null, "workspace": true}', '{}'),
('01a20690-a8a8-70d5-a516-6b0a50564d79', '{}', '{}'),
('01a20690-a8a8-70d5-a516-6d4334c1c814', '{"env": {"LEVEL": "3"}, "args": [], "files": [], "image": null, "command": ["work"], "runtime": "played", "timeoutMs": null, "workspace": true}', '{}'),
('01a20690-a8ae-7019-b46a-fd4b39577fa8', '{}', '{}'),
('01a20690-a8ae-7019-b46b-028a6648a4b9', '{"env": {"GADGET_EVENT_TYPE": "nightly", "GADGET_EVENT_SOURCE": "github.com/acme"}, "args": [], "name": "nightly-job", "when": null, "gadget": "sweep", "dependsOn": []}', '{}'),
('01a20690-a8b6-71d8-a0f5-f7a2f72ba2dc', '{}', '{}'),
('01a20690-a8b9-731a-9307-ee6aa985e8b8', '{}', '{}'),
('01a20690-a8cb-746a-83e7-2ac2d689c39b', '{"size": 1}', '{}'),
('01a20690-a8e4-77c2-83a3-0f145ca17d26', '{"size": 2}', '{}'),
('01a20690-a8fd-70a2-a761-0d27f357f878', '{"size": 3}', '{}');
-- part: rows of object_status
set local session_replication_role = replica;
delete from "object_status";
insert into "object_status" ("object_id", "error", "progress") overriding system value values
('01a20690-a24f-757b-9c68-4eefd46f8194', '{"at": "2026-11-23T04:01:11.769Z", "code": "CHILDREN_FAILED", "causes": [{"code": "CHILDREN_FAILED", "kind": "EXECUTION", "name": "deploy-items", "message": "crack (BROKEN) did not succeed.", "objectId": "01a20690-a24f-757b-9c68-5730bccad32c"}], "message": "deploy-items (CHILDREN_FAILED) did not succeed.", "causeCount": 1}', NULL),
('01a20690-a24f-757b-9c68-5730bccad32c', '{"at": "2026-11-23T04:01:11.769Z", "code": "CHILDREN_FAILED", "causes": [{"code": "BROKEN", "kind": "DEPLOY_ITEM", "name": "crack", "message": "It broke.", "objectId": "01a20690-a24f-757b-9c68-5b34ceb68ee2"}], "message": "crack (BROKEN) did not succeed.", "causeCount": 1}', NULL),
('01a20690-a24f-757b-9c68-5b34ceb68ee2', '{"at": "2026-11-23T04:01:11.769Z", "code": "BROKEN", "causes": [], "message": "It broke.", "causeCount": 0}', NULL),
('01a20690-a297-73f6-bc2d-df5ea66cf32f', NULL, '{"step": "half of it", "unit": "halves", "total": 2, "value": 1}'),
('01a20690-a34d-7688-bba5-27d051066411', '{"at": "2026-11-23T04:01:13.060Z", "code": "GADGET_FAILED", "causes": [], "message": "the disk is full", "causeCount": 0}', NULL),
('01a20690-a767-73b1-bda1-bcaa223eb3a6', '{"at": "2026-11-23T04:01:13.090Z", "code": "GADGET_FAILED", "causes": [], "message": "the disk is full", "causeCount": 0}', NULL),
('01a20690-a785-72ff-b359-25bcf5789c8d', '{"at": "2026-11-23T04:01:13.115Z", "code": "GADGET_FAILED", "causes": [], "message": "the disk is full", "causeCount": 0}', NULL),
('01a20690-a843-70f7-a8eb-6859fad17218', '{"at": "2026-11-23T04:01:13.306Z", "code": "EXIT_CODE", "causes": [], "message": "It ended with 1.", "causeCount": 0}', NULL);
-- part: rows of project
set local session_replication_role = replica;
delete from "project";
insert into "project" ("id", "name", "created_at", "updated_at", "worker_template", "max_workers", "max_jobs", "strategy", "event_count") overriding system value values
('01a20690-9a22-754c-9b57-264e7c3e6507', 'default', '2026-11-23 04:01:09.658+00', '2026-11-23 04:01:09.658+00', NULL, NULL, NULL, 'QUEUE', '0'),
('01a20690-a2f0-757a-a636-7c4ac3a02cff', 'ops', '2026-11-23 04:01:11.92+00', '2026-11-23 04:01:11.92+00', NULL, NULL, NULL, 'QUEUE', '0'),
('01a20690-a7d0-77d3-8dea-673a183a6409', 'shop', '2026-11-23 04:01:13.168+00', '2026-11-23 04:01:13.168+00', '{"env": {"LEVEL": "3"}, "args": [], "files": [], "image": null, "command": ["work"], "runtime": "played", "timeoutMs": null, "workspace": true}', '2', '2', 'QUEUE', '4'),
('01a20690-a8b1-70f0-8b0f-e7cdbe7662ce', 'edge', '2026-11-23 04:01:13.393+00', '2026-11-23 04:01:13.393+00', NULL, NULL, NULL, 'QUEUE', '0');
-- part: rows of root_export
set local session_replication_role = replica;
delete from "root_export";
insert into "root_export" ("project_id", "name", "exporter_id") overriding system value values
('01a20690-9a22-754c-9b57-264e7c3e6507', 'age', '01a20690-9c58-73f4-9cb5-df436857f598'),
('01a20690-9a22-754c-9b57-264e7c3e6507', 'cidr', '01a20690-a156-727e-8de7-8d461a8eb846');
-- part: rows of root_import
set local session_replication_role = replica;
delete from "root_import";
insert into "root_import" ("project_id", "name", "importer_id") overriding system value values
('01a20690-9a22-754c-9b57-264e7c3e6507', 'cidr', '01a20690-a20a-77e1-84df-fba33d0abbc0'),
('01a20690-9a22-754c-9b57-264e7c3e6507', 'licence', '01a20690-a264-72b4-b6ff-03cb1046e31a');
-- part: rows of root_queue
set local session_replication_role = replica;
delete from "root_queue";
insert into "root_queue" ("root_id", "wake_at", "failures") overriding system value values
('01a20690-a2db-734d-ab98-3bb72c8e1324', '2026-11-23 04:06:11.913+00', '0'),
('01a20690-a308-75cd-b5a7-4f1395b61177', '2026-11-23 04:11:11.967+00', '0'),
('01a20690-a34d-7688-bba5-234aca380814', '2026-11-23 04:11:13.043+00', '0'),
('01a20690-a767-73b1-bda1-b8ece5377664', '2026-11-23 04:11:13.079+00', '0'),
('01a20690-a785-72ff-b359-2102af84e3cb', '2026-11-23 04:11:13.104+00', '0'),
('01a20690-a7aa-75f5-b6ee-7a98b2efc8c7', '2026-11-23 04:11:13.142+00', '0'),
('01a20690-a7b9-742a-8e64-2a263bcb3b60', '2026-11-23 04:11:13.156+00', '0'),
('01a20690-a7f1-7786-886e-60ec48037c13', '2026-11-23 04:06:13.201+00', '0'),
('01a20690-a865-70c2-b4b3-cbe89b1b7d0d', '2026-11-23 04:06:13.317+00', '0'),
('01a20690-a89e-7708-873b-9d395e9429e9', '2026-11-23 04:06:13.374+00', '0'),
('01a20690-a8b6-71d8-a0f5-f7a2f72ba2dc', '2026-11-23 04:06:13.398+00', '0'),
('01a20690-a8b9-731a-9307-ee6aa985e8b8', '2026-11-23 04:06:13.401+00', '0');
-- part: rows of secret
set local session_replication_role = replica;
delete from "secret";
insert into "secret" ("project_id", "name", "sealed", "updated_at") overriding system value values
('01a20690-a7d0-77d3-8dea-673a183a6409', 'API_KEY', E'\\x015e318f8c8c19e7271accf57a2c871965e9d35c53c803dd3a743225ad99bf37e975bc2e8048ac054d3d1ad017c1b16b786dc9eca8', '2026-11-23 04:01:13.194+00');
-- part: rows of subscription
set local session_replication_role = replica;
delete from "subscription";
insert into "subscription" ("project_id", "ordinal", "source", "types", "qualifiers", "labels", "task") overriding system value values
('01a20690-a7d0-77d3-8dea-673a183a6409', '0', 'github.com/acme', '{push}', '{"branch": "main"}', '{}', NULL),
('01a20690-a7d0-77d3-8dea-673a183a6409', '1', 'github.com/acme', '{nightly}', '{}', '{}', '[{"name": "nightly-job", "gadget": "sweep"}]');
-- part: rows of tally
set local session_replication_role = replica;
delete from "tally";
insert into "tally" ("object_id", "total", "untriggered", "open", "failed", "cursor") overriding system value values
('01a20690-9c58-73f4-9cb5-df436857f598', '1', '0', '0', '0', '0'),
('01a20690-9c5a-74e8-a332-bbb63d26c0b9', '1', '0', '0', '0', '2147483647'),
('01a20690-a156-727e-8de7-8d461a8eb846', '2', '0', '0', '0', '0'),
('01a20690-a159-7259-9552-ad25ff4aa85e', '1', '0', '0', '0', '0'),
('01a20690-a159-7259-9552-b014a1a6702e', '1', '0', '0', '0', '0'),
('01a20690-a15a-712d-8bcf-4b7afabcb9ac', '1', '0', '0', '0', '2147483647'),
('01a20690-a1cd-7773-858e-d91aea7c831a', '1', '0', '0', '0', '2147483647'),
('01a20690-a20a-77e1-84df-fba33d0abbc0', '1', '0', '0', '0', '0'),
('01a20690-a217-74b3-8a01-cda565e3b8c4', '1', '0', '0', '0', '2147483647'),
('01a20690-a24f-757b-9c68-4eefd46f8194', '1', '0', '0', '1', '0'),
('01a20690-a24f-757b-9c68-5730bccad32c', '1', '0', '0', '1', '2147483647'),
('01a20690-a27c-7378-a535-d4c08afc0d5c', '1', '0', '1', '0', '0'),
('01a20690-a27c-7378-a535-dc34489be818', '1', '0', '1', '0', '2147483647'),
('01a20690-a297-73f6-bc2d-d2bc94b8a917', '1', '0', '1', '0', '0'),
('01a20690-a297-73f6-bc2d-d8aa4fa35ea4', '3', '1', '2', '0', '2147483647'),
('01a20690-a2ac-73f2-b193-8e839eb858b3', '1', '0', '1', '0', '0'),
('01a20690-a2ad-7400-8801-4ad0b350e411', '1', '0', '1', '0', '2147483647'),
('01a20690-a2bf-7089-ac6c-1c5cb2a20a2e', '1', '0', '1', '0', '0'),
('01a20690-a2bf-7089-ac6c-265388deb40f', '1', '0', '1', '0', '2147483647'),
('01a20690-a2db-734d-ab98-3bb72c8e1324', '1', '0', '1', '0', '0'),
('01a20690-a2dc-776c-aea0-766857eee38a', '1', '0', '1', '0', '2147483647'),
('01a20690-a308-75cd-b5a7-4f1395b61177', '2', '0', '0', '0', '0'),
('01a20690-a34d-7688-bba5-234aca380814', '1', '0', '1', '0', '0'),
('01a20690-a767-73b1-bda1-b8ece5377664', '1', '0', '1', '0', '0'),
('01a20690-a785-72ff-b359-2102af84e3cb', '1', '0', '1', '0', '0'),
('01a20690-a79d-736c-9072-1e953e8ba51d', '1', '0', '1', '0', '0'),
('01a20690-a7aa-75f5-b6ee-7a98b2efc8c7', '1', '0', '1', '0', '0'),
('01a20690-a7b9-742a-8e64-2a263bcb3b60', '1', '0', '1', '0', '0'),
('01a20690-a8ae-7019-b46a-fd4b39577fa8', '1', '0', '1', '0', '0');
-- part: rows of task
set local session_replication_role = replica;
delete from "task";
insert into "task" ("object_id", "cancel_by") overriding system value values
('01a20690-a308-75cd-b5a7-4f1395b61177', NULL),
('01a20690-a34d-7688-bba5-234aca380814', 'admin'),
('01a20690-a767-73b1-bda1-b8ece5377664', 'admin'),
('01a20690-a785-72ff-b359-2102af84e3cb', NULL),
('01a20690-a79d-736c-9072-1e953e8ba51d', NULL),
('01a20690-a7aa-75f5-b6ee-7a98b2efc8c7', NULL),
('01a20690-a7b9-742a-8e64-2a263bcb3b60', NULL),
('01a20690-a8ae-7019-b46a-fd4b39577fa8', NULL);
-- part: rows of token
set local session_replication_role = replica;
delete from "token";
insert into "token" ("id", "hash", "name", "role", "actor", "projects", "types", "targets", "created_at", "expires_at") overriding system value values
('01a20690-9a80-76fe-9c6b-f3709edc6ae8', E'\\xe5c98d21dae2726409ddea5698db07222ea5e706f75b310c2403c67266df390c', 'admin', 'ADMIN', 'USER', NULL, NULL, NULL, '2026-11-23 04:01:09.76+00', NULL),
('01a20690-9a82-7305-819e-dcce23b83f27', E'\\x6e530d64d7b95a0eaef9f9c89ad63d8f8b13d3910ce551623755f409eca6fe20', 'built-in', 'AGENT', 'DEPLOYER', NULL, '{mock,gadget}', NULL, '2026-11-23 04:01:09.762+00', NULL),
('01a20690-9a83-77f9-80bc-539d3fc0b49a', E'\\x83f508e6b842703acbe70ef383d82ab783933848db937d7a7021179ab6151a06', 'built-in-runtime', 'AGENT', 'RUNTIME', NULL, '{process}', NULL, '2026-11-23 04:01:09.763+00', NULL),
('01a20690-9a84-7589-a1c7-38dba89214b6', E'\\x6dbe95db7923d9489644b9d6afcd2302be8db53622e90a7ac1d52ef424acd991', 'built-in-runner', 'AGENT', 'GADGET_RUNNER', NULL, '{gadget-job}', NULL, '2026-11-23 04:01:09.764+00', NULL),
('01a20690-9b5d-75ec-af12-e68c156a341a', E'\\x7b03aa993d5cee87007f302060f78c369d4a1827d6081ff97fe2d4a9ddd68873', 'deployer', 'AGENT', 'DEPLOYER', NULL, '{mock,later}', NULL, '2026-11-23 04:01:09.981+00', NULL),
('01a20690-9b67-77aa-ae2e-96de0c2ee878', E'\\x8136c57dd044efa402e27b62b17e251132d88d59fdf5c80abbdab457d09cdf0f', 'runner', 'AGENT', 'GADGET_RUNNER', NULL, '{gadget-job}', NULL, '2026-11-23 04:01:09.991+00', NULL),
('01a20690-9b6a-70b7-a55b-c6ac6c9bc87e', E'\\x7e0fddecb89a6be70962468208a9e4543ecc4dc43fcf43b1c56898338a6cb82f', 'runtime', 'AGENT', 'RUNTIME', NULL, '{played}', NULL, '2026-11-23 04:01:09.994+00', NULL),
('01a20690-9b6d-7642-a525-30012ece65bd', E'\\xda1ddaaaae9dbd9519053a3c954d10b52990699013ac12a93213e9af71fa2e35', 'crm', 'AGENT', 'CRM', NULL, NULL, NULL, '2026-11-23 04:01:09.997+00', NULL),
('01a20690-9b6f-7043-804e-b4572886f9c3', E'\\xc3420cdcc6cf4bb02b68f9e23c9fc1c55667c5f62819003e79d69ec3ab50d304', 'reader', 'READER', 'USER', '{default}', NULL, NULL, '2026-11-23 04:01:09.999+00', NULL);
-- part: rows of wake
set local session_replication_role = replica;
delete from "wake";
-- part: rows of work
set local session_replication_role = replica;
delete from "work";
insert into "work" ("object_id", "root_id", "type", "target", "action", "state", "seq", "config", "handed_config", "handed", "fence_hash", "job_id", "principal", "instance", "attempt", "lease_until", "offer_after", "triggered_at", "picked_up_at", "abort_requested_at", "abort_code", "progressing_ms", "aborting_ms", "due_at", "done_at", "lease_watched") overriding system value values
('01a20690-9c5b-7741-bce4-def452e97b1f', '01a20690-9c58-73f4-9cb5-df436857f598', 'mock', NULL, 'RECONCILE', '2', '1', NULL, NULL, 'true', E'\\xf1b25168c008fa88fa8687df71e1d48812df92e083102bdc20f5660927925f8d', '01a20690-9c59-7670-a51c-36d3a7e98abc', 'deployer', 'played', '1', NULL, NULL, '2026-11-23 04:01:10.233+00', '2026-11-23 04:01:10.263+00', NULL, NULL, NULL, '300000', NULL, '2026-11-23 04:01:10.279+00', 'false'),
('01a20690-9ca0-76a5-b406-524a4e23f128', '01a20690-9c9f-7535-bec2-220f3fe1061a', 'mock', NULL, 'DELETE', '2', '3', NULL, NULL, 'true', E'\\xa902926a6371a9669bdade742391fc1c89a2c43571f11597ebd62b9074b1da63', '01a20690-9cdd-7261-af48-feb7d600cd7e', 'deployer', 'played', '1', NULL, NULL, '2026-11-23 04:01:10.362+00', '2026-11-23 04:01:10.382+00', NULL, NULL, NULL, '300000', NULL, '2026-11-23 04:01:10.387+00', 'false'),
('01a20690-a15a-712d-8bcf-4c966f7220f2', '01a20690-a156-727e-8de7-8d461a8eb846', 'mock', NULL, 'RECONCILE', '2', '4', NULL, NULL, 'true', E'\\x40aa1032ea874da9b01813afe9cd99756b3a4313d26681a41051e9dbd92e4b66', '01a20690-a158-73f1-b4c2-c439d857192c', 'deployer', 'played', '1', NULL, NULL, '2026-11-23 04:01:11.511+00', '2026-11-23 04:01:11.551+00', NULL, NULL, NULL, '300000', NULL, '2026-11-23 04:01:11.564+00', 'false'),
('01a20690-a1ce-708e-8483-336dc14ae8b4', '01a20690-a156-727e-8de7-8d461a8eb846', 'mock', NULL, 'RECONCILE', '2', '5', '{"given": "10.0.0.0/8"}', '{"given": "10.0.0.0/8"}', 'true', E'\\x42ddd8dbd9b5b7bc84dd1c8fb4ce21a65901d15cd97ed9626b16849afa06daaa', '01a20690-a158-73f1-b4c2-c439d857192c', 'deployer', 'played', '1', NULL, NULL, '2026-11-23 04:01:11.639+00', '2026-11-23 04:01:11.65+00', NULL, NULL, NULL, '300000', NULL, '2026-11-23 04:01:11.658+00', 'false'),
('01a20690-a217-74b3-8a01-d0a5ab6ba947', '01a20690-a20a-77e1-84df-fba33d0abbc0', 'mock', NULL, 'RECONCILE', '2', '6', '{"given": "10.0.0.0/8"}', '{"given": "10.0.0.0/8"}', 'true', E'\\xc1bb8eeb05280617ddf6677df173831e462750bbff3ab9954a30cf2ef671f2cc', '01a20690-a213-7584-b973-7d1a6e4c8953', 'deployer', 'played', '1', NULL, NULL, '2026-11-23 04:01:11.708+00', '2026-11-23 04:01:11.726+00', NULL, NULL, NULL, '300000', NULL, '2026-11-23 04:01:11.731+00', 'false'),
('01a20690-a24f-757b-9c68-5b34ceb68ee2', '01a20690-a24f-757b-9c68-4eefd46f8194', 'mock', NULL, 'RECONCILE', '2', '7', NULL, NULL, 'true', E'\\xf7ac14217a5619ba158add868ff9ba0cfa7fa5684010c4aa1e3ee282080c64fa', '01a20690-a24f-757b-9c68-5052103901f3', 'deployer', 'played', '1', NULL, NULL, '2026-11-23 04:01:11.759+00', '2026-11-23 04:01:11.765+00', NULL, NULL, NULL, '300000', NULL, '2026-11-23 04:01:11.769+00', 'false'),
('01a20690-a27c-7378-a535-e26eb55ff451', '01a20690-a27c-7378-a535-d4c08afc0d5c', 'later', NULL, 'DELETE', '0', '11', NULL, NULL, 'true', NULL, '01a20690-a296-74ab-91fb-009d28dbc810', NULL, NULL, '0', NULL, NULL, '2026-11-23 04:01:11.829+00', NULL, NULL, NULL, NULL, '300000', NULL, NULL, 'false'),
('01a20690-a297-73f6-bc2d-df5ea66cf32f', '01a20690-a297-73f6-bc2d-d2bc94b8a917', 'mock', NULL, 'RECONCILE', '1', '9', NULL, NULL, 'true', E'\\xb69d2190311b10e19d839aaf81891435135f722d6f708f0b82deb3f758ad723d', '01a20690-a297-73f6-bc2d-d6a455f4a5ab', 'deployer', 'played', '1', '2026-11-23 04:11:11.841+00', NULL, '2026-11-23 04:01:11.831+00', '2026-11-23 04:01:11.841+00', NULL, NULL, NULL, '300000', NULL, NULL, 'false'),
('01a20690-a298-7438-a850-f4499548da78', '01a20690-a297-73f6-bc2d-d2bc94b8a917', 'later', NULL, 'RECONCILE', '0', '10', NULL, NULL, 'false', NULL, '01a20690-a297-73f6-bc2d-d6a455f4a5ab', NULL, NULL, '0', NULL, NULL, '2026-11-23 04:01:11.831+00', NULL, NULL, NULL, NULL, '300000', NULL, NULL, 'false'),
('01a20690-a2ad-7400-8801-4e71db2bd035', '01a20690-a2ac-73f2-b193-8e839eb858b3', 'mock', NULL, 'RECONCILE', '1', '12', '{"n": 1}', '{"n": 1}', 'true', E'\\x2f0c8ecfc8b1fac89ec93a7118740e033573d2753965fb90879e5b67fe0e8ab9', '01a20690-a2ac-73f2-b193-9218623a13be', 'deployer', 'played', '1', '2026-11-23 04:11:11.859+00', NULL, '2026-11-23 04:01:11.852+00', '2026-11-23 04:01:11.859+00', NULL, NULL, NULL, '300000', NULL, NULL, 'false'),
('01a20690-a2bf-7089-ac6c-28fb59d0a684', '01a20690-a2bf-7089-ac6c-1c5cb2a20a2e', 'mock', NULL, 'RECONCILE', '1', '13', NULL, NULL, 'true', E'\\x598e4afbaf933f824a834e397322d5a78bc5f719739a590f8df497b8c8c7d067', '01a20690-a2bf-7089-ac6c-213262453bdc', 'deployer', 'played', '1', '2026-11-23 04:11:11.887+00', NULL, '2026-11-23 04:01:11.871+00', '2026-11-23 04:01:11.887+00', NULL, NULL, NULL, '300000', NULL, NULL, 'false'),
('01a20690-a2dc-776c-aea0-7b4419d6a5c5', '01a20690-a2db-734d-ab98-3bb72c8e1324', 'mock', NULL, 'RECONCILE', '1', '14', NULL, NULL, 'true', E'\\x48c0cf9d0a88291e8a23ca4dad356c6eff7835f03b745b02c568df1cc834a584', '01a20690-a2dc-776c-aea0-725f3a4fb582', 'deployer', 'played', '1', '2026-11-23 04:11:11.905+00', NULL, '2026-11-23 04:01:11.899+00', '2026-11-23 04:01:11.905+00', '2026-11-23 04:01:11.913+00', 'ABORTED', NULL, '300000', '2026-11-23 04:06:11.913+00', NULL, 'false'),
('01a20690-a308-75cd-b5a7-5265d19d1f5c', '01a20690-a308-75cd-b5a7-4f1395b61177', 'gadget-job', NULL, 'RUN', '2', '16', '{"env": {}, "args": ["--to", "x"], "gadget": "copy"}', NULL, 'false', E'\\xccf8681752e0771711f45a13f072f112c474d76714ea80f6f5d2c51923c18dff', '01a20690-a308-75cd-b5a7-5cad44992161', 'runner', 'played', '1', NULL, NULL, '2026-11-23 04:01:11.958+00', '2026-11-23 04:01:11.967+00', NULL, NULL, NULL, NULL, NULL, '2026-11-23 04:01:11.971+00', 'false'),
('01a20690-a308-75cd-b5a7-56d1844a55ba', '01a20690-a308-75cd-b5a7-4f1395b61177', 'gadget-job', NULL, 'RUN', '2', '18', '{"env": {}, "args": ["/tmp/x"], "gadget": "tell"}', NULL, 'false', E'\\x4d01f8d6edbbb68820f662b8cb63f6bcc49b1a1a15ab94bdf603442035782a1e', '01a20690-a333-7126-a70a-c6e35047cdf8', 'runner', 'played', '1', NULL, NULL, '2026-11-23 04:01:12+00', '2026-11-23 04:01:12.004+00', NULL, NULL, NULL, NULL, NULL, '2026-11-23 04:01:12.007+00', 'false'),
('01a20690-a34d-7688-bba5-27d051066411', '01a20690-a34d-7688-bba5-234aca380814', 'gadget-job', NULL, 'RUN', '2', '22', '{"env": {}, "args": [], "gadget": "turn"}', NULL, 'false', E'\\x6972e1a198e52a7757da3c0a3015f3cf6be7139fd3d7bd55d00cdbc9f887d283', '01a20690-a34d-7688-bba5-2e2796619e00', 'runner', 'played', '1', NULL, NULL, '2026-11-23 04:01:13.038+00', '2026-11-23 04:01:13.043+00', '2026-11-23 04:01:13.049+00', NULL, NULL, NULL, NULL, '2026-11-23 04:01:13.06+00', 'false'),
('01a20690-a767-73b1-bda1-bcaa223eb3a6', '01a20690-a767-73b1-bda1-b8ece5377664', 'gadget-job', NULL, 'RUN', '2', '24', '{"env": {}, "args": [], "gadget": "turn"}', NULL, 'false', E'\\x00741c5c9cfb37eff7d54c882a2e61cc8f6efc65c3397fbf82f4664fa5770360', '01a20690-a767-73b1-bda1-c51ec92bf828', 'runner', 'played', '1', NULL, NULL, '2026-11-23 04:01:13.072+00', '2026-11-23 04:01:13.079+00', '2026-11-23 04:01:13.083+00', NULL, NULL, NULL, NULL, '2026-11-23 04:01:13.09+00', 'false'),
('01a20690-a785-72ff-b359-25bcf5789c8d', '01a20690-a785-72ff-b359-2102af84e3cb', 'gadget-job', NULL, 'UNDO', '2', '27', '{"env": {}, "args": [], "next": "FAILED", "gadget": "turn"}', NULL, 'false', E'\\x94f6379bc7245a0eeba9c2bf3ade3347f4f16f2201e4cd28c7018a593e354548', '01a20690-a785-72ff-b359-2dbffb701b6f', 'runner', 'played', '1', NULL, NULL, '2026-11-23 04:01:13.108+00', '2026-11-23 04:01:13.112+00', NULL, NULL, NULL, NULL, NULL, '2026-11-23 04:01:13.115+00', 'false'),
('01a20690-a79d-736c-9072-224db9564296', '01a20690-a79d-736c-9072-1e953e8ba51d', 'gadget-job', NULL, 'GET_LOCKS', '2', '28', '{"env": {}, "args": [], "gadget": "turn"}', NULL, 'false', E'\\xf3bceaa1571389f907387c07c6c62a4d011ced0853d4ad3e78ace03ce48d3462', '01a20690-a79e-77f3-861c-57aad85b273f', 'runner', 'played', '1', NULL, NULL, '2026-11-23 04:01:13.117+00', '2026-11-23 04:01:13.123+00', NULL, NULL, NULL, NULL, NULL, '2026-11-23 04:01:13.126+00', 'false'),
('01a20690-a7aa-75f5-b6ee-7cb7a2dc10b8', '01a20690-a7aa-75f5-b6ee-7a98b2efc8c7', 'gadget-job', NULL, 'RUN', '1', '30', '{"env": {}, "args": [], "gadget": "turn"}', NULL, 'false', E'\\x08c3dffd6a80691199023beb47e6ec1d9e9e8927e1895285ec4e5a8dd972429c', '01a20690-a7aa-75f5-b6ee-87d2852b2164', 'runner', 'played', '1', '2026-11-23 04:11:13.142+00', NULL, '2026-11-23 04:01:13.138+00', '2026-11-23 04:01:13.142+00', NULL, NULL, NULL, NULL, NULL, NULL, 'true'),
('01a20690-a7b9-742a-8e64-2d674bb74a08', '01a20690-a7b9-742a-8e64-2a263bcb3b60', 'gadget-job', NULL, 'UNDO', '1', '33', '{"env": {}, "args": [], "next": "FAILED", "gadget": "turn"}', NULL, 'false', E'\\x4c797bb0d96da7ccdee978ea19e7a32b022762fc0853f853004b7e7f70e57e32', '01a20690-a7b9-742a-8e64-377d789f1f62', 'runner', 'played', '1', '2026-11-23 04:11:13.162+00', NULL, '2026-11-23 04:01:13.159+00', '2026-11-23 04:01:13.162+00', NULL, NULL, NULL, NULL, NULL, NULL, 'false'),
('01a20690-a7f1-7786-886e-654c75174bc2', '01a20690-a7f1-7786-886e-60ec48037c13', 'played', 'played', 'REMOVE', '0', '39', '{"workspace": "01a20690-a7f1-7786-886e-654c75174bc2"}', NULL, 'false', E'\\xe3784c4ca7adbf85495cafcc7678d482cabfcf26e7aac182fe6af60d5a3f69df', '01a20690-a7f6-7059-abae-0afa6acbc6ec', 'runtime', 'played', '1', NULL, '2026-11-23 04:02:13.31+00', '2026-11-23 04:01:13.31+00', '2026-11-23 04:01:13.215+00', NULL, NULL, NULL, NULL, NULL, NULL, 'false'),
('01a20690-a81d-77a0-ad57-09edafbd4fcc', '01a20690-a7f1-7786-886e-60ec48037c13', 'played', 'played', 'REMOVE', '0', '36', '{"workspace": null}', NULL, 'false', E'\\x3f94599cb7b8e39e44d1f5a1454dd809aba4335d4c871b6123181f4165e0f5b2', '01a20690-a821-7528-bd27-57743cbc5584', 'runtime', 'played', '1', NULL, '2026-11-23 04:02:13.276+00', '2026-11-23 04:01:13.276+00', '2026-11-23 04:01:13.265+00', NULL, NULL, NULL, NULL, NULL, NULL, 'false'),
('01a20690-a843-70f7-a8eb-6859fad17218', '01a20690-a7f1-7786-886e-60ec48037c13', 'played', 'played', 'REMOVE', '0', '38', '{"workspace": null}', NULL, 'false', E'\\xdde2641105970c7b1f4b17d3444cf52f292fbeebe52148f6b37fe1e35ed4ff54', '01a20690-a84b-71be-925d-1a3e498298a3', 'runtime', 'played', '1', NULL, '2026-11-23 04:02:13.306+00', '2026-11-23 04:01:13.306+00', '2026-11-23 04:01:13.299+00', NULL, NULL, NULL, NULL, NULL, NULL, 'false'),
('01a20690-a865-70c2-b4b3-cd38e29091e0', '01a20690-a865-70c2-b4b3-cbe89b1b7d0d', 'played', 'played', 'START', '1', '40', NULL, NULL, 'false', E'\\xbf64e49aabbdccff727e7b09b8722ff8094e2c08477af78889707928f6d32a56', '01a20690-a866-7257-a9e0-1657d666b5e5', 'runtime', 'played', '1', '2026-11-23 04:11:13.323+00', NULL, '2026-11-23 04:01:13.317+00', '2026-11-23 04:01:13.323+00', NULL, NULL, NULL, NULL, NULL, NULL, 'true'),
('01a20690-a876-7621-86b2-367dd5350407', '01a20690-a865-70c2-b4b3-cbe89b1b7d0d', 'played', 'played', 'START', '1', '41', NULL, NULL, 'false', E'\\x208d9897c97e98a46d3b9f08514f1048cb0509704805da71a40ee91df9a8a075', '01a20690-a87a-7261-bf90-08da5578adce', 'runtime', 'played', '1', '2026-11-23 04:11:13.363+00', NULL, '2026-11-23 04:01:13.336+00', '2026-11-23 04:01:13.363+00', NULL, NULL, NULL, NULL, NULL, NULL, 'true'),
('01a20690-a881-7616-98d2-a7c83393207f', '01a20690-a865-70c2-b4b3-cbe89b1b7d0d', 'played', 'played', 'START', '1', '42', NULL, NULL, 'false', E'\\xf80947e98998b6b0e8d193b448cead4009aeb0f6b37b0928a9a6538af460b92a', '01a20690-a88a-76b3-b96e-8cf7b611e025', 'runtime', 'played', '1', '2026-11-23 04:11:13.363+00', NULL, '2026-11-23 04:01:13.35+00', '2026-11-23 04:01:13.363+00', NULL, NULL, NULL, NULL, NULL, NULL, 'true'),
('01a20690-a89e-7708-873b-a2e3844674e4', '01a20690-a89e-7708-873b-9d395e9429e9', 'played', 'played', 'START', '1', '43', NULL, NULL, 'false', E'\\x9d2709ec1df9583181357a9ffe57d33b7ada6b83f341e87b36a6a6abd6daabe4', '01a20690-a89f-753d-80d8-e1970dc3f929', 'runtime', 'played', '1', '2026-11-23 04:11:13.38+00', NULL, '2026-11-23 04:01:13.374+00', '2026-11-23 04:01:13.38+00', NULL, NULL, NULL, NULL, NULL, NULL, 'true'),
('01a20690-a8ae-7019-b46b-028a6648a4b9', '01a20690-a8ae-7019-b46a-fd4b39577fa8', 'gadget-job', NULL, 'GET_LOCKS', '0', '44', '{"env": {"GADGET_EVENT_TYPE": "nightly", "GADGET_EVENT_SOURCE": "github.com/acme"}, "args": [], "gadget": "sweep"}', NULL, 'false', NULL, '01a20690-a8ae-7019-b46b-0b08301901f3', NULL, NULL, '0', NULL, NULL, '2026-11-23 04:01:13.39+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'false'),
('01a20690-a8b6-71d8-a0f5-f7a2f72ba2dc', '01a20690-a8b6-71d8-a0f5-f7a2f72ba2dc', 'crm', 'north', 'RECONCILE', '1', '0', NULL, NULL, 'false', NULL, NULL, NULL, NULL, '0', NULL, NULL, '2026-11-23 04:01:13.398+00', NULL, NULL, NULL, NULL, NULL, '2026-11-23 04:11:13.474+00', NULL, 'false'),
('01a20690-a8b9-731a-9307-ee6aa985e8b8', '01a20690-a8b9-731a-9307-ee6aa985e8b8', 'crm', 'lonely', 'RECONCILE', '1', '0', NULL, NULL, 'false', NULL, NULL, NULL, NULL, '0', NULL, NULL, '2026-11-23 04:01:13.401+00', NULL, NULL, NULL, NULL, NULL, '2026-11-23 04:06:13.401+00', NULL, 'false'),
('01a20690-a8cb-746a-83e7-2ac2d689c39b', '01a20690-a8b6-71d8-a0f5-f7a2f72ba2dc', 'crm', 'north', 'RECONCILE', '2', '0', NULL, NULL, 'false', E'\\x8b5aa366dcb9e21b6d7ca974576c8a6204ff7de35724b7740fa200546a8d849a', '01a20690-a8cb-746a-83e7-2c85617df3c6', 'crm', 'crm-of-before', '1', NULL, NULL, '2026-11-23 04:01:13.418+00', '2026-11-23 04:01:13.418+00', NULL, NULL, NULL, NULL, NULL, '2026-11-23 04:01:13.435+00', 'false'),
('01a20690-a8e4-77c2-83a3-0f145ca17d26', '01a20690-a8b6-71d8-a0f5-f7a2f72ba2dc', 'crm', 'north', 'RECONCILE', '1', '0', NULL, NULL, 'false', E'\\x83465c60b37eae87ba069e21abffd47f3d8d7bdd2ad11e60f85266efce4988cd', '01a20690-a8f8-705d-8c0b-4da85817a56b', 'crm', 'crm-of-before', '2', NULL, NULL, '2026-11-23 04:01:13.461+00', '2026-11-23 04:01:13.461+00', NULL, NULL, NULL, NULL, '2026-11-23 04:06:13.482+00', NULL, 'false'),
('01a20690-a8fd-70a2-a761-0d27f357f878', '01a20690-a8b6-71d8-a0f5-f7a2f72ba2dc', 'crm', 'north', 'RECONCILE', '1', '0', NULL, NULL, 'false', E'\\x79af010d7c4026d7c4b5d3d08e97d825e31fcc3b6ddb30f34f7ac287bd3c9420', '01a20690-a8fe-7333-8837-5f98c7ac3e9b', 'crm', 'crm-of-before', '1', NULL, NULL, '2026-11-23 04:01:13.469+00', '2026-11-23 04:01:13.469+00', NULL, NULL, NULL, NULL, '2026-11-23 04:06:13.474+00', NULL, 'false');
-- part: rows of workload
set local session_replication_role = replica;
delete from "workload";
insert into "workload" ("object_id", "project_id", "pool", "state", "seq", "runtime", "uses_workspace", "timeout_ms", "inherited_from", "started_at", "ended_at", "exit_code", "signal", "remove_at", "removed_at") overriding system value values
('01a20690-a7f1-7786-886e-654c75174bc2', '01a20690-a7d0-77d3-8dea-673a183a6409', 'WORKER', '2', '1', 'played', 'true', NULL, NULL, '2026-11-23 04:01:13.215+00', '2026-11-23 04:01:13.31+00', '0', NULL, '2026-11-23 04:02:13.31+00', NULL),
('01a20690-a81d-77a0-ad57-09edafbd4fcc', '01a20690-a7d0-77d3-8dea-673a183a6409', 'JOB', '2', '4', 'played', 'false', NULL, NULL, '2026-11-23 04:01:13.265+00', '2026-11-23 04:01:13.276+00', '0', NULL, '2026-11-23 04:02:13.276+00', NULL),
('01a20690-a843-70f7-a8eb-6859fad17218', '01a20690-a7d0-77d3-8dea-673a183a6409', 'JOB', '2', '8', 'played', 'false', NULL, NULL, '2026-11-23 04:01:13.299+00', '2026-11-23 04:01:13.306+00', '1', NULL, '2026-11-23 04:02:13.306+00', NULL),
('01a20690-a865-70c2-b4b3-cd38e29091e0', '01a20690-a7d0-77d3-8dea-673a183a6409', 'WORKER', '1', '13', 'played', 'true', NULL, NULL, '2026-11-23 04:01:13.323+00', NULL, NULL, NULL, NULL, NULL),
('01a20690-a876-7621-86b2-367dd5350407', '01a20690-a7d0-77d3-8dea-673a183a6409', 'JOB', '1', '16', 'played', 'false', NULL, NULL, '2026-11-23 04:01:13.363+00', NULL, NULL, NULL, NULL, NULL),
('01a20690-a881-7616-98d2-a7c83393207f', '01a20690-a7d0-77d3-8dea-673a183a6409', 'JOB', '1', '18', 'played', 'false', NULL, NULL, '2026-11-23 04:01:13.363+00', NULL, NULL, NULL, NULL, NULL),
('01a20690-a88e-707d-a76a-b8e35c95a2ca', '01a20690-a7d0-77d3-8dea-673a183a6409', 'JOB', '0', '20', 'played', 'false', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
('01a20690-a89e-7708-873b-a2e3844674e4', '01a20690-a7d0-77d3-8dea-673a183a6409', 'WORKER', '1', '23', 'played', 'true', NULL, NULL, '2026-11-23 04:01:13.38+00', NULL, NULL, NULL, NULL, NULL),
('01a20690-a8a8-70d5-a516-6d4334c1c814', '01a20690-a7d0-77d3-8dea-673a183a6409', 'WORKER', '0', '26', 'played', 'true', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
-- part: sequences
select setval('lock_ticket', 7, true);
select setval('log_batch_id_seq', 101, true);
select setval('wake_id_seq', 31, true);
select setval('work_seq', 44, true);
select setval('workload_seq', 26, true);
