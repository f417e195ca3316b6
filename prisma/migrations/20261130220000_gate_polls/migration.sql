-- Addresses that open gates: when each is asked next, and its last answer. One that is asked has the end of that as its next time, so it
-- is asked again if the process ends. No foreign key: a row whose object waits no longer is removed when it is due.
create table "gate_poll" (
  "object_id" uuid primary key,
  "id" uuid not null default gen_random_uuid(),
  "root_id" uuid not null,
  "project_id" uuid not null,
  "host" text not null,
  "http" jsonb not null,
  "next_at" timestamptz(3) not null,
  "busy_until" timestamptz(3),
  "failures" integer not null default 0,
  "answer" text,
  "answered_at" timestamptz(3)
);
create index "gate_poll_next_at_idx" on "gate_poll" ("next_at");
