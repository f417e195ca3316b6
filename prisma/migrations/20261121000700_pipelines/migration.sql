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
