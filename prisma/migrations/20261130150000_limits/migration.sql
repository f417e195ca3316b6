-- Limits of projects: how much that asks for one may run at once, of all keys together and of each key.
create table "flow_limit" (
  "id" uuid primary key,
  "project_id" uuid not null references "project"("id") on delete cascade on update cascade,
  "name" text not null,
  "description" text not null,
  -- Null: none. At least one of both is there.
  "max" integer,
  "max_per_key" integer,
  "generation" integer not null,
  "created_at" timestamptz(3) not null,
  "updated_at" timestamptz(3) not null
);
create unique index "flow_limit_project_id_name_key" on "flow_limit" ("project_id", "name");

-- An object has a ticket for each limit and key that it asks for. It waits with all of them, or holds all of them.
create sequence "limit_ticket_seq" as bigint;
create table "limit_ticket" (
  "object_id" uuid not null references "object"("id") on delete cascade on update cascade,
  "limit_id" uuid not null references "flow_limit"("id") on delete cascade on update cascade,
  "key" text not null,
  -- Each kind has queues of its own.
  "kind" text not null,
  "seq" bigint not null default nextval('limit_ticket_seq'),
  "asked_at" timestamptz(3) not null,
  -- Null: it waits.
  "granted_at" timestamptz(3),
  primary key ("object_id", "limit_id", "key")
);
alter sequence "limit_ticket_seq" owned by "limit_ticket"."seq";
create index "limit_ticket_waiting" on "limit_ticket" ("kind", "limit_id", "key", "seq") where "granted_at" is null;
create index "limit_ticket_order" on "limit_ticket" ("kind", "limit_id", "seq") where "granted_at" is null;
create index "limit_ticket_held" on "limit_ticket" ("limit_id", "key", "seq") where "granted_at" is not null;

-- Limits that a worker or job asks for, and whether their keys are resolved; null: none.
alter table "workload" add column "limits" jsonb;
-- Its predicate is written so that no plan takes the index of all that wait in its place.
create index "workload_unlimited_idx" on "workload" ("pool", "project_id", "seq")
  where (case when "limits" is null then "state" end) = 0;
-- Those of the running job of a deploy item, and whether it holds them; null: it neither waits for any nor holds one.
alter table "deploy_item" add column "limits" jsonb;

-- Locks slots until the end of the transaction, and says whether anybody waits for a limit. A volatile function takes a snapshot for each
-- of its queries, so it sees what was committed before it had the lock.
create function "lock_slots"() returns boolean language plpgsql volatile as $$
begin
  perform pg_advisory_xact_lock(hashtext('phaseline slots'));
  return exists (select from "limit_ticket" where "granted_at" is null);
end $$;
