-- Hooks: addresses to which others post what has happened there, and the deliveries that have arrived.
create table "hook" (
  "id" uuid primary key,
  "project_id" uuid not null references "project" ("id") on delete cascade on update cascade,
  "name" text not null,
  "format" text not null,
  "description" text not null,
  "disabled" boolean not null,
  "spec" jsonb not null,
  "editor" jsonb not null,
  "generation" integer not null,
  "created_at" timestamptz(3) not null,
  "updated_at" timestamptz(3) not null
);
create unique index "hook_project_id_name_key" on "hook" ("project_id", "name");

create table "hook_secret" (
  "hook_id" uuid not null references "hook" ("id") on delete cascade on update cascade,
  "name" text not null,
  "sealed" bytea not null,
  "created_at" timestamptz(3) not null,
  primary key ("hook_id", "name")
);

create table "hook_delivery" (
  "id" uuid primary key,
  "hook_id" uuid not null references "hook" ("id") on delete cascade on update cascade,
  "at" timestamptz(3) not null,
  "outcome" text not null,
  "reason" text,
  -- As the sender names it, for people.
  "delivery_id" text,
  -- What repetitions have in common; null: nothing.
  "once_key" text,
  "event_id" uuid,
  "headers" jsonb not null,
  -- Null: there is none, or it is not kept any more.
  "body" bytea,
  "body_bytes" integer not null,
  "secret_name" text,
  "hops" integer not null,
  "replay_of" uuid
);
-- A delivery is accepted or filtered once, however often it is sent.
create unique index "hook_delivery_once" on "hook_delivery" ("hook_id", "once_key") where "outcome" in ('ACCEPTED', 'FILTERED');
create index "hook_delivery_page" on "hook_delivery" ("hook_id", "id");
create index "hook_delivery_at" on "hook_delivery" ("at");
create index "hook_delivery_bodies" on "hook_delivery" ("hook_id", "id", "body_bytes") where "body" is not null;

-- How many times a chain of notifications and hooks has come back here before this event.
alter table "event" add column "hops" integer not null default 0;
