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
