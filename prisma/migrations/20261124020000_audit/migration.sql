-- Who has done what. Rows are written with what they tell; a chainer gives committed ones their place in a chain of hashes.
create table "audit_event" (
  "id" uuid not null,
  "at" timestamptz(3) not null default clock_timestamp(),
  "principal_id" uuid,
  "principal_name" text,
  -- A worker's token has no row.
  "token_id" text,
  "actor" text,
  "address" text,
  "request_id" text,
  "operation" text not null,
  -- No references: what an event tells outlives what it is about.
  "project_id" uuid,
  "project_name" text,
  "object_id" uuid,
  "object_kind" text,
  "object_name" text,
  "outcome" text not null,
  "code" text,
  -- Names of what the request gave or changed; never values.
  "fields" text[] not null,
  -- Equal events of one second are one row.
  "count" integer not null,
  "sequence" bigint,
  "hash" bytea,
  constraint "audit_event_pkey" primary key ("id"),
  constraint "audit_event_outcome_check" check ("outcome" in ('DONE', 'REFUSED', 'FAILED')),
  constraint "audit_event_chain_check" check (("sequence" is null) = ("hash" is null))
);
-- Partial ones: the transaction that writes an event maintains only the last of them.
create unique index "audit_event_sequence_key" on "audit_event" ("sequence") where "sequence" is not null;
create index "audit_event_project_idx" on "audit_event" ("project_id", "sequence") where "sequence" is not null;
create index "audit_event_principal_idx" on "audit_event" ("principal_id", "sequence") where "sequence" is not null;
create index "audit_event_waiting_idx" on "audit_event" ("id") where "sequence" is null;

-- The last event that retention has removed. The chain goes on from its hash.
create table "audit_anchor" (
  "one" boolean not null default true,
  "sequence" bigint not null,
  "hash" bytea not null,
  constraint "audit_anchor_pkey" primary key ("one"),
  constraint "audit_anchor_one_check" check ("one")
);
insert into "audit_anchor" ("sequence", "hash") values (0, '\x');

create function audit_guard() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and old.sequence is null and new.sequence is not null
    and to_jsonb(new) - array['sequence', 'hash'] = to_jsonb(old) - array['sequence', 'hash'] then
    return new;
  end if;
  if tg_op = 'DELETE' and old.sequence <= (select sequence from audit_anchor) then
    return old;
  end if;
  raise exception 'audit events are neither changed nor removed' using errcode = 'restrict_violation';
end $$;
create trigger "audit_guard" before update or delete on "audit_event" for each row execute function audit_guard();
create trigger "audit_guard_all" before truncate on "audit_event" for each statement execute function audit_guard();
