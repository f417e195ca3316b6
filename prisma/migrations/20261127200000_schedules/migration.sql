-- Schedules and their firings.
alter type "object_kind" add value if not exists 'SCHEDULE';
alter type "phase" add value if not exists 'ACTIVE' before 'GONE';
alter type "phase" add value if not exists 'PAUSED' before 'GONE';
alter type "phase" add value if not exists 'FINISHED' before 'GONE';

create table "schedule" (
  "object_id" uuid primary key references "object"("id") on delete cascade on update cascade,
  "due" timestamptz(3),
  "last_due" timestamptz(3),
  "fired_count" integer not null,
  "editor" jsonb,
  "paused_because" text
);

create table "firing" (
  "id" uuid primary key,
  "schedule_id" uuid not null references "object"("id") on delete cascade on update cascade,
  "cause" text not null,
  "due" timestamptz(3) not null,
  "last_due" timestamptz(3),
  "count" integer,
  "at" timestamptz(3) not null,
  "outcome" text not null,
  "reason" text,
  "started_id" uuid,
  "ended_at" timestamptz(3)
);
-- A time fires once, whoever asks for it again.
create unique index "firing_once" on "firing" ("schedule_id", "cause", "due");
-- Firings that are still to be decided about, and those whose roots may still run: few at any time.
create index "firing_open" on "firing" ("schedule_id") where "outcome" in ('PENDING', 'QUEUED') or "outcome" = 'FIRED' and "ended_at" is null;
create index "firing_page" on "firing" ("schedule_id", "id");
