-- Who asked for the running job of a root and for the next one, and why: {"jobId", "startedAt", "by", "cause"} and {"by", "cause"}.
alter table "installation" add column "origin" jsonb, add column "next_origin" jsonb;

-- A job of a root that has ended.
create table "run" (
  "object_id" uuid not null references "object" ("id") on delete cascade on update cascade,
  "number" integer not null,
  "job_id" uuid not null,
  "mode" "reconcile_mode" not null,
  "cause" text not null,
  "by" text,
  "generation" integer not null,
  "started_at" timestamptz(3) not null,
  "ended_at" timestamptz(3) not null,
  "phase" "phase" not null,
  "error" jsonb,
  "exports" jsonb,
  primary key ("object_id", "number")
);

-- A spec of a root that a later one has replaced.
create table "spec_generation" (
  "object_id" uuid not null references "object" ("id") on delete cascade on update cascade,
  "generation" integer not null,
  "spec" jsonb not null,
  "replaced_at" timestamptz(3) not null,
  "replaced_by" text not null,
  primary key ("object_id", "generation")
);
