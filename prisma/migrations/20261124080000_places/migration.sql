-- A place where workers and jobs run: what a runtime names by its instance, and has registered.
create table "place" (
  "id" uuid not null,
  "principal_id" uuid not null,
  "type" text not null,
  "name" text not null,
  "labels" jsonb not null,
  -- How many workers, and how many jobs, run there at the same time; null: no limit.
  "capacity" integer,
  "registered_at" timestamptz(3) not null,
  "drained_at" timestamptz(3),
  "drained_by" text,
  "drain_reason" text,
  constraint "place_pkey" primary key ("id"),
  constraint "place_principal_id_fkey" foreign key ("principal_id") references "principal" ("id") on delete cascade on update cascade
);
create unique index "place_principal_id_type_name_key" on "place" ("principal_id", "type", "name");
create index "place_type_idx" on "place" ("type");

-- Labels that the place of new work must have; null: any place.
alter table "work" add column "target_labels" jsonb;
-- The place that has claimed it. What runs at a place is counted from these rows.
alter table "workload" add column "target_labels" jsonb, add column "place_id" uuid;
create index "workload_place_idx" on "workload" ("place_id") where "state" = 1 and "place_id" is not null;
