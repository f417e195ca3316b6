-- Rules that tell phase changes to people and other systems, and their messages.
create table "notification_rule" (
  "id" uuid primary key,
  "project_id" uuid not null references "project"("id") on delete cascade on update cascade,
  "name" text not null,
  "description" text not null,
  "spec" jsonb not null,
  "is_enabled" boolean not null,
  "editor" jsonb not null,
  "generation" integer not null,
  -- Changes up to here are not the rule's.
  "after_sequence" bigint not null,
  -- The rule's own position in the log while it is behind the others; null: it is where they are.
  "behind_sequence" bigint,
  "behind_mark" text,
  "created_at" timestamptz(3) not null,
  "updated_at" timestamptz(3) not null
);
create unique index "notification_rule_project_id_name_key" on "notification_rule" ("project_id", "name");

-- In the order of the log.
create sequence "notification_seq" as bigint;
create table "notification" (
  "id" uuid primary key,
  "rule_id" uuid not null references "notification_rule"("id") on delete cascade on update cascade,
  "seq" bigint not null default nextval('notification_seq'),
  -- Messages with the same subject are sent one after the other.
  "subject_id" uuid not null,
  "told" jsonb not null,
  "state" text not null,
  -- When it is sent, or tried again; null: an earlier one of its subject waits, or it has ended.
  "due" timestamptz(3),
  "attempts" integer not null,
  "is_late" boolean not null,
  "problem" text,
  "created_at" timestamptz(3) not null,
  "ended_at" timestamptz(3)
);
alter sequence "notification_seq" owned by "notification"."seq";
create index "notification_due" on "notification" ("rule_id", "due") where "due" is not null;
create index "notification_pending" on "notification" ("rule_id", "subject_id", "seq") where "state" = 'PENDING';
create index "notification_page" on "notification" ("rule_id", "seq");
create index "notification_ended" on "notification" ("rule_id", "state", "seq") where "state" <> 'PENDING';

-- The position in the log up to which the messages of all rules are written that are not behind; null: no rule has looked yet.
create table "notification_cursor" (
  "one" boolean primary key default true check ("one"),
  "sequence" bigint,
  "mark" text
);
insert into "notification_cursor" ("one") values (true);
