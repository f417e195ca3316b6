-- Invariants of projects: rules of a project that each root installation in it keeps, whoever edits its spec.
create table "invariant" (
  "id" uuid primary key,
  "project_id" uuid not null references "project"("id") on delete cascade on update cascade,
  "name" text not null,
  "description" text not null,
  -- The other project: its id, which no later project of the same name has, and its name for people.
  "after_project_id" uuid not null,
  "after_project" text not null,
  -- Null: the name of the root that asks.
  "after_name" text,
  "same_values" text[] not null,
  "generation" integer not null,
  "created_at" timestamptz(3) not null,
  "updated_at" timestamptz(3) not null
);
create unique index "invariant_project_id_name_key" on "invariant" ("project_id", "name");

-- True if it has one. It is a column of the row that transactions lock, so that no statement asks for it.
alter table "project" add column "has_invariants" boolean not null default false;

-- Roots whose job waits for an invariant, with the root whose success ends that: its project and its name.
create table "invariant_wait" (
  "root_id" uuid not null,
  "invariant_id" uuid not null references "invariant"("id") on delete cascade on update cascade,
  "project_id" uuid not null,
  "name" text not null,
  primary key ("root_id", "invariant_id")
);
create index "invariant_wait_invariant_id_idx" on "invariant_wait" ("invariant_id");
create index "invariant_wait_project_id_name_idx" on "invariant_wait" ("project_id", "name");
