-- Backfills of schedules: each of their times is a firing, written with the backfill.
create table "backfill" (
  "id" uuid primary key,
  "schedule_id" uuid not null references "object"("id") on delete cascade on update cascade,
  "first" timestamptz(3) not null,
  "last" timestamptz(3) not null,
  "overlap" text not null,
  "refire" boolean not null,
  "by" text not null,
  "at" timestamptz(3) not null,
  "cancelled_by" text,
  "ended_at" timestamptz(3)
);
-- A schedule has one at a time.
create unique index "backfill_open" on "backfill" ("schedule_id") where "ended_at" is null;
create index "backfill_page" on "backfill" ("schedule_id", "id");

alter table "firing" add column "backfill_id" uuid references "backfill"("id") on delete cascade on update cascade;
create index "firing_backfill" on "firing" ("backfill_id", "id") where "backfill_id" is not null;
-- Times of a backfill that are still to come.
create index "firing_waiting" on "firing" ("backfill_id", "id") where "outcome" = 'WAITING';
-- Firings by time and by hand are read and kept apart from those of backfills.
create index "firing_page_own" on "firing" ("schedule_id", "id") where "backfill_id" is null;
create index "firing_due" on "firing" ("schedule_id", "due");
drop index "firing_page";
