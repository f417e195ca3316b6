-- Bulk operations: one verb for many objects, each of which has its outcome in a row.
alter type "object_kind" add value if not exists 'BULK_OPERATION';

create table "bulk_operation" (
  "object_id" uuid primary key references "object"("id") on delete cascade on update cascade,
  "editor" jsonb,
  "ended_at" timestamptz(3)
);
-- Operations that ask: few at any time.
create index "bulk_operation_open" on "bulk_operation" ("object_id") where "ended_at" is null;

create table "bulk_target" (
  "operation_id" uuid not null references "object"("id") on delete cascade on update cascade,
  "target_id" uuid not null,
  "kind" text,
  "name" text,
  "outcome" text not null,
  "code" text,
  "message" text,
  "caused_id" uuid,
  "at" timestamptz(3),
  -- One outcome for each target.
  primary key ("operation_id", "target_id")
);
create index "bulk_target_waiting" on "bulk_target" ("operation_id", "target_id") where "outcome" = 'WAITING';
create index "bulk_target_outcome" on "bulk_target" ("operation_id", "outcome", "target_id");
-- What was asked within the last second.
create index "bulk_target_at" on "bulk_target" ("operation_id", "at");
