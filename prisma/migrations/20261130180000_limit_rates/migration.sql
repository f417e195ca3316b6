-- Limits have rates, weights of keys, overrides and pauses; who asks for one has a priority.
alter table "flow_limit"
  -- So many grants of each key in any time as long as this; null: no rate.
  add column "rate_count" integer,
  add column "rate_ms" integer,
  -- Of keys; 1 for the others.
  add column "weights" jsonb not null default '{}',
  -- Null: it is not paused.
  add column "pause" jsonb;

-- Bounds of a key instead of those of its limit, until then. Null: that of the limit.
create table "limit_override" (
  "limit_id" uuid not null references "flow_limit"("id") on delete cascade on update cascade,
  "key" text not null,
  "max_per_key" integer,
  "rate_count" integer,
  "rate_ms" integer,
  "until" timestamptz(3) not null,
  "by" text not null,
  primary key ("limit_id", "key")
);

-- Grants of keys with a rate. They outlive their objects, until the time of the rate has passed.
create table "limit_grant" (
  "limit_id" uuid not null references "flow_limit"("id") on delete cascade on update cascade,
  "key" text not null,
  "at" timestamptz(3) not null,
  "object_id" uuid not null,
  "until" timestamptz(3) not null,
  primary key ("limit_id", "key", "at", "object_id")
);
create index "limit_grant_until_idx" on "limit_grant" ("until");

alter table "limit_ticket"
  add column "priority" integer not null default 0,
  -- In the line of its kind and limit, where each key has as many places as its weight. Null: it waits for one, or does not wait.
  add column "place" bigint,
  -- Time alone keeps it waiting until then, and a clock of its object runs.
  add column "due_at" timestamptz(3);
update "limit_ticket" t set "place" = "seq" where "granted_at" is null and not exists (
  select from "limit_ticket" b where b."kind" = t."kind" and b."limit_id" = t."limit_id" and b."key" = t."key"
    and b."granted_at" is null and b."seq" < t."seq");
drop index "limit_ticket_waiting";
drop index "limit_ticket_order";
create index "limit_ticket_line" on "limit_ticket" ("kind", "limit_id", "priority" desc, "place")
  where "granted_at" is null and "place" is not null and "due_at" is null;
create index "limit_ticket_waiting" on "limit_ticket" ("kind", "limit_id", "key", "priority" desc, "seq") where "granted_at" is null;
create index "limit_ticket_placed" on "limit_ticket" ("kind", "limit_id", "key", "priority", "place") where "place" is not null;
create index "limit_ticket_due" on "limit_ticket" ("due_at") where "due_at" is not null;

-- A ticket that begins to wait gets a place, if its key has one left.
create function "limit_ticket_waits"() returns trigger language plpgsql volatile as $$
begin
  if new."granted_at" is not null then
    new."place" := null;
    new."due_at" := null;
  elsif tg_op = 'INSERT' or old."granted_at" is not null then
    new."due_at" := null;
    new."place" := case when (
      select count(*) from (select from "limit_ticket" t where t."kind" = new."kind" and t."limit_id" = new."limit_id"
        and t."key" = new."key" and t."priority" = new."priority" and t."place" is not null limit 100) p
    ) < coalesce((select (l."weights" ->> new."key")::integer from "flow_limit" l where l."id" = new."limit_id"), 1)
      then nextval('limit_ticket_seq') end;
  end if;
  return new;
end $$;
create trigger "limit_ticket_waits" before insert or update of "granted_at" on "limit_ticket"
  for each row execute function "limit_ticket_waits"();

-- The next one of the key follows into the line: to its end if a ticket is granted, or in place of one that leaves.
create function "limit_ticket_leaves"() returns trigger language plpgsql volatile as $$
begin
  if old."place" is not null and (tg_op = 'DELETE' or new."granted_at" is not null) then
    update "limit_ticket" t set "place" = case tg_op when 'DELETE' then old."place" else nextval('limit_ticket_seq') end
      where (t."object_id", t."limit_id", t."key") = (
        select n."object_id", n."limit_id", n."key" from "limit_ticket" n where n."kind" = old."kind" and n."limit_id" = old."limit_id"
          and n."key" = old."key" and n."priority" = old."priority" and n."granted_at" is null and n."place" is null
        order by n."seq" limit 1);
  elsif tg_op = 'DELETE' and old."granted_at" is not null then
    -- What an override keeps waiting does so no longer for time alone.
    update "limit_ticket" t set "due_at" = null where t."due_at" is not null and t."granted_at" is null
      and t."limit_id" = old."limit_id" and t."key" = old."key"
      and exists (select from "limit_override" v where v."limit_id" = old."limit_id" and v."key" = old."key");
  end if;
  return null;
end $$;
create trigger "limit_ticket_leaves" after delete or update of "granted_at" on "limit_ticket"
  for each row execute function "limit_ticket_leaves"();
