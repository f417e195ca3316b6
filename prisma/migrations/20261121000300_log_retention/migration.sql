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
